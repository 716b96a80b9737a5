//! Pages and records: what a hit says of its session and its event.

use super::made::{self, Grow};
use super::{Opened, over_all, over_events};
use lookback_model::session_query::{EventDocument, ProviderStatus, SessionSnapshot};
use lookback_model::{SessionHeader, SurfaceState, TextKind, Timestamp};
use serde_json::json;

/// Property: a provider that was just opened can be asked, also twice.
pub fn can_be_asked(opened: &mut Opened<'_>) {
    assert_eq!(opened.provider().status(), ProviderStatus::Available);
    assert_eq!(opened.provider().status(), ProviderStatus::Available);
    assert_eq!(opened.found("quokka"), Vec::<String>::new());
    assert_eq!(opened.found_in("nobody", "quokka"), Vec::<u64>::new());
}

/// Property: a page names the provider, whose id never changes.
pub fn every_page_names_the_provider(opened: &mut Opened<'_>) {
    let id = opened.provider().id().to_owned();
    assert!(!id.is_empty());
    let snapshot = made::live("a").saying(TextKind::User, "quokka");
    opened.provider().replace_live(&snapshot).unwrap();
    assert_eq!(opened.sessions(&over_all("quokka")).provider_id, id);
    assert_eq!(opened.events(&over_events("a", "quokka")).provider_id, id);
    opened.reopen();
    assert_eq!(opened.provider().id(), id);
}

/// A header with every field there is.
fn full_header() -> SessionHeader {
    let mut header = SessionHeader::new("full", Timestamp(made::BEGIN + 17));
    header.cwd = Some("/work/\"quoted\" and 'so'/日本".to_owned());
    header.parent_session = Some("its parent".to_owned());
    header.seed_length = Some(3);
    header.delegation_depth = Some(2);
    header.origin = Some("subagent".to_owned());
    header.agent_preset = Some("review".to_owned());
    header
        .extra
        .insert("futureField".to_owned(), json!({"b": [1, null], "a": "x"}));
    header
}

/// Property: header, seq, time and type of a hit are those that were fed, in both layers.
pub fn records_are_what_was_fed(opened: &mut Opened<'_>) {
    for is_live in [false, true] {
        let snapshot = SessionSnapshot {
            header: full_header(),
            ..if is_live {
                made::live("full")
            } else {
                made::persisted("full")
            }
        }
        .silent()
        .saying(TextKind::Agent, "pelican")
        .saying(TextKind::Result, "quokka");
        if is_live {
            opened.provider().replace_live(&snapshot).unwrap();
        } else {
            opened.provider().replace_persisted(&snapshot).unwrap();
            opened.provider().set_persisted_active(true).unwrap();
        }
        let page = opened.sessions(&over_all("quokka"));
        let [hit] = page.items.as_slice() else {
            panic!("one hit is expected: {page:?}");
        };
        assert_eq!(hit.session.header, snapshot.header);
        let event = &hit.best_match.event;
        assert_eq!(
            (event.session_id.as_str(), event.seq, event.r#type.as_str()),
            ("full", 2, "tool/result")
        );
        assert_eq!(event.time, Timestamp(made::BEGIN + 17 + 2_000));
        assert_eq!(
            opened.events(&over_events("full", "quokka")).items,
            std::slice::from_ref(&hit.best_match)
        );
    }
}

/// Property: `live` and `persisted` of a record are independent of each other.
pub fn records_say_which_layers_hold_a_session(opened: &mut Opened<'_>) {
    let provider = opened.provider();
    let say = |snapshot: SessionSnapshot| snapshot.saying(TextKind::User, "quokka");
    let both = SessionSnapshot {
        persisted: true,
        ..say(made::live("both"))
    };
    provider.replace_persisted(&say(made::persisted("base"))).unwrap();
    provider.replace_persisted(&say(made::persisted("both"))).unwrap();
    provider.replace_live(&say(made::live("live"))).unwrap();
    provider.replace_live(&both).unwrap();
    provider.set_persisted_active(true).unwrap();
    let flags = |opened: &Opened<'_>| {
        let mut flags: Vec<_> = opened
            .sessions(&over_all("quokka"))
            .items
            .into_iter()
            .map(|hit| (hit.session.header.id, hit.session.live, hit.session.persisted))
            .collect();
        flags.sort();
        flags
    };
    let of = |id: &str, live, persisted| (id.to_owned(), live, persisted);
    assert_eq!(
        flags(opened),
        [
            of("base", false, true),
            of("both", true, true),
            of("live", true, false)
        ]
    );
    opened.provider().set_persisted_active(false).unwrap();
    let only_live = say(made::live("both"));
    opened.provider().replace_live(&only_live).unwrap();
    assert_eq!(
        flags(opened),
        [of("both", true, false), of("live", true, false)],
        "without persistence"
    );
}

