//! Properties: when nothing can be written, because the disk is full or the data folder belongs to
//! somebody else, indexing says so in one clear line and ends with 3, and the old index still answers.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use lookback_testkit::transcripts::{self, needle};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const BINARY: &str = env!("CARGO_BIN_EXE_lookback");

fn run(mut command: Command, home: &Path, data: &Path) -> Output {
    let path = std::env::var_os("PATH").unwrap_or_default();
    command
        .env_clear()
        .env("PATH", path)
        .env("HOME", home)
        .env("LOOKBACK_DATA_DIR", data)
        .env("NO_COLOR", "1");
    command.stdin(Stdio::null()).output().unwrap()
}

fn lookback(arguments: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(arguments);
    command
}

/// One line that says what failed, where, and what to do.
fn assert_told(output: &Output, data: &Path) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    let errors: Vec<&str> = told.lines().filter(|line| line.starts_with("error:")).collect();
    assert_eq!(errors.len(), 1, "{told}");
    assert!(errors[0].contains(&data.display().to_string()), "{told}");
    assert!(!told.contains("panicked"), "{told}");
}

fn assert_found(output: &Output, session: &str) {
    let (answer, told) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(answer.contains(session), "{answer}{told}");
}

#[test]
fn a_full_disk() {
    let (home, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (home, data) = (home.path(), data.path());
    let mut transcripts = transcripts::home(home, 3, 4).unwrap();
    assert!(run(lookback(&["index"]), home, data).status.success());
    for turn in 4..400 {
        // Words that no compression makes small.
        let words: Vec<String> = (0..100).map(|word| needle(turn, 1_000 + word)).collect();
        transcripts[0]
            .append_turn(&needle(0, turn), &words.join(" "))
            .unwrap();
    }
    // A limit on the size of files, in blocks of 512 bytes, fails writes as a full disk does.
    let mut limited = Command::new("sh");
    limited.args([
        "-c",
        "trap '' XFSZ; ulimit -f 300; exec \"$0\" \"$@\"",
        BINARY,
        "index",
    ]);
    assert_told(&run(limited, home, data), data);

    let mut limited = Command::new("sh");
    limited.args([
        "-c",
        "trap '' XFSZ; ulimit -f 300; exec \"$0\" \"$@\"",
        BINARY,
        "search",
        &needle(1, 1),
    ]);
    assert_found(&run(limited, home, data), &transcripts[1].session_id);
    assert_found(
        &run(lookback(&["search", &needle(0, 399)]), home, data),
        &transcripts[0].session_id,
    );
}

#[test]
fn somebody_elses_data_folder() {
    let (home, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (home, data) = (home.path(), data.path());
    let mut transcripts = transcripts::home(home, 3, 4).unwrap();
    assert!(run(lookback(&["index"]), home, data).status.success());
    transcripts[0]
        .append_turn("a new prompt", "and its answer")
        .unwrap();
    let strip = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for folder in [home.to_owned(), data.join("text"), data.to_owned()] {
        strip(&folder, 0o555);
    }
    let files = fs::read_dir(data)
        .unwrap()
        .chain(fs::read_dir(data.join("text")).unwrap())
        .map(|entry| entry.unwrap());
    for file in files.filter(|entry| entry.file_type().unwrap().is_file()) {
        strip(&file.path(), 0o444);
    }
    // Permissions do not bind root, who becomes nobody for the test.
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let as_reader = |arguments: &[&str]| {
        if !is_root {
            return lookback(arguments);
        }
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups", BINARY])
            .args(arguments);
        command
    };
    assert_told(&run(as_reader(&["index"]), home, data), data);
    assert_found(
        &run(as_reader(&["search", &needle(1, 1)]), home, data),
        &transcripts[1].session_id,
    );
    assert_found(&run(as_reader(&["sessions"]), home, data), "made-up");
    for folder in [data.to_owned(), data.join("text"), home.to_owned()] {
        strip(&folder, 0o755);
    }
}
