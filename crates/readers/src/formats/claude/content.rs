//! Blocks of messages: from the agent's to the log's, and whose words each text holds.

use super::record::{Answer, Block, Text};
use super::words;
use crate::mend;
use lookback_model::event::ContentBlock;
use xxhash_rust::xxh3::xxh3_64;

/// Adds the person's own words and the injected ones of a text, blank ones left out.
pub(super) fn take_apart(
    text: &str,
    spoken: &mut Vec<ContentBlock>,
    injected: &mut Vec<(&'static str, String)>,
) {
    let words = words::of_user(text);
    injected.extend(words.injected.into_iter().filter(|(_, text)| !text.is_empty()));
    if !words.own.trim().is_empty() {
        spoken.push(ContentBlock::Text { text: words.own });
    }
}

pub(super) fn hash_of(content: &[ContentBlock]) -> u64 {
    let mut said = String::new();
    for block in content {
        match block {
            ContentBlock::Text { text } => said.push_str(text.trim()),
            ContentBlock::Media { bytes, .. } => said.push_str(&format!("[{bytes}]")),
            _ => {}
        }
    }
    xxh3_64(said.as_bytes())
}

pub(super) fn media(block: &Block<'_>) -> ContentBlock {
    ContentBlock::Media {
        media_type: block.source.media_type.0.clone().into_owned(),
        bytes: block.source.data.0,
    }
}

/// A block of a reply; `None` for those that hold nothing readable.
pub(super) fn reply_block(block: &Block<'_>) -> Option<ContentBlock> {
    let owned = |text: &Text<'_>| text.0.clone().into_owned();
    match &*block.kind.0 {
        "text" => block.text.get().map(ContentBlock::text),
        "thinking" => block.thinking.get().map(|text| ContentBlock::Reasoning {
            text: text.to_owned(),
        }),
        "image" | "document" => Some(media(block)),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => Some(ContentBlock::ToolCall {
            id: owned(&block.id),
            name: owned(&block.name),
            arguments: block.input.0.to_owned(),
        }),
        kind if kind.ends_with("tool_result") => Some(ContentBlock::ToolResult {
            id: owned(&block.call),
            content: result_content(&block.content, usize::MAX).0,
        }),
        _ => None,
    }
}

/// Content of a tool's answer as far as it is wanted, and the reminders the program put at its end.
pub(super) fn result_content(
    content: &Answer<'_>,
    wanted: usize,
) -> (Vec<ContentBlock>, Vec<(&'static str, String)>) {
    let mut kept = Vec::new();
    let mut reminders = Vec::new();
    match content {
        Answer::Literal(literal) => {
            // What is at the end is only found by decoding all of it.
            let wanted = if may_end_in_reminder(literal) {
                usize::MAX
            } else {
                wanted
            };
            result_text(&mend::head_of_string(literal, wanted), &mut kept, &mut reminders);
        }
        Answer::Blocks(blocks) => {
            for block in blocks {
                match &*block.kind.0 {
                    "image" | "document" => kept.push(media(block)),
                    _ => result_text(&block.text.0, &mut kept, &mut reminders),
                }
            }
        }
    }
    (kept, reminders)
}

/// Whether a JSON string may end in a reminder; white space at its end stands as escapes.
fn may_end_in_reminder(literal: &str) -> bool {
    let end = literal.trim_end_matches(['"', '\\', 'n', 'r', 't', ' ']);
    end.ends_with("</system-reminder>")
}

fn result_text(text: &str, kept: &mut Vec<ContentBlock>, reminders: &mut Vec<(&'static str, String)>) {
    if text.is_empty() {
        return;
    }
    // Only at the end: a file that speaks of reminders is a tool's answer like any other.
    if !text.trim_end().ends_with("</system-reminder>") {
        return kept.push(ContentBlock::text(text));
    }
    let words = words::split(text);
    reminders.extend(words.injected);
    kept.push(ContentBlock::Text { text: words.own });
}
