//! Documents: what is put into a full-text index, one chunk of one kind of text of one event each.

use crate::Timestamp;
use crate::event::Event;
use crate::text::{self, TextKind};
use serde::{Deserialize, Serialize};

/// The catalogue's number of a session. Given once, never reused; a session that is read anew from the
/// start gets a new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionOrdinal(pub u32);

/// One chunk of text to index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The session.
    pub session: SessionOrdinal,
    /// The event within it.
    pub seq: u64,
    /// The chunk within the event's text of this kind, from 0.
    pub chunk: u32,
    /// When the event happened.
    pub time: Timestamp,
    /// The event's copy key, see [`crate::copies`].
    pub copy_key: u64,
    /// Whose words.
    pub kind: TextKind,
    /// The words.
    pub text: String,
}

/// How much of a tool's text is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextCaps {
    /// UTF-16 units of each tool call and each tool result.
    pub tool_text: usize,
}

impl Default for TextCaps {
    fn default() -> Self {
        Self {
            tool_text: text::TOOL_TEXT_LIMIT,
        }
    }
}

/// The documents of an event; none when it holds no words. What people and agents said is kept in full,
/// tool text up to the cap.
pub fn documents(session: SessionOrdinal, event: &Event, caps: TextCaps, mut each: impl FnMut(Document)) {
    for piece in text::pieces(event) {
        let kept = match piece.kind {
            TextKind::Call | TextKind::Result => text::head_utf16(&piece.text, caps.tool_text),
            _ => &piece.text,
        };
        for (chunk, text) in (0u32..).zip(text::chunks(kept)) {
            each(Document {
                session,
                seq: event.seq,
                chunk,
                time: event.time,
                copy_key: event.copy_key,
                kind: piece.kind,
                text: text.to_owned(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{ContentBlock, EventData, Message, ToolResult};

    fn lengths(data: EventData) -> Vec<usize> {
        let event = Event {
            seq: 7,
            time: Timestamp(1),
            data,
            surface_op: None,
            source_event_seqs: None,
            native_id: None,
            copy_key: 0,
        };
        let mut lengths = Vec::new();
        documents(SessionOrdinal(1), &event, TextCaps::default(), |document| {
            assert_eq!((document.seq, document.chunk as usize), (7, lengths.len()));
            lengths.push(document.text.chars().count());
        });
        lengths
    }

    /// Property: tool output ends at 3,072 characters, what people said does not (`A: rows`).
    #[test]
    fn only_tool_text_is_capped() {
        let long = "x".repeat(20_000);
        assert_eq!(
            lengths(EventData::UserMessage(Message::text(long.clone()))),
            [8_000, 8_000, 4_000]
        );
        let result = ToolResult {
            content: vec![ContentBlock::text(long)],
            ..ToolResult::default()
        };
        assert_eq!(lengths(EventData::ToolResult(result)), [3_072]);
    }
}
