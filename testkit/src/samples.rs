//! Files that real agents wrote, which lie outside the repository: under `LOOKBACK_SHARED`, or in `shared`
//! beside it. Tests that use them are passed over, with a note, where they are not.

use crate::reading::{self, Kept};
use lookback_model::source::{FileRole, FileStamp, ReadAccount, SourceFile};
use lookback_model::{SessionSource, Surface};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A file or folder among them; `None`, with a note, when it is not there.
#[expect(clippy::print_stdout, reason = "a test says when it is passed over")]
pub fn shared(name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let folder = std::env::var_os("LOOKBACK_SHARED").map_or(beside, PathBuf::from);
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    println!("passed over: {} is not there", path.display());
    None
}

/// A file as discovery would have found it under `root`.
pub fn source_file(source: &dyn SessionSource, root: &Path, path: &Path) -> SourceFile {
    SourceFile {
        agent: source.agent().to_owned(),
        root: root.to_owned(),
        path: path.to_owned(),
        role: FileRole::Transcript,
        stamp: FileStamp {
            size: fs::metadata(path).map_or(0, |metadata| metadata.len()),
            // Any time will do, as long as it is the same in every run.
            modified_ns: 1_780_000_000_000_000_000,
            ..FileStamp::default()
        },
    }
}

/// All files below a folder, in order.
pub fn files_under(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(files_under(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Reads a file whole.
///
/// # Panics
/// When it cannot be read.
pub fn read(source: &dyn SessionSource, file: &SourceFile) -> (Kept, ReadAccount) {
    let mut kept = Kept::default();
    match source.read(file, None, &mut kept) {
        Ok(outcome) => (kept, outcome.account),
        Err(error) => panic!("{}: {error:?}", file.path.display()),
    }
}

/// Reads a file whole, and in two parts at about so many places.
///
/// # Panics
/// When a line is lost or of an unknown type, the log cannot be folded, or the parts differ from the whole.
pub fn loses_nothing(source: &dyn SessionSource, file: &SourceFile, cuts: usize) {
    let (kept, account) = read(source, file);
    let name = file.path.display();
    assert_eq!(account.lost, 0, "{name}: {account:?}");
    assert!(
        account.unknown_types.is_empty(),
        "{name}: {:?}",
        account.unknown_types
    );
    let sum = account.records + account.bookkeeping + account.blank;
    assert_eq!(account.lines, sum, "{name}: every line is accounted for once");
    for session in &kept.sessions {
        if let Err(error) = Surface::of(&session.events) {
            panic!("{name}: {error}");
        }
    }
    reads_in_parts(source, file, cuts);
}

/// Reads a file in two parts at about so many places.
///
/// # Panics
/// When the parts differ from the whole.
pub fn reads_in_parts(source: &dyn SessionSource, file: &SourceFile, cuts: usize) {
    let length = usize::try_from(file.stamp.size).unwrap_or(0);
    for cut in (0..length).step_by((length / cuts.max(1)).max(1)) {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary folder: {error}"));
        if let Err(error) = reading::read_in_parts(source, file, cut, folder.path()) {
            panic!("{}: {error}", file.path.display());
        }
    }
}

/// Prompts, replies, calls and answers of a file's only session, as the index of the samples writes them.
///
/// # Panics
/// When it does not hold one session.
pub fn counts(source: &dyn SessionSource, file: &SourceFile) -> String {
    let (kept, _) = read(source, file);
    let [session] = kept.sessions.as_slice() else {
        panic!("{} holds {} sessions", file.path.display(), kept.sessions.len());
    };
    let facts = session.session.as_ref().map(|read| &read.facts);
    facts.map_or_else(String::new, |facts| {
        format!(
            "u{} a{} c{} r{}",
            facts.prompts, facts.replies, facts.tool_calls, facts.tool_results
        )
    })
}

/// The files of an agent in the index of the samples that hold counts: the path, and the counts.
pub fn indexed(agent: &str) -> Vec<(PathBuf, String)> {
    let Some(samples) = shared("samples") else {
        return Vec::new();
    };
    let index = fs::read_to_string(samples.join("INDEX-1.md")).unwrap_or_default();
    let prefix = format!("| {agent}/");
    let rows = index.lines().filter(|line| line.starts_with(&prefix));
    rows.filter_map(|row| {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let (name, counts) = (cells.next()?, cells.next_back()?);
        let (counts, _) = counts.split_once(" bad")?;
        Some((samples.join(name), counts.to_owned()))
    })
    .collect()
}

/// The files of an agent in the second index of the samples: the path, and how many records of each kind it
/// holds.
pub fn indexed_records(agent: &str) -> Vec<(PathBuf, Value)> {
    let Some(samples) = shared("samples") else {
        return Vec::new();
    };
    let index = fs::read_to_string(samples.join("INDEX-2.md")).unwrap_or_default();
    let prefix = format!("| `{agent}/");
    let rows = index.lines().filter(|line| line.starts_with(&prefix));
    rows.filter_map(|row| {
        let mut cells = row
            .trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().trim_matches('`'));
        let (name, counts) = (cells.next()?, cells.next_back()?);
        Some((samples.join(name), serde_json::from_str(counts).ok()?))
    })
    .collect()
}

/// Such counts as [`counts`] writes them, from the names of the kinds in the order prompts, replies, calls and
/// answers.
pub fn written(records: &Value, kinds: [&str; 4]) -> String {
    let count = |kind: &str| records.get(kind).and_then(Value::as_u64).unwrap_or(0);
    let [prompts, replies, calls, answers] = kinds.map(count);
    format!("u{prompts} a{replies} c{calls} r{answers}")
}
