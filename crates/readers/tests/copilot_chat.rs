//! Copilot Chat on files that lie outside the repository (`LOOKBACK_SHARED`, or `shared` beside it) and are
//! passed over with a note when they are not there.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says so when it is passed over"
)]

use lookback_model::source::Discovery;
use lookback_model::{SessionSource, Surface};
use lookback_readers::formats::copilot_chat::CopilotChat;
use lookback_testkit::reading::Kept;
use std::fs;
use std::path::{Path, PathBuf};

fn samples() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("LOOKBACK_SHARED")
        .map_or(beside, PathBuf::from)
        .join("samples");
    if !folder.exists() {
        println!("passed over: {} is not there", folder.display());
        return None;
    }
    Some(folder)
}

/// Puts a sample where the editor would have it, and reads what is found there.
fn counts(sample: &Path, name: &str) -> String {
    let user = tempfile::tempdir().unwrap();
    let workspace = user.path().join("workspaceStorage/0123456789abcdef");
    let folder = if name.contains("extension-transcript") {
        workspace.join("GitHub.copilot-chat/transcripts")
    } else {
        workspace.join("chatSessions")
    };
    fs::create_dir_all(&folder).unwrap();
    fs::copy(sample, folder.join(sample.file_name().unwrap())).unwrap();
    let mut found = Discovery::default();
    CopilotChat.discover(user.path(), &mut found);
    assert_eq!(found.files.len(), 1, "{name}");
    let mut kept = Kept::default();
    let outcome = CopilotChat.read(found.files.first().unwrap(), None, &mut kept);
    assert_eq!(outcome.unwrap().account.lost, 0, "{name}");
    let Some(session) = kept.sessions.first() else {
        return "u0 a0 c0".to_owned();
    };
    Surface::of(&session.events).unwrap();
    let facts = &session.session.as_ref().unwrap().facts;
    format!("u{} a{} c{}", facts.prompts, facts.replies, facts.tool_calls)
}

/// Property: the counts of the samples are those of their index.
#[test]
fn samples_have_the_counts_of_their_index() {
    let Some(samples) = samples() else {
        return;
    };
    let index = fs::read_to_string(samples.join("INDEX-1.md")).unwrap();
    let rows = index
        .lines()
        .filter_map(|line| line.strip_prefix("| copilot-chat/"));
    let mut read = 0;
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let (Some(name), Some(wanted)) = (cells.first(), cells.last()) else {
            continue;
        };
        if wanted.starts_with("n/a") {
            continue;
        }
        let seen = counts(&samples.join("copilot-chat").join(name), name);
        assert!(wanted.starts_with(&seen), "{name}: {seen}, not {wanted}");
        read += 1;
    }
    assert_eq!(read, 5);
}
