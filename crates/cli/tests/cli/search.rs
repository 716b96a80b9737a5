//! Properties of `search`: it finds without being told to index, answers as contract A says, refuses what
//! is wrong by name, and keeps what transcripts hold from acting on the terminal.

use crate::person::{Person, append, lines, record};
use lookback_wire::SearchResponse;
use serde_json::json;

const A: &str = "a0000000-0000-4000-8000-00000000000a";
const B: &str = "b0000000-0000-4000-8000-00000000000b";

#[test]
fn the_first_search_reads_everything_and_prints_blocks() {
    let person = Person::new();
    person.claude(
        A,
        &[
            "why does the kettle whistle",
            "steam leaves through a narrow spout",
        ],
    );
    person.codex(B, "count the teacups", "there are nine");
    let call = person.call(&["search", "narrow", "spout"]);
    assert_eq!(call.code, 0, "{}", call.err);
    let [head, title, snippet, show, resume] = call.out.lines().collect::<Vec<_>>()[..] else {
        panic!("{}", call.out);
    };
    assert!(head.starts_with("claude - shop - /srv/shop - "), "{head}");
    assert_eq!(title, "  why does the kettle whistle");
    assert!(
        snippet.starts_with("  agent: ") && snippet.contains("«spout»"),
        "{snippet}"
    );
    assert_eq!(show, format!("  show: lookback show {A} --at 1"));
    assert_eq!(resume, format!("  resume: cd /srv/shop && claude --resume {A}"));
    assert!(
        call.err
            .lines()
            .any(|line| line == "searched 2 sessions of claude, codex"),
        "{}",
        call.err
    );
}

#[test]
fn json_is_an_answer_of_contract_a() {
    let person = Person::new();
    person.claude(A, &["if [[ -f kettle ]]; then pour", "done"]);
    let call = person.call(&["search", "--json", "--debug", "kettle"]);
    let SearchResponse::Results(results) = SearchResponse::from_json(call.out.as_bytes()).unwrap() else {
        panic!("{}", call.out);
    };
    assert!(!results.truncated.freshness && !results.page.has_more);
    assert!(results.debug.is_some());
    let evidence = results.hits[0].evidence.as_ref().unwrap();
    assert_eq!(evidence.snippet, "if [ [ -f [[kettle]] ] ]; then pour");
    assert_eq!(evidence.seq, Some(0));
}

#[test]
fn nothing_found_is_one_for_people_and_none_for_programs() {
    let person = Person::new();
    person.claude(A, &["kettle", "lid"]);
    let call = person.call(&["search", "xylophone"]);
    assert_eq!((call.code, call.out.as_str()), (1, ""));
    assert_eq!(
        person.call(&["search", "--json", "xylophone"]).hits(),
        Vec::<String>::new()
    );
    assert_eq!(
        person.call(&["search", "--json", ""]).hits(),
        Vec::<String>::new()
    );
}

#[test]
fn without_any_transcript_the_folders_are_named() {
    let person = Person::new();
    let call = person.call(&["search", "kettle"]);
    assert_eq!(call.code, 1);
    assert!(
        call.err.contains(".claude") && call.err.contains(".codex") && call.err.contains(".gemini"),
        "{}",
        call.err
    );
    assert!(call.err.contains("lookback demo"), "{}", call.err);
    assert_eq!(
        person.call(&["search", "--json", "kettle"]).hits(),
        Vec::<String>::new()
    );
}

