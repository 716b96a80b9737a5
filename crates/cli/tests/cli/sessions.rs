//! Properties of `sessions`: newest first, a person's own by default, everything with `--all`, and the
//! fields scripts rely on.

use crate::person::{Person, ids};
use serde_json::json;

const A: &str = "a0000000-0000-4000-8000-00000000000a";
const B: &str = "b0000000-0000-4000-8000-00000000000b";

#[test]
fn subagents_are_listed_only_with_all() {
    let person = Person::new();
    person.claude(A, &["kettle", "lid"]);
    person.subagent(A, "f00d", &["polish", "done"]);
    person.codex(B, "cups", "nine");
    assert_eq!(
        ids(&person.call(&["sessions", "--json"]).json()["sessions"]),
        [B, A]
    );
    let all = person.call(&["sessions", "--all", "--json"]).json();
    assert_eq!(all["total"], 3);
    let sub = all["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["kind"] == "subagent")
        .unwrap();
    assert_eq!(sub["parentSessionId"], A);
    assert!(sub.get("resumeCommand").is_none());
}

#[test]
fn rows_have_the_fields_scripts_rely_on() {
    let person = Person::new();
    let path = person.claude(A, &["kettle", "lid", "spout"]);
    let list = person.call(&["sessions", "--json"]).json();
    assert_eq!(
        list["sessions"][0],
        json!({"agent": "claude", "sessionId": A, "title": "kettle", "cwd": "/srv/shop", "branch": "main",
            "createdAt": "2026-05-04T09:00:00.000Z", "updatedAt": "2026-05-04T09:02:00.000Z", "turnCount": 3,
            "messageCount": 3, "kind": "main",
            "source": {"presence": "present", "filePath": path.to_str().unwrap()},
            "resumeCommand": format!("cd /srv/shop && claude --resume {A}")})
    );
}

#[test]
fn limits_cut_and_say_so() {
    let person = Person::new();
    person.claude(A, &["kettle", "lid"]);
    person.codex(B, "cups", "nine");
    let list = person.call(&["sessions", "--json", "--limit", "1"]).json();
    assert_eq!(
        (ids(&list["sessions"]), list["total"].as_u64()),
        (vec![B.to_owned()], Some(2))
    );
    let call = person.call(&["sessions", "--limit", "1"]);
    assert!(call.out.contains(B) && !call.out.contains(A), "{}", call.out);
    assert!(call.err.contains("1 of 2 sessions"), "{}", call.err);
    assert_eq!(
        ids(&person.call(&["sessions", "--json", "--agent", "claude"]).json()["sessions"]),
        [A]
    );
}

#[test]
fn no_session_is_one() {
    let call = Person::new().call(&["sessions"]);
    assert_eq!((call.code, call.out.as_str()), (1, ""));
}
