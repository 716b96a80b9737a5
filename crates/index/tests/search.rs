//! Search over made-up corpora. Properties: pages give each session once and in one order; snippets mark
//! what was searched for and nothing else; any string has an answer; the way an index came to be does not
//! show in its answers, and neither do sessions out of scope.
//!
//! The vocabulary is small on purpose: ties, repeated words, copies and several files of one session are the
//! rule here and not the exception.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod support;

use lookback_index::{Options, analyze};
use lookback_model::hit::Evidence;
use lookback_model::ports::{FileRead, IndexSink, SearchPage};
use lookback_model::query::{SearchRequest, Sort};
use lookback_model::{SessionKind, TextKind, Timestamp, View};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index as Choice, select};
use std::collections::BTreeSet;
use std::sync::LazyLock;
use support::{Told, Vault, add, commit, ids};

const WORDS: &[&str] = &[
    "cache",
    "caches",
    "caching",
    "retry",
    "retries",
    "pool",
    "pools",
    "the",
    "user",
    "by",
    "id",
    "getUserById",
    "get_user_by_id",
    "getuserbyid",
    "src/main.rs",
    "E0308",
    "error:",
    "c++",
    "悬空引用",
    "令牌",
    "ガガ",
    "café",
    "cafe\u{301}",
    "Über",
    "👩\u{200d}💻",
    "[[",
    "]]",
    "[cache]",
    "2026-03-02",
    "march",
];
const CWDS: &[&str] = &["/srv/shop", "/srv/Café", "/home/dev/shop"];
const AGENTS: &[&str] = &["claude", "codex"];
/// 2026-03-01T00:00:00Z.
const BEGIN: i64 = 1_772_323_200_000;
const DAY: i64 = 86_400_000;

fn text() -> impl Strategy<Value = String> {
    let filler = "nothing of interest stands here, ".repeat(12);
    let piece = prop_oneof![
        12 => select(WORDS).prop_map(str::to_owned),
        1 => Just(filler),
        1 => Just("x".repeat(300)),
        1 => Just("悬空引用的令牌".repeat(50)),
    ];
    (vec(piece, 1..12), select(&[" ", "\n", ", ", "·"])).prop_map(|(pieces, between)| pieces.join(between))
}

fn event() -> impl Strategy<Value = Vec<(TextKind, String)>> {
    let kind = select(&TextKind::ALL[..]);
    let pieces = vec((kind, text()), 1..3);
    pieces.prop_map(|mut pieces| {
        pieces.sort_by_key(|(kind, _)| *kind);
        pieces.dedup_by_key(|(kind, _)| *kind);
        pieces
    })
}

fn told() -> impl Strategy<Value = Told> {
    let driver = select(vec![SessionKind::default(), SessionKind::Subagent]);
    let place = (select(AGENTS), 0..6u32, select(CWDS), 0..3i64);
    (place, driver, 0..2u64, vec(event(), 1..5)).prop_map(
        |((agent, id, cwd, day), driver, recalls, events)| Told {
            agent: agent.into(),
            path: String::new(),
            id: format!("s{id}"),
            cwd: cwd.into(),
            start: BEGIN + day * DAY,
            driver,
            recalls,
            events,
        },
    )
}

/// Sessions, of which some begin with what others said, and some are several files of one.
fn corpus() -> impl Strategy<Value = Vec<Told>> {
    let fork = prop::option::weighted(0.4, (any::<Choice>(), 1..5usize));
    vec((told(), fork), 1..14).prop_map(|made| {
        let mut all: Vec<Told> = Vec::new();
        for (number, (mut told, fork)) in made.into_iter().enumerate() {
            if let Some((of, length)) = fork.filter(|_| !all.is_empty()) {
                let first = &all[of.index(all.len())].events;
                let mut events = first[..length.min(first.len())].to_vec();
                events.append(&mut told.events);
                told.events = events;
            }
            let folder = ["one", "two"][number % 2];
            told.path = format!("/root/{folder}/{number}.jsonl");
            all.push(told);
        }
        all
    })
}