#[test]
fn wrong_use_is_named_and_ends_with_two() {
    let person = Person::new();
    person.claude(A, &["kettle", "lid"]);
    for (arguments, told) in [
        (&["search"][..], "nothing to search for"),
        (&["search", "--agent", "nobody", "x"], "claude, codex, gemini"),
        (&["search", "--since", "yesterday", "x"], "--since yesterday"),
        (&["search", "--since", "2026-05-04T09:00:00", "x"], "zone"),
        (&["search", "--path", "", "x"], "--path"),
        (
            &["search", "--host", "ssh:box", "x"],
            "Agent Session History is not available for this execution host.",
        ),
        (
            &["search", "--host", "all", "x"],
            "Agent Session History is not available for this execution host.",
        ),
        (&["search", "--limit", "many", "x"], "many"),
        (&["search", "--scope", "tools", "x"], "conversation"),
        (&["search", "--cursor", "bogus", "kettle"], "--cursor"),
        (&["seek", "x"], "seek"),
    ] {
        let call = person.call(arguments);
        assert_eq!(call.code, 2, "{arguments:?}: {}", call.err);
        assert!(call.err.contains(told), "{arguments:?}: {}", call.err);
        assert_eq!(call.out, "", "{arguments:?}");
    }
    assert_eq!(person.call(&["search", "--host", "local", "kettle"]).code, 0);
}

#[test]
fn filters_narrow() {
    let person = Person::new();
    person.claude(A, &["kettle of the shop", "lid"]);
    person.codex(B, "kettle of the warehouse", "lid");
    let found = |more: &[&str]| {
        person
            .call(&[&["search", "--json", "kettle"], more].concat())
            .hits()
    };
    assert_eq!(found(&["--agent", "codex"]), [B]);
    assert_eq!(found(&["--agent", "codex", "--agent", "claude"]).len(), 2);
    assert_eq!(found(&["--path", "/srv/shop"]), [A]);
    assert_eq!(found(&["--path", "shop"]), [A]);
    assert_eq!(found(&["--since", "2026-05-04T12:00:00Z"]), [B]);
    assert_eq!(found(&["--sort", "newest"]), [B, A]);
    assert_eq!(found(&["--limit", "1", "--sort", "newest"]), [B]);
}

