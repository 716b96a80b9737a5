//! DeepSeek's harness: what no case of the corpus can say.

use lookback_model::source::IssueCode;
use lookback_readers::formats::dsh::Dsh;
use lookback_testkit::{fuzzing, reading, samples};
use std::fs;

/// Property: a compressed log of several frames gives what the plain one gives, and a torn last frame costs
/// what it held.
#[test]
fn frames_are_read_as_what_they_hold() {
    let header = "{\"type\":\"session\",\"version\":0,\"id\":\"s-1\",\"createdAt\":1780308000000}\n";
    let event = |seq: u64, text: &str| {
        format!(
            "{{\"seq\":{seq},\"time\":1780308001000,\"type\":\"user/message\",\"data\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}},\"surfaceOp\":{{\"op\":\"append\"}}}}\n"
        )
    };
    let parts = [header.to_owned(), event(0, "first"), event(1, "second")];
    let home = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let write = |name: &str, bytes: &[u8]| {
        let folder = home.path().join(".dsh/--srv--").join(name);
        let file = if name == "plain" {
            "session.jsonl"
        } else {
            "session.jsonl.zstd"
        };
        let written = fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join(file), bytes));
        written.unwrap_or_else(|error| panic!("{error}"));
        samples::source_file(&Dsh, home.path(), &folder.join(file))
    };
    let frames: Vec<u8> = parts
        .iter()
        .flat_map(|part| fuzzing::zstd_frame(part.as_bytes()))
        .collect();
    let plain = samples::read(&Dsh, &write("plain", parts.concat().as_bytes()));
    let packed = samples::read(&Dsh, &write("packed", &frames));
    assert_eq!(plain.0.sessions, packed.0.sessions);
    let torn = frames.get(..frames.len() - 20).unwrap_or_default();
    let file = write("torn", torn);
    let (kept, account) = samples::read(&Dsh, &file);
    let events = kept.sessions.first().map(|session| session.events.len());
    assert_eq!(events, Some(1));
    assert_eq!(
        account.issue_counts.get(IssueCode::PartialTail.as_str()),
        Some(&1)
    );
    assert_eq!(account.lost, 0);
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let read = reading::read_in_parts(&Dsh, &file, torn.len() / 2, folder.path());
    assert_eq!(read, Ok(()));
}
