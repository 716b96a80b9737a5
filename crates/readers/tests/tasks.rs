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

/// What was read under a root: sessions, prompts, context, replies with words, calls, results, those of them that
/// failed, and lost records.
type Counts = [u64; 8];

fn count(source: &dyn SessionSource, root: &Path) -> Counts {
    let mut found = Discovery::default();
    source.discover(root, &mut found);
    let mut counts = Counts::default();
    let [sessions, prompts, context, spoken, calls, results, failed, lost] = &mut counts;
    for file in &found.files {
        let mut kept = Kept::default();
        let outcome = source.read(file, None, &mut kept);
        let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}", file.path.display()));
        *lost += outcome.account.lost;
        for session in &kept.sessions {
            Surface::of(&session.events).unwrap();
            let facts = &session.session.as_ref().unwrap().facts;
            *sessions += 1;
            *prompts += facts.prompts;
            *calls += facts.tool_calls;
            *results += facts.tool_results;
            for event in &session.events {
                match &event.data {
                    EventData::ContextMessage(_) => *context += 1,
                    EventData::AssistantMessage(message) => {
                        *spoken += u64::from(lookback_model::text::speaks(message));
                    }
                    EventData::ToolResult(result) => *failed += u64::from(result.is_error),
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
    let task = [1, 2, 1, 3, 1, 1, 0, 0];
    let extension = "handmade-vscode-legacy/saoudrizwan.claude-dev";
    let expected: &[(&dyn SessionSource, String, Counts)] = &[
        (
            &Cline,
            "cline/cli-3.0.65/data".to_owned(),
            [1, 1, 0, 3, 2, 2, 1, 0],
        ),
        (
            &Cline,
            "cline/cli-sdk-repo-fixture".to_owned(),
            [1, 5, 1, 14, 11, 11, 0, 0],
        ),
        (&Cline, format!("cline/{extension}"), task),
        (
            &Roo,
            "roo/handmade-globalStorage/rooveterinaryinc.roo-cline".to_owned(),
            task.map(|count| 2 * count),
        ),
        (&Roo, "roo/deja-handmade".to_owned(), [1, 1, 0, 1, 0, 0, 0, 0]),
        (&Roo, "roo/handmade-broken".to_owned(), [1, 1, 0, 0, 0, 0, 0, 1]),
        (
            &Kilo,
            "kilo/handmade-vscode-legacy-globalStorage/kilocode.kilo-code".to_owned(),
            task,
        ),
    ];
    for (source, folder, wanted) in expected {
        assert_eq!(count(*source, &samples.join(folder)), *wanted, "{folder}");
    }
}