/// Property: an event is current, shadowed or log-only as marker and shadowed ranges say, in both layers.
pub fn surface_states_are_those_of_the_fold(opened: &mut Opened<'_>) {
    let unmarked = EventDocument {
        has_marker: false,
        ..made::document(TextKind::User, "quokka unmarked")
    };
    let grown = |snapshot: SessionSnapshot| SessionSnapshot {
        shadowed: vec![(0, 2), (4, 4)],
        ..snapshot
            .saying(TextKind::User, "quokka")
            .saying(TextKind::Call, "quokka")
            .saying(TextKind::Agent, "quokka")
            .saying(TextKind::Agent, "quokka")
            .saying(TextKind::User, "quokka")
            .with(unmarked.clone())
            .saying(TextKind::Context, "quokka")
    };
    use SurfaceState::{Current, LogOnly, Shadowed};
    let expected = [Shadowed, LogOnly, Shadowed, Current, Shadowed, LogOnly, Current];
    let provider = opened.provider();
    provider
        .replace_persisted(&grown(made::persisted("base")))
        .unwrap();
    provider.replace_live(&grown(made::live("live"))).unwrap();
    provider.set_persisted_active(true).unwrap();
    for id in ["base", "live"] {
        let mut items = opened.events(&over_events(id, "quokka")).items;
        items.sort_by_key(|hit| hit.event.seq);
        let states: Vec<_> = items.iter().map(|hit| hit.event.surface).collect();
        assert_eq!(states, expected, "{id}");
    }
}

/// Property: an event search gives the events of its session that hold the words, and no other session's.
pub fn events_are_those_that_hold_the_words(opened: &mut Opened<'_>) {
    let snapshot = |snapshot: SessionSnapshot| {
        snapshot
            .saying(TextKind::User, "a quokka here")
            .saying(TextKind::Agent, "a pelican there")
            .saying(TextKind::Agent, "again a quokka")
    };
    let provider = opened.provider();
    provider
        .replace_persisted(&snapshot(made::persisted("base")))
        .unwrap();
    provider.replace_live(&snapshot(made::live("live"))).unwrap();
    let other = made::persisted("other").saying(TextKind::User, "zirconium");
    provider.replace_persisted(&other).unwrap();
    provider.set_persisted_active(true).unwrap();
    for id in ["base", "live"] {
        assert_eq!(opened.found_in(id, "quokka"), [0, 2], "{id}");
        assert_eq!(opened.found_in(id, "pelican"), [1], "{id}");
        assert_eq!(opened.found_in(id, "zirconium"), Vec::<u64>::new(), "{id}");
    }
    assert_eq!(opened.found_in("nobody", "quokka"), Vec::<u64>::new());
}

/// Property: a session with many matching events is one hit, whose best match is one of them.
pub fn a_session_is_found_once_with_an_event_of_its_own(opened: &mut Opened<'_>) {
    for id in ["a", "b", "c"] {
        let mut snapshot = made::persisted(id);
        for round in 0..20 {
            snapshot = snapshot
                .saying(TextKind::User, &format!("quokka of {id} number {round}"))
                .saying(TextKind::Agent, "a pelican");
        }
        opened.provider().replace_persisted(&snapshot).unwrap();
    }
    opened.provider().set_persisted_active(true).unwrap();
    assert_eq!(opened.found("quokka"), ["a", "b", "c"]);
    for hit in opened.sessions(&over_all("quokka")).items {
        assert_eq!(hit.best_match.event.session_id, hit.session.header.id);
        assert_eq!(hit.best_match.event.seq % 2, 0, "{hit:?}");
    }
}

