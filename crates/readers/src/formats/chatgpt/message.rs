//! What a message of a conversation says.

use crate::document::{items, plain, text, words};
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use serde_json::Value;

/// What a message says; `None` for what the service adds for the model.
pub(super) fn said(message: &Value) -> Option<EventData> {
    let author = message.get("author").unwrap_or(&Value::Null);
    let content = message.get("content").unwrap_or(&Value::Null);
    let metadata = message.get("metadata").unwrap_or(&Value::Null);
    let is = |key: &str| metadata.get(key).and_then(Value::as_bool) == Some(true);
    let is_hidden = is("is_visually_hidden_from_conversation") || is("is_user_system_message");
    let role = text(author, "role");
    match (role, text(content, "content_type")) {
        (_, "user_editable_context" | "model_editable_context") => None,
        ("user" | "assistant", _) if is_hidden => None,
        ("user", _) => of(parts(content)).map(EventData::UserMessage),
        ("assistant", "code") => call(message, content),
        ("assistant", _) => of(reply(content)).map(EventData::AssistantMessage),
        ("tool", _) => Some(EventData::ToolResult(ToolResult {
            is_error: text(content, "content_type") == "system_error",
            content: result(content),
            ..ToolResult::default()
        })),
        _ => None,
    }
}

fn of(content: Vec<ContentBlock>) -> Option<Message> {
    (!content.is_empty()).then(|| Message {
        content,
        ..Message::default()
    })
}

/// Code to a tool is a call of it; code to everybody is speech.
fn call(message: &Value, content: &Value) -> Option<EventData> {
    let written = words(content, "text")?;
    let recipient = words(message, "recipient").unwrap_or("all");
    let block = if recipient == "all" {
        ContentBlock::text(written)
    } else {
        ContentBlock::ToolCall {
            id: text(message, "id").to_owned(),
            name: recipient.to_owned(),
            arguments: written.to_owned(),
        }
    };
    of(vec![block]).map(EventData::AssistantMessage)
}

fn reply(content: &Value) -> Vec<ContentBlock> {
    let reasoning = |text: String| ContentBlock::Reasoning { text };
    match text(content, "content_type") {
        "thoughts" => {
            let thoughts = items(content, "thoughts").iter();
            let texts = thoughts.map(|thought| {
                let parts = [text(thought, "summary"), text(thought, "content")];
                parts.join("\n").trim().to_owned()
            });
            texts.filter(|text| !text.is_empty()).map(reasoning).collect()
        }
        "reasoning_recap" => words(content, "content")
            .map(|text| reasoning(text.to_owned()))
            .into_iter()
            .collect(),
        _ => parts(content),
    }
}

/// Parts that are texts, and what others are.
fn parts(content: &Value) -> Vec<ContentBlock> {
    let mut blocks: Vec<ContentBlock> = items(content, "parts").iter().filter_map(part).collect();
    if blocks.is_empty() {
        blocks.extend(words(content, "text").map(|text| ContentBlock::Text {
            text: without_marks(text),
        }));
    }
    blocks
}

fn part(part: &Value) -> Option<ContentBlock> {
    if let Value::String(text) = part {
        let text = without_marks(text);
        return (!text.trim().is_empty()).then_some(ContentBlock::Text { text });
    }
    match text(part, "content_type") {
        "image_asset_pointer" | "audio_asset_pointer" | "real_time_user_audio_video_asset_pointer" => {
            Some(ContentBlock::Media {
                media_type: String::new(),
                bytes: part.get("size_bytes").and_then(Value::as_u64).unwrap_or(0),
            })
        }
        _ => words(part, "text").map(ContentBlock::text),
    }
}

fn result(content: &Value) -> Vec<ContentBlock> {
    let mut texts: Vec<String> = ["title", "url", "domain", "name", "result", "text"]
        .iter()
        .filter_map(|key| content.get(*key))
        .map(plain)
        .filter(|text| !text.trim().is_empty())
        .collect();
    texts.dedup();
    let mut blocks: Vec<ContentBlock> = texts
        .into_iter()
        .map(|text| ContentBlock::Text { text })
        .collect();
    blocks.extend(items(content, "parts").iter().filter_map(part));
    blocks
}

/// What opens a citation's mark in private characters, parts it and closes it.
const OPENS: char = '\u{E200}';
const PARTS: char = '\u{E202}';
const CLOSES: char = '\u{E201}';
/// No mark is longer.
const LONGEST_MARK: usize = 600;

/// A text without the marks of citations, which the service's pages replace by links.
fn without_marks(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(OPENS) {
        let (before, mark) = rest.split_at_checked(at).unwrap_or((rest, ""));
        kept.push_str(before);
        let mut characters = mark.char_indices().take(LONGEST_MARK);
        let end = characters.find(|&(_, character)| character == CLOSES);
        let length = end.map_or(OPENS.len_utf8(), |(end, _)| end + CLOSES.len_utf8());
        rest = mark.get(length..).unwrap_or_default();
    }
    kept.push_str(rest);
    kept.retain(|character| !matches!(character, PARTS | CLOSES));
    kept
}

#[cfg(test)]
mod tests {
    //! Property: marks go with what is in them, and nothing else goes.
    use super::*;

    #[test]
    fn marks_of_citations_go() {
        let text = "It is 3 \u{E200}cite\u{E202}turn0search0\u{E201}, they say\u{E200}.";
        assert_eq!(without_marks(text), "It is 3 , they say.");
        assert_eq!(without_marks("é"), "é");
    }
}
