//! The Codex reader: where it looks, when a cursor is stale, and how it does on real rollouts. Those are
//! used where they are at hand: set `LOOKBACK_SHARED`, or put them beside the repository in `shared/`.
//! Without them these tests say so and prove nothing.
//!
//! Properties: `CODEX_HOME` moves the root; files that are read whole are not read again unchanged;
//! rewritten files make a cursor stale; damage of any kind is accounted for; real files read without loss; prompts, replies, calls and results
//! are as many as an independent count found; a real file read in parts gives what reading it whole gives.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use lookback_model::source::{FileRole, FileStamp, ReadCursor, ReadError, ReadOutcome, SourceFile};
use lookback_model::{Environment, SessionFacts, SessionSource};
use lookback_readers::formats::codex::Codex;
use lookback_testkit::reading::{self, Kept};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn shared(part: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("LOOKBACK_SHARED")
        .map_or(beside, PathBuf::from)
        .join(part);
    if !folder.is_dir() {
        println!("skipped: no {}", folder.display());
        return None;
    }
    Some(folder)
}

fn rollouts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let name = entry.file_name().into_string().unwrap();
            let is_other = ["history.jsonl", "session_index.jsonl"]
                .iter()
                .any(|other| name.ends_with(other));
            if path.is_dir() {
                folders.push(path);
            } else if !is_other && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst")) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn source_file(path: &Path) -> SourceFile {
    let metadata = fs::metadata(path).unwrap();
    SourceFile {
        agent: "codex".to_owned(),
        root: path.parent().unwrap().to_owned(),
        path: path.to_owned(),
        role: FileRole::Transcript,
        stamp: FileStamp {
            size: metadata.len(),
            modified_ns: 1,
            device: 1,
            inode: 1,
        },
    }
}

fn read(path: &Path, cursor: Option<&ReadCursor>) -> (Result<ReadOutcome, ReadError>, Kept) {
    let mut kept = Kept::default();
    let outcome = Codex.read(&source_file(path), cursor, &mut kept);
    (outcome, kept)
}

fn facts(kept: &Kept) -> &SessionFacts {
    &kept.sessions[0].session.as_ref().unwrap().facts
}

const ID: &str = "019ca7b0-0000-7000-8000-000000000001";

fn prompt(text: &str) -> String {
    let payload =
        format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#);
    format!("{{\"timestamp\":\"2026-03-01T10:00:01Z\",\"type\":\"response_item\",\"payload\":{payload}}}\n")
}

#[test]
fn codex_home_moves_the_root() {
    let mut environment = Environment::at_home("/home/dev");
    assert_eq!(Codex.roots(&environment), [Path::new("/home/dev/.codex")]);
    environment
        .variables
        .insert("CODEX_HOME".to_owned(), "/srv/codex".to_owned());
    assert_eq!(Codex.roots(&environment), [Path::new("/srv/codex")]);
}

#[test]
fn a_rewritten_or_shortened_file_makes_the_cursor_stale() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder
        .path()
        .join(format!("rollout-2026-03-01T10-00-00-{ID}.jsonl"));
    fs::write(&path, prompt("one") + &prompt("two")).unwrap();
    let cursor = read(&path, None).0.unwrap().cursor;
    for changed in [prompt("one"), prompt("new") + &prompt("two") + &prompt("three")] {
        fs::write(&path, changed).unwrap();
        assert!(matches!(
            read(&path, Some(&cursor)).0,
            Err(ReadError::StaleCursor { .. })
        ));
    }
    fs::write(&path, prompt("one") + &prompt("two") + &prompt("three")).unwrap();
    let (outcome, kept) = read(&path, Some(&cursor));
    assert_eq!(
        (outcome.unwrap().account.records, kept.sessions[0].events.len()),
        (1, 1)
    );
}

#[test]
fn a_compressed_file_is_read_again_only_when_it_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder
        .path()
        .join(format!("rollout-2026-03-01T10-00-00-{ID}.jsonl.zst"));
    fs::write(&path, zstd::encode_all(prompt("one").as_bytes(), 1).unwrap()).unwrap();
    let (first, kept) = read(&path, None);
    assert_eq!((&kept.sessions[0].id[..], facts(&kept).prompts), (ID, 1));
    let cursor = first.unwrap().cursor;
    let (again, kept) = read(&path, Some(&cursor));
    assert_eq!((again.unwrap().account.lines, kept.sessions.len()), (0, 0));
    fs::write(
        &path,
        zstd::encode_all((prompt("one") + &prompt("two")).as_bytes(), 1).unwrap(),
    )
    .unwrap();
    assert!(matches!(
        read(&path, Some(&cursor)).0,
        Err(ReadError::StaleCursor { .. })
    ));
}

proptest! {
    #[test]
    fn no_damage_makes_it_panic(blows in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40), end: prop::sample::Index) {
        let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/codex/conversation/home/.codex/sessions");
        let mut bytes = fs::read(&rollouts(&case)[0]).unwrap();
        for (at, byte) in blows {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(end.index(bytes.len()) + 1);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("rollout-2026-03-01T10-00-00-{ID}.jsonl"));
        fs::write(&path, bytes).unwrap();
        let account = read(&path, None).0.unwrap().account;
        let accounted = account.records + account.bookkeeping + account.blank + account.lost;
        prop_assert_eq!(accounted, account.lines);
    }
}

