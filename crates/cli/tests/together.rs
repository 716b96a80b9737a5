//! Property: eight processes that index and search one data folder at once meet no error and lose no
//! event, and a search never waits for whoever writes.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed, and tells its seed"
)]

use lookback_testkit::transcripts::{self, needle};
use serde_json::Value;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

const SESSIONS: u64 = 40;
const TURNS: u64 = 8;
const ROUNDS: u64 = 4;

fn json(home: &Path, data: &Path, arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lookback"));
    command
        .env_clear()
        .env("HOME", home)
        .env("LOOKBACK_DATA_DIR", data)
        .env("NO_COLOR", "1");
    let output = command.stdin(Stdio::null()).args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn hits(answer: &Value) -> usize {
    answer["hits"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer}"))
        .len()
}

#[test]
fn eight_processes_at_once() {
    let (home, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (home, data) = (home.path(), data.path());
    let mut transcripts = transcripts::home(home, SESSIONS, TURNS).unwrap();
    thread::scope(|scope| {
        for process in 0..8_u64 {
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    if process % 2 == 0 {
                        json(home, data, &["index", "--json"]);
                        continue;
                    }
                    let query = needle((process * 7 + round) % SESSIONS, round % TURNS);
                    let answer = json(home, data, &["search", "--json", "--", &query]);
                    // What is not committed yet is not found; what is found is right.
                    assert!(hits(&answer) <= 1, "{answer}");
                }
            });
        }
        scope.spawn(|| {
            for (session, transcript) in (0..).zip(&mut transcripts) {
                let prompt = format!("please look at {} in the importer", needle(session, TURNS));
                transcript.append_turn(&prompt, "appended meanwhile").unwrap();
            }
        });
    });
    json(home, data, &["index", "--json"]);
    for session in 0..SESSIONS {
        for turn in [0, TURNS] {
            let query = needle(session, turn);
            let answer = json(
                home,
                data,
                &["search", "--freshness", "indexed", "--json", "--", &query],
            );
            assert_eq!(hits(&answer), 1, "{query}: {answer}");
        }
    }
    let listed = json(home, data, &["sessions", "--all", "--limit", "1000", "--json"]);
    let listed = listed["sessions"].as_array().unwrap();
    assert!(
        listed
            .iter()
            .all(|session| session["turnCount"] == 2 * (TURNS + 1)),
        "{listed:?}"
    );
}

/// A writer that never ends is a lock that is held; a search must answer all the same, and say so.
#[test]
fn a_search_does_not_wait_for_a_writer() {
    let (home, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (home, data) = (home.path(), data.path());
    let mut transcripts = transcripts::home(home, 3, 2).unwrap();
    json(home, data, &["index", "--json"]);
    let lock = File::options().write(true).open(data.join("lock")).unwrap();
    lock.lock().unwrap();
    transcripts[0]
        .append_turn(&needle(0, 9), "not indexed yet")
        .unwrap();
    let answer = json(home, data, &["search", "--json", "--", &needle(1, 1)]);
    assert_eq!(
        (hits(&answer), &answer["truncated"]["freshness"]),
        (1, &Value::Bool(true))
    );
    assert_eq!(
        hits(&json(home, data, &["search", "--json", "--", &needle(0, 9)])),
        0
    );
    drop(lock);
    let answer = json(home, data, &["search", "--json", "--", &needle(0, 9)]);
    assert_eq!(
        (hits(&answer), &answer["truncated"]["freshness"]),
        (1, &Value::Bool(false))
    );
}
