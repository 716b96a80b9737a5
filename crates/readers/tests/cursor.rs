//! Cursor's databases, which a corpus of texts cannot hold; and files that lie outside the repository
//! (`LOOKBACK_SHARED`, or `shared` beside it), which are passed over with a note when they are not there.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says so when it is passed over"
)]

use lookback_model::source::{Discovery, ReadOutcome};
use lookback_model::text::{TextKind, pieces};
use lookback_model::{Environment, SessionSource, Surface};
use lookback_readers::formats::cursor::Cursor;
use lookback_testkit::reading::{self, Kept, KeptSession};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const COMPOSER: &str = "0b5e6a1c-0000-4000-8000-00000000000a";
const AGENT: &str = "0b5e6a1c-0000-4000-8000-00000000000b";

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

/// Reads everything a root holds.
fn read_root(root: &Path, kept: &mut Kept, before: Option<&ReadOutcome>) -> ReadOutcome {
    let mut found = Discovery::default();
    Cursor.discover(root, &mut found);
    assert_eq!(found.files.len(), 1, "{}", root.display());
    let outcome = Cursor
        .read(&found.files[0], before.map(|outcome| &outcome.cursor), kept)
        .unwrap();
    for session in &kept.sessions {
        Surface::of(&session.events).unwrap();
    }
    outcome
}

fn counts(kept: &Kept) -> String {
    let facts = |session: &KeptSession| session.session.as_ref().unwrap().facts.clone();
    let all: Vec<_> = kept.sessions.iter().map(facts).collect();
    let sum = |count: fn(&lookback_model::SessionFacts) -> u64| all.iter().map(count).sum::<u64>();
    let (prompts, replies) = (sum(|facts| facts.prompts), sum(|facts| facts.replies));
    format!("u{prompts} a{replies} c{}", sum(|facts| facts.tool_calls))
}

/// What was said, and whether it is current.
fn said(session: &KeptSession) -> Vec<(String, bool)> {
    let mut said = Vec::new();
    for event in &session.events {
        let texts: Vec<_> = pieces(event)
            .into_iter()
            .filter(|piece| matches!(piece.kind, TextKind::User | TextKind::Agent))
            .map(|piece| piece.text.into_owned())
            .collect();
        if !texts.is_empty() {
            said.push((texts.join(" "), event.surface_op.is_some()));
        }
    }
    said
}

/// Property: the counts of the samples are those of their index.
#[test]
fn samples_have_the_counts_of_their_index() {
    let Some(samples) = samples() else {
        return;
    };
    let samples = samples.join("cursor");
    let place = |sample: &str, relative: &str| {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(samples.join(sample), path).unwrap();
        root
    };
    for (sample, wanted) in [
        ("made-state.vscdb", "u1 a1 c1"),
        ("made-state_large.vscdb", "u150 a150 c0"),
        ("made-composer-global-state.vscdb", "u2 a4 c2"),
    ] {
        let root = place(sample, "state.vscdb");
        let mut kept = Kept::default();
        let outcome = read_root(root.path(), &mut kept, None);
        assert_eq!(
            (counts(&kept).as_str(), outcome.account.lost),
            (wanted, 0),
            "{sample}"
        );
    }
    let lines = "project/agent-transcripts/0b5e6a1c.jsonl";
    for (sample, wanted) in [
        ("real-agent-transcript-13e662e2.jsonl", "u5 a51 c0"),
        ("real-agent-transcript-fcab959a.jsonl", "u2 a3 c1"),
        ("made-transcripts/error-line.jsonl", "u1 a1 c0"),
        ("made-transcripts/error-only.jsonl", "u0 a0 c0"),
        ("made-transcripts/multi-parts.jsonl", "u0 a1 c2"),
        ("made-transcripts/user-only.jsonl", "u1 a0 c0"),
        ("made-transcripts/with-tools.jsonl", "u1 a1 c1"),
        ("made-transcripts/empty.jsonl", "u0 a0 c0"),
    ] {
        let root = place(sample, lines);
        let mut kept = Kept::default();
        read_root(root.path(), &mut kept, None);
        assert_eq!(counts(&kept), wanted, "{sample}");
    }
    let mut kept = Kept::default();
    read_root(&samples.join("made-chats"), &mut kept, None);
    assert_eq!(counts(&kept), "u1 a2 c1");
    let session = &kept.sessions[0];
    assert_eq!(session.id, "2b9e1a7e-1111-4222-8333-444455556666");
    let facts = &session.session.as_ref().unwrap().facts;
    assert_eq!(facts.cwd.as_deref(), Some("/Users/alex/proj"));
    let root = place(
        "made-test-store-empty.db",
        &format!("5f4dcc3b5aa765d61d8327deb882cf99/{AGENT}/store.db"),
    );
    let mut kept = Kept::default();
    read_root(root.path(), &mut kept, None);
    assert_eq!(kept.sessions.len(), 0);
}

