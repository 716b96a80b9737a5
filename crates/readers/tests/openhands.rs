//! OpenHands on files that real programs wrote, which lie outside the repository (`LOOKBACK_SHARED`, or
//! `shared` beside it) and are passed over with a note when they are not there; and what no case of the
//! corpus can say.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says so when it is passed over"
)]

use lookback_model::source::{ReadError, ReadOutcome};
use lookback_model::{Environment, SessionSource, Timestamp};
use lookback_readers::formats::openhands::OpenHands;
use lookback_testkit::reading::{self, Kept};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

fn shared(name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("LOOKBACK_SHARED")
        .map_or(beside, PathBuf::from)
        .join(name);
    if !folder.exists() {
        println!("passed over: {} is not there", folder.display());
        return None;
    }
    Some(folder)
}

/// The only conversation of a home.
fn read(home: &Path, before: Option<&ReadOutcome>, kept: &mut Kept) -> Result<ReadOutcome, ReadError> {
    let mut found = reading::discover(&OpenHands, &Environment::at_home(home));
    assert_eq!(found.files.len(), 1);
    let cursor = before.map(|outcome| &outcome.cursor);
    OpenHands.read(&found.files.remove(0), cursor, kept)
}

fn counts(kept: &Kept) -> (u64, u64, u64, u64) {
    let facts = &kept.sessions.first().unwrap().session.as_ref().unwrap().facts;
    (facts.prompts, facts.replies, facts.tool_calls, facts.tool_results)
}

/// A conversation of a home that is made as the test goes.
struct Made {
    home: tempfile::TempDir,
    folder: PathBuf,
}

impl Made {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let folder = home
            .path()
            .join(".openhands/conversations/0b5e6a1c000040008000000000000001");
        fs::create_dir_all(folder.join("events")).unwrap();
        fs::write(folder.join("base_state.json"), "{}").unwrap();
        Self { home, folder }
    }

    fn event(&self, number: usize, event: &str) -> PathBuf {
        let path = self
            .folder
            .join(format!("events/event-{number:05}-0000{number}.json"));
        fs::write(&path, event).unwrap();
        path
    }
}

fn said(number: usize, role: &str) -> String {
    format!(
        r#"{{"kind":"MessageEvent","id":"e{number}","timestamp":"2026-05-04T09:00:{number:02}.5","source":"{}","llm_message":{{"role":"{role}","content":[{{"type":"text","text":"words {number}"}}]}}}}"#,
        if role == "user" { "user" } else { "agent" }
    )
}

/// Property: samples have the counts of their index.
#[test]
fn samples_have_the_counts_of_their_index() {
    let Some(samples) = shared("samples/openhands") else {
        return;
    };
    let mut kept = Kept::default();
    let outcome = read(&samples.join("handmade-conversation"), None, &mut kept).unwrap();
    assert_eq!(counts(&kept), (1, 2, 1, 2));
    let account = outcome.account;
    assert_eq!((account.lines, account.bookkeeping, account.lost), (8, 2, 0));
    assert!(account.unknown_types.is_empty());

    let lines = fs::read_to_string(samples.join("goal-events-repo-fixture/events.jsonl")).unwrap();
    let made = Made::new();
    for (at, line) in lines.lines().enumerate() {
        made.event(at, line);
    }
    let mut kept = Kept::default();
    let account = read(made.home.path(), None, &mut kept).unwrap().account;
    assert_eq!(counts(&kept), (0, 2, 2, 3));
    assert_eq!((account.lines, account.bookkeeping, account.lost), (10, 5, 0));
}

/// Property: events that are added are read on; what the whole gives is what the parts give. The last event is
/// left for later while it is being written, and what appears among those that were read asks for a new read.
#[test]
fn events_that_are_added_are_read_on() {
    let made = Made::new();
    let home = made.home.path();
    made.event(0, &said(0, "user"));
    made.event(1, &said(1, "assistant"));
    made.event(2, "{\"kind\":");
    let mut kept = Kept::default();
    let first = read(home, None, &mut kept).unwrap();
    assert_eq!(first.account.lines, 2);
    assert_eq!(first.account.issue_counts.get("partial_tail"), Some(&1));
    made.event(2, &said(2, "user"));
    made.event(3, &said(3, "assistant"));
    let second = read(home, Some(&first), &mut kept).unwrap();
    assert_eq!(second.account.lines, 2);
    let mut whole = Kept::default();
    read(home, None, &mut whole).unwrap();
    assert_eq!(kept, whole);
    made.event(
        5,
        r#"{"kind":"Condensation","forgotten_event_ids":["e0"],"summary":"s"}"#,
    );
    let third = read(home, Some(&second), &mut kept.clone());
    assert!(matches!(third, Err(ReadError::StaleCursor { .. })), "{third:?}");
    fs::remove_file(made.folder.join("events/event-00001-00001.json")).unwrap();
    let fourth = read(home, Some(&second), &mut kept);
    assert!(matches!(fourth, Err(ReadError::StaleCursor { .. })), "{fourth:?}");
}

/// Property: times without a zone are moved by the zone that the files' own times show, and not by anything else.
#[test]
fn the_zone_is_that_of_the_files() {
    let written = |number: u64, hours: u64| {
        let utc = Timestamp::parse("2026-05-04T09:00:00").unwrap().0 as u64 / 1_000;
        UNIX_EPOCH + Duration::from_secs(utc + number + hours * 3_600)
    };
    for (first, second, wanted) in [
        (0, 0, "2026-05-04T09:00:00.500Z"),
        (2, 2, "2026-05-04T11:00:00.500Z"),
        (2, 3, "2026-05-04T09:00:00.500Z"),
        (200, 200, "2026-05-04T09:00:00.500Z"),
    ] {
        let made = Made::new();
        for (number, hours) in [(0, first), (1, second)] {
            let path = made.event(number, &said(number, "user"));
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_modified(written(number as u64 + 1, hours)).unwrap();
        }
        let mut kept = Kept::default();
        read(made.home.path(), None, &mut kept).unwrap();
        let event = kept.sessions.first().unwrap().events.first().unwrap();
        assert_eq!(event.time.to_rfc3339(), wanted);
    }
}
