//! Antigravity on files that lie outside the repository (`LOOKBACK_SHARED`, or `shared` beside it) and are passed
//! over with a note when they are not there; and its databases, which a corpus of texts cannot hold.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says so when it is passed over"
)]

use lookback_model::event::EventData;
use lookback_model::source::Discovery;
use lookback_model::text::{TextKind, pieces};
use lookback_model::{SessionSource, Surface};
use lookback_readers::formats::antigravity::Antigravity;
use lookback_testkit::reading::{Kept, KeptSession};
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

/// The only session under a root.
fn only(root: &Path) -> KeptSession {
    let mut found = Discovery::default();
    Antigravity.discover(root, &mut found);
    assert_eq!(found.files.len(), 1);
    let mut kept = Kept::default();
    let outcome = Antigravity.read(found.files.first().unwrap(), None, &mut kept);
    assert_eq!(outcome.unwrap().account.lost, 0);
    assert_eq!(kept.sessions.len(), 1);
    let session = kept.sessions.remove(0);
    Surface::of(&session.events).unwrap();
    session
}

fn counts(session: &KeptSession) -> String {
    let facts = &session.session.as_ref().unwrap().facts;
    let (prompts, replies) = (facts.prompts, facts.replies);
    format!(
        "u{prompts} a{replies} c{} r{}",
        facts.tool_calls, facts.tool_results
    )
}

/// Property: the counts of the samples are those of their index.
#[test]
fn samples_have_the_counts_of_their_index() {
    let Some(samples) = samples() else {
        return;
    };
    for (name, wanted) in [
        ("made-cli_schema_drift.jsonl", "u1 a1 c0 r1"),
        ("made-cli_small.jsonl", "u2 a3 c2 r9"),
        ("made-codeburn-current.jsonl", "u1 a1 c0 r0"),
    ] {
        let root = tempfile::tempdir().unwrap();
        let logs = root
            .path()
            .join("brain/0b5e6a1c-0000-4000-8000-000000000001/.system_generated/logs");
        fs::create_dir_all(&logs).unwrap();
        fs::copy(
            samples.join("antigravity").join(name),
            logs.join("transcript.jsonl"),
        )
        .unwrap();
        assert_eq!(counts(&only(root.path())), wanted, "{name}");
    }
    let session = only(&samples.join("antigravity/made-ant-07/root"));
    assert_eq!(counts(&session), "u2 a1 c0 r0");
    let facts = session.session.unwrap().facts;
    assert_eq!(facts.cwd.as_deref(), Some("/workspace/project"));
}

/// Property: a database is read where there is no transcript, and not beside one.
#[test]
fn a_database_is_read_for_want_of_a_transcript() {
    let Some(samples) = samples() else {
        return;
    };
    let root = tempfile::tempdir().unwrap();
    let id = "0b2f7c1e-1111-4222-8333-999900001111";
    let sample = samples.join(format!("antigravity/made-conversations/{id}.db"));
    fs::create_dir_all(root.path().join("conversations")).unwrap();
    fs::copy(sample, root.path().join(format!("conversations/{id}.db"))).unwrap();
    let session = only(root.path());
    assert_eq!(session.id, id);
    assert_eq!(counts(&session), "u1 a1 c1 r0");
    let said = |event: &lookback_model::Event, kind| {
        let pieces = pieces(event);
        let found = pieces.iter().find(|piece| piece.kind == kind);
        found.map(|piece| piece.text.to_string())
    };
    let reply = session
        .events
        .iter()
        .find(|event| matches!(event.data, EventData::AssistantMessage(_)))
        .unwrap();
    assert_eq!(
        said(reply, TextKind::Agent).as_deref(),
        Some("I will run the tests.")
    );
    assert_eq!(
        said(reply, TextKind::Reasoning).as_deref(),
        Some("Think about the test.")
    );
    let logs = root.path().join(format!("brain/{id}/.system_generated/logs"));
    fs::create_dir_all(&logs).unwrap();
    fs::write(
        logs.join("transcript.jsonl"),
        "{\"type\":\"USER_INPUT\",\"content\":\"from the transcript\"}\n",
    )
    .unwrap();
    let session = only(root.path());
    assert_eq!(counts(&session), "u1 a0 c0 r0");
}
