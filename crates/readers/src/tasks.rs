//! Tasks as Cline keeps them, and the extensions that descend from it: a folder for each, with the messages
//! as the model was sent them, the panel as the person saw it, and in newer ones an entry about the task.
//!
//! The messages are the better source. The panel is read where they are gone: writers that race have been
//! seen to leave an empty list.

mod conversation;
mod envelope;
mod panel;
mod xml;

pub use conversation::Conversation;

use crate::document::{self, Document, no_session, text, words};
use crate::walk::{self, Class, Walk};
use lookback_model::facts::TitleRank;
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, IssueCode, RawWords, ReadAccount, ReadCursor, ReadError, ReadOutcome,
    SourceFile,
};
use lookback_model::{SessionFacts, Timestamp};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const MESSAGES: &str = "api_conversation_history.json";
const OLD_MESSAGES: &str = "claude_messages.json";
const PANEL: &str = "ui_messages.json";
const ENTRY: &str = "history_item.json";

/// Finds the tasks below a folder of an extension. A task has one transcript: its messages, else the panel.
pub fn discover(agent: &str, root: &Path, found: &mut Discovery) {
    let mut seen = Discovery::default();
    Walk {
        agent,
        root,
        depth: 2,
        classify: &|path| match path.file_name().and_then(|name| name.to_str()) {
            Some(MESSAGES | OLD_MESSAGES | PANEL | ENTRY) if path.iter().count() == 3 => {
                Class::File(FileRole::Transcript)
            }
            _ => Class::Other,
        },
        enter: &|path| path.starts_with("tasks"),
    }
    .run(&mut seen);
    found.issues.append(&mut seen.issues);
    let mut tasks: BTreeMap<PathBuf, Vec<SourceFile>> = BTreeMap::new();
    for file in seen.files {
        let folder = file.path.parent().unwrap_or(root).to_owned();
        tasks.entry(folder).or_default().push(file);
    }
    found
        .files
        .extend(tasks.into_values().filter_map(|files| transcript(&files)));
}

/// The transcript among a task's files, changed when any of them was.
fn transcript(files: &[SourceFile]) -> Option<SourceFile> {
    let named = |name: &str| files.iter().find(|file| file.path.ends_with(name));
    let chosen = named(MESSAGES)
        .or_else(|| named(OLD_MESSAGES))
        .or_else(|| named(PANEL))?;
    Some(walk::with_beside(chosen, files))
}

/// Reads a task; `describe` adds what is noted about it elsewhere, and may correct what was found.
///
/// # Errors
/// As for any reader.
pub fn read(
    agent: &'static str,
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
    describe: &dyn Fn(&Path, &mut SessionFacts),
) -> Result<ReadOutcome, ReadError> {
    document::refuse(file, cursor)?;
    let folder = file.path.parent().unwrap_or(&file.path);
    let id = folder
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let panel = Document::read(&folder.join(PANEL), &["images"]);
    let times = panel.as_ref().ok().and_then(|panel| times(&panel.root));
    let start = times.map(|(first, _)| first).or_else(|| Timestamp::parse(&id));
    let (document, is_panel) = fuller(file, panel)?;
    let mut account = document.account();
    let start = start.unwrap_or_else(|| file.stamp.modified());
    let mut talk = Conversation::begin(agent, sink, &id, start)?;
    let records = document.root.as_array().map(Vec::as_slice).unwrap_or_default();
    if is_panel {
        panel::tell(&mut talk, records, &mut account)?;
    } else {
        tell(&mut talk, records, &mut account)?;
    }
    document.account_for_end(records.len(), &mut account);
    if let Some((_, last)) = times {
        talk.log.saw_time(last);
    }
    take_entry(&folder.join(ENTRY), talk.log.facts());
    describe(folder, talk.log.facts());
    talk.finish()?;
    Ok(document::outcome(account))
}

/// A task's messages, or its panel where they are gone, and whether it is the panel.
fn fuller(file: &SourceFile, panel: Result<Document, ReadError>) -> Result<(Document, bool), ReadError> {
    let messages = if file.path.ends_with(PANEL) {
        None
    } else {
        Some(Document::read(&file.path, &[]))
    };
    match (messages, panel) {
        (Some(Ok(messages)), _) if has_messages(&messages.root) => Ok((messages, false)),
        (_, Ok(panel)) if has_messages(&panel.root) => Ok((panel, true)),
        (Some(Err(error)), _) => Err(error),
        (
            Some(Ok(Document {
                error: Some(error), ..
            })),
            _,
        ) => Err(no_session(&file.path, IssueCode::NotJson, &error)),
        _ => Err(no_session(
            &file.path,
            IssueCode::NoSessionHeader,
            "nothing was said in it",
        )),
    }
}

/// How the words of a transcript stand in its bytes. Those of a task whose messages are gone stand in the panel.
pub fn raw_words(file: &SourceFile) -> RawWords {
    let length = fs::metadata(&file.path).map_or(0, |metadata| metadata.len());
    RawWords {
        is_json: length > EMPTY_LIST,
        added: &[],
    }
}

/// No list of messages is so short.
const EMPTY_LIST: u64 = 16;

fn has_messages(root: &Value) -> bool {
    let is_object = |item: &Value| item.is_object();
    root.as_array().is_some_and(|items| items.iter().any(is_object))
}

/// Tells messages one after the other, and accounts for each.
///
/// # Errors
/// [`ReadError::Closed`] when the sink wants nothing more.
pub fn tell(
    talk: &mut Conversation<'_>,
    messages: &[Value],
    account: &mut ReadAccount,
) -> Result<(), ReadError> {
    for (at, message) in messages.iter().enumerate() {
        account.lines += 1;
        if message.is_object() {
            account.records += 1;
            talk.message(message)?;
        } else {
            account.lost += 1;
            account.note(at as u64 + 1, IssueCode::NotARecord, "not a message");
        }
    }
    Ok(())
}

/// Times of the first and the last entry of a panel.
fn times(panel: &Value) -> Option<(Timestamp, Timestamp)> {
    let entries = panel.as_array()?;
    let times = entries
        .iter()
        .filter_map(|entry| entry.get("ts").and_then(Timestamp::from_json));
    times.fold(None, |range, time| match range {
        None => Some((time, time)),
        Some((first, last)) => Some((time.min(first), time.max(last))),
    })
}

/// Takes what an entry says of its task.
fn take_entry(path: &Path, facts: &mut SessionFacts) {
    if !path.exists() {
        return;
    }
    let Ok(entry) = Document::read(path, &[]) else {
        return;
    };
    let entry = &entry.root;
    facts.offer_title(text(entry, "task"), TitleRank::Prompt);
    if let Some(folder) = words(entry, "workspace").or_else(|| words(entry, "cwdOnTaskInitialization")) {
        facts.cwd = Some(folder.to_owned());
    }
    if let Some(parent) = words(entry, "parentTaskId") {
        facts.parent = Some(parent.to_owned());
        facts.kind = SessionKind::Subagent;
        facts.agent_type = words(entry, "mode").map(str::to_owned);
    }
}

/// The entry of a task in a list of all tasks, without holding the list: lists grow to megabytes, and are
/// asked for once for each task.
pub fn listed(list: &Path, id: &str) -> Option<Value> {
    let bytes = fs::read(list).ok()?;
    memchr::memmem::find(&bytes, format!("\"{id}\"").as_bytes())?;
    let tasks = Document::parse(&bytes, &[]).root;
    let Value::Array(tasks) = tasks else {
        return None;
    };
    tasks.into_iter().find(|task| text(task, "id") == id)
}
