//! Properties of `demo`: it needs no sessions, touches none of the person's folders, and the commands it
//! offers work.

use crate::person::{Person, finish};

#[cfg(unix)]
#[test]
fn the_demo_finds_all_kinds_of_sessions() {
    let person = Person::new();
    let call = person.call(&["demo"]);
    assert_eq!(call.code, 0, "{}", call.err);
    for found in [
        "claude - teahouse",
        "codex - teahouse",
        "subagent of",
        "«connection»",
    ] {
        assert!(call.out.contains(found), "{found}: {}", call.out);
    }
    assert!(!person.data().exists() && std::fs::read_dir(person.home()).unwrap().next().is_none());
    let offered = call
        .err
        .lines()
        .find(|line| line.contains("thundering herd"))
        .unwrap();
    let command = offered.trim().replace(
        " lookback search",
        &format!(" {} search", env!("CARGO_BIN_EXE_lookback")),
    );
    let mut shell = std::process::Command::new("sh");
    let again = finish(
        shell
            .args(["-c", &command])
            .env_remove("CLAUDE_CONFIG_DIR")
            .env_remove("CODEX_HOME"),
    );
    assert!(again.out.contains("«thundering»"), "{}{}", again.out, again.err);
}

#[test]
fn a_query_is_answered_and_leaves_nothing() {
    let person = Person::new();
    let call = person.call(&["demo", "合計"]);
    assert_eq!(call.code, 0, "{}", call.err);
    assert!(
        call.out.contains("gemini - teahouse") && call.out.contains("«合計»"),
        "{}",
        call.out
    );
    let folder = person.home().parent().unwrap().to_owned();
    let left: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["home"]);
    assert_eq!(person.call(&["demo", "xylophone"]).code, 1);
}
