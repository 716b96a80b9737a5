//! Properties of `completions`, `man`, `--help` and `--version`: they are data, and know every command.

use crate::person::Person;

const COMMANDS: [&str; 13] = [
    "search",
    "grep",
    "sessions",
    "show",
    "trace",
    "resume",
    "index",
    "status",
    "doctor",
    "relay",
    "demo",
    "completions",
    "man",
];

#[test]
fn every_shell_completes_every_command() {
    let person = Person::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = person.call(&["completions", shell]).out;
        for command in COMMANDS {
            assert!(script.contains(command), "{shell} {command}");
        }
    }
}

#[test]
fn every_command_has_a_page() {
    let person = Person::new();
    let folder = person.home().join("man");
    let call = person.call(&["man", "--out", folder.to_str().unwrap()]);
    assert_eq!(call.code, 0, "{}", call.err);
    for command in COMMANDS {
        let page = std::fs::read_to_string(folder.join(format!("lookback-{command}.1"))).unwrap();
        assert!(page.contains(".TH"), "{command}");
    }
    assert!(person.call(&["man"]).out.contains(".TH lookback"));
}

#[test]
fn help_is_data_and_wrong_use_is_talk() {
    let person = Person::new();
    for arguments in [&["--help"][..], &["search", "--help"], &["--version"]] {
        let call = person.call(arguments);
        assert_eq!((call.code, call.err.as_str()), (0, ""), "{arguments:?}");
        assert!(
            call.out.contains("lookback") || call.out.contains("QUERY"),
            "{}",
            call.out
        );
    }
    let call = person.call(&[]);
    assert_eq!((call.code, call.out.as_str()), (2, ""));
    assert!(call.err.contains("search"), "{}", call.err);
}
