//! A message of either store as events. Answers of tools come in messages of the person.

use super::AGENT;
use crate::log::{Draft, Placement, SessionLog};
use crate::values::{arguments, at, is_true, list, media, push_text, text};
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use lookback_model::source::SinkClosed;
use lookback_model::{Timestamp, copies};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

/// A message.
pub(super) struct Said<'m> {
    pub(super) session: &'m str,
    pub(super) role: &'m str,
    pub(super) time: Option<Timestamp>,
    /// Its list of items.
    pub(super) content: &'m Value,
    /// Who sees it.
    pub(super) metadata: &'m Value,
    pub(super) id: Option<String>,
}

/// What became of the model's view so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    /// Whether something is still sent to the model.
    pub(super) is_open: bool,
}

impl Said<'_> {
    /// Tells it; gives the types of items that are not known.
    pub(super) fn tell<'m>(
        &'m self,
        log: &mut SessionLog<'_>,
        view: &mut View,
    ) -> Result<Vec<&'m str>, SinkClosed> {
        let mut unknown = Vec::new();
        let (mut said, mut answers) = (Vec::new(), Vec::new());
        for item in self.items() {
            let kind = text(item, &["type"]).unwrap_or_default();
            match kind {
                "text" => push_text(&mut said, text(item, &["text"]).unwrap_or_default()),
                "thinking" => said.push(ContentBlock::Reasoning {
                    text: text(item, &["thinking"]).unwrap_or_default().to_owned(),
                }),
                "toolRequest" | "frontendToolRequest" => said.push(call(item)),
                "toolResponse" => answers.push(answer(item)),
                "image" => said.push(media(
                    text(item, &["mimeType"]).unwrap_or_default(),
                    text(item, &["data"]).unwrap_or_default(),
                )),
                "redactedThinking"
                | "toolConfirmationRequest"
                | "systemNotification"
                | "conversationCompacted"
                | "actionRequired"
                | "contextLengthExceeded"
                | "summarizationRequested" => {}
                other => unknown.push(other),
            }
        }
        for (at, answer) in (1u64..).zip(answers) {
            self.append(log, EventData::ToolResult(answer), at)?;
        }
        if !said.is_empty() || (self.role == "assistant" && self.items().is_empty()) {
            self.say(log, said, view)?;
        }
        view.is_open |= !is_hidden(self.metadata, "agentVisible");
        Ok(unknown)
    }

    fn items(&self) -> &[Value] {
        self.content.as_array().map_or(&[], Vec::as_slice)
    }

    fn say(
        &self,
        log: &mut SessionLog<'_>,
        content: Vec<ContentBlock>,
        view: &mut View,
    ) -> Result<(), SinkClosed> {
        let message = Message {
            content,
            ..Message::default()
        };
        if !is_hidden(self.metadata, "userVisible") {
            let data = match self.role {
                "assistant" => EventData::AssistantMessage(message),
                _ => EventData::UserMessage(message),
            };
            return self.append(log, data, 0);
        }
        let mut draft = self.draft(EventData::ContextMessage(message.from_source("compaction")), 0);
        // A summary for the model only, when all that was before is for the person only.
        if !view.is_open && !log.surface().current().is_empty() {
            draft.placement = Placement::ReplaceAll;
            log.facts().compactions += 1;
        }
        log.append(draft)?;
        Ok(())
    }

    fn append(&self, log: &mut SessionLog<'_>, data: EventData, at: u64) -> Result<(), SinkClosed> {
        let draft = self.draft(data, at);
        log.append(draft)?;
        Ok(())
    }

    fn draft(&self, data: EventData, at: u64) -> Draft {
        let mut draft = Draft::new(data, self.time);
        // The same in both stores, of which the older gave messages no ids.
        let words = serde_json::to_string(&draft.data).unwrap_or_default();
        let time = self.time.map_or(0, |time| time.0 / 1_000);
        let name = format!("{} {time} {at} {:x}", self.session, xxh3_64(words.as_bytes()));
        draft.copy_key = copies::key_of_id(AGENT, &name);
        draft.native_id.clone_from(&self.id);
        draft
    }
}

fn is_hidden(metadata: &Value, key: &str) -> bool {
    at(metadata, &[key]).and_then(Value::as_bool) == Some(false)
}

fn call(item: &Value) -> ContentBlock {
    let call = at(item, &["toolCall", "value"]).unwrap_or(&Value::Null);
    ContentBlock::ToolCall {
        id: text(item, &["id"]).unwrap_or_default().to_owned(),
        name: text(call, &["name"]).unwrap_or_default().to_owned(),
        arguments: arguments(call.get("arguments")),
    }
}

fn answer(item: &Value) -> ToolResult {
    let result = at(item, &["toolResult"]).unwrap_or(&Value::Null);
    let value = result.get("value").unwrap_or(&Value::Null);
    // The list of items, which was the whole value once.
    let items = match value {
        Value::Array(items) => items.as_slice(),
        other => list(other, &["content"]),
    };
    let mut content = Vec::new();
    for item in items {
        match text(item, &["type"]) {
            Some("image") => content.push(media(
                text(item, &["mimeType"]).unwrap_or_default(),
                text(item, &["data"]).unwrap_or_default(),
            )),
            Some("resource") => {
                push_text(
                    &mut content,
                    text(item, &["resource", "text"]).unwrap_or_default(),
                );
            }
            _ => push_text(&mut content, text(item, &["text"]).unwrap_or_default()),
        }
    }
    push_text(&mut content, text(result, &["error"]).unwrap_or_default());
    ToolResult {
        call_id: text(item, &["id"]).unwrap_or_default().to_owned(),
        content,
        is_error: text(result, &["status"]) == Some("error") || is_true(value, &["isError"]),
        ..ToolResult::default()
    }
}
