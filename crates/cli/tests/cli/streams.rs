//! Properties all commands have in common: a reader that leaves is no failure, a data folder that cannot be
//! is one clear line, and flags move it.

use crate::person::{Person, finish};
use std::process::Stdio;

const A: &str = "a0000000-0000-4000-8000-00000000000a";

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let person = Person::new();
    person.claude(A, &["kettle", "lid"]);
    for arguments in [
        &["completions", "bash"][..],
        &["search", "kettle"],
        &["grep", "kettle"],
        &["sessions", "--json"],
        &["man"],
    ] {
        let mut child = person
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(
            !String::from_utf8_lossy(&output.stderr).contains("error"),
            "{arguments:?}"
        );
    }
}

#[test]
fn the_data_folder_is_moved_by_flag_and_variable() {
    let person = Person::new();
    person.claude(A, &["kettle", "lid"]);
    let flagged = person.home().join("flagged");
    person.call(&["index", "--data-dir", flagged.to_str().unwrap()]);
    assert!(flagged.is_dir() && !person.data().exists());
    let xdg = person.home().join("xdg");
    finish(
        person
            .command(&["index"])
            .env_remove("LOOKBACK_DATA_DIR")
            .env("XDG_DATA_HOME", &xdg),
    );
    assert!(xdg.join("lookback").is_dir());
}

#[test]
fn a_data_folder_that_cannot_be_is_one_line() {
    let person = Person::new();
    person.claude(A, &["kettle", "lid"]);
    let file = person.write("file", "in the way");
    let inside = file.join("data");
    let call = person.call(&["index", "--data-dir", inside.to_str().unwrap()]);
    assert_eq!((call.code, call.out.as_str()), (3, ""));
    let lines: Vec<&str> = call.err.lines().collect();
    assert_eq!(lines.len(), 2, "{}", call.err);
    assert!(
        lines[0].starts_with("error: cannot write to ") && lines[1].starts_with("hint: "),
        "{}",
        call.err
    );
}

#[test]
fn colour_is_only_for_terminals() {
    let person = Person::new();
    person.claude(A, &["kettle", "lid"]);
    let call = finish(
        person
            .command(&["search", "kettle"])
            .env("TERM", "xterm-256color"),
    );
    assert!(!call.out.contains('\u{1b}') && !call.err.contains('\u{1b}'));
}
