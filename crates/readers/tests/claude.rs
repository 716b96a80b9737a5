//! Claude Code's transcripts as its own programs wrote them, where evaluation data is at hand; without
//! it these tests say so and pass.
//!
//! Properties: nothing is lost but what is damaged; prompts, replies, calls and results are as many as an
//! independent count says; a file read in two parts gives what reading it whole gives, and only what
//! concerns forgotten history makes that impossible.

#![expect(clippy::print_stdout, reason = "a skipped test says so")]

use lookback_model::source::{FileRole, FileStamp, ReadError, ReadOutcome, SourceFile};
use lookback_model::{SessionSource, Surface, SurfaceState};
use lookback_readers::formats::claude::Claude;
use lookback_testkit::reading::{self, Kept};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn evaluation_data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("LOOKBACK_SHARED").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no evaluation data at {}", folder.display());
    None
}

/// Every transcript below a folder.
fn transcripts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            transcripts(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "jsonl") && !path.ends_with("journal.jsonl") {
            found.push(path);
        }
    }
    found.sort();
}

fn source_file(path: &Path) -> SourceFile {
    SourceFile {
        agent: "claude".to_owned(),
        root: PathBuf::new(),
        path: path.to_owned(),
        role: FileRole::Transcript,
        stamp: FileStamp::default(),
    }
}

fn read(path: &Path) -> (Kept, Result<ReadOutcome, ReadError>) {
    let mut kept = Kept::default();
    let outcome = Claude.read(&source_file(path), None, &mut kept);
    (kept, outcome)
}

/// Samples whose count differs from the independent one, and why ours is right.
const COUNTED_OTHERWISE: &[(&str, &str)] = &[
    (
        "real-1.0.120-30530d66",
        "a slash command without arguments holds no words of the person's",
    ),
    (
        "real-1.0.57-summary-style",
        "the same, and sidechains inside a session's file are another agent's",
    ),
    ("made-malformed-middle", "records glued on one line are read"),
];

#[test]
fn samples_count_as_the_independent_count() {
    let Some(data) = evaluation_data() else { return };
    let index = fs::read_to_string(data.join("samples/INDEX-1.md")).unwrap();
    let mut wrong = Vec::new();
    let mut checked = 0;
    for row in index.lines().filter(|row| row.starts_with("| claude/")) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let (name, counts) = (cells[1], cells[cells.len() - 2]);
        let skipped = ["journal.jsonl", "history.jsonl"]
            .iter()
            .any(|end| name.ends_with(end));
        if !name.ends_with(".jsonl")
            || skipped
            || COUNTED_OTHERWISE.iter().any(|(other, _)| name.contains(other))
        {
            continue;
        }
        let (kept, outcome) = read(&data.join("samples").join(name));
        outcome.unwrap();
        let facts = &kept.sessions[0].session.as_ref().unwrap().facts;
        let seen = format!(
            "u{} a{} c{} r{}",
            facts.prompts, facts.replies, facts.tool_calls, facts.tool_results
        );
        if counts.rsplit_once(' ').map(|(counts, _)| counts) != Some(seen.as_str()) {
            wrong.push(format!("{name}: {seen}, not {counts}"));
        }
        checked += 1;
    }
    assert!(checked > 20, "only {checked} samples");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Property: what a compaction left as it was is still sent, as the program's own next request shows.
#[test]
fn a_compaction_keeps_what_its_program_kept() {
    let Some(data) = evaluation_data() else { return };
    let folder = data.join("samples/claude/run-2.1.332/projects/-home-dev-lab-npm-cc-run-work");
    let (kept, outcome) = read(&folder.join("58bc828f-e1d8-42f6-831f-d13ddfe7999f.jsonl"));
    outcome.unwrap();
    let events = &kept.sessions[0].events;
    let states = Surface::of(events).unwrap().states(events.len() as u64);
    let of_record = |start: &str| {
        let is_it = |id: &String| id.starts_with(start);
        events
            .iter()
            .position(|event| event.native_id.as_ref().is_some_and(is_it))
            .map(|at| states[at])
    };
    assert_eq!(of_record("8b7f1110"), Some(SurfaceState::Current));
    assert_eq!(of_record("504b89e3"), Some(SurfaceState::Shadowed));
    assert_eq!(of_record("99d8baf0"), Some(SurfaceState::Current));
}

#[test]
fn real_transcripts_lose_nothing() {
    let Some(data) = evaluation_data() else { return };
    let mut files = Vec::new();
    transcripts(&data.join("realcorpus/claude"), &mut files);
    assert!(files.len() > 50);
    for path in files {
        let (kept, outcome) = read(&path);
        let account = outcome.unwrap().account;
        assert_eq!(account.lost, 0, "{}: {:?}", path.display(), account.issues);
        let total = account.records + account.bookkeeping + account.blank;
        assert_eq!(account.lines, total, "{}", path.display());
        assert!(kept.sessions[0].session.is_some(), "{}", path.display());
    }
}

