//! The store up to version 1.1: a file for each session, each message and each part, in folders of their own.
//!
//! A session's file stands for all of them. Its stamp covers those files that may have changed since its
//! messages were written; it is always read whole.

use super::AGENT;
use super::conversation::{self, Conversation};
use crate::log::SessionLog;
use crate::values::{list, text, time};
use crate::{lines, mend, walk, whole};
use lookback_model::Timestamp;
use lookback_model::facts::TitleRank;
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, FileStamp, IssueCode, ReadAccount, ReadCursor, ReadError, ReadOutcome,
    SourceFile,
};
use serde_json::Value;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// `session/PROJECT/SESSION.json` below `storage`, or `session/info/SESSION.json` in the oldest generation.
pub(super) fn is_session(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
        && path.parent().is_some_and(|folder| {
            let parts = names(folder);
            let below = parts
                .split(|name| *name == "storage")
                .next_back()
                .unwrap_or_default();
            parts.contains(&OsStr::new("storage"))
                && matches!(below, [session, project] if *session == "session"
                    && !matches!(project.to_str(), Some("message" | "part")))
        })
}

/// Whether sessions are kept in or below a folder.
pub(super) fn leads_to_sessions(path: &Path) -> bool {
    let parts = names(path);
    let below = match parts.as_slice() {
        [project] | [project, _] if *project == "project" => return true,
        [project, _, below @ ..] if *project == "project" => below,
        below => below,
    };
    match below {
        [storage] => *storage == "storage",
        [storage, session] => *storage == "storage" && *session == "session",
        [storage, session, project] => {
            *storage == "storage"
                && *session == "session"
                && !matches!(project.to_str(), Some("message" | "part"))
        }
        _ => false,
    }
}

fn names(path: &Path) -> Vec<&OsStr> {
    path.components().map(Component::as_os_str).collect()
}

/// Where a session's messages and their parts are.
struct Places {
    id: String,
    messages: PathBuf,
    /// Folder of the folders of parts, one for each message.
    parts: PathBuf,
    /// Whether there is no file of the session itself.
    is_orphan: bool,
}

impl Places {
    /// By the file that stands for the session: its own, or its first message.
    fn of(path: &Path) -> Option<Self> {
        let folder = path.parent()?;
        let above = folder.parent()?;
        if above.file_name()? == "message" {
            return Some(Self {
                id: folder.file_name()?.to_string_lossy().into_owned(),
                messages: folder.to_owned(),
                parts: above.parent()?.join("part"),
                is_orphan: true,
            });
        }
        let id = path.file_stem()?.to_string_lossy().into_owned();
        // The oldest generation has everything below `session`, and a session's parts in a folder of their own.
        let is_oldest = folder.file_name()? == "info";
        let base = if is_oldest { above } else { above.parent()? };
        let parts = base.join("part");
        Some(Self {
            messages: base.join("message").join(&id),
            parts: if is_oldest { parts.join(&id) } else { parts },
            id,
            is_orphan: false,
        })
    }
}

/// Adds sessions of which there are messages, and no file of their own: a full disk leaves them so.
pub(super) fn add_orphans(root: &Path, before: usize, found: &mut Discovery) {
    let known: HashSet<OsString> = found
        .files
        .get(before..)
        .unwrap_or_default()
        .iter()
        .filter_map(|file| Some(file.path.file_stem()?.to_owned()))
        .collect();
    let Ok(folders) = fs::read_dir(root.join("storage").join("message")) else {
        return;
    };
    for folder in folders.flatten() {
        if known.contains(&folder.file_name()) {
            continue;
        }
        let Some(path) = json_files(&folder.path()).into_iter().next() else {
            continue;
        };
        let Ok(metadata) = fs::metadata(&path) else {
            continue;
        };
        found.files.push(SourceFile {
            agent: AGENT.to_owned(),
            root: root.to_owned(),
            path,
            role: FileRole::Transcript,
            stamp: walk::stamp(&metadata),
        });
    }
}

/// Makes a session's stamp cover its messages, and the parts that may still be written: a message is written
/// again when it is complete.
pub(super) fn cover_messages(file: &mut SourceFile) {
    let Some(places) = Places::of(&file.path) else {
        return;
    };
    let messages = json_files(&places.messages);
    let mut cover = |path: &Path| {
        if let Ok(metadata) = fs::metadata(path) {
            add(&mut file.stamp, walk::stamp(&metadata));
        }
    };
    messages.iter().for_each(|path| cover(path));
    for path in messages.iter().rev().take(2) {
        let parts = json_files(&places.parts.join(path.file_stem().unwrap_or_default()));
        parts.iter().for_each(|path| cover(path));
    }
}

fn add(stamp: &mut FileStamp, other: FileStamp) {
    stamp.size = stamp.size.saturating_add(other.size);
    stamp.modified_ns = stamp.modified_ns.max(other.modified_ns);
}

/// The files of a folder that hold JSON, by name, which is also by time.
fn json_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    files
}

