//! Property: a process that is killed at any instant of a first index or of an incremental run leaves a
//! data folder from which the next run is complete and without duplicates.
//!
//! Moments are drawn from a seed. `LOOKBACK_CRASH_ROUNDS` sets how many rounds of each kind are made;
//! the count is printed.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed, and tells its seed"
)]

use lookback_testkit::transcripts::{self, Seed, needle};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: u64 = 6;
const SESSIONS: u64 = 60;
const TURNS: u64 = 12;

fn lookback(home: &Path, data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lookback"));
    command
        .env_clear()
        .env("HOME", home)
        .env("LOOKBACK_DATA_DIR", data)
        .env("NO_COLOR", "1");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn json(home: &Path, data: &Path, arguments: &[&str]) -> Value {
    let mut command = lookback(home, data);
    let output = command
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Starts an index run and kills it after `delay`; says whether it was still running.
fn kill_after(home: &Path, data: &Path, delay: Duration) -> bool {
    let mut child = lookback(home, data).args(["index", "--json"]).spawn().unwrap();
    let until = Instant::now() + delay;
    while Instant::now() < until {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::park_timeout(Duration::from_micros(200));
    }
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

/// Checks that every needle is found once, in its session, and that sessions have their turns.
fn assert_whole(home: &Path, data: &Path, turns: u64) {
    json(home, data, &["index", "--json"]);
    let again = json(home, data, &["index", "--json"]);
    assert_eq!(again["filesRead"], 0, "nothing is left to read: {again}");
    let listed = json(home, data, &["sessions", "--all", "--limit", "1000", "--json"]);
    let listed = listed["sessions"].as_array().unwrap();
    assert_eq!(listed.len() as u64, SESSIONS);
    assert!(
        listed.iter().all(|session| session["turnCount"] == 2 * turns),
        "{listed:?}"
    );
    let search = |query: &str| {
        let arguments = [
            "search",
            "--freshness",
            "indexed",
            "--limit",
            "100",
            "--json",
            "--",
            query,
        ];
        json(home, data, &arguments)["hits"].as_array().unwrap().clone()
    };
    let mut seed = Seed(turns);
    for _ in 0..6 {
        let (session, turn) = (seed.below(SESSIONS), seed.below(turns));
        let hits = search(&needle(session, turn));
        assert_eq!(hits.len(), 1, "{hits:?}");
        assert!(
            hits[0]["sessionId"]
                .as_str()
                .unwrap()
                .ends_with(&format!("{session:012}"))
        );
    }
    // All sessions speak of it equally often; a document that was added twice would count twice.
    let scores: Vec<f64> = search("importer")
        .iter()
        .map(|hit| hit["score"].as_f64().unwrap())
        .collect();
    let least = scores.iter().copied().fold(f64::MAX, f64::min);
    let most = scores.iter().copied().fold(0.0, f64::max);
    assert_eq!(scores.len() as u64, SESSIONS);
    assert!(most - least < least * 0.01, "scores from {least} to {most}");
}

#[test]
fn killed_at_any_instant_the_next_run_is_whole() {
    let rounds = std::env::var("LOOKBACK_CRASH_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok());
    let rounds: u64 = rounds.unwrap_or(ROUNDS);
    let mut seed = Seed(20_261_130);
    let home = tempfile::tempdir().unwrap();
    let mut transcripts = transcripts::home(home.path(), SESSIONS, TURNS).unwrap();

    let data = tempfile::tempdir().unwrap();
    let started = Instant::now();
    json(home.path(), data.path(), &["index", "--json"]);
    let whole = started.elapsed();
    let mut killed = 0;
    for _ in 0..rounds {
        let data = tempfile::tempdir().unwrap();
        let delay = whole.mul_f64(seed.below(1_000) as f64 / 1_000.0);
        killed += u64::from(kill_after(home.path(), data.path(), delay));
        assert_whole(home.path(), data.path(), TURNS);
    }

    for turns in TURNS..TURNS + rounds {
        for (session, transcript) in (0..).zip(&mut transcripts) {
            let prompt = format!("please look at {} in the importer", needle(session, turns));
            transcript
                .append_turn(&prompt, &format!("done, turn {turns} of the importer is mended"))
                .unwrap();
        }
        let delay = whole.mul_f64(seed.below(1_000) as f64 / 1_000.0);
        killed += u64::from(kill_after(home.path(), data.path(), delay));
        assert_whole(home.path(), data.path(), turns + 1);
    }
    println!("{rounds} first indexes and {rounds} incremental runs, {killed} of them killed while running");
}