/// White space as one space, nothing at the ends.
fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Property: a snippet is cut from the event's words, has nothing else in it but ellipses where it was cut, and
/// is never longer than the provider's bound.
pub fn snippets_are_bounded_plain_text(opened: &mut Opened<'_>) {
    let filler = "plain words go on and on ".repeat(400);
    let texts = [
        "quokka".to_owned(),
        "one **quokka** with `marks` of <b>its own</b> &amp; <mark>more</mark>".to_owned(),
        "line one\n\n  line two\twith a quokka\r\nline three".to_owned(),
        format!("{filler} quokka {filler}"),
        format!("quokka {filler} quokka {filler} quokka"),
        format!("quokka {}", "x".repeat(9_000)),
        format!("{} quokka", "語".repeat(3_000)),
        format!("quokka {}", "👩‍👩‍👧‍👦 ".repeat(500)),
    ];
    let snapshot = texts.iter().fold(made::live("a"), |snapshot, text| {
        snapshot.saying(TextKind::User, text)
    });
    opened.provider().replace_live(&snapshot).unwrap();
    let bound = opened.subject.snippet_bound();
    let items = opened.events(&over_events("a", "quokka")).items;
    assert_eq!(items.len(), texts.len());
    for hit in items {
        let whole = normal(&texts[usize::try_from(hit.event.seq).unwrap()]);
        let length = hit.snippet.chars().count();
        assert!(
            (1..=bound).contains(&length),
            "{length} characters: {}",
            hit.snippet
        );
        for fragment in hit.snippet.split('…').map(normal) {
            assert!(
                whole.contains(&fragment),
                "{fragment:?} is not of event {}",
                hit.event.seq
            );
        }
    }
}

/// Property: a snippet shows a word that was looked for, however far into the text it stands.
pub fn snippets_show_the_match(opened: &mut Opened<'_>) {
    let filler = "plain words go on and on ".repeat(100);
    let snapshot = made::persisted("a")
        .saying(TextKind::User, &format!("Quokka {filler}"))
        .saying(TextKind::Agent, &format!("{filler} quokka {filler}"))
        .saying(TextKind::Result, &format!("{filler} quokka"));
    opened.provider().replace_persisted(&snapshot).unwrap();
    opened.provider().set_persisted_active(true).unwrap();
    let items = opened.events(&over_events("a", "quokka")).items;
    assert_eq!(items.len(), 3);
    for hit in items {
        assert!(hit.snippet.to_lowercase().contains("quokka"), "{hit:?}");
    }
}

/// Property: any text may be an id, and ids are compared exactly.
pub fn ids_are_data(opened: &mut Opened<'_>) {
    let mut ids = [
        "a",
        "A",
        "a%",
        "a_b",
        "a'; drop table sessions; --",
        "../../etc/passwd",
        "a b\"c\\d",
        "naïve",
        "naive",
        "セッション",
        "a*",
        " a",
    ]
    .map(str::to_owned)
    .to_vec();
    ids.push("long".repeat(100));
    ids.sort();
    for id in &ids {
        let snapshot = made::persisted(id).saying(TextKind::User, "quokka");
        opened.provider().replace_persisted(&snapshot).unwrap();
    }
    opened.provider().set_persisted_active(true).unwrap();
    assert_eq!(opened.found("quokka"), ids);
    for id in &ids {
        assert_eq!(opened.found_in(id, "quokka"), [0], "{id}");
    }
    opened.provider().remove_persisted("a").unwrap();
    opened.provider().remove_persisted("a%").unwrap();
    ids.retain(|id| id != "a" && id != "a%");
    assert_eq!(opened.found("quokka"), ids);
}