/// Reads a session with its messages and parts.
pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    if cursor.is_some() {
        return Err(ReadError::StaleCursor {
            path: file.path.clone(),
        });
    }
    let no_session = |detail: &str| ReadError::NoSession {
        path: file.path.clone(),
        code: IssueCode::NoSessionHeader,
        detail: detail.to_owned(),
    };
    let places = Places::of(&file.path).ok_or_else(|| no_session("it lies in no store"))?;
    let mut reader = Reader {
        account: ReadAccount::default(),
    };
    let session = if places.is_orphan {
        Value::Null
    } else {
        let bytes = reader.bytes(&file.path)?;
        if bytes.is_empty() {
            return Err(ReadError::NoSession {
                path: file.path.clone(),
                code: IssueCode::EmptyFile,
                detail: "it is empty".to_owned(),
            });
        }
        reader.json(&bytes).unwrap_or_default()
    };
    let messages = reader.messages(&places);
    if messages.is_empty() && reader.account.lost > 0 {
        return Err(no_session("it cannot be read and has no messages"));
    }
    if session != Value::Null {
        reader.account.bookkeeping += 1;
    }
    if messages.is_empty() {
        return Ok(whole::outcome(reader.account));
    }
    let id = text(&session, &["id"]).unwrap_or(&places.id).to_owned();
    let mut log = SessionLog::begin(sink, &id, None)?;
    take_session(&mut log, &session);
    let mut conversation = Conversation {
        log: &mut log,
        revert: session.get("revert").and_then(conversation::Revert::of),
    };
    for (id, message) in &messages {
        let parts = reader.parts(&places, id, message);
        conversation.message(id, message, &parts)?;
        take_message(conversation.log, message);
    }
    conversation.end()?;
    if log.facts().created_at.is_none() {
        log.saw_time(file.stamp.modified());
    }
    log.finish()?;
    Ok(whole::outcome(reader.account))
}

fn take_session(log: &mut SessionLog<'_>, session: &Value) {
    let owned = |path: &[&str]| text(session, path).map(str::to_owned);
    let facts = log.facts();
    if let Some(title) = text(session, &["title"]).and_then(conversation::title) {
        facts.offer_title(title, TitleRank::Given);
    }
    facts.cwd = owned(&["directory"]);
    facts.agent_version = owned(&["version"]);
    facts.parent = owned(&["parentID"]);
    facts.archived = time(session, &["time", "archived"]).is_some();
    if facts.parent.is_some() {
        facts.kind = SessionKind::Subagent;
    } else if session.get("permission").is_some_and(conversation::may_not_ask) {
        facts.kind = SessionKind::Headless;
    }
    if let Some(created) = time(session, &["time", "created"]) {
        log.saw_time(created);
    }
}

/// What only messages tell: the folder of a session without a file, and which of its agents a child is.
fn take_message(log: &mut SessionLog<'_>, message: &Value) {
    let facts = log.facts();
    if facts.cwd.is_none() {
        facts.cwd = text(message, &["path", "cwd"]).map(str::to_owned);
    }
    if facts.kind == SessionKind::Subagent && facts.agent_type.is_none() {
        let agent = text(message, &["agent"]).or_else(|| text(message, &["mode"]));
        facts.agent_type = agent.map(str::to_owned);
    }
}

/// Reads files and keeps the account: each is a record.
struct Reader {
    account: ReadAccount,
}

impl Reader {
    fn bytes(&mut self, path: &Path) -> Result<Vec<u8>, ReadError> {
        let input = lines::open(path)?;
        let failed = |error| lines::io_error(path, error);
        let length = input.metadata().map_err(failed)?.len();
        self.account.bytes += length;
        let (bytes, cut) = lines::document(&input).map_err(failed)?;
        if cut > 0 {
            let detail = format!("{cut} bytes of long text");
            self.account
                .note(self.account.lines + 1, IssueCode::TextCut, detail);
        }
        Ok(bytes)
    }

    /// A file's JSON; one that holds none is lost.
    fn json(&mut self, bytes: &[u8]) -> Option<Value> {
        self.account.lines += 1;
        let text = String::from_utf8_lossy(bytes);
        let error = match serde_json::from_str::<Value>(&text) {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        let line = self.account.lines;
        if let Ok(value) = serde_json::from_str(&mend::mend(&text)) {
            self.account
                .note(line, IssueCode::Repaired, "bad escapes or bytes were replaced");
            return Some(value);
        }
        self.account.lost += 1;
        self.account.note(line, IssueCode::NotJson, error.to_string());
        None
    }

    fn file(&mut self, path: &Path) -> Option<Value> {
        match self.bytes(path) {
            Ok(bytes) => self.json(&bytes),
            Err(error) => {
                self.account.lines += 1;
                self.account.lost += 1;
                let line = self.account.lines;
                self.account.note(line, IssueCode::IoError, error.to_string());
                None
            }
        }
    }

    /// The messages in the order of the conversation, with their ids.
    fn messages(&mut self, places: &Places) -> Vec<(String, Value)> {
        let mut messages = Vec::new();
        for path in json_files(&places.messages) {
            let Some(message) = self.file(&path) else {
                continue;
            };
            self.account.records += 1;
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let id = text(&message, &["id"]).unwrap_or(&stem).to_owned();
            messages.push((id, message));
        }
        let created = |message: &Value| time(message, &["time", "created"]).unwrap_or(Timestamp(0));
        messages.sort_by(|a, b| (created(&a.1), &a.0).cmp(&(created(&b.1), &b.0)));
        messages
    }

    fn parts(&mut self, places: &Places, id: &str, message: &Value) -> Vec<Value> {
        let mut parts = Vec::new();
        for path in json_files(&places.parts.join(id)) {
            let Some(part) = self.file(&path) else {
                continue;
            };
            if let Some(kind) = conversation::unknown_type(&part) {
                self.account.note_unknown(kind);
            }
            if conversation::is_speech(&part) {
                self.account.records += 1;
                parts.push(part);
            } else {
                self.account.bookkeeping += 1;
            }
        }
        // The very first versions kept them in the message.
        parts.extend(list(message, &["parts"]).iter().cloned());
        parts
    }
}