/// The editor's home, with a database that is written as the test goes.
struct Editor {
    home: tempfile::TempDir,
    database: Connection,
}

impl Editor {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let environment = Environment::at_home(home.path());
        let storage = Cursor.roots(&environment).remove(0);
        fs::create_dir_all(&storage).unwrap();
        let database = Connection::open(storage.join("state.vscdb")).unwrap();
        let tables = "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
            CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);";
        database.execute_batch(tables).unwrap();
        Self { home, database }
    }

    fn put(&self, table: &str, key: &str, value: &Value) {
        let sql = format!("INSERT INTO {table} VALUES (?1, ?2)");
        self.database.execute(&sql, (key, value.to_string())).unwrap();
    }

    fn composer(&self, id: &str, bubbles: &[&str], more: Value) {
        let headers: Vec<Value> = bubbles.iter().map(|id| json!({ "bubbleId": id })).collect();
        let mut composer = json!({"composerId": id, "name": "Bounds", "createdAt": 1_777_885_500_000_i64, "fullConversationHeadersOnly": headers, "blobEncryptionKey": "a-made-up-key"});
        let fields = more.as_object().unwrap().clone();
        composer.as_object_mut().unwrap().extend(fields);
        self.put("cursorDiskKV", &format!("composerData:{id}"), &composer);
    }

    fn bubble(&self, composer: &str, id: &str, kind: u64, text: &str) {
        let bubble = json!({"bubbleId": id, "type": kind, "text": text, "richText": "not kept", "createdAt": "2026-05-04T09:05:00.000Z"});
        self.put("cursorDiskKV", &format!("bubbleId:{composer}:{id}"), &bubble);
    }

    fn root(&self) -> PathBuf {
        Cursor.roots(&Environment::at_home(self.home.path())).remove(0)
    }

    fn read(&self, kept: &mut Kept, before: Option<&ReadOutcome>) -> ReadOutcome {
        read_root(&self.root(), kept, before)
    }
}

/// Property: the list gives the order; what it does not name is off the surface; empty and missing bubbles give
/// nothing; keys are not told.
#[test]
fn a_conversation_has_the_order_of_its_list() {
    let editor = Editor::new();
    editor.bubble(COMPOSER, "b2", 2, "second");
    editor.bubble(COMPOSER, "left", 2, "an answer that was left");
    editor.bubble(COMPOSER, "b1", 1, "first");
    editor.bubble(COMPOSER, "empty", 2, "");
    let workspace = json!({"workspaceIdentifier": {"uri": {"fsPath": "/srv/shop"}}, "modelConfig": {"modelName": "ada-1"}});
    editor.composer(COMPOSER, &["b1", "empty", "b2", "gone"], workspace);
    let sql = "INSERT INTO cursorDiskKV VALUES ('bubbleId:x:null', NULL), ('agentKv:blob:1', 'x')";
    editor.database.execute(sql, []).unwrap();
    let mut kept = Kept::default();
    let outcome = editor.read(&mut kept, None);
    assert_eq!(outcome.account.lost, 0);
    let session = kept
        .sessions
        .iter()
        .find(|session| session.id == COMPOSER)
        .unwrap();
    let wanted = [
        ("first", true),
        ("second", true),
        ("an answer that was left", false),
    ];
    assert_eq!(
        said(session),
        wanted.map(|(text, current)| (text.to_owned(), current))
    );
    let read = session.session.as_ref().unwrap();
    assert_eq!(read.facts.cwd.as_deref(), Some("/srv/shop"));
    assert_eq!(read.facts.model.as_deref(), Some("ada-1"));
    assert_eq!(read.facts.title.as_ref().unwrap().text, "Bounds");
    assert!(!format!("{kept:?}").contains("a-made-up-key"));
    assert_eq!(Cursor.resume(&read.header, &read.facts), None);
}

/// Property: only what changed is told again, and a value that is no JSON costs itself.
#[test]
fn only_what_changed_is_told_again() {
    let editor = Editor::new();
    for id in ["one", "two"] {
        editor.bubble(id, "b1", 1, "asked");
        editor.composer(id, &["b1"], json!({}));
    }
    let mut kept = Kept::default();
    let first = editor.read(&mut kept, None);
    assert_eq!(kept.sessions.len(), 2);
    editor.bubble("two", "b2", 2, "answered");
    editor.composer("two", &["b1", "b2", "b3"], json!({}));
    let sql = "INSERT INTO cursorDiskKV VALUES ('bubbleId:two:b3', '{\"type\":2,\"te')";
    editor.database.execute(sql, []).unwrap();
    let mut again = Kept::default();
    let second = editor.read(&mut again, Some(&first));
    let ids: Vec<_> = again.sessions.iter().map(|session| session.id.as_str()).collect();
    assert_eq!(ids, ["two"]);
    assert_eq!(said(&again.sessions[0]).len(), 2);
    assert_eq!(second.account.lost, 1);
    let mut unchanged = Kept::default();
    editor.read(&mut unchanged, Some(&second));
    assert!(unchanged.sessions.is_empty());
}

