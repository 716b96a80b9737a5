//! Properties of `show`: the conversation as it was last seen, what was rewound or compacted still in its
//! place, and after the transcript is gone still what was indexed.

use crate::person::{Person, lines, record, time, uuid};
use serde_json::json;

const A: &str = "a0000000-0000-4000-8000-00000000000a";

#[test]
fn a_conversation_is_printed_by_any_unique_beginning_of_its_id() {
    let person = Person::new();
    person.claude(
        A,
        &[
            "why does the kettle whistle",
            "steam leaves\nthrough a narrow spout",
        ],
    );
    let call = person.call(&["show", "a0000"]);
    assert_eq!(call.code, 0, "{}", call.err);
    let expected = "\nyou  2026-05-04 09:00  #0\n  why does the kettle whistle\n\
        \nagent  2026-05-04 09:01  #1\n  steam leaves\n  through a narrow spout\n";
    assert!(call.out.ends_with(expected), "{}", call.out);
    assert!(
        call.out.starts_with("why does the kettle whistle\n"),
        "{}",
        call.out
    );
}

#[test]
fn ids_that_are_none_or_several_are_named() {
    let person = Person::new();
    person.claude(A, &["kettle", "lid"]);
    person.claude("a0000000-0000-4000-8000-00000000000b", &["cup", "saucer"]);
    let none = person.call(&["show", "zzz"]);
    assert_eq!(none.code, 1);
    assert!(
        none.err.starts_with("error: no session zzz\nhint: "),
        "{}",
        none.err
    );
    let several = person.call(&["show", "a000"]);
    assert_eq!(several.code, 2);
    assert!(several.err.contains(A), "{}", several.err);
}

#[test]
fn a_window_surrounds_an_event() {
    let person = Person::new();
    let turns: Vec<String> = (0..9).map(|number| format!("turn {number}")).collect();
    person.claude(A, &turns.iter().map(String::as_str).collect::<Vec<_>>());
    let shown = person
        .call(&["show", A, "--at", "4", "--before", "1", "--after", "2", "--json"])
        .json();
    let seqs: Vec<u64> = shown["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, [3, 4, 5, 6]);
    assert_eq!(shown["total"], 9);
    assert_eq!(shown["events"][1]["type"], "user/message");
    assert_eq!(shown["events"][1]["role"], "user");
    assert_eq!(shown["events"][1]["surface"], "current");
    let call = person.call(&["show", A, "--at", "4", "--before", "0", "--after", "0"]);
    assert!(
        call.out.contains("#4  <--\n  turn 4") && !call.out.contains("turn 5"),
        "{}",
        call.out
    );
    assert_eq!(person.call(&["show", A, "--at", "99"]).code, 1);
}

#[test]
fn what_was_rewound_is_marked() {
    let person = Person::new();
    let records = [
        record(A, 0, None, "user", json!("kettle")),
        record(A, 1, Some(0), "assistant", json!("lid")),
        record(A, 2, Some(1), "user", json!("a wrong turn")),
        record(A, 3, Some(2), "assistant", json!("a wrong answer")),
        record(A, 4, Some(1), "user", json!("the right turn")),
        record(A, 5, Some(4), "assistant", json!("the right answer")),
    ];
    person.claude_records(A, &records);
    let call = person.call(&["show", A]);
    assert!(
        call.out.contains("#3  (rewound)\n  a wrong answer"),
        "{}",
        call.out
    );
    assert!(call.out.contains("#5\n  the right answer"), "{}", call.out);
    assert_eq!(call.out.matches("(rewound)").count(), 2, "{}", call.out);
}

#[test]
fn a_compaction_is_a_line_and_what_it_replaced_stays_above() {
    let person = Person::new();
    let boundary = json!({"parentUuid": null, "logicalParentUuid": uuid(A, 1), "isSidechain": false, "cwd": "/srv/shop",
        "sessionId": A, "version": "2.1.200", "type": "system", "subtype": "compact_boundary",
        "content": "Conversation compacted", "uuid": uuid(A, 2), "timestamp": time(2),
        "compactMetadata": {"trigger": "manual", "preTokens": 9}});
    let mut summary = record(
        A,
        3,
        Some(2),
        "user",
        json!("This session is being continued: the kettle was fixed."),
    );
    summary["isCompactSummary"] = json!(true);
    summary["isVisibleInTranscriptOnly"] = json!(true);
    let records = [
        record(A, 0, None, "user", json!("mend the kettle")),
        record(A, 1, Some(0), "assistant", json!("mended")),
        boundary,
        summary,
        record(A, 4, Some(3), "user", json!("now the samovar")),
        record(A, 5, Some(4), "assistant", json!("mended as well")),
    ];
    person.claude_records(A, &records);
    let call = person.call(&["show", A]);
    let before = call.out.find("mended").unwrap();
    let line = call.out.find("--compaction--").unwrap();
    let after = call.out.find("now the samovar").unwrap();
    assert!(before < line && line < after, "{}", call.out);
    assert!(!call.out.contains("(rewound)"), "{}", call.out);
}

#[test]
fn long_tool_results_are_cut_unless_full() {
    let person = Person::new();
    let log: String = (1..=30).map(|number| format!("row {number}\n")).collect();
    let call = json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "cat log"}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": log}]);
    let records = [
        record(A, 0, None, "user", json!("read the log")),
        record(A, 1, Some(0), "assistant", call),
        record(A, 2, Some(1), "user", result),
    ];
    person.claude_records(A, &records);
    let short = person.call(&["show", A]).out;
    assert!(
        short.contains("  row 20\n  … 10 more lines; --full shows them"),
        "{short}"
    );
    assert!(!short.contains("row 21"), "{short}");
    assert!(person.call(&["show", A, "--full"]).out.contains("row 30"));
}

#[test]
fn a_session_outlives_its_transcript() {
    let person = Person::new();
    let path = person.claude(A, &["kettle", "lid of the kettle"]);
    person.call(&["index"]);
    // A neighbour proves that the folder was looked at.
    person.write(
        ".claude/projects/-srv-shop/b.jsonl",
        &lines(&[record("b", 50, None, "user", json!("cup"))]),
    );
    std::fs::remove_file(path).unwrap();
    assert_eq!(person.call(&["search", "--json", "lid"]).hits(), [A]);
    let shown = person.call(&["show", A, "--json"]).json();
    assert_eq!(shown["fromArchive"], true);
    assert_eq!(shown["session"]["source"]["presence"], "missing");
    assert_eq!(shown["events"][1]["text"], "lid of the kettle");
}
