//! Databases and trees that real programs wrote, or that were made on their real schemas, which lie outside the
//! repository (`LOOKBACK_SHARED`, or `shared` beside it) and are passed over with a note when they are not there.
//!
//! Properties: the counts are those of their index, nothing is lost, nothing on the disk changes by reading, and
//! reading again from the cursor gives nothing.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says so when it is passed over"
)]

use lookback_model::source::{Discovery, EventSink, ReadAccount, ReadCursor, SourceFile};
use lookback_model::{Environment, SessionFacts, SessionSource, Surface};
use lookback_readers::registry::SOURCES;
use lookback_testkit::reading::Kept;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

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

fn source(agent: &str) -> &'static dyn SessionSource {
    *SOURCES.iter().find(|source| source.agent() == agent).unwrap()
}

/// Everything below a folder: path, length and time.
fn listing(folder: &Path) -> Vec<(PathBuf, u64, SystemTime)> {
    let mut listing = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let metadata = entry.metadata().unwrap();
        if metadata.is_dir() {
            listing.extend(self::listing(&entry.path()));
        }
        listing.push((entry.path(), metadata.len(), metadata.modified().unwrap()));
    }
    listing.sort();
    listing
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    if !from.is_dir() {
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

/// What a home gives: the sum of its sessions, and of the accounts.
struct Seen {
    sessions: usize,
    facts: SessionFacts,
    account: ReadAccount,
}

fn read_home(agent: &str, home: &Path) -> Seen {
    let (source, before) = (source(agent), listing(home));
    let mut found = Discovery::default();
    for root in source.roots(&Environment::at_home(home)) {
        source.discover(&root, &mut found);
    }
    assert!(found.issues.is_empty(), "{:?}", found.issues);
    let mut kept = Kept::default();
    let mut account = ReadAccount::default();
    for file in &found.files {
        let cursor = read(source, file, None, &mut kept, &mut account);
        let mut again = Kept::default();
        let whole = source.read(file, Some(&cursor), &mut again);
        assert!(whole.is_err() || again.sessions.is_empty(), "{agent}");
    }
    assert_eq!(listing(home), before);
    let mut facts = SessionFacts::default();
    for session in &kept.sessions {
        Surface::of(&session.events).unwrap();
        let own = &session.session.as_ref().unwrap().facts;
        facts.prompts += own.prompts;
        facts.replies += own.replies;
        facts.tool_calls += own.tool_calls;
        facts.tool_results += own.tool_results;
    }
    let sessions = kept.sessions.len();
    Seen {
        sessions,
        facts,
        account,
    }
}

fn read(
    source: &dyn SessionSource,
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
    account: &mut ReadAccount,
) -> ReadCursor {
    let outcome = source
        .read(file, cursor, sink)
        .unwrap_or_else(|error| panic!("{}: {error}", file.path.display()));
    account.add(&outcome.account);
    outcome.cursor
}

/// A sample, where it lies in a home, and its counts: sessions, prompts, replies, calls, results, and rows lost.
type Sample = (&'static str, &'static str, &'static str, [u64; 6]);

const SAMPLES: &[Sample] = &[
    (
        "opencode",
        "opencode/opencode-1.18.33.db",
        ".local/share/opencode/opencode.db",
        [2, 5, 13, 8, 8, 0],
    ),
    (
        "opencode",
        "opencode/json-storage-1.1.34/storage",
        ".local/share/opencode/storage",
        [1, 2, 6, 4, 4, 0],
    ),
    // Its summary is no reply, and what a command printed no tool's answer.
    (
        "crush",
        "crush/handmade-schema-20260127/.crush",
        ".local/share/crush",
        [2, 3, 4, 2, 2, 0],
    ),
    // Answers of tools are messages of the person there, and so is a summary.
    (
        "goose",
        "goose/handmade-schema-v13/sessions.db",
        ".local/share/goose/sessions/sessions.db",
        [3, 3, 5, 2, 2, 0],
    ),
    (
        "goose",
        "goose/legacy-jsonl-handmade/20250724_1.jsonl",
        ".local/share/goose/sessions/20250724_1.jsonl",
        [1, 1, 1, 0, 0, 0],
    ),
    // One thread is in an encoding of no program.
    (
        "zed",
        "zed/handmade-0.3.0/threads.db",
        ".local/share/zed/threads/threads.db",
        [4, 3, 5, 3, 3, 1],
    ),
    (
        "hermes",
        "hermes/0.19.0/state.db",
        ".hermes/state.db",
        [1, 1, 3, 2, 2, 0],
    ),
    // With those that were rewound, and without the summary.
    (
        "hermes",
        "hermes/handmade-schema-v30/state.db",
        ".hermes/state.db",
        [2, 4, 6, 2, 2, 0],
    ),
    (
        "kiro",
        "kiro/handmade-data-sqlite3/data.sqlite3",
        ".local/share/kiro-cli/data.sqlite3",
        [2, 2, 4, 2, 2, 0],
    ),
    (
        "kiro",
        "kiro/handmade-cli-envelope/.kiro",
        ".kiro",
        [1, 1, 2, 1, 1, 0],
    ),
    (
        "kiro",
        "kiro/handmade-v3-payload-layout/.kiro",
        ".kiro",
        [1, 1, 1, 0, 0, 0],
    ),
    // Everything of one request is one reply.
    (
        "warp",
        "warp/handmade-agent-tables/warp.sqlite",
        ".local/state/warp-terminal/warp.sqlite",
        [1, 1, 1, 1, 1, 0],
    ),
];

#[test]
fn samples_have_the_counts_of_their_index() {
    let Some(samples) = shared("samples") else {
        return;
    };
    for (agent, sample, place, counts) in SAMPLES {
        let home = tempfile::tempdir().unwrap();
        copy(&samples.join(sample), &home.path().join(place));
        let Seen {
            sessions,
            facts,
            account,
        } = read_home(agent, home.path());
        let seen = [
            sessions as u64,
            facts.prompts,
            facts.replies,
            facts.tool_calls,
            facts.tool_results,
            account.lost,
        ];
        assert_eq!(seen, *counts, "{sample}: {account:?}");
        assert!(account.unknown_types.is_empty(), "{sample}: {account:?}");
    }
}

#[test]
fn variables_move_the_agents_homes() {
    for (agent, variable, value, root) in [
        ("opencode", "XDG_DATA_HOME", "/data", "/data/opencode"),
        ("opencode", "OPENCODE_DB", "/data/mine.db", "/data/mine.db"),
        ("crush", "CRUSH_GLOBAL_DATA", "/data/crush", "/data/crush"),
        ("crush", "XDG_DATA_HOME", "/data", "/data/crush"),
        ("goose", "GOOSE_PATH_ROOT", "/data", "/data/data"),
        ("goose", "APPDATA", "/roaming", "/roaming/Block/goose/data"),
        ("zed", "FLATPAK_XDG_DATA_HOME", "/data", "/data/zed/threads"),
        ("zed", "LOCALAPPDATA", "/local", "/local/Zed/threads"),
        ("kiro", "KIRO_HOME", "/kiro", "/kiro/sessions"),
        ("kiro", "LOCALAPPDATA", "/local", "/local/amazon-q"),
        ("warp", "XDG_STATE_HOME", "/state", "/state/warp-terminal"),
        ("warp", "WARP_DB_PATH", "/x/warp.sqlite", "/x/warp.sqlite"),
        ("hermes", "HERMES_HOME", "/hermes", "/hermes"),
    ] {
        let mut environment = Environment::at_home("/home/one");
        let root = PathBuf::from(root);
        assert!(!source(agent).roots(&environment).contains(&root), "{agent}");
        let variables = &mut environment.variables;
        variables.insert(variable.to_owned(), value.to_owned());
        assert!(
            source(agent).roots(&environment).contains(&root),
            "{agent} {variable}"
        );
    }
}