fn query() -> impl Strategy<Value = String> {
    let word = || select(WORDS).prop_map(str::to_owned);
    let misspelt = (word(), any::<Choice>()).prop_map(|(word, at)| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.remove(at.index(letters.len()));
        letters.into_iter().collect()
    });
    let begun = (word(), any::<Choice>()).prop_map(|(word, length)| {
        let length = 1 + length.index(word.chars().count());
        word.chars().take(length).collect()
    });
    let quoted = vec(word(), 1..3).prop_map(|words| format!("\"{}\"", words.join(" ")));
    let piece = prop_oneof![5 => word(), 1 => misspelt, 1 => begun, 1 => quoted];
    let few = vec(piece, 1..4).prop_map(|pieces| pieces.join(" "));
    let sentence = vec(word(), 2..9).prop_map(|words| format!("why does the {} not work", words.join(" ")));
    prop_oneof![4 => few, 1 => sentence]
}

fn request() -> impl Strategy<Value = SearchRequest> {
    let view = select(&[View::Conversation, View::Full, View::Everything, View::Plain]);
    let sort = select(&[Sort::Relevance, Sort::Newest]);
    (query(), view, sort).prop_map(|(query, view, sort)| SearchRequest {
        view,
        sort,
        limit: 100,
        ..SearchRequest::new(query)
    })
}

fn vault_of(all: &[Told]) -> Vault {
    let vault = Vault::new();
    let writer = vault.writer();
    commit(&*writer, all.iter().map(|told| told.add(&*writer)).collect());
    drop(writer);
    vault
}

/// All of an answer that may not depend on how the index came to be.
fn shown(page: &SearchPage) -> Vec<String> {
    let mut lines = vec![format!(
        "{} {:?} query cut {} snippets cut {} more {}",
        page.route,
        page.repaired_terms,
        page.query_cut,
        page.snippets_cut,
        page.cursor.is_some()
    )];
    lines.extend(page.hits.iter().map(|hit| {
        let row = &hit.session;
        let path = row.path.display();
        format!(
            "{} {} {path} {} {:?}",
            row.agent, row.session_id, hit.score, hit.evidence
        )
    }));
    lines
}

/// Marks lie on the text and in order, and each covers something that was searched for.
fn check_snippet(evidence: &Evidence, page: &SearchPage, query: &str) {
    let snippet = &evidence.snippet;
    assert!(snippet.text.chars().count() <= 512, "{}", snippet.text);
    let lowered = query.to_lowercase();
    let searched = page.repaired_terms.iter().flatten().map(String::as_str);
    let searched: BTreeSet<String> = searched
        .chain([lowered.as_str(), query])
        .flat_map(analyze::terms)
        .map(|term| term.text)
        .collect();
    let run_together: String = analyze::terms(&lowered)
        .into_iter()
        .map(|term| term.text)
        .collect();
    let mut last = 0;
    for range in &snippet.matches {
        let marked = snippet.text.get(range.clone()).expect("on character boundaries");
        assert!(
            !marked.is_empty() && (range.start > last || last == 0),
            "{snippet:?}"
        );
        last = range.end;
        let is_searched = |term: &str| {
            let beginning: String = term.chars().take(3).collect();
            let is_like =
                |word: &String| word == term || word.starts_with(&beginning) || term.contains(word.as_str());
            searched.iter().any(is_like) || run_together.contains(term)
        };
        let covers = analyze::terms(marked).iter().any(|term| is_searched(&term.text));
        assert!(
            covers,
            "{marked:?} was not searched for by {query:?}: {snippet:?}"
        );
    }
}

/// The text of a snippet stands in one of the corpus.
fn check_source(evidence: &Evidence, all: &[Told]) {
    let inner = evidence.snippet.text.trim_matches('…');
    let mut texts = all.iter().flat_map(|told| &told.events).flatten();
    let stands = texts.any(|(kind, text)| *kind == evidence.kind && text.contains(inner));
    assert!(stands, "{inner:?} stands in no text");
}

