//! Exports of ChatGPT and Claude.ai that lie outside the repository (`LOOKBACK_SHARED`, or `shared` beside it) and
//! are passed over with a note when they are not there.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says so when it is passed over"
)]

use lookback_model::event::EventData;
use lookback_model::source::{Discovery, ReadAccount};
use lookback_model::{SessionSource, Surface};
use lookback_readers::formats::chatgpt::ChatGpt;
use lookback_readers::formats::claude_ai::ClaudeAi;
use lookback_testkit::reading::Kept;
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

fn read(source: &dyn SessionSource, folder: &Path) -> (Kept, ReadAccount) {
    let mut found = Discovery::default();
    source.discover(folder, &mut found);
    let (mut kept, mut account) = (Kept::default(), ReadAccount::default());
    for file in &found.files {
        account.add(&source.read(file, None, &mut kept).unwrap().account);
    }
    for session in &kept.sessions {
        Surface::of(&session.events).unwrap();
    }
    (kept, account)
}

/// Property: conversations and messages are those of the index; what was regenerated away is off the surface.
#[test]
fn samples_have_the_counts_of_their_index() {
    let Some(samples) = samples() else {
        return;
    };
    let (kept, account) = read(&ChatGpt, &samples.join("chatgpt"));
    assert_eq!(
        (account.lines, account.records, account.blank, account.lost),
        (2, 1, 1, 0)
    );
    let session = kept.sessions.first().unwrap();
    let facts = &session.session.as_ref().unwrap().facts;
    // Of the assistant's six messages that are told, one was left; the prompts' answers count once each.
    assert_eq!(
        (facts.prompts, facts.tool_calls, facts.tool_results, facts.rewinds),
        (2, 1, 1, 1)
    );
    let replies = session
        .events
        .iter()
        .filter(|event| matches!(event.data, EventData::AssistantMessage(_)));
    assert_eq!(replies.count(), 6);
    let left = session.events.iter().filter(|event| event.surface_op.is_none());
    assert_eq!(left.count(), 1);

    let (kept, account) = read(&ClaudeAi, &samples.join("claude-ai"));
    assert_eq!(
        (account.lines, account.records, account.blank, account.lost),
        (2, 1, 1, 0)
    );
    let facts = &kept.sessions.first().unwrap().session.as_ref().unwrap().facts;
    assert_eq!(
        (facts.prompts, facts.replies, facts.tool_calls, facts.tool_results),
        (2, 2, 1, 1)
    );
}
