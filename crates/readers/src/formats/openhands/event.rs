//! What an event says.

use crate::document::{items, plain, text, words};
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use serde_json::Value;

/// An event as far as it is told.
#[derive(Debug, PartialEq)]
pub(super) enum Told {
    /// Something that was said or done.
    Said(EventData),
    /// Events that are sent no more, and what takes their place.
    Condensed {
        forgotten: Vec<String>,
        summary: Message,
    },
    /// A summary that is told by another event as well.
    Summary(Message),
    /// State of the program.
    Nothing,
    /// An event of a kind that is not known.
    Unknown,
}

/// What an event says.
pub(super) fn told(event: &Value) -> Told {
    match text(event, "kind") {
        "MessageEvent" => message(event),
        "ActionEvent" => action(event),
        "ObservationEvent" => observation(event),
        "AgentErrorEvent" => failed(event, "error"),
        "UserRejectObservation" => failed(event, "rejection_reason"),
        "Condensation" => Told::Condensed {
            forgotten: items(event, "forgotten_event_ids").iter().map(plain).collect(),
            summary: summary(event),
        },
        "CondensationSummaryEvent" => Told::Summary(summary(event)),
        "ConversationErrorEvent" => {
            let words = [text(event, "code"), text(event, "detail")].join(" ");
            let error = Message::text(words.trim()).from_source("error");
            Told::Said(EventData::ContextMessage(error))
        }
        "SystemPromptEvent"
        | "ConversationStateUpdateEvent"
        | "CondensationRequest"
        | "PauseEvent"
        | "InterruptEvent"
        | "TokenEvent"
        | "LLMCompletionLogEvent" => Told::Nothing,
        _ => Told::Unknown,
    }
}

fn summary(event: &Value) -> Message {
    let words = words(event, "summary").unwrap_or_default();
    Message::text(words).from_source("compaction")
}

fn message(event: &Value) -> Told {
    let message = event.get("llm_message").unwrap_or(&Value::Null);
    let role = text(message, "role");
    let mut said = Message::default();
    if role == "assistant" {
        said.content.extend(thought(message, items(message, "content")));
    } else {
        said.content = blocks(items(message, "content"));
    }
    if said.content.is_empty() {
        return Told::Nothing;
    }
    Told::Said(match (role, text(event, "source")) {
        ("assistant", _) => EventData::AssistantMessage(said),
        ("user", "user") => EventData::UserMessage(said),
        ("user", source) => EventData::ContextMessage(said.from_source(source)),
        _ => return Told::Nothing,
    })
}

fn action(event: &Value) -> Told {
    let action = event.get("action").unwrap_or(&Value::Null);
    let mut content = thought(event, items(event, "thought"));
    match text(event, "tool_name") {
        "finish" => content.extend(words(action, "message").map(ContentBlock::text)),
        "think" => content.extend(words(action, "thought").map(|text| ContentBlock::Reasoning {
            text: text.to_owned(),
        })),
        name => content.push(ContentBlock::ToolCall {
            id: text(event, "tool_call_id").to_owned(),
            name: name.to_owned(),
            arguments: arguments(event, action),
        }),
    }
    if content.is_empty() {
        return Told::Nothing;
    }
    Told::Said(EventData::AssistantMessage(Message {
        content,
        ..Message::default()
    }))
}

/// Arguments as the model wrote them, else those of the action that was made of them.
fn arguments(event: &Value, action: &Value) -> String {
    let written = event.get("tool_call").and_then(|call| words(call, "arguments"));
    if let Some(written) = written {
        return written.to_owned();
    }
    match action {
        Value::Object(fields) => {
            let mut fields = fields.clone();
            fields.remove("kind");
            fields.retain(|_, value| !value.is_null());
            Value::Object(fields).to_string()
        }
        other => plain(other),
    }
}

fn observation(event: &Value) -> Told {
    // What these answer is said by the call.
    if matches!(text(event, "tool_name"), "finish" | "think") {
        return Told::Nothing;
    }
    let observation = event.get("observation").unwrap_or(&Value::Null);
    let exit_code = observation.get("exit_code").and_then(Value::as_i64);
    let mut content = blocks(items(observation, "content"));
    if content.is_empty() {
        let output = words(observation, "output").or_else(|| words(observation, "content"));
        content.extend(output.map(ContentBlock::text));
    }
    let failed = observation.get("is_error").and_then(Value::as_bool) == Some(true);
    Told::Said(EventData::ToolResult(ToolResult {
        call_id: text(event, "tool_call_id").to_owned(),
        content,
        is_error: failed || exit_code.is_some_and(|code| code > 0),
        ..ToolResult::default()
    }))
}

fn failed(event: &Value, key: &str) -> Told {
    let words = words(event, key).map(ContentBlock::text);
    Told::Said(EventData::ToolResult(ToolResult {
        call_id: text(event, "tool_call_id").to_owned(),
        content: words.into_iter().collect(),
        is_error: true,
        ..ToolResult::default()
    }))
}

/// Words with the reasoning before them. Some models put theirs into the words, between tags.
fn thought(said: &Value, content: &[Value]) -> Vec<ContentBlock> {
    let mut reasoning = words(said, "reasoning_content").map(str::to_owned);
    if reasoning.is_none() {
        let blocks = items(said, "thinking_blocks");
        reasoning = blocks
            .iter()
            .find_map(|block| words(block, "thinking"))
            .map(str::to_owned);
    }
    let mut spoken = Vec::new();
    for block in blocks(content) {
        let ContentBlock::Text { text } = block else {
            spoken.push(block);
            continue;
        };
        let (inside, outside) = without_thinking(&text);
        if reasoning.is_none() {
            reasoning = inside;
        }
        if !outside.trim().is_empty() {
            spoken.push(ContentBlock::text(outside.trim()));
        }
    }
    let mut content = Vec::new();
    content.extend(reasoning.map(|text| ContentBlock::Reasoning { text }));
    content.append(&mut spoken);
    content
}

/// What stands between `<think>` and its end, and the rest.
fn without_thinking(text: &str) -> (Option<String>, String) {
    let Some((before, after)) = text.split_once("<think>") else {
        return (None, text.to_owned());
    };
    let (inside, rest) = after.split_once("</think>").unwrap_or((after, ""));
    let outside = format!("{before}{rest}");
    (Some(inside.trim().to_owned()), outside)
}

fn blocks(content: &[Value]) -> Vec<ContentBlock> {
    content.iter().filter_map(block).collect()
}

fn block(block: &Value) -> Option<ContentBlock> {
    match text(block, "type") {
        "text" => words(block, "text").map(ContentBlock::text),
        "image" => {
            let urls = items(block, "image_urls");
            let bytes = urls.iter().map(|url| plain(url).len() as u64).sum();
            Some(ContentBlock::Media {
                media_type: String::new(),
                bytes,
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    //! Property: reasoning between tags is told once, as reasoning.
    use super::*;
    use serde_json::json;

    #[test]
    fn reasoning_in_tags_is_told_once() {
        let content = json!([{"type": "text", "text": "<think>first\n</think>\n\nthen"}]);
        let content = content.as_array().unwrap();
        let reasoning = |text: &str| ContentBlock::Reasoning { text: text.into() };
        let then = ContentBlock::text("then");
        assert_eq!(thought(&Value::Null, content), [reasoning("first"), then.clone()]);
        let beside = json!({"reasoning_content": "first"});
        assert_eq!(thought(&beside, content), [reasoning("first"), then]);
    }
}