#[test]
fn samples_read_in_parts_as_whole() {
    let Some(data) = evaluation_data() else { return };
    let mut files = Vec::new();
    transcripts(&data.join("samples/claude"), &mut files);
    transcripts(&data.join("realcorpus/claude"), &mut files);
    for path in files {
        let length = fs::metadata(&path).unwrap().len() as usize;
        // Primes, so that cuts fall everywhere within lines.
        for cut in [
            length / 7,
            length / 3,
            length / 2 + 1,
            length * 12 / 13,
            length.saturating_sub(1),
        ] {
            let folder = tempfile::tempdir().unwrap();
            if let Err(error) = reading::read_in_parts(&Claude, &source_file(&path), cut, folder.path()) {
                panic!(
                    "{}: {}",
                    path.display(),
                    error.chars().take(3_000).collect::<String>()
                );
            }
        }
    }
}

/// A line of a made session: records hang from one another, and every second one is a reply.
fn line(number: usize, parent: Option<usize>, second: usize) -> String {
    let role = if number.is_multiple_of(2) {
        "user"
    } else {
        "assistant"
    };
    let parent = parent.map(|parent| format!("r{parent}"));
    let (minutes, seconds) = (second / 60, second % 60);
    let record = json!({
        "type": role, "uuid": format!("r{number}"), "parentUuid": parent,
        "timestamp": format!("2026-03-04T10:{minutes:02}:{seconds:02}.000Z"),
        "message": {"role": role, "id": format!("m{number}"), "content": format!("words {number}")},
    });
    format!("{record}\n")
}

#[test]
fn a_long_session_goes_on_unless_what_comes_concerns_what_was_forgotten() {
    let line_after = |number: usize| line(number, number.checked_sub(1), number);
    let known: String = (0..600).map(line_after).collect();
    let goes_on = |appended: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.jsonl");
        fs::write(&path, &known).unwrap();
        let (mut kept, first) = read(&path);
        fs::write(&path, known.clone() + appended).unwrap();
        match Claude.read(&source_file(&path), Some(&first.unwrap().cursor), &mut kept) {
            Err(ReadError::StaleCursor { .. }) => false,
            second => {
                second.unwrap();
                assert_eq!(kept, read(&path).0);
                true
            }
        }
    };
    assert!(goes_on(&(600..620).map(line_after).collect::<String>()));
    // A clock that goes back a little; a chain that begins anew; a repetition of a late record.
    assert!(goes_on(&line(600, Some(599), 570)));
    assert!(goes_on(&line(600, None, 600)));
    assert!(goes_on(&line_after(590)));
    // A rewind to a late record, and to a forgotten one; history written again.
    assert!(goes_on(&line(600, Some(581), 600)));
    assert!(!goes_on(&line(600, Some(81), 600)));
    assert!(!goes_on(&(0..600).map(line_after).collect::<String>()));
}

/// Rows of the expected lists of a case, as first read.
fn expected_rows(expect: &Value) -> Vec<&Value> {
    let lists = ["/list", "/list/all", "/list/with_subagents", "/after_step_1/list"];
    let rows = lists
        .iter()
        .filter_map(|list| expect.pointer(list)?.as_array())
        .flatten();
    rows.filter(|row| row["agent"] == "claude").collect()
}

#[test]
fn cases_have_the_turns_they_should() {
    let Some(data) = evaluation_data() else { return };
    let mut checked = 0;
    let mut wrong = Vec::new();
    for case in fs::read_dir(data.join("cases"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        let Ok(expected) = fs::read_to_string(case.join("expected.json")) else {
            continue;
        };
        let home = case.join("input/home");
        // What a script has to complete is not all there.
        if !home.join(".claude/projects").is_dir() || case.join("make.py").exists() {
            continue;
        }
        let expected: Value = serde_json::from_str(&expected).unwrap();
        let seen = reading::describe(&Claude, &home);
        let sessions: Vec<_> = seen["files"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|file| file["sessions"].as_array().unwrap())
            .collect();
        for row in expected_rows(&expected["expect"]) {
            let of_id: Vec<_> = sessions
                .iter()
                .filter(|session| session["id"] == row["session"])
                .collect();
            checked += 1;
            if !of_id.iter().any(|session| agrees(row, &session["facts"])) {
                let facts: Vec<_> = of_id.iter().map(|session| &session["facts"]).collect();
                wrong.push(format!("{}: {row} is not {facts:?}", case.display()));
            }
        }
    }
    assert!(checked > 20, "only {checked} rows");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn agrees(row: &Value, facts: &Value) -> bool {
    let kind = match row["kind"].as_str() {
        Some("sdk") => "headless",
        Some("subagent") => "subagent",
        _ => "main",
    };
    let title = facts
        .pointer("/title/text")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let parent = row["parent"].is_null() || row["parent"] == facts["parent"];
    let agent_type = row["agent_type"].is_null() || row["agent_type"] == facts["agentType"];
    let compactions = row["compactions"].is_null() || row["compactions"] == facts["compactions"];
    facts["turns"].as_u64().unwrap_or(0) == row["turns"].as_u64().unwrap_or(0)
        && facts["kind"].as_str().unwrap_or("main") == kind
        && parent
        && agent_type
        && compactions
        && title.contains(
            row["title_contains"]
                .as_str()
                .or(row["title"].as_str())
                .unwrap_or_default(),
        )
}