/// Property: a conversation that does not name its folder has that of the window that lists it.
#[test]
fn folders_come_from_the_windows() {
    let editor = Editor::new();
    editor.bubble(COMPOSER, "b1", 1, "asked");
    editor.composer(COMPOSER, &["b1"], json!({}));
    let window = editor.root().parent().unwrap().join("workspaceStorage/0123");
    fs::create_dir_all(&window).unwrap();
    fs::write(
        window.join("workspace.json"),
        r#"{"folder":"file:///srv/my%20shop"}"#,
    )
    .unwrap();
    let database = Connection::open(window.join("state.vscdb")).unwrap();
    database
        .execute_batch("CREATE TABLE ItemTable (key TEXT, value BLOB)")
        .unwrap();
    let listed = json!({"allComposers": [{ "composerId": COMPOSER }]}).to_string();
    let sql = "INSERT INTO ItemTable VALUES ('composer.composerData', ?1)";
    database.execute(sql, [listed]).unwrap();
    let mut kept = Kept::default();
    editor.read(&mut kept, None);
    let read = kept.sessions[0].session.as_ref().unwrap();
    assert_eq!(read.facts.cwd.as_deref(), Some("/srv/my shop"));
}

/// Property: a transcript is not told beside the editor's own conversation.
#[test]
fn a_transcript_gives_way_to_the_database() {
    let editor = Editor::new();
    let projects = editor.home.path().join(".cursor/projects");
    let folder = projects.join("srv-shop/agent-transcripts");
    fs::create_dir_all(&folder).unwrap();
    for id in [COMPOSER, AGENT] {
        let line = r#"{"role":"user","message":{"content":[{"type":"text","text":"asked"}]}}"#;
        fs::write(folder.join(format!("{id}.jsonl")), format!("{line}\n")).unwrap();
    }
    editor.bubble(COMPOSER, "b1", 1, "asked");
    let mut told = Vec::new();
    for file in reading::discover(&Cursor, &Environment::at_home(editor.home.path())).files {
        if file.root == projects {
            let mut kept = Kept::default();
            Cursor.read(&file, None, &mut kept).unwrap();
            told.extend(kept.sessions.into_iter().map(|session| session.id));
        }
    }
    assert_eq!(told, [AGENT]);
}

/// Property: of a chat, what the root leads to is current; the command goes on with it.
#[test]
fn a_chat_is_what_its_root_leads_to() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("5f4dcc3b5aa765d61d8327deb882cf99").join(AGENT);
    fs::create_dir_all(&folder).unwrap();
    let database = Connection::open(folder.join("store.db")).unwrap();
    let tables = "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);";
    database.execute_batch(tables).unwrap();
    let mut tree = Vec::new();
    let messages = [
        (0x11, "user", "<user_query>\nfix it\n</user_query>", true),
        (0x22, "assistant", "a reply that was left", false),
        (0x33, "assistant", "fixed", true),
    ];
    for (byte, role, text, is_current) in messages {
        let id = format!("{byte:02x}").repeat(32);
        let message = json!({"role": role, "content": [{"type": "text", "text": text}]}).to_string();
        let sql = "INSERT INTO blobs VALUES (?1, ?2)";
        database.execute(sql, (&id, message.as_bytes())).unwrap();
        if is_current {
            tree.extend([0x0A, 32]);
            tree.extend([byte; 32]);
        }
    }
    let top = "99".repeat(32);
    database
        .execute("INSERT INTO blobs VALUES (?1, ?2)", (&top, tree))
        .unwrap();
    let meta = json!({"agentId": AGENT, "name": "Fix", "createdAt": 1_777_885_500_000_i64, "latestRootBlobId": top, "workspacePath": "/srv/shop"});
    let digits: String = meta
        .to_string()
        .bytes()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    database
        .execute("INSERT INTO meta VALUES ('0', ?1)", [digits])
        .unwrap();
    drop(database);
    let mut kept = Kept::default();
    read_root(root.path(), &mut kept, None);
    let session = &kept.sessions[0];
    let wanted = [
        ("fix it", true),
        ("a reply that was left", false),
        ("fixed", true),
    ];
    assert_eq!(
        said(session),
        wanted.map(|(text, current)| (text.to_owned(), current))
    );
    let read = session.session.as_ref().unwrap();
    let resume = Cursor.resume(&read.header, &read.facts).unwrap();
    assert_eq!(
        resume.arguments.join(" "),
        format!("cursor-agent --resume {AGENT}")
    );
    assert_eq!(resume.directory.as_deref(), Some("/srv/shop"));
}
