//! A message's row as events.

use super::AGENT;
use crate::log::Draft;
use crate::sqlite::Fields;
use crate::values::{arguments, at, is_true, media, push_text, text};
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use lookback_model::{Timestamp, copies};
use serde_json::Value;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// What content begins with that is a list of parts.
const PARTS: &[u8] = b"\0json:";
/// How the program asks, in the person's place, for what to learn from a session.
const REVIEW: &str = "Review the conversation above and";

/// A message.
pub(super) struct Said<'r> {
    pub(super) role: Cow<'r, str>,
    pub(super) is_summary: bool,
    content: Vec<ContentBlock>,
    calls: Value,
    call_id: String,
    is_denied: bool,
    reasoning: Option<Cow<'r, str>>,
    is_hidden: bool,
    time: Option<Timestamp>,
}

/// Whether a message is one that the program wrote.
pub(super) fn is_review(said: &Said<'_>) -> bool {
    said.role == "user"
        && said
            .content
            .iter()
            .any(|block| matches!(block, ContentBlock::Text { text } if text.starts_with(REVIEW)))
}

impl<'r> Said<'r> {
    pub(super) fn of(fields: Fields<'r>) -> Self {
        let role = fields.text("role").unwrap_or_default();
        Self {
            is_summary: fields.is_set("_compressed_summary"),
            content: content(fields.bytes("content")),
            calls: serde_json::from_slice(fields.bytes("tool_calls")).unwrap_or_default(),
            call_id: fields.text("tool_call_id").unwrap_or_default().into_owned(),
            is_denied: fields.text("effect_disposition").as_deref() == Some("denied"),
            reasoning: fields
                .text("reasoning_content")
                .or_else(|| fields.text("reasoning")),
            is_hidden: fields.text("display_kind").as_deref() == Some("hidden"),
            time: fields.number("timestamp").and_then(Timestamp::from_number),
            role,
        }
    }

    pub(super) fn is_message(&self) -> bool {
        matches!(self.role.as_ref(), "user" | "assistant" | "tool" | "system")
    }

    /// Its events. `in_review` says that it belongs to something that the program does by itself.
    pub(super) fn drafts(self, in_review: bool) -> Vec<Draft> {
        let (role, time) = (self.role.clone().into_owned(), self.time);
        let data = self.data(in_review);
        let mut draft = Draft::new(data, time);
        // A branch copies rows with their times, under new numbers.
        let words = serde_json::to_string(&draft.data).unwrap_or_default();
        let time = time.map_or(0, |time| time.0);
        let name = format!("{role} {time} {:x}", xxh3_64(words.as_bytes()));
        draft.copy_key = copies::key_of_id(AGENT, &name);
        vec![draft]
    }

    fn data(self, in_review: bool) -> EventData {
        let is_added = in_review || self.is_hidden;
        match self.role.as_ref() {
            "tool" => EventData::ToolResult(self.answer()),
            _ if self.is_summary => {
                EventData::ContextMessage(message(self.content).from_source("compaction"))
            }
            "assistant" => {
                let message = message(self.reply());
                match is_added {
                    true => EventData::ContextMessage(message.from_source("review")),
                    false => EventData::AssistantMessage(message),
                }
            }
            "user" if !is_added => EventData::UserMessage(message(self.content)),
            "user" => EventData::ContextMessage(message(self.content).from_source("review")),
            _ => EventData::ContextMessage(message(self.content).from_source("system")),
        }
    }

    fn reply(self) -> Vec<ContentBlock> {
        let mut content = Vec::new();
        if let Some(reasoning) = self.reasoning {
            let text = reasoning.into_owned();
            content.push(ContentBlock::Reasoning { text });
        }
        content.extend(self.content);
        for call in self.calls.as_array().into_iter().flatten() {
            content.push(ContentBlock::ToolCall {
                id: text(call, &["id"]).unwrap_or_default().to_owned(),
                name: text(call, &["function", "name"]).unwrap_or_default().to_owned(),
                arguments: arguments(at(call, &["function", "arguments"])),
            });
        }
        content
    }

    /// An answer, which most tools give as an object in text, with their output and how they ended.
    fn answer(self) -> ToolResult {
        let words = match self.content.as_slice() {
            [ContentBlock::Text { text }] => serde_json::from_str::<Value>(text).ok(),
            _ => None,
        };
        let mut answer = ToolResult {
            call_id: self.call_id,
            is_error: self.is_denied,
            ..ToolResult::default()
        };
        let Some(object) = words.filter(|object| object.get("output").is_some()) else {
            answer.content = self.content;
            return answer;
        };
        let exit = at(&object, &["exit_code"]).and_then(Value::as_i64).unwrap_or(0);
        let error = text(&object, &["error"]);
        let has_failed = at(&object, &["success"]).and_then(Value::as_bool) == Some(false);
        answer.is_error |= exit != 0 || error.is_some() || has_failed || is_true(&object, &["error"]);
        push_text(
            &mut answer.content,
            text(&object, &["output"]).unwrap_or_default(),
        );
        push_text(&mut answer.content, error.unwrap_or_default());
        answer
    }
}

fn message(content: Vec<ContentBlock>) -> Message {
    Message {
        content,
        ..Message::default()
    }
}

fn content(bytes: &[u8]) -> Vec<ContentBlock> {
    let mut content = Vec::new();
    let parts = bytes
        .strip_prefix(PARTS)
        .and_then(|json| serde_json::from_slice::<Value>(json).ok());
    let Some(Value::Array(parts)) = parts else {
        push_text(&mut content, &String::from_utf8_lossy(bytes));
        return content;
    };
    for part in &parts {
        push_text(&mut content, text(part, &["text"]).unwrap_or_default());
        let url = text(part, &["image_url", "url"]).or_else(|| text(part, &["image_url"]));
        content.extend(url.map(|url| media("", url)));
    }
    content
}
