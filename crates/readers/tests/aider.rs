//! Aider on histories that real programs wrote, which lie outside the repository (`LOOKBACK_SHARED`, or
//! `shared` beside it) and are passed over with a note when they are not there; and what no case of the
//! corpus can say.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says so when it is passed over"
)]

use lookback_model::event::{ContentBlock, EventData};
use lookback_model::source::{FileRole, FileStamp, ReadError, SourceFile};
use lookback_model::{SessionSource, Surface};
use lookback_readers::formats::aider::Aider;
use lookback_testkit::reading::{self, Kept};
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
    SourceFile {
        agent: "aider".to_owned(),
        root: path.parent().unwrap().to_owned(),
        path: path.to_owned(),
        role: FileRole::Transcript,
        stamp: FileStamp::default(),
    }
}

/// Lines of prompts and commands, and lines that the program said and that are not left out on purpose.
fn lines_of(kept: &Kept) -> (usize, usize) {
    let (mut typed, mut said) = (0, 0);
    let events = kept.sessions.iter().flat_map(|session| &session.events);
    for event in events {
        let lines = |content: &[ContentBlock]| match content {
            [ContentBlock::Text { text }] => text.lines().count(),
            other => panic!("not one text: {other:?}"),
        };
        match &event.data {
            EventData::UserMessage(message) => typed += lines(&message.content),
            EventData::ContextMessage(message) if message.source == Some("command".into()) => {
                typed += lines(&message.content);
            }
            EventData::ContextMessage(message) => said += lines(&message.content),
            EventData::ToolResult(result) => said += lines(&result.content),
            _ => {}
        }
    }
    (typed, said)
}

/// Property: real histories have the sessions and the lines of prompts that were counted in them, lose
/// nothing, and read the same in parts.
#[test]
fn samples_have_the_counts_of_their_index() {
    let Some(samples) = shared("samples/aider") else {
        return;
    };
    // Sessions, lines of prompts, and those of them that are blank at an end, of which nothing is kept.
    for (name, sessions, typed, blank) in [
        ("0.86.2", 2, 7, 1),
        ("agentsview-handmade/myrepo", 3, 3, 0),
        ("deja-handmade", 1, 1, 0),
        ("repo-real-history", 69, 239, 1),
    ] {
        let path = samples.join(name).join(".aider.chat.history.md");
        let mut kept = Kept::default();
        let outcome = Aider.read(&source_file(&path), None, &mut kept).unwrap();
        assert_eq!(outcome.account.lost, 0, "{name}");
        assert_eq!(kept.sessions.len(), sessions, "{name}");
        assert_eq!(lines_of(&kept).0 + blank, typed, "{name}");
        assert!(lines_of(&kept).1 > 0 || name == "deja-handmade", "{name}");
        for session in &kept.sessions {
            Surface::of(&session.events).unwrap();
        }
        let length = fs::metadata(&path).unwrap().len() as usize;
        for cut in (0..length).step_by((length / 150).max(1)) {
            let folder = tempfile::tempdir().unwrap();
            reading::read_in_parts(&Aider, &source_file(&path), cut, folder.path())
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

/// Property: at the ends of what the agent writes at once, a history that grew is read from where the last
/// read ended; where it was read in the middle of a reply, it is read anew.
#[test]
fn a_history_that_grew_is_read_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".aider.chat.history.md");
    let pieces = [
        "\n# aider chat started at 2026-05-04 09:00:00\n\n> Aider v0.86.2  \n",
        "\n#### ask  \n",
        "\nfirst half\n",
        "\nsecond half\n\n",
        "> Tokens: 1 sent, 2 received.  \n",
        "\n#### more  \n",
        "\n# aider chat started at 2026-05-04 10:00:00\n\n",
        "> Aider v0.86.2  \n",
    ];
    let mut cursor = None;
    let mut kept = Kept::default();
    let mut whole = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        whole.push_str(piece);
        fs::write(&path, &whole).unwrap();
        let outcome = match Aider.read(&source_file(&path), cursor.as_ref(), &mut kept) {
            Err(ReadError::StaleCursor { .. }) => {
                assert_eq!(at, 3, "only a reply in two halves is read anew");
                kept = Kept::default();
                Aider.read(&source_file(&path), None, &mut kept).unwrap()
            }
            other => other.unwrap(),
        };
        assert!(at != 3 || outcome.account.lines > 8);
        cursor = Some(outcome.cursor);
    }
    let mut at_once = Kept::default();
    Aider.read(&source_file(&path), None, &mut at_once).unwrap();
    assert_eq!(kept, at_once);
    let ids: Vec<_> = kept
        .sessions
        .iter()
        .map(|session| session.id.split_once('#').unwrap().1)
        .collect();
    assert_eq!(ids, ["1", "2"]);
}

/// Property: two files never share an id, and a file keeps its ids when it grows.
#[test]
fn ids_tell_files_apart() {
    let home = tempfile::tempdir().unwrap();
    let mut ids = Vec::new();
    for folder in ["a", "b"] {
        let path = home.path().join(folder).join(".aider.chat.history.md");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut text = "# aider chat started at 2026-05-04 09:00:00\n\n#### hi  \n".to_owned();
        for _ in 0..2 {
            fs::write(&path, &text).unwrap();
            let file = SourceFile {
                root: home.path().to_owned(),
                ..source_file(&path)
            };
            let mut kept = Kept::default();
            Aider.read(&file, None, &mut kept).unwrap();
            ids.push(kept.sessions[0].id.clone());
            text.push_str("\nhello\n\n# aider chat started at 2026-05-04 09:00:00\n");
        }
    }
    assert!(
        ids[0] == ids[1] && ids[2] == ids[3] && ids[0] != ids[2],
        "{ids:?}"
    );
}
