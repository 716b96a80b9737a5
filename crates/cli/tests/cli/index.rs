//! Properties of `index`: it counts its work, does none when nothing changed, and names what it could not
//! read.

use crate::person::{Person, append, lines, record};
use serde_json::json;

const A: &str = "a0000000-0000-4000-8000-00000000000a";

#[test]
fn a_second_pass_reads_nothing() {
    let person = Person::new();
    let path = person.claude(A, &["kettle", "lid"]);
    let first = person.call(&["index", "--json"]).json();
    assert_eq!(
        (&first["filesSeen"], &first["filesRead"], &first["sessionsRead"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert_eq!(
        (&first["complete"], &first["writerBusy"]),
        (&json!(true), &json!(false))
    );
    let second = person.call(&["index", "--json"]).json();
    assert_eq!(
        (&second["filesRead"], &second["bytesRead"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(second["filesUnchanged"], 1);
    assert_eq!(second["generation"], first["generation"]);
    let before = std::fs::metadata(&path).unwrap().len();
    append(&path, &lines(&[record(A, 2, Some(1), "user", json!("spout"))]));
    let third = person.call(&["index", "--json"]).json();
    assert_eq!(third["filesRead"], 1);
    let grown = std::fs::metadata(&path).unwrap().len() - before;
    assert!(third["bytesRead"].as_u64().unwrap() <= grown + 1, "{third}");
}

#[test]
fn verify_reads_everything_again() {
    let person = Person::new();
    person.claude(A, &["kettle", "lid"]);
    person.call(&["index"]);
    let again = person.call(&["index", "--verify", "--json"]).json();
    assert_eq!(again["filesRead"], 1);
    assert_eq!(person.call(&["search", "--json", "kettle"]).hits(), [A]);
}

#[test]
fn a_broken_line_costs_that_line_and_is_named() {
    let person = Person::new();
    let path = person.claude(A, &["kettle", "lid"]);
    append(&path, "{\"type\":\"user\",\"message\":\n");
    append(&path, &lines(&[record(A, 2, Some(1), "user", json!("spout"))]));
    let report = person.call(&["index", "--json"]).json();
    assert_eq!(report["linesLost"], 1);
    assert_eq!(report["warnings"][0]["code"], "not_json");
    assert_eq!(report["warnings"][0]["line"], 3);
    assert_eq!(report["warnings"][0]["path"], path.to_str().unwrap());
    assert_eq!(person.call(&["search", "--json", "spout"]).hits(), [A]);
}

#[test]
fn a_person_is_told_in_a_line() {
    let person = Person::new();
    person.claude(A, &["kettle", "lid"]);
    let call = person.call(&["index"]);
    assert!(call.out.starts_with("read 1 of 1 files ("), "{}", call.out);
    assert_eq!(
        (call.code, call.out.lines().count(), call.err.as_str()),
        (0, 1, "")
    );
}