#[test]
fn pages_hold_each_session_once() {
    let person = Person::new();
    let mut expected = Vec::new();
    for number in 0..5 {
        let id = format!("c0000000-0000-4000-8000-{number:012}");
        person.claude(&id, &[&format!("kettle number {number}"), "lid"]);
        expected.push(id);
    }
    let mut found = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..3 {
        let mut arguments = vec!["search", "--json", "--limit", "2", "kettle"];
        arguments.extend(cursor.iter().flat_map(|cursor| ["--cursor", cursor.as_str()]));
        let call = person.call(&arguments);
        found.extend(call.hits());
        cursor = call.json()["page"]["cursor"].as_str().map(str::to_owned);
    }
    assert_eq!(cursor, None);
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn a_cursor_belongs_to_its_query() {
    let person = Person::new();
    for number in 0..3 {
        person.claude(
            &format!("c0000000-0000-4000-8000-{number:012}"),
            &[&format!("kettle {number}"), "lid"],
        );
    }
    let first = person
        .call(&["search", "--json", "--limit", "1", "kettle"])
        .json();
    let cursor = first["page"]["cursor"].as_str().unwrap();
    let other = person
        .call(&["search", "--json", "--cursor", cursor, "lid"])
        .json();
    assert_eq!(other, json!({"kind": "malformed-cursor"}));
    person.claude(A, &["kettle late", "lid"]);
    let later = person
        .call(&["search", "--json", "--cursor", cursor, "kettle"])
        .json();
    assert_eq!(later["kind"], "stale-cursor");
    assert_eq!(later["expectedGeneration"], first["generation"]);
}

#[test]
fn freshness_decides_whether_transcripts_are_looked_at() {
    let person = Person::new();
    let path = person.claude(A, &["kettle", "lid"]);
    let call = person.call(&["search", "--json", "--freshness", "indexed", "kettle"]);
    assert_eq!(call.hits(), Vec::<String>::new());
    assert_eq!(person.call(&["search", "--json", "kettle"]).hits(), [A]);
    append(
        &path,
        &lines(&[record(A, 2, Some(1), "user", json!("and the samovar"))]),
    );
    assert_eq!(
        person
            .call(&["search", "--json", "--freshness", "indexed", "samovar"])
            .hits(),
        Vec::<String>::new()
    );
    assert_eq!(person.call(&["search", "--json", "samovar"]).hits(), [A]);
}

#[test]
fn subagents_stand_under_the_session_they_worked_for() {
    let person = Person::new();
    person.claude(A, &["who polishes the samovar", "a helper does"]);
    person.subagent(
        A,
        "f00d",
        &["polish the samovar", "the samovar shines, samovar by samovar"],
    );
    let call = person.call(&["search", "samovar"]);
    let heads: Vec<&str> = call
        .out
        .lines()
        .filter(|line| line.trim_start().starts_with("claude - "))
        .collect();
    let [parent, child] = heads[..] else {
        panic!("{}", call.out)
    };
    assert!(
        !parent.starts_with(' ') && child.starts_with("    claude"),
        "{}",
        call.out
    );
    assert!(
        call.out.replace('\n', " ").contains(&format!("subagent of {A}")),
        "{}",
        call.out
    );
    assert_eq!(call.out.matches("resume:").count(), 1, "{}", call.out);
}

#[test]
fn transcripts_do_not_act_on_the_terminal() {
    let person = Person::new();
    let words =
        "kettle \u{1b}]0;owned\u{7} \u{1b}[2J \u{9b}31m \u{202e}drawkcab\u{2066} zero\u{200b}width \u{7f}";
    person.claude(A, &[words, words]);
    for arguments in [&["search", "kettle"][..], &["show", A], &["sessions"]] {
        let call = person.call(arguments);
        assert_eq!(call.code, 0, "{}", call.err);
        let unsafe_ones: Vec<char> = call
            .out
            .chars()
            .chain(call.err.chars())
            .filter(|&c| (c.is_control() && c != '\n') || "\u{202e}\u{2066}\u{200b}".contains(c))
            .collect();
        assert_eq!(unsafe_ones, Vec::<char>::new(), "{arguments:?}");
    }
    let shown = person.call(&["show", A, "--json"]).json();
    assert_eq!(
        shown["events"][0]["text"],
        words.trim(),
        "JSON keeps every character"
    );
}

#[test]
fn narrow_terminals_are_respected() {
    let person = Person::new();
    person.claude(
        A,
        &[
            "the kettle 日本語 whistles and whistles and whistles and whistles",
            "lid",
        ],
    );
    let call = crate::person::finish(person.command(&["search", "kettle"]).env("COLUMNS", "30"));
    let prose = call
        .out
        .lines()
        .filter(|line| !line.contains("show:") && !line.contains("resume:"));
    for line in prose {
        assert!(unicode_width::UnicodeWidthStr::width(line) <= 30, "{line}");
    }
}

#[test]
fn what_cannot_be_written_can_still_be_searched() {
    let person = Person::new();
    person.claude(A, &["kettle", "lid"]);
    assert_eq!(person.call(&["search", "--json", "kettle"]).hits(), [A]);
    // A folder in the place of the lock cannot be locked, whoever asks.
    std::fs::remove_file(person.data().join("lock")).unwrap();
    std::fs::create_dir(person.data().join("lock")).unwrap();
    person.claude(B, &["kettle, a newer one", "lid"]);
    let call = person.call(&["search", "--json", "kettle"]);
    assert_eq!(call.hits(), [A]);
    assert_eq!(call.json()["truncated"]["freshness"], true);
    assert_eq!(call.err.lines().count(), 1, "{}", call.err);
    assert!(
        call.err.starts_with("warning: ") && call.err.contains("cannot write to"),
        "{}",
        call.err
    );
    let call = person.call(&["index"]);
    assert_eq!(call.code, 3);
    assert!(call.err.starts_with("error: cannot write to "), "{}", call.err);
}
