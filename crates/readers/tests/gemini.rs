//! Gemini CLI on files that real programs wrote, which lie outside the repository (`LOOKBACK_SHARED`, or
//! `shared` beside it) and are passed over with a note when they are not there; and what no case of the
//! corpus can say.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says so when it is passed over"
)]

use lookback_model::source::{FileRole, FileStamp, Position, ReadError, SourceFile};
use lookback_model::text::{TextKind, pieces};
use lookback_model::{Environment, Event, SessionSource, Surface};
use lookback_readers::formats::gemini::Gemini;
use lookback_testkit::reading::{self, Kept};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

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

fn source_file(path: &Path) -> SourceFile {
    let size = fs::metadata(path).unwrap().len();
    SourceFile {
        agent: "gemini".to_owned(),
        root: path.parent().unwrap().to_owned(),
        path: path.to_owned(),
        role: FileRole::Transcript,
        stamp: FileStamp {
            size,
            ..FileStamp::default()
        },
    }
}

fn files_under(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_under(&path));
        } else if path
            .extension()
            .is_some_and(|extension| extension == "json" || extension == "jsonl")
        {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn read(path: &Path) -> (Kept, lookback_model::source::ReadAccount) {
    let mut kept = Kept::default();
    let outcome = Gemini.read(&source_file(path), None, &mut kept);
    let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    (kept, outcome.account)
}

/// Property: a real file loses nothing, its log can be folded, and it reads the same in parts.
fn read_whole_and_in_parts(path: &Path) {
    let (kept, account) = read(path);
    let name = path.display();
    assert_eq!(account.lost, 0, "{name}");
    assert_eq!(
        account.lines,
        account.records + account.bookkeeping + account.blank,
        "{name}"
    );
    assert_eq!(
        account.unknown_types.len(),
        0,
        "{name}: {:?}",
        account.unknown_types
    );
    let length = fs::metadata(path).unwrap().len() as usize;
    for session in &kept.sessions {
        Surface::of(&session.events).unwrap();
    }
    // A document is never read in parts; a few cuts show that.
    let cuts = if path.extension().is_some_and(|extension| extension == "json") {
        5
    } else {
        150
    };
    for cut in (0..length).step_by((length / cuts).max(1)) {
        let folder = tempfile::tempdir().unwrap();
        reading::read_in_parts(&Gemini, &source_file(path), cut, folder.path())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn real_files_lose_nothing() {
    for folder in ["samples/gemini", "realcorpus/gemini"] {
        let Some(folder) = shared(folder) else {
            continue;
        };
        for path in files_under(&folder) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name != "made-projects.json" && name != "expected-after-replay.json" {
                read_whole_and_in_parts(&path);
            }
        }
    }
}

/// Property: the counts of the samples are those of their index. It counts what is left after replay, so
/// for a compressed session its summary for a prompt, and not what was said before.
#[test]
fn samples_have_the_counts_of_their_index() {
    let Some(samples) = shared("samples") else {
        return;
    };
    let index = fs::read_to_string(samples.join("INDEX-1.md")).unwrap();
    let mut wrong = Vec::new();
    for row in index.lines().filter(|line| line.starts_with("| gemini/")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let (name, counts) = (cells[0], cells[cells.len() - 1]);
        if counts.starts_with("n/a") || name.ends_with("77aa12bc.jsonl") {
            continue;
        }
        let (kept, _) = read(&samples.join(name));
        let facts = &kept.sessions[0].session.as_ref().unwrap().facts;
        let seen = format!(
            "u{} a{} c{} r{}",
            facts.prompts, facts.replies, facts.tool_calls, facts.tool_results
        );
        if !counts.starts_with(&seen) {
            wrong.push(format!("{name}: {seen}, not {counts}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The texts of what the model would be sent, in order, without white space.
fn surface_text(events: &[Event]) -> String {
    let surface = Surface::of(events).unwrap();
    let said = |kind| matches!(kind, TextKind::User | TextKind::Agent | TextKind::Context);
    let mut text = String::new();
    for &seq in surface.current() {
        let event = &events[usize::try_from(seq).unwrap()];
        for piece in pieces(event).into_iter().filter(|piece| said(piece.kind)) {
            text.extend(piece.text.split_whitespace());
        }
    }
    text
}

/// Property: after replay the surface holds what the agent's own loader gives, but for notices, which no
/// model is sent.
#[test]
fn the_surface_is_what_the_agent_loads() {
    let Some(folder) = shared("samples/gemini/recorder-0.61.0") else {
        return;
    };
    let oracle: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("expected-after-replay.json")).unwrap())
            .unwrap();
    for (name, session) in oracle.as_object().unwrap() {
        let (kept, _) = read(&folder.join("chats").join(name));
        let mut wanted = String::new();
        let messages = session["messages"].as_array().unwrap();
        for message in messages.iter().filter(|message| message["type"] != "info") {
            let text = message["text"].as_str().unwrap().replace("[inlineData]", "");
            wanted.extend(text.split_whitespace());
        }
        assert_eq!(kept.sessions[0].id, session["sessionId"], "{name}");
        assert_eq!(surface_text(&kept.sessions[0].events), wanted, "{name}");
    }
}

/// Property: a cut file, an empty file and a twin beside a healthy session leave one session, complete.
#[test]
fn neighbours_of_a_healthy_session() {
    let Some(cases) = shared("cases") else {
        return;
    };
    for (case, turns) in [
        ("26-gemini-json-and-jsonl-twins", 4),
        ("27-gemini-empty-and-truncated-neighbours", 2),
    ] {
        let expected: Value =
            serde_json::from_str(&fs::read_to_string(cases.join(case).join("expected.json")).unwrap())
                .unwrap();
        let seen = reading::describe(&Gemini, &cases.join(case).join("input/home"));
        let files = seen["files"].as_array().unwrap();
        let sessions: Vec<&Value> = files
            .iter()
            .flat_map(|file| file["sessions"].as_array().unwrap())
            .collect();
        assert_eq!(sessions.len(), 1, "{case}");
        assert_eq!(
            sessions[0]["id"], expected["expect"]["list"][0]["session"],
            "{case}"
        );
        assert_eq!(sessions[0]["facts"]["turns"], turns, "{case}");
        for warning in expected["expect"]["warnings"].as_array().into_iter().flatten() {
            let count = files
                .iter()
                .filter(|file| file["account"]["error"] == warning["code"])
                .count();
            assert_eq!(count as u64, warning["count"], "{case}: {}", warning["code"]);
        }
    }
}

#[test]
fn the_agents_variable_moves_its_home() {
    let mut environment = Environment::at_home("/home/one");
    assert_eq!(
        Gemini.roots(&environment),
        [PathBuf::from("/home/one/.gemini/tmp")]
    );
    environment
        .variables
        .insert("GEMINI_CLI_HOME".to_owned(), "/elsewhere".to_owned());
    assert_eq!(
        Gemini.roots(&environment),
        [PathBuf::from("/elsewhere/.gemini/tmp")]
    );
}

fn header(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    let line =
        r#"{"sessionId":"s-1","projectHash":"p","startTime":"2026-06-01T10:00:00.000Z","kind":"main"}"#;
    fs::write(&path, format!("{line}\n")).unwrap();
    path
}

fn append(path: &Path, lines: &str) {
    let whole = fs::read_to_string(path).unwrap() + lines;
    fs::write(path, whole).unwrap();
}

fn message(number: usize, kind: &str) -> String {
    let time = format!(
        "2026-06-01T{:02}:{:02}:{:02}.000Z",
        10 + number / 3600,
        number / 60 % 60,
        number % 60
    );
    format!(
        "{{\"id\":\"m{number}\",\"timestamp\":\"{time}\",\"type\":\"{kind}\",\"content\":\"words {number}\"}}\n"
    )
}

/// Property: a record that reaches back past what a cursor remembers asks for a new read; one that does not
/// is read from where the last read ended.
#[test]
fn what_reaches_too_far_back_is_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = header(folder.path(), "session-long.jsonl");
    let lines: String = (0..1_000)
        .map(|at| message(at, if at % 2 == 0 { "user" } else { "gemini" }))
        .collect();
    append(&path, &lines);
    let mut kept = Kept::default();
    let first = Gemini.read(&source_file(&path), None, &mut kept).unwrap();
    assert!(
        first.cursor.state.len() < 64 << 10,
        "{} bytes of state",
        first.cursor.state.len()
    );
    assert!(matches!(
        first.cursor.position,
        Position::Lines { line: 1_001, .. }
    ));
    let start = fs::read_to_string(&path).unwrap();
    for (appended, is_stale) in [
        (message(1_000, "user"), false),
        (message(999, "gemini"), false),
        (message(3, "gemini"), true),
        ("{\"$rewindTo\":\"m998\"}\n".to_owned(), false),
        ("{\"$rewindTo\":\"m4\"}\n".to_owned(), true),
        ("{\"$set\":{\"messages\":[]}}\n".to_owned(), true),
        ("{\"$set\":{\"summary\":\"a title\"}}\n".to_owned(), false),
    ] {
        fs::write(&path, format!("{start}{appended}")).unwrap();
        let again = Gemini.read(&source_file(&path), Some(&first.cursor), &mut kept.clone());
        let stale = matches!(again, Err(ReadError::StaleCursor { .. }));
        assert_eq!(stale, is_stale, "{appended}: {again:?}");
        let folder = tempfile::tempdir().unwrap();
        reading::read_in_parts(&Gemini, &source_file(&path), start.len(), folder.path()).unwrap();
    }
}

/// Property: a journal that was only begun does not hide the document it continues.
#[test]
fn a_document_stays_until_its_journal_is_begun() {
    let home = tempfile::tempdir().unwrap();
    let chats = home.path().join(".gemini/tmp/shop/chats");
    fs::create_dir_all(&chats).unwrap();
    fs::write(
        chats.join("session-a.json"),
        r#"{"sessionId":"a","messages":[{"id":"1","type":"user","content":"hello"}]}"#,
    )
    .unwrap();
    let names = || {
        let found = reading::discover(&Gemini, &Environment::at_home(home.path()));
        let names = found
            .files
            .iter()
            .map(|file| file.path.file_name().unwrap().to_string_lossy().into_owned());
        names.collect::<Vec<_>>()
    };
    for (journal, wanted) in [
        ("", vec!["session-a.json", "session-a.jsonl"]),
        (
            "{\"sessionId\":\"a\",\"proj",
            vec!["session-a.json", "session-a.jsonl"],
        ),
        (
            "{\"sessionId\":\"a\"}\n{\"id\":\"1\",\"type\":\"user\",\"content\":\"hello\"}\n",
            vec!["session-a.jsonl"],
        ),
    ] {
        fs::write(chats.join("session-a.jsonl"), journal).unwrap();
        assert_eq!(names(), wanted, "{journal:?}");
    }
}
