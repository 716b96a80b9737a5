//! The panel as the person saw it, for tasks whose messages are gone.

use super::conversation::Conversation;
use crate::document::text;
use crate::log::Draft;
use lookback_model::Timestamp;
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use lookback_model::source::{IssueCode, ReadAccount, SinkClosed};
use serde_json::Value;

/// Tells the entries of a panel, and accounts for each.
pub(super) fn tell(
    talk: &mut Conversation<'_>,
    entries: &[Value],
    account: &mut ReadAccount,
) -> Result<(), SinkClosed> {
    let mut prompted = false;
    for (at, entry) in entries.iter().enumerate() {
        account.lines += 1;
        if !entry.is_object() {
            account.lost += 1;
            account.note(at as u64 + 1, IssueCode::NotARecord, "not an entry");
            continue;
        }
        let Some(data) = said(entry, prompted) else {
            account.bookkeeping += 1;
            continue;
        };
        account.records += 1;
        prompted |= matches!(data, EventData::UserMessage(_));
        let time = entry.get("ts").and_then(Timestamp::from_json);
        talk.append(Draft::new(data, time))?;
    }
    Ok(())
}

/// What an entry says. The first text is the task itself.
fn said(entry: &Value, prompted: bool) -> Option<EventData> {
    let words = text(entry, "text").trim();
    if words.is_empty() {
        return None;
    }
    let agent = |block| {
        EventData::AssistantMessage(Message {
            content: vec![block],
            ..Message::default()
        })
    };
    let call = |name: &str| {
        agent(ContentBlock::ToolCall {
            id: String::new(),
            name: name.to_owned(),
            arguments: words.to_owned(),
        })
    };
    let kind = match text(entry, "type") {
        "ask" => text(entry, "ask"),
        _ => text(entry, "say"),
    };
    Some(match kind {
        "text" | "task" if !prompted => EventData::UserMessage(Message::text(words)),
        "user_feedback" | "user_feedback_diff" => EventData::UserMessage(Message::text(words)),
        "text" | "completion_result" | "followup" | "plan_mode_respond" => agent(ContentBlock::text(words)),
        "reasoning" => agent(ContentBlock::Reasoning {
            text: words.to_owned(),
        }),
        "command" | "tool" | "browser_action" | "use_mcp_server" | "mcp_server_request_started" => call(kind),
        "command_output" | "browser_action_result" | "mcp_server_response" => {
            EventData::ToolResult(ToolResult {
                content: vec![ContentBlock::text(words)],
                ..ToolResult::default()
            })
        }
        "error" | "condense_context" => EventData::ContextMessage(Message::text(words).from_source(kind)),
        _ => return None,
    })
}
