//! Documents: what is put into a full-text index, one chunk of one kind of text of one event each.

use crate::Timestamp;
use crate::event::{self, Event};
use crate::session_query::EventDocument;
use crate::text::{self, TextKind};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

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
    /// The event's type.
    pub event_type: Cow<'static, str>,
    /// Whether the event entered the surface.
    pub has_marker: bool,
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
    let pieces = text::pieces(event);
    if pieces.is_empty() {
        return;
    }
    let origin = Origin {
        session,
        seq: event.seq,
        time: event.time,
        copy_key: event.copy_key,
        event_type: event.data.owned_type_name(),
        has_marker: event.has_marker(),
    };
    for piece in pieces {
        origin.cut(piece.kind, &piece.text, caps, &mut each);
    }
}

/// The documents of an event whose words were taken out before, as those of the event itself would be.
pub fn documents_of_words(
    session: SessionOrdinal,
    words: &EventDocument,
    caps: TextCaps,
    mut each: impl FnMut(Document),
) {
    let origin = Origin {
        session,
        seq: words.seq,
        time: words.time,
        copy_key: words.copy_key,
        event_type: event::owned_type_name(&words.type_name),
        has_marker: words.has_marker,
    };
    for (kind, text) in &words.pieces {
        origin.cut(*kind, text, caps, &mut each);
    }
}

/// What the documents of an event have in common.
struct Origin {
    session: SessionOrdinal,
    seq: u64,
    time: Timestamp,
    copy_key: u64,
    event_type: Cow<'static, str>,
    has_marker: bool,
}

impl Origin {
    /// The documents of one piece of text.
    fn cut(&self, kind: TextKind, text: &str, caps: TextCaps, each: &mut impl FnMut(Document)) {
        let kept = match kind {
            TextKind::Call | TextKind::Result => text::head_utf16(text, caps.tool_text),
            _ => text,
        };
        for (chunk, text) in (0u32..).zip(text::chunks(kept)) {
            each(Document {
                session: self.session,
                seq: self.seq,
                chunk,
                time: self.time,
                copy_key: self.copy_key,
                event_type: self.event_type.clone(),
                has_marker: self.has_marker,
                kind,
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

    /// Property: words that were taken out of an event give the same documents as the event.
    #[test]
    fn events_and_their_words_give_the_same_documents() {
        let mut message = Message::text("y".repeat(9_000));
        message.content.push(ContentBlock::ToolCall {
            id: String::new(),
            name: "Bash".into(),
            arguments: "z".repeat(4_000),
        });
        let event = Event {
            seq: 3,
            time: Timestamp(5),
            data: EventData::AssistantMessage(message),
            surface_op: Some(crate::SurfaceOp::Append),
            source_event_seqs: None,
            native_id: None,
            copy_key: 9,
        };
        let words = EventDocument {
            seq: 3,
            time: Timestamp(5),
            type_name: event.type_name().to_owned(),
            has_marker: true,
            copy_key: 9,
            pieces: text::pieces(&event)
                .into_iter()
                .map(|piece| (piece.kind, piece.text.into_owned()))
                .collect(),
        };
        let (mut of_event, mut of_words) = (Vec::new(), Vec::new());
        documents(SessionOrdinal(1), &event, TextCaps::default(), |one| {
            of_event.push(one)
        });
        documents_of_words(SessionOrdinal(1), &words, TextCaps::default(), |one| {
            of_words.push(one)
        });
        assert_eq!(of_event.len(), 3);
        assert_eq!(of_event, of_words);
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
