//! Properties of `trace`: a lineage is a tree with the session marked in it, an event's replacers and sources are
//! told, and JSON is the contract's trace.

use crate::person::{Person, record};
use serde_json::json;

/// Lines without the ages in them, which depend on the day.
fn tree(out: &str) -> Vec<String> {
    let without_age = |line: &str| {
        let words = line
            .split("  ")
            .filter(|words| !words.contains(" ago") && !words.contains("claude"));
        words.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    out.lines().map(without_age).collect()
}

fn family() -> Person {
    let person = Person::new();
    person.claude("root-session", &["plan the work", "done"]);
    person.subagent("root-session", "a1", &["look at the shop", "found"]);
    person.subagent("root-session", "a2", &["look at the till", "found"]);
    person
}

/// Property: parents stand above, children below, the session that was asked for is marked, and titles are told.
#[test]
fn a_lineage_is_a_tree() {
    let person = family();
    let call = person.call(&["trace", "root-session"]);
    assert_eq!(call.code, 0, "{}", call.err);
    let lines: Vec<&str> = call.out.lines().collect();
    assert_eq!(lines.len(), 3, "{}", call.out);
    assert!(
        lines[0].starts_with("root-session  claude") && lines[0].ends_with("<--"),
        "{}",
        call.out
    );
    assert!(lines[0].contains("plan the work"), "{}", call.out);
    assert!(
        lines[1].starts_with("├─ ") && lines[1].contains("subagent"),
        "{}",
        call.out
    );
    assert!(
        lines[2].starts_with("└─ ") && lines[2].contains("look at the till"),
        "{}",
        call.out
    );

    let json = person.call(&["trace", "root-session", "--json"]).json();
    assert_eq!(json["root"]["header"]["id"], "root-session");
    let child = json["children"][0]["session"]["header"]["id"].as_str().unwrap();
    let call = person.call(&["trace", child]);
    let lines: Vec<&str> = call.out.lines().collect();
    assert_eq!(lines.len(), 2, "{}", call.out);
    assert!(
        lines[0].starts_with("root-session") && !lines[0].contains("<--"),
        "{}",
        call.out
    );
    assert!(
        lines[1].starts_with(&format!("└─ {child}")) && lines[1].ends_with("<--"),
        "{}",
        call.out
    );
}

/// Property: a parent that is nowhere is said to be.
#[test]
fn an_absent_parent_is_told() {
    let person = Person::new();
    person.subagent("gone-session", "a1", &["look at the shop", "found"]);
    let json = person.call(&["sessions", "--all", "--json"]).json();
    let id = json["sessions"][0]["sessionId"].as_str().unwrap();
    let call = person.call(&["trace", id]);
    let lines = tree(&call.out);
    assert_eq!(
        lines[0], "gone-session  (a parent that is not there)",
        "{}",
        call.out
    );
    assert!(lines[1].starts_with(&format!("└─ {id}")), "{}", call.out);
    let json = person.call(&["trace", id, "--json"]).json();
    assert_eq!(
        (&json["unresolvedParentId"], json.get("root")),
        (&json!("gone-session"), None)
    );
}

/// Property: an event that was rewound names what took its place, and that one what it replaced.
#[test]
fn an_event_tells_what_became_of_it() {
    let person = Person::new();
    let records = [
        record("s", 0, None, "user", json!("hello")),
        record("s", 1, Some(0), "assistant", json!("hi")),
        record("s", 2, Some(1), "user", json!("first idea")),
        record("s", 3, Some(2), "assistant", json!("first answer")),
        // The person went back to the greeting and said something else.
        record("s", 4, Some(1), "user", json!("second idea")),
        record("s", 5, Some(4), "assistant", json!("second answer")),
    ];
    person.claude_records("s", &records);
    let events = person.call(&["show", "s", "--json"]).json();
    let seq_of = |text: &str| {
        let events = events["events"].as_array().unwrap();
        let event = events.iter().find(|event| event["text"] == text).unwrap();
        event["seq"].to_string()
    };
    let (old, new) = (seq_of("first idea"), seq_of("second idea"));
    let json = person.call(&["trace", "s", &old, "--json"]).json();
    assert_eq!(json["shadowedBy"].to_string(), new);
    let call = person.call(&["trace", "s", &old]);
    assert!(
        call.out.starts_with(&format!("#{old}  user/message  shadowed")),
        "{}",
        call.out
    );
    assert!(call.out.contains("\n  first idea\n"), "{}", call.out);
    let replacer = format!("replaced by, up to what is current\n  #{new}  user/message  current\n");
    assert!(call.out.contains(&replacer), "{}", call.out);
    let call = person.call(&["trace", "s", &new]);
    assert!(
        call.out
            .contains(&format!("replaces\n  #{old}  user/message  shadowed\n")),
        "{}",
        call.out
    );
}

/// Property: what is not there, or not one thing, ends as everywhere.
#[test]
fn ids_are_as_everywhere() {
    let person = family();
    assert_eq!(person.call(&["trace", "no-such"]).code, 1);
    assert_eq!(person.call(&["trace", "root-session", "999"]).code, 1);
    assert_eq!(person.call(&["trace", "root-session", "-1"]).code, 2);
    person.claude("root-other", &["else", "done"]);
    let call = person.call(&["trace", "root-"]);
    assert_eq!((call.code, call.out.as_str()), (2, ""), "{}", call.err);
    assert_eq!(person.call(&["trace", "root-o"]).code, 0);
}
