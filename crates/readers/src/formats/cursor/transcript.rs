//! Transcripts: what was said and which tools were called, without times, ids, results or reasoning.

use super::{STORE, TRANSCRIPTS, places, prompt};
use crate::document::{self, items, plain, text, words};
use crate::log::{Draft, SessionLog};
use crate::mend::Taken;
use crate::{records, vscode};
use lookback_model::Environment;
use lookback_model::event::{ContentBlock, EventData, Message};
use lookback_model::session::SessionKind;
use lookback_model::source::{
    EventSink, ReadAccount, ReadCursor, ReadError, ReadOutcome, SinkClosed, SourceFile,
};
use serde_json::Value;
use std::fs;

/// What stands in the place of reasoning.
const TAKEN_OUT: &str = "[REDACTED]";

/// Reads a transcript. It tells no time, so all of it has the file's, and it is always read whole.
pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    document::refuse(file, cursor)?;
    let id = file.path.file_stem().unwrap_or_default().to_string_lossy();
    if is_stored(file, &id) {
        let bookkeeping = ReadAccount {
            lines: 1,
            bookkeeping: 1,
            ..ReadAccount::default()
        };
        return Ok(document::outcome(bookkeeping));
    }
    if file.stamp.size == 0 {
        // Nothing was said yet.
        return Ok(document::outcome(ReadAccount::default()));
    }
    let mut log = SessionLog::begin(sink, &id, None)?;
    take_place(file, &mut log);
    let modified = file.stamp.modified();
    log.saw_time(modified);
    let account = records::read(file, &mut |record| {
        let Some(data) = said(record) else {
            return Ok(Taken::Bookkeeping);
        };
        log.append(Draft::new(data, Some(modified)))?;
        Ok::<_, SinkClosed>(Taken::Record)
    })?;
    let facts = log.facts();
    facts.hidden = facts.message_count() == 0;
    log.finish()?;
    Ok(document::outcome(account))
}

/// Whether a database has the same conversation, and more of it.
fn is_stored(file: &SourceFile, id: &str) -> bool {
    let Some(own) = file.root.parent() else {
        return false;
    };
    let chats = fs::read_dir(own.join("chats")).into_iter().flatten().flatten();
    for folder in chats {
        if folder.path().join(id).join(STORE).exists() {
            return true;
        }
    }
    let Some(home) = own.parent() else {
        return false;
    };
    let user = vscode::user_folder(&Environment::at_home(home), "Cursor");
    super::composer::holds(&user.join("globalStorage").join(super::STATE), id)
}

fn take_place(file: &SourceFile, log: &mut SessionLog<'_>) {
    let relative = file.path.strip_prefix(&file.root).unwrap_or(&file.path);
    let names = super::names(relative);
    if let Some(project) = names.first().filter(|_| names.get(1) == Some(&TRANSCRIPTS)) {
        log.facts().cwd = places::of_project(project);
    }
    if let [_, TRANSCRIPTS, parent, "subagents", _] = names.as_slice() {
        log.facts().kind = SessionKind::Subagent;
        log.facts().parent = Some((*parent).to_owned());
    }
}

fn said(record: &Value) -> Option<EventData> {
    if text(record, "type") == "error" {
        let error = words(record, "error")?;
        return Some(EventData::ContextMessage(
            Message::text(error).from_source("error"),
        ));
    }
    let message = record.get("message").unwrap_or(record);
    let mut said = Message::default();
    match text(record, "role") {
        "user" => {
            let texts = items(message, "content")
                .iter()
                .filter_map(|block| words(block, "text"));
            let texts: Vec<&str> = texts.chain(words(message, "content")).collect();
            let prompt = prompt::words(&texts.join("\n"));
            (!prompt.is_empty()).then(|| EventData::UserMessage(Message::text(prompt)))
        }
        "assistant" => {
            said.content
                .extend(words(message, "content").map(ContentBlock::text));
            said.content
                .extend(items(message, "content").iter().filter_map(block));
            (!said.content.is_empty()).then_some(EventData::AssistantMessage(said))
        }
        _ => None,
    }
}

fn block(block: &Value) -> Option<ContentBlock> {
    match text(block, "type") {
        "text" => {
            let words = words(block, "text")?;
            if words.trim() == TAKEN_OUT {
                return Some(ContentBlock::Reasoning { text: String::new() });
            }
            Some(ContentBlock::text(words.replace(TAKEN_OUT, "")))
        }
        "tool_use" => Some(ContentBlock::ToolCall {
            id: text(block, "id").to_owned(),
            name: text(block, "name").to_owned(),
            arguments: block.get("input").map(plain).unwrap_or_default(),
        }),
        _ => None,
    }
}
