//! Properties of `doctor`: every line of every file is accounted for, and each finding has something to do.

use crate::person::{Person, append};

const A: &str = "a0000000-0000-4000-8000-00000000000a";

#[test]
fn every_line_is_in_one_column() {
    let person = Person::new();
    let path = person.claude(A, &["kettle", "lid", "spout"]);
    append(
        &path,
        "\n{broken\n{\"type\":\"mode\",\"mode\":\"x\",\"sessionId\":\"s\"}\n",
    );
    let report = person.call(&["doctor", "--json"]).json();
    let file = &report["files"][0];
    let count = |name: &str| file[name].as_u64().unwrap();
    assert_eq!(
        (count("lines"), count("records"), count("blank"), count("lost")),
        (6, 3, 1, 1),
        "{file}"
    );
    assert_eq!(
        count("lines"),
        count("records") + count("bookkeeping") + count("blank") + count("lost")
    );
    assert_eq!(file["counts"]["prompts"], 2);
    assert_eq!(file["counts"]["replies"], 1);
    assert_eq!(file["issues"][0]["line"], 5);
    let claude = report["agents"]
        .as_array()
        .unwrap()
        .iter()
        .find(|agent| agent["agent"] == "claude")
        .unwrap();
    assert_eq!(
        (&claude["sessions"], &claude["roots"][0]["files"]),
        (&1.into(), &1.into())
    );
}

#[test]
fn a_finding_comes_with_a_command() {
    let person = Person::new();
    let path = person.claude(A, &["kettle", "lid"]);
    assert!(
        person
            .call(&["doctor"])
            .out
            .contains("everything that was found is read")
    );
    append(&path, "{broken\n");
    let call = person.call(&["doctor"]);
    let finding = format!("- 1 lines of {} are no JSON\n    sed -n 3p ", path.display());
    assert!(call.out.contains(&finding), "{}", call.out);
}
