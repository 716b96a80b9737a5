//! Continue on files that real programs wrote, which lie outside the repository (`LOOKBACK_SHARED`, or
//! `shared` beside it) and are passed over with a note when they are not there.

use lookback_model::SessionSource;
use lookback_model::source::Discovery;
use lookback_readers::formats::continue_dev::Continue;
use lookback_testkit::reading::Kept;
use std::path::{Path, PathBuf};

/// Property: a real session has the counts of its index, and its beginning is that of the list beside it.
#[test]
fn samples_have_the_counts_of_their_index() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("LOOKBACK_SHARED")
        .map_or(beside, PathBuf::from)
        .join("samples/continue/cli-1.5.47/sessions");
    if !folder.exists() {
        println!("passed over: {} is not there", folder.display());
        return;
    }
    let mut found = Discovery::default();
    Continue.discover(&folder, &mut found);
    assert_eq!(found.files.len(), 1);
    let mut kept = Kept::default();
    let outcome = Continue
        .read(found.files.first().unwrap(), None, &mut kept)
        .unwrap();
    assert_eq!(outcome.account.lost, 0);
    let facts = &kept.sessions.first().unwrap().session.as_ref().unwrap().facts;
    let counts = (facts.prompts, facts.replies, facts.tool_calls, facts.tool_results);
    assert_eq!(counts, (1, 3, 2, 2));
    assert_eq!(facts.created_at.unwrap().0, 1_796_044_501_256);
    assert_eq!(facts.model.as_deref(), Some("mock-model"));
}
