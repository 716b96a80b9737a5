//! What every store of Kiro's has: a log with copy keys, and what tools answer.

use super::AGENT;
use crate::log::{Draft, Placement, SessionLog};
use crate::values::{push_text, text};
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use lookback_model::source::SinkClosed;
use lookback_model::{Timestamp, copies};
use serde_json::Value;

/// A session's log. The same conversation may be in two stores, which share no ids; so what was said before tells
/// one message from another.
pub(super) struct Turns<'l, 's> {
    pub(super) log: &'l mut SessionLog<'s>,
    key: u64,
}

impl<'l, 's> Turns<'l, 's> {
    pub(super) fn new(log: &'l mut SessionLog<'s>, session: &str) -> Self {
        Self {
            log,
            key: copies::key_of_id(AGENT, session),
        }
    }

    pub(super) fn append(
        &mut self,
        data: EventData,
        time: Option<Timestamp>,
        id: Option<&str>,
    ) -> Result<(), SinkClosed> {
        let mut draft = Draft::new(data, time);
        let said = words(&draft.data);
        self.key = copies::chained_key(self.key, draft.data.type_name(), &said);
        draft.copy_key = self.key;
        draft.native_id = id.map(str::to_owned);
        self.log.append(draft)?;
        Ok(())
    }

    /// Something takes the place of all that was before.
    pub(super) fn replace_all(
        &mut self,
        message: Message,
        time: Option<Timestamp>,
    ) -> Result<(), SinkClosed> {
        let mut draft = Draft::new(EventData::ContextMessage(message), time);
        draft.placement = Placement::ReplaceAll;
        self.log.append(draft)?;
        Ok(())
    }
}

fn words(data: &EventData) -> String {
    let content = match data {
        EventData::UserMessage(message) | EventData::AssistantMessage(message) => &message.content,
        EventData::ToolResult(result) => return result.call_id.clone(),
        _ => return String::new(),
    };
    let texts = content.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// An answer: its items are words or objects, of commands with what they printed.
pub(super) fn answer<'v>(
    call: &str,
    items: impl Iterator<Item = &'v Value>,
    status: Option<&str>,
) -> ToolResult {
    let mut answer = ToolResult {
        call_id: call.to_owned(),
        is_error: status.is_some_and(|status| !status.eq_ignore_ascii_case("success")),
        ..ToolResult::default()
    };
    for item in items {
        if let Some(words) = item.as_str() {
            push_text(&mut answer.content, words);
            continue;
        }
        let printed = ["stdout", "stderr"].map(|name| text(item, &[name]));
        if printed == [None, None] {
            push_text(&mut answer.content, &item.to_string());
        }
        for words in printed.into_iter().flatten() {
            push_text(&mut answer.content, words);
        }
        // `0`, or `exit status: 0`.
        let exit = text(item, &["exit_status"]).and_then(|exit| exit.split_whitespace().next_back());
        answer.is_error |= exit.is_some_and(|code| code != "0");
    }
    answer
}

/// A message of blocks.
pub(super) fn message(content: Vec<ContentBlock>) -> Message {
    Message {
        content,
        ..Message::default()
    }
}
