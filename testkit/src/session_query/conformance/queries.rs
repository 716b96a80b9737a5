//! Queries: text that is looked for, whatever it looks like.

use super::made::{self, Grow};
use super::{Opened, over_all, over_events};
use lookback_model::TextKind;
use lookback_model::session_query::{AbortSignal, EventDocument, SearchProvider, SessionSnapshot};
use std::thread;

const NO_EVENTS: [u64; 0] = [];

/// Property: the words of persons, agents, reasoning, tools and programs are all searched.
pub fn all_kinds_of_words_are_searched(opened: &mut Opened<'_>) {
    let words = [
        (TextKind::User, "quokka"),
        (TextKind::Agent, "pelican"),
        (TextKind::Reasoning, "zirconium"),
        (TextKind::Call, "marmalade"),
        (TextKind::Result, "obsidian"),
        (TextKind::Context, "thunderclap"),
    ];
    let grown = |snapshot: SessionSnapshot| {
        words
            .iter()
            .fold(snapshot, |snapshot, (kind, word)| snapshot.saying(*kind, word))
    };
    opened
        .provider()
        .replace_persisted(&grown(made::persisted("base")))
        .unwrap();
    opened
        .provider()
        .replace_live(&grown(made::live("live")))
        .unwrap();
    opened.provider().set_persisted_active(true).unwrap();
    for (seq, (kind, word)) in (0..).zip(words) {
        assert_eq!(opened.found(word), ["base", "live"], "{kind:?}");
        assert_eq!(opened.found_in("base", word), [seq], "{kind:?}");
        assert_eq!(opened.found_in("live", word), [seq], "{kind:?}");
    }
}

/// Property: an event is one document: words of different kinds in it are found together, as one hit.
pub fn words_of_one_event_belong_together(opened: &mut Opened<'_>) {
    let event = EventDocument {
        pieces: vec![
            (TextKind::Reasoning, "first the quokka".to_owned()),
            (TextKind::Agent, "then the pelican".to_owned()),
            (TextKind::Call, "zirconium".to_owned()),
        ],
        ..made::document(TextKind::Agent, "")
    };
    opened
        .provider()
        .replace_live(&made::live("a").silent().with(event))
        .unwrap();
    for query in ["quokka pelican", "pelican zirconium quokka", "quokka"] {
        assert_eq!(opened.found_in("a", query), [1], "{query}");
        assert_eq!(opened.found(query), ["a"], "{query}");
    }
}

/// Property: words are found in any case.
pub fn case_does_not_matter(opened: &mut Opened<'_>) {
    let snapshot = made::live("a")
        .saying(TextKind::User, "Quokka ПОИСК")
        .saying(TextKind::Agent, "QUOKKA поиск")
        .saying(TextKind::Agent, "quokka Поиск");
    opened.provider().replace_live(&snapshot).unwrap();
    for query in ["quokka", "QUOKKA", "qUoKkA", "поиск", "ПОИСК"] {
        assert_eq!(opened.found_in("a", query), [0, 1, 2], "{query}");
    }
}

/// Texts that some query language would take for something else than words.
const HOSTILE: [&str; 28] = [
    "\"quokka",
    "quokka\"",
    "'quokka' OR '1'='1",
    "quokka OR pelican",
    "quokka AND NOT pelican",
    "NOT quokka",
    "quokka -pelican",
    "+quokka -pelican",
    "quokka*",
    "*quokka*",
    "quo?ka",
    "%quokka%",
    "quokka~2",
    "quokka^10",
    "(quokka",
    "quokka)",
    "[quokka TO zebra]",
    "{quokka}",
    "body:quokka",
    "repo:quokka",
    "path:src/quokka",
    "tool:quokka",
    "quokka && pelican || zirconium",
    "NEAR(quokka, pelican)",
    "quokka\\",
    "/quokka.*/",
    "quokka; DROP TABLE documents; --",
    "quokka\t\u{a0}\u{2003}pelican",
];

/// Property: a text that looks like operators, wildcards or quotes finds the event that holds just this text.
pub fn a_query_is_data(opened: &mut Opened<'_>) {
    let snapshot = HOSTILE.iter().fold(made::persisted("a"), |snapshot, text| {
        snapshot.saying(TextKind::User, text)
    });
    opened.provider().replace_persisted(&snapshot).unwrap();
    opened.provider().set_persisted_active(true).unwrap();
    for (seq, text) in (0..).zip(HOSTILE) {
        let found = opened.found_in("a", text);
        assert!(
            found.contains(&seq),
            "{text:?} finds {found:?} and not event {seq}"
        );
        assert_eq!(opened.found(text), ["a"], "{text:?}");
    }
}

/// Property: a wildcard or operator alone is no wildcard: it does not find what does not hold it.
pub fn a_wildcard_finds_no_more_than_itself(opened: &mut Opened<'_>) {
    let snapshot = made::live("a").saying(TextKind::User, "plain quokka");
    opened.provider().replace_live(&snapshot).unwrap();
    for query in ["*", "%", "_", "?", ".*", "*:*", "\"\"", "()", "||", "\\"] {
        assert_eq!(opened.found(query), Vec::<String>::new(), "{query:?}");
        assert_eq!(opened.found_in("a", query), NO_EVENTS, "{query:?}");
    }
    for query in ["zeb*", "%irconi%", "body:zirconium", "id:a"] {
        assert_eq!(opened.found_in("a", query), NO_EVENTS, "{query:?}");
    }
}

