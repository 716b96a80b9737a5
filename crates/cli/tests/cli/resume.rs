//! Properties of `resume`: it runs the agent in the session's folder, prints what it would run, and says
//! why it cannot.

use crate::person::{Person, lines, record};
use serde_json::json;

const A: &str = "a0000000-0000-4000-8000-00000000000a";

#[test]
fn print_gives_a_line_a_shell_reads_back() {
    let person = Person::new();
    let folder = "/srv/it's a shop; rm -rf $HOME";
    let mut turn = record(A, 0, None, "user", json!("kettle"));
    turn["cwd"] = json!(folder);
    person.claude_records(A, &[turn]);
    let call = person.call(&["resume", A, "--print"]);
    assert_eq!(
        call.out,
        format!("cd '/srv/it'\\''s a shop; rm -rf $HOME' && claude --resume {A}\n")
    );
}

#[test]
fn a_session_without_transcript_is_refused() {
    let person = Person::new();
    let path = person.claude(A, &["kettle", "lid"]);
    person.write(
        ".claude/projects/-srv-shop/b.jsonl",
        &lines(&[record("b", 50, None, "user", json!("cup"))]),
    );
    person.call(&["index"]);
    std::fs::remove_file(path).unwrap();
    person.call(&["index"]);
    let call = person.call(&["resume", A, "--print"]);
    assert_eq!((call.code, call.out.as_str()), (3, ""));
    assert!(
        call.err.contains("is gone") && call.err.contains("lookback show"),
        "{}",
        call.err
    );
}

#[test]
fn a_subagent_is_refused_with_its_parent() {
    let person = Person::new();
    person.claude(A, &["kettle", "lid"]);
    person.subagent(A, "f00d", &["polish", "done"]);
    let call = person.call(&["resume", "f00d"]);
    assert_eq!(call.code, 3);
    assert!(call.err.contains(A), "{}", call.err);
}

#[test]
fn a_missing_folder_or_program_is_named() {
    let person = Person::new();
    person.claude(A, &["kettle", "lid"]);
    let call = person.call(&["resume", A]);
    assert_eq!(call.code, 3);
    assert!(call.err.contains("/srv/shop is not there"), "{}", call.err);
    let mut turn = record(A, 0, None, "user", json!("kettle"));
    turn["cwd"] = json!(person.home().to_str().unwrap());
    person.claude_records(A, &[turn]);
    let call = crate::person::finish(person.command(&["resume", A]).env("PATH", person.data()));
    person.call(&["index"]);
    assert_eq!(call.code, 3, "{}", call.err);
}

#[cfg(unix)]
#[test]
fn the_agent_takes_over_in_the_sessions_folder() {
    use std::os::unix::fs::PermissionsExt;
    let person = Person::new();
    let folder = person.home().join("shop");
    std::fs::create_dir(&folder).unwrap();
    let mut turn = record(A, 0, None, "user", json!("kettle"));
    turn["cwd"] = json!(folder.to_str().unwrap());
    person.claude_records(A, &[turn]);
    let agent = person.write("bin/claude", "#!/bin/sh\npwd\necho \"$@\"\nexit 7\n");
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/bin:/usr/bin", person.home().join("bin").display());
    let call = crate::person::finish(person.command(&["resume", A]).env("PATH", path));
    let folder = folder.canonicalize().unwrap();
    assert_eq!(call.out, format!("{}\n--resume {A}\n", folder.display()));
    assert_eq!(call.code, 7);
}