#[test]
fn real_rollouts_read_without_loss() {
    for folder in ["samples/codex", "realcorpus/codex"]
        .into_iter()
        .filter_map(shared)
    {
        for path in rollouts(&folder) {
            let account = read(&path, None)
                .0
                .unwrap_or_else(|error| panic!("{error}"))
                .account;
            assert_eq!(
                (account.lost, &account.issues[..]),
                (0, &[][..]),
                "{}",
                path.display()
            );
            assert!(
                account.unknown_types.is_empty(),
                "{}: {:?}",
                path.display(),
                account.unknown_types
            );
        }
    }
}

/// Counts of the sample index: `u1 a2 c3 r4 bad0` in the last column.
fn expected(row: &str) -> Option<(String, [u64; 4])> {
    let columns: Vec<_> = row.split('|').map(str::trim).collect();
    let name = columns.get(1)?.strip_prefix("codex/")?.to_owned();
    let counts = columns.get(columns.len() - 2)?;
    let mut found = [0; 4];
    for (slot, (letter, word)) in found
        .iter_mut()
        .zip(["u", "a", "c", "r"].into_iter().zip(counts.split(' ')))
    {
        *slot = word.strip_prefix(letter)?.parse().ok()?;
    }
    Some((name, found))
}

/// Where this reader counts otherwise, and why.
const DIFFERENCES: &[(&str, [u64; 4], &str)] = &[
    (
        "real-0.144.1-cjk-019f5462.jsonl",
        [5, 14, 25, 25],
        "a patch applied from inside a script call has no item of its own",
    ),
    (
        "real-excerpt-compacted-019ed6ed.jsonl",
        [2, 3, 0, 0],
        "the excerpt ends with a reply whose item was cut off",
    ),
    (
        "real-legacy-bare-2025-09-cf4def41.jsonl",
        [4, 8, 19, 18],
        "the excerpt ends with reasoning whose reply was cut off",
    ),
    (
        "real-sanitised/rollout-2026-02-23T13-19-38-019c8a70-dda7-7f33-98ea-f30553347322.jsonl",
        [5, 2, 1, 0],
        "redaction made the copies of each text differ, and hid what was injected",
    ),
    (
        "real-sanitised/rollout-2026-02-23T20-34-25-019c8bfe-ec25-79e0-97d7-bda6a9c575ff.jsonl",
        [4, 12, 5, 5],
        "redaction made the copies of each text differ, and hid what was injected",
    ),
    (
        "made-0.146-all-record-kinds.jsonl",
        [3, 3, 18, 14],
        "most of its records have no counterpart among the items",
    ),
];

#[test]
fn real_rollouts_count_as_an_independent_count_found() {
    let Some(folder) = shared("samples") else { return };
    let mut wrong = Vec::new();
    let index = fs::read_to_string(folder.join("INDEX-1.md")).unwrap();
    for (name, counted) in index.lines().filter_map(expected) {
        let (_, kept) = read(&folder.join("codex").join(&name), None);
        let facts = facts(&kept);
        let seen = [facts.prompts, facts.replies, facts.tool_calls, facts.tool_results];
        let wanted = DIFFERENCES
            .iter()
            .find(|difference| difference.0 == name)
            .map_or(counted, |known| known.1);
        if seen != wanted {
            wrong.push(format!("{name}: {seen:?}, not {wanted:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn sessions_of_the_evaluation_cases_have_the_turns_they_should() {
    let Some(folder) = shared("cases") else { return };
    let mut checked = 0;
    for case in fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()) {
        let Ok(text) = fs::read_to_string(case.join("expected.json")) else {
            continue;
        };
        let wanted: serde_json::Value = serde_json::from_str(&text).unwrap();
        let seen = reading::describe(&Codex, &case.join("input/home"));
        let sessions: Vec<_> = seen["files"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|file| file["sessions"].as_array().unwrap())
            .collect();
        let rows = wanted["expect"]["list"].as_array().into_iter().flatten();
        for row in rows.filter(|row| row["agent"] == "codex" && row["turns"].is_u64()) {
            let Some(session) = sessions.iter().find(|session| session["id"] == row["session"]) else {
                continue;
            };
            assert_eq!(session["facts"]["turns"], row["turns"], "{}", case.display());
            assert_eq!(
                session["facts"]["forkedFrom"],
                row["forked_from"],
                "{}",
                case.display()
            );
            checked += 1;
        }
    }
    assert!(checked >= 4, "only {checked} sessions were found");
}

#[test]
fn real_rollouts_read_in_parts_as_whole() {
    for folder in ["samples/codex", "realcorpus/codex"]
        .into_iter()
        .filter_map(shared)
    {
        for path in rollouts(&folder) {
            let length = fs::metadata(&path).unwrap().len() as usize;
            if length > 2_000_000 {
                continue;
            }
            for part in 1..8 {
                let folder = tempfile::tempdir().unwrap();
                reading::read_in_parts(&Codex, &source_file(&path), length * part / 8, folder.path())
                    .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            }
        }
    }
}
