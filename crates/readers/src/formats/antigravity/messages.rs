//! Conversations of older command lines, whose transcript is empty: prompts from the log of all of them, and
//! files with the messages that agents sent.

use super::beside;
use crate::document::{self, Document, no_session, text, words};
use crate::log::{Draft, SessionLog};
use lookback_model::Timestamp;
use lookback_model::event::{EventData, Message};
use lookback_model::source::{
    EventSink, IssueCode, ReadAccount, ReadCursor, ReadError, ReadOutcome, SourceFile,
};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Reads a conversation.
pub(super) fn read(
    file: &SourceFile,
    id: &str,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    document::refuse(file, cursor)?;
    let mut account = ReadAccount::default();
    let mut said = Vec::new();
    for prompt in beside::prompts(&file.root, id) {
        account.lines += 1;
        let is_command = text(&prompt, "type") == "slash_command";
        match words(&prompt, "display").filter(|_| !is_command) {
            Some(words) => {
                account.records += 1;
                let time = prompt.get("timestamp").and_then(Timestamp::from_json);
                said.push((time, EventData::UserMessage(Message::text(words))));
            }
            None => account.bookkeeping += 1,
        }
    }
    for path in message_files(file) {
        account.lines += 1;
        let message = Document::read(&path, &[]).unwrap_or_default();
        if message.error.is_some() || !message.root.is_object() {
            account.lost += 1;
            let line = account.lines;
            account.note(line, IssueCode::NotJson, "a message that is no JSON");
            continue;
        }
        let message = message.root;
        let is_hidden = message.get("hideFromUser").and_then(Value::as_bool) == Some(true);
        match words(&message, "content").filter(|_| !is_hidden) {
            Some(words) => {
                account.records += 1;
                let time = message.get("timestamp").and_then(Timestamp::from_json);
                said.push((time, EventData::AssistantMessage(Message::text(words))));
            }
            None => account.bookkeeping += 1,
        }
    }
    if said.is_empty() {
        return Err(no_session(&file.path, IssueCode::EmptyFile, "it is empty"));
    }
    said.sort_by_key(|(time, _)| *time);
    let mut log = SessionLog::begin(sink, id, None)?;
    beside::take(&file.root, id, log.facts());
    for (time, data) in said {
        log.append(Draft::new(data, time))?;
    }
    if log.facts().created_at.is_none() {
        log.saw_time(file.stamp.modified());
    }
    log.finish()?;
    Ok(document::outcome(account))
}

/// The files of messages, in the order of their names.
fn message_files(file: &SourceFile) -> Vec<PathBuf> {
    let generated = file.path.ancestors().nth(2).unwrap_or(&file.path);
    let Ok(entries) = fs::read_dir(generated.join("messages")) else {
        return Vec::new();
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let is_json = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let mut paths: Vec<PathBuf> = paths.filter(is_json).collect();
    paths.sort();
    paths
}