fn quick(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Some order of commits, some sessions that are there for a while, and sessions that were once shorter.
#[derive(Clone, Debug)]
struct History {
    order: Vec<Choice>,
    commits: Vec<bool>,
    ghosts: Vec<(Told, bool)>,
    earlier: Vec<bool>,
    threads: usize,
}

fn history() -> impl Strategy<Value = History> {
    let ghosts = vec((told(), any::<bool>()), 0..4);
    (
        vec(any::<Choice>(), 14),
        vec(any::<bool>(), 14),
        ghosts,
        vec(any::<bool>(), 14),
        1..3usize,
    )
        .prop_map(|(order, commits, ghosts, earlier, threads)| History {
            order,
            commits,
            ghosts,
            earlier,
            threads,
        })
}

/// An index of the sessions that came to be in a roundabout way.
fn vault_with(all: &[Told], history: &History) -> Vault {
    let vault = Vault::with(Options {
        threads: history.threads,
        heap_bytes: history.threads * (15 << 20),
    });
    let writer = vault.index.writer(u64::MAX).unwrap().unwrap();
    let ghosts = history.ghosts.iter().zip(0..).map(|((ghost, _), number)| Told {
        path: format!("/root/ghost/{number}.jsonl"),
        ..ghost.clone()
    });
    let ghosts: Vec<Told> = ghosts.collect();
    let mut reads: Vec<FileRead> = ghosts.iter().map(|ghost| ghost.add(&*writer)).collect();
    let shorter = |told: &Told| Told {
        events: told.events[..told.events.len() / 2].to_vec(),
        ..told.clone()
    };
    let was_shorter = |number: &usize| history.earlier[*number];
    reads.extend(
        (0..all.len())
            .filter(was_shorter)
            .map(|number| shorter(&all[number]).add(&*writer)),
    );
    commit(&*writer, reads);
    let mut left: Vec<&Told> = all.iter().collect();
    let mut reads = Vec::new();
    for (pick, commits) in history.order.iter().zip(&history.commits) {
        if left.is_empty() {
            break;
        }
        reads.push(left.remove(pick.index(left.len())).add(&*writer));
        if *commits {
            commit(&*writer, std::mem::take(&mut reads));
        }
    }
    reads.extend(ghosts.iter().map(|ghost| ghost.read(Vec::new())));
    commit(&*writer, reads);
    drop(writer);
    vault
}

proptest! {
    #![proptest_config(quick(16))]

    #[test]
    fn pages_of_any_size_are_one_order(
        all in corpus(),
        requests in vec(request(), 6),
        sizes in vec(1..6usize, 1..4),
    ) {
        let vault = vault_of(&all);
        for request in requests {
            let whole = vault.page(&request);
            let mut seen = Vec::new();
            let mut next = request.clone();
            for size in sizes.iter().cycle() {
                next.limit = *size;
                let page = vault.page(&next);
                prop_assert!(page.hits.len() <= *size);
                seen.extend(page.hits);
                let Some(cursor) = page.cursor else { break };
                prop_assert_eq!(seen.len() % 100, seen.len(), "a page that goes on is full");
                next.cursor = Some(cursor);
            }
            prop_assert_eq!(&seen, &whole.hits);
            let names: BTreeSet<_> = seen.iter().map(|hit| (&hit.session.agent, &hit.session.session_id)).collect();
            prop_assert_eq!(names.len(), seen.len());
        }
    }

    #[test]
    fn snippets_mark_what_was_searched_for(all in corpus(), requests in vec(request(), 10)) {
        let vault = vault_of(&all);
        for request in requests {
            let page = vault.page(&request);
            for evidence in page.hits.iter().filter_map(|hit| hit.evidence.as_ref()) {
                check_snippet(evidence, &page, &request.query);
                check_source(evidence, &all);
                prop_assert!(!evidence.snippet.matches.is_empty(), "{:?} {:?}", request.query, evidence);
                prop_assert!(request.view.kinds().contains(&evidence.kind));
            }
        }
    }

    #[test]
    fn how_an_index_came_to_be_does_not_show(
        all in corpus(),
        history in history(),
        requests in vec(request(), 10),
    ) {
        let (straight, roundabout) = (vault_of(&all), vault_with(&all, &history));
        for request in requests {
            let (one, other) = (straight.page(&request), roundabout.page(&request));
            prop_assert_eq!(shown(&one), shown(&other), "{:?}", request);
        }
    }

    #[test]
    fn sessions_out_of_scope_do_not_show(all in corpus(), requests in vec(request(), 6), day in 0..3i64) {
        let vault = vault_of(&all);
        let since = Timestamp(BEGIN + day * DAY);
        let updated = |told: &Told| told.start + told.events.len() as i64 * 60_000;
        type Narrowed<'a> = (&'a dyn Fn(&mut SearchRequest), &'a dyn Fn(&Told) -> bool);
        let narrowed: [Narrowed<'_>; 5] = [
            (&|request| request.agents = vec!["codex".into()], &|told| told.agent == "codex"),
            (&|request| request.paths = vec!["/srv".into()], &|told| told.cwd.starts_with("/srv")),
            (&|request| request.since = Some(since), &|told| updated(told) >= since.0),
            (&|request| request.query.insert_str(0, "repo:shop "), &|told| told.cwd.ends_with("shop")),
            (&|request| request.query.push_str(" path:/ONE/"), &|told| told.path.contains("/one/")),
        ];
        for (narrow, is_in_scope) in narrowed {
            let inside: Vec<Told> = all.iter().filter(|told| is_in_scope(told)).cloned().collect();
            let alone = vault_of(&inside);
            for request in &requests {
                let mut request = request.clone();
                narrow(&mut request);
                let (one, other) = (vault.page(&request), alone.page(&request));
                prop_assert_eq!(shown(&one), shown(&other), "{:?}", request);
            }
        }
    }
}

/// A vault for questions that need no certain one.
static SHARED: LazyLock<Vault> = LazyLock::new(|| {
    let texts: Vec<String> = (0..40)
        .map(|at| {
            format!(
                "{} {}",
                WORDS[at % WORDS.len()],
                WORDS[(at * 7 + 3) % WORDS.len()]
            )
        })
        .collect();
    let all: Vec<Told> = texts
        .iter()
        .enumerate()
        .map(|(at, text)| {
            Told::new(
                &format!("/root/{at}"),
                &format!("s{at}"),
                BEGIN + at as i64,
                &[text, "and more of it"],
            )
        })
        .collect();
    vault_of(&all)
});

fn check_any(query: &str) {
    for sort in [Sort::Relevance, Sort::Newest] {
        let request = SearchRequest {
            sort,
            limit: 7,
            ..SearchRequest::new(query)
        };
        let page = SHARED.page(&request);
        assert!(page.hits.len() <= 7);
        assert!(page.query_cut || query.encode_utf16().count() <= 512, "{query:?}");
        assert!(page.hits.iter().all(|hit| hit.score.is_finite()), "{query:?}");
        for evidence in page.hits.iter().filter_map(|hit| hit.evidence.as_ref()) {
            check_snippet(evidence, &page, query);
        }
    }
}

proptest! {
    #![proptest_config(quick(200))]

    #[test]
    fn any_string_has_an_answer(query in "\\PC{0,600}") {
        check_any(&query);
    }

    #[test]
    fn any_mixture_of_signs_and_words_has_an_answer(
        pieces in vec(prop_oneof![
            select(WORDS).prop_map(str::to_owned),
            select(&["\"", "'", "repo:", "path:", "repo:\"", ":", "-", "*", "\0", "\u{301}", "\u{200d}", "_", "(", " ", "  ", "\n"][..]).prop_map(str::to_owned),
            "\\PC",
        ], 0..40),
    ) {
        check_any(&pieces.concat());
    }
}

#[test]
fn queries_at_the_limits_have_an_answer() {
    let many = |word: &str, count: usize| vec![word; count].join(" ");
    for query in [
        "",
        " ",
        "\"",
        "\"\"",
        "'",
        "repo:",
        "path:",
        "repo:\"",
        "path:''",
        "*",
        "-",
        "\0",
        "a\0b",
        "_",
        "__",
        "\u{301}",
        "\u{feff}",
        "🙂",
        "repo:x",
        "PATH:/ path:/ cache",
    ] {
        check_any(query);
    }
    for query in [
        "x".repeat(100_000),
        "é".repeat(511),
        "🙂".repeat(300),
        "令".repeat(600),
        "ガ".repeat(400),
        "a_".repeat(300),
        "aB".repeat(300),
        "\u{301}".repeat(600),
        many("cache", 1_000),
        many("\"cache pool\"", 1_000),
        many("the", 1_000),
        many("cahce", 100),
        many("令牌", 1_000),
        many("repo:shop", 1_000),
        (0..1_000).map(|at| format!("w{at} ")).collect(),
    ] {
        check_any(&query);
        if query.split_whitespace().count() >= 1_000 {
            assert!(SHARED.page(&SearchRequest::new(query)).query_cut);
        }
    }
}

/// Which sessions a query finds for the route that answered it.
fn routed(vault: &Vault, query: &str) -> (String, Vec<String>) {
    let page = vault.page(&SearchRequest::new(query));
    (page.route.clone(), ids(&page))
}

const TYPED: &[(&str, &str)] = &[
    ("pool", "connection pool exhausted after the deploy of tuesday"),
    (
        "pool",
        "psycopg2.OperationalError: FATAL: remaining connection slots are reserved",
    ),
    ("pool", "raise max_connections pgbouncer default_pool_size"),
    ("names", "getUserById returns undefined for deleted accounts"),
    ("names", "src/accounts/repository.ts findDeleted soft delete"),
    ("names", "rename get_user_by_id to load_account"),
    (
        "build",
        "error[E0308]: mismatched types expected Option found Result",
    ),
    (
        "build",
        "cargo build fails with linker cc not found in the container",
    ),
    ("build", "install build-essential before cargo build"),
    ("queue", "retries of the webhook queue doubled every invoice"),
    ("queue", "idempotency key for webhook deliveries"),
    ("queue", "exponential backoff with jitter for the retry queue"),
    ("style", "tailwind purge removed the dark mode classes"),
    ("style", "safelist dark: variants in tailwind.config.js"),
    ("chinese", "修复悬空引用错误 并且 刷新令牌"),
    ("chinese", "令牌过期之后 重新登录"),
    ("clock", "flaky test depends on the time zone of the runner"),
    ("clock", "freeze the clock with jest.useFakeTimers in setup"),
    ("auth", "refresh token rotation logs everybody out at midnight"),
    ("auth", "cookie SameSite=None Secure behind the proxy"),
];

/// While a query is being typed there is always an answer, and as soon as a word is complete the session that
/// holds all words so far is found.
#[test]
fn search_as_you_type() {
    let vault = Vault::new();
    let writer = vault.writer();
    let sessions: BTreeSet<&str> = TYPED.iter().map(|(session, _)| *session).collect();
    let reads = sessions.iter().map(|session| {
        let texts: Vec<&str> = TYPED
            .iter()
            .filter(|(of, _)| of == session)
            .map(|(_, text)| *text)
            .collect();
        add(&*writer, &format!("/root/{session}"), session, BEGIN, &texts)
    });
    commit(&*writer, reads.collect());
    for (session, query) in TYPED {
        for (end, character) in query.char_indices().chain([(query.len(), ' ')]) {
            let typed = &query[..end];
            let (route, found) = routed(&vault, typed);
            if character.is_whitespace() {
                assert!(
                    found.iter().any(|id| id == session),
                    "{typed:?} by {route} found {found:?}"
                );
            }
        }
        let (route, found) = routed(&vault, query);
        assert_eq!(
            found.first().map(String::as_str),
            Some(*session),
            "{query:?} by {route}"
        );
    }
}