/// Property: whatever is asked, there is an answer within the limit or a refusal, and the next search works.
pub fn any_query_is_answered_or_refused(opened: &mut Opened<'_>) {
    let snapshot = made::live("a").saying(TextKind::User, "plain quokka");
    opened.provider().replace_live(&snapshot).unwrap();
    let queries = [
        "quokka\0pelican".to_owned(),
        "\0".to_owned(),
        "quokka ".repeat(4_000),
        "x".repeat(100_000),
        "語".repeat(20_000),
        "\"".repeat(5_000),
        "(".repeat(5_000),
        (0..2_000).map(|number| format!("w{number} ")).collect(),
        "\u{202e}\u{200f}\u{feff}".to_owned(),
        "\u{1b}[31mquokka\u{7}".to_owned(),
        "a\u{301}\u{301}\u{301}".repeat(500),
        "\u{10ffff}\u{fffd}".to_owned(),
    ];
    for query in &queries {
        if let Ok(page) = opened.try_sessions(&over_all(query)) {
            assert!(page.items.len() <= 1);
        }
        if let Ok(page) = opened.try_events(&over_events("a", query)) {
            assert!(page.items.len() <= 1);
        }
        assert_eq!(opened.found("quokka"), ["a"]);
    }
}

/// Property: words of every script are found by themselves, those written from right to left as well.
pub fn every_script_is_found(opened: &mut Opened<'_>) {
    let texts = [
        "Größenänderung",
        "façade",
        "поиск",
        "ελληνικά",
        "日本語の検索",
        "한국어",
        "中文搜索",
        "بحث",
        "חיפוש",
        "हिन्दी",
        "ภาษาไทย",
        "e\u{301}toile",
        "𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
    ];
    let snapshot = texts.iter().fold(made::persisted("a"), |snapshot, text| {
        snapshot.saying(TextKind::User, &format!("before {text} after"))
    });
    opened.provider().replace_persisted(&snapshot).unwrap();
    opened.provider().set_persisted_active(true).unwrap();
    for (seq, text) in (0..).zip(texts) {
        let found = opened.found_in("a", text);
        assert!(
            found.contains(&seq),
            "{text:?} finds {found:?} and not event {seq}"
        );
    }
}

/// Property: what people and agents said is found to its last word, however long, and each event is one hit.
pub fn long_texts_are_found_to_their_end_and_once(opened: &mut Opened<'_>) {
    let filler = "plain words go on and on ".repeat(2_000);
    let text = format!("quokka {filler} quokka {filler} quokka pelican");
    let snapshot = made::persisted("a")
        .saying(TextKind::User, &text)
        .saying(TextKind::Agent, &text);
    opened.provider().replace_persisted(&snapshot).unwrap();
    opened
        .provider()
        .replace_live(&SessionSnapshot {
            header: made::live("b").header,
            ..made::live("b")
                .saying(TextKind::User, &text)
                .saying(TextKind::Agent, &text)
        })
        .unwrap();
    opened.provider().set_persisted_active(true).unwrap();
    for id in ["a", "b"] {
        assert_eq!(opened.found_in(id, "quokka"), [0, 1], "{id}");
        assert_eq!(opened.found_in(id, "pelican"), [0, 1], "{id}");
    }
    assert_eq!(opened.found("pelican"), ["a", "b"]);
}

/// Property: searches from many threads give what one gives.
pub fn searches_run_side_by_side(opened: &mut Opened<'_>) {
    for number in 0..12 {
        let grow = |snapshot: SessionSnapshot| {
            (0..5).fold(snapshot, |snapshot, _| snapshot.saying(TextKind::User, "quokka"))
        };
        let snapshot = grow(made::persisted(&format!("p{number}")));
        opened.provider().replace_persisted(&snapshot).unwrap();
        let snapshot = grow(made::live(&format!("l{number}")));
        opened.provider().replace_live(&snapshot).unwrap();
    }
    opened.provider().set_persisted_active(true).unwrap();
    let search = |provider: &dyn SearchProvider| {
        let signal = AbortSignal::new();
        let sessions = provider.search_sessions(&over_all("quokka"), &signal).unwrap();
        let events = provider
            .search_events(&over_events("l3", "quokka"), &signal)
            .unwrap();
        (sessions.items, events.items)
    };
    let provider = opened.provider();
    let alone = search(provider);
    assert_eq!((alone.0.len(), alone.1.len()), (24, 5));
    thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|_| scope.spawn(|| (0..5).map(|_| search(provider)).collect::<Vec<_>>()))
            .collect();
        for thread in threads {
            for found in thread.join().unwrap() {
                assert_eq!(found, alone);
            }
        }
    });
}

/// Property: a search whose caller does not wait any more ends in some way, and the next one is unharmed.
pub fn an_aborted_search_harms_nothing(opened: &mut Opened<'_>) {
    let snapshot = made::live("a").saying(TextKind::User, "quokka");
    opened.provider().replace_live(&snapshot).unwrap();
    let signal = AbortSignal::new();
    signal.abort();
    if let Ok(page) = opened.provider().search_sessions(&over_all("quokka"), &signal) {
        assert!(page.items.len() <= 1);
    }
    if let Ok(page) = opened
        .provider()
        .search_events(&over_events("a", "quokka"), &signal)
    {
        assert!(page.items.len() <= 1);
    }
    assert_eq!(opened.found("quokka"), ["a"]);
    assert_eq!(opened.found_in("a", "quokka"), [0]);
}
