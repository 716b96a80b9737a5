//! Cline, Roo Code and Kilo Code on files that real programs wrote, which lie outside the repository
//! (`LOOKBACK_SHARED`, or `shared` beside it) and are passed over with a note when they are not there.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says so when it is passed over"
)]

use lookback_model::event::EventData;
use lookback_model::source::Discovery;
use lookback_model::{SessionSource, Surface};
use lookback_readers::formats::cline::Cline;
use lookback_readers::formats::kilo::Kilo;
use lookback_readers::formats::roo::Roo;
use lookback_testkit::reading::Kept;
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

/// What was read under a root: prompts, context, replies, calls and results of all its sessions.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    sessions: usize,
    prompts: u64,
    context: u64,
    spoken: u64,
    calls: u64,
    results: u64,
    failed: u64,
    lost: u64,
}

fn count(source: &dyn SessionSource, root: &Path) -> Counts {
    let mut found = Discovery::default();
    source.discover(root, &mut found);
    let mut counts = Counts::default();
    for file in &found.files {
        let mut kept = Kept::default();
        let outcome = source.read(file, None, &mut kept);
        let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}", file.path.display()));
        counts.lost += outcome.account.lost;
        for session in &kept.sessions {
            Surface::of(&session.events).unwrap();
            let facts = &session.session.as_ref().unwrap().facts;
            counts.sessions += 1;
            counts.prompts += facts.prompts;
            counts.calls += facts.tool_calls;
            counts.results += facts.tool_results;
            for event in &session.events {
                match &event.data {
                    EventData::ContextMessage(_) => counts.context += 1,
                    EventData::AssistantMessage(message) => {
                        counts.spoken += u64::from(lookback_model::text::speaks(message));
                    }
                    EventData::ToolResult(result) => counts.failed += u64::from(result.is_error),
                    _ => {}
                }
            }
        }
    }
    counts
}

/// Property: samples have the counts of their index. It counts as a prompt each message with a text, also
/// summaries and messages that hold nothing but the editor's state.
#[test]
fn samples_have_the_counts_of_their_index() {
    let Some(samples) = shared("samples") else {
        return;
    };
    let task = Counts {
        sessions: 1,
        prompts: 2,
        context: 1,
        spoken: 3,
        calls: 1,
        results: 1,
        ..Counts::default()
    };
    let expected: &[(&dyn SessionSource, &str, Counts)] = &[
        (
            &Cline,
            "cline/cli-3.0.65/data",
            Counts {
                sessions: 1,
                prompts: 1,
                spoken: 3,
                calls: 2,
                results: 2,
                failed: 1,
                ..Counts::default()
            },
        ),
        (
            &Cline,
            "cline/cli-sdk-repo-fixture",
            Counts {
                sessions: 1,
                prompts: 5,
                context: 1,
                spoken: 14,
                calls: 11,
                results: 11,
                ..Counts::default()
            },
        ),
        (
            &Cline,
            "cline/handmade-vscode-legacy/saoudrizwan.claude-dev",
            Counts { ..task },
        ),
        (
            &Roo,
            "roo/handmade-globalStorage/rooveterinaryinc.roo-cline",
            Counts {
                sessions: 2,
                prompts: 4,
                context: 2,
                spoken: 6,
                calls: 2,
                results: 2,
                ..Counts::default()
            },
        ),
        (
            &Roo,
            "roo/deja-handmade",
            Counts {
                sessions: 1,
                prompts: 1,
                spoken: 1,
                ..Counts::default()
            },
        ),
        (
            &Roo,
            "roo/handmade-broken",
            Counts {
                sessions: 1,
                prompts: 1,
                lost: 1,
                ..Counts::default()
            },
        ),
        (
            &Kilo,
            "kilo/handmade-vscode-legacy-globalStorage/kilocode.kilo-code",
            task,
        ),
    ];
    for (source, folder, wanted) in expected {
        assert_eq!(count(*source, &samples.join(folder)), *wanted, "{folder}");
    }
}
