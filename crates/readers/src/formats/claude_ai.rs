//! Claude.ai's export of an account: a list of conversations with their messages in order, and in newer ones
//! which message each follows.

use crate::document::{items, plain, text, words};
use crate::exports::{self, Taken};
use crate::log::{Draft, Placement, SessionLog};
use lookback_model::copies::key_of_id;
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use lookback_model::facts::TitleRank;
use lookback_model::source::{
    Discovery, EventSink, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SinkClosed, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource, Timestamp};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Reads exports of Claude.ai.
pub struct ClaudeAi;

const AGENT: &str = "claude-ai";

/// What stands for a block that the program which wrote the export could not show.
const PLACEHOLDER: &str = "This block is not supported on your current device yet.";

impl SessionSource for ClaudeAi {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        exports::folders(environment)
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        exports::discover(AGENT, "\"chat_messages\"", root, found);
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        let id = |conversation: &Value| words(conversation, "uuid").map(str::to_owned);
        let modified = file.stamp.modified();
        exports::read(file, cursor, &id, &mut |conversation, id| {
            tell(conversation, id, modified, sink)
        })
    }

    fn raw_words(&self, _: &SourceFile) -> RawWords {
        RawWords {
            is_json: true,
            added: &[],
        }
    }

    fn resume(&self, _: &SessionHeader, _: &SessionFacts) -> Option<ResumeCommand> {
        None
    }
}

fn tell(
    conversation: &Value,
    id: &str,
    modified: Timestamp,
    sink: &mut dyn EventSink,
) -> Result<Taken, ReadError> {
    let Some(messages) = conversation.get("chat_messages").and_then(Value::as_array) else {
        return Ok(Taken::NotOne);
    };
    if messages.is_empty() {
        return Ok(Taken::Empty);
    }
    let mut log = SessionLog::begin(sink, id, None)?;
    for key in ["created_at", "updated_at"] {
        if let Some(time) = conversation.get(key).and_then(Timestamp::from_json) {
            log.saw_time(time);
        }
    }
    if log.facts().created_at.is_none() {
        log.saw_time(modified);
    }
    log.facts()
        .offer_title(text(conversation, "name"), TitleRank::Given);
    let left = left(messages);
    let mut time = log.facts().created_at;
    let mut was_left = false;
    for message in messages {
        let id = text(message, "uuid");
        let is_left = left.contains(id);
        log.facts().rewinds += u64::from(is_left && !was_left);
        was_left = is_left;
        time = message.get("created_at").and_then(Timestamp::from_json).or(time);
        for (at, said) in said(message).into_iter().enumerate() {
            let mut draft = Draft::new(said, time);
            if is_left {
                draft.placement = Placement::LogOnly;
            }
            append(&mut log, draft, id, at)?;
        }
    }
    log.finish()?;
    Ok(Taken::Told)
}

fn append(log: &mut SessionLog<'_>, mut draft: Draft, id: &str, at: usize) -> Result<(), SinkClosed> {
    if !id.is_empty() {
        draft.native_id = Some(id.to_owned());
        draft.copy_key = key_of_id(AGENT, &format!("{id}#{at}"));
        draft.reply_id = Some(id.to_owned());
    }
    log.append(draft).map(drop)
}

/// Messages that are not on the way to the last one. Where messages do not say which they follow, none.
fn left(messages: &[Value]) -> HashSet<&str> {
    let parents: HashMap<&str, &str> = messages
        .iter()
        .filter_map(|message| Some((words(message, "uuid")?, words(message, "parent_message_uuid")?)))
        .collect();
    if parents.len() < messages.len() {
        return HashSet::new();
    }
    let mut way = HashSet::new();
    let mut at = messages.last().map(|message| text(message, "uuid"));
    while let Some(id) = at.filter(|id| way.insert(*id)) {
        at = parents.get(id).copied();
    }
    parents.into_keys().filter(|id| !way.contains(id)).collect()
}

/// What a message says, in order.
fn said(message: &Value) -> Vec<EventData> {
    let is_person = text(message, "sender") == "human";
    let mut said = Vec::new();
    let mut words_of = Message::default();
    for block in items(message, "content") {
        if text(block, "type") == "tool_result" {
            flush(is_person, &mut words_of, &mut said);
            said.push(EventData::ToolResult(result(block)));
        } else {
            words_of.content.extend(self::block(block));
        }
    }
    if words_of.content.is_empty() && said.is_empty() {
        // Older exports have nothing but the text.
        words_of.content.extend(speech(text(message, "text")));
    }
    add_attachments(message, &mut words_of, &mut said);
    flush(is_person, &mut words_of, &mut said);
    said
}

fn flush(is_person: bool, message: &mut Message, said: &mut Vec<EventData>) {
    let message = std::mem::take(message);
    if message.content.is_empty() {
        return;
    }
    said.push(if is_person {
        EventData::UserMessage(message)
    } else {
        EventData::AssistantMessage(message)
    });
}

/// Attached texts are context, unless they are all that the person said: long pasted text becomes one.
fn add_attachments(message: &Value, words_of: &mut Message, said: &mut Vec<EventData>) {
    let is_silent = words_of.content.is_empty();
    for attachment in items(message, "attachments") {
        let Some(content) = words(attachment, "extracted_content") else {
            continue;
        };
        if is_silent {
            words_of.content.push(ContentBlock::text(content));
            continue;
        }
        let named = format!("{}\n{content}", text(attachment, "file_name"));
        let context = Message::text(named.trim()).from_source("attachment");
        said.push(EventData::ContextMessage(context));
    }
    for file in items(message, "files") {
        words_of.content.push(ContentBlock::Media {
            media_type: text(file, "file_kind").to_owned(),
            bytes: 0,
        });
    }
}

fn block(block: &Value) -> Option<ContentBlock> {
    match text(block, "type") {
        "text" | "voice_note" => speech(text(block, "text")),
        "thinking" => {
            let summaries = items(block, "summaries").first();
            let short = summaries.and_then(|summary| words(summary, "summary"));
            let thoughts = words(block, "thinking").or(short)?;
            Some(ContentBlock::Reasoning {
                text: thoughts.to_owned(),
            })
        }
        "tool_use" => Some(ContentBlock::ToolCall {
            id: text(block, "id").to_owned(),
            name: text(block, "name").to_owned(),
            arguments: block.get("input").map(plain).unwrap_or_default(),
        }),
        _ => None,
    }
}

/// Words without the placeholders among them.
fn speech(text: &str) -> Option<ContentBlock> {
    if !text.contains(PLACEHOLDER) {
        return (!text.trim().is_empty()).then(|| ContentBlock::text(text));
    }
    let fenced = format!("```\n{PLACEHOLDER}\n```");
    let text = text.replace(&fenced, "").replace(PLACEHOLDER, "");
    let text = text.trim();
    (!text.is_empty()).then(|| ContentBlock::text(text))
}

fn result(block: &Value) -> ToolResult {
    let content = match block.get("content") {
        Some(Value::String(text)) => vec![ContentBlock::text(text)],
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| words(part, "text").map(ContentBlock::text))
            .collect(),
        _ => Vec::new(),
    };
    ToolResult {
        call_id: text(block, "tool_use_id").to_owned(),
        content,
        is_error: block.get("is_error").and_then(Value::as_bool) == Some(true),
        ..ToolResult::default()
    }
}
