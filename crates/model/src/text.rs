//! Text views: what words an event holds, who they belong to, and how long text is cut for indexing.
//!
//! The rules live here once, so that what search finds, what `show` prints and what a host may reveal
//! can never differ. Each piece of an event's text has one [`TextKind`]; a [`View`] is a set of kinds.

use crate::event::{ContentBlock, Event, EventData, Message, TurnEnd};
use crate::recall;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// Whose words a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextKind {
    /// The person.
    User,
    /// The agent.
    Agent,
    /// The agent's reasoning.
    Reasoning,
    /// Tool names and arguments.
    Call,
    /// Tool results.
    Result,
    /// Text put in by the agent's program: instructions, reminders, summaries, errors.
    Context,
}

impl TextKind {
    /// All kinds, in the order of [`Self::code`].
    pub const ALL: [Self; 6] = [
        Self::User,
        Self::Agent,
        Self::Reasoning,
        Self::Call,
        Self::Result,
        Self::Context,
    ];

    /// A small number for storage; never reused for another kind.
    pub fn code(self) -> u64 {
        match self {
            Self::User => 0,
            Self::Agent => 1,
            Self::Reasoning => 2,
            Self::Call => 3,
            Self::Result => 4,
            Self::Context => 5,
        }
    }

    /// The kind of a stored number.
    pub fn from_code(code: u64) -> Option<Self> {
        match code {
            0 => Some(Self::User),
            1 => Some(Self::Agent),
            2 => Some(Self::Reasoning),
            3 => Some(Self::Call),
            4 => Some(Self::Result),
            5 => Some(Self::Context),
            _ => None,
        }
    }

    /// Contract A's role of such text.
    pub fn role(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent | Self::Reasoning => "assistant",
            Self::Call | Self::Result => "tool",
            Self::Context => "system",
        }
    }
}

/// A named set of text kinds that a search may look into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum View {
    /// What person and agent said (contract A, scope `conversation`).
    Conversation,
    /// Adds reasoning, tool calls and results (contract A, scope `all`).
    #[default]
    Full,
    /// Adds injected context (contract B).
    Everything,
    /// Neither reasoning nor tool calls (contract C).
    Plain,
}

impl View {
    /// The kinds it holds.
    pub fn kinds(self) -> &'static [TextKind] {
        use TextKind::{Agent, Call, Context, Reasoning, Result, User};
        match self {
            Self::Conversation => &[User, Agent],
            Self::Full => &[User, Agent, Reasoning, Call, Result],
            Self::Everything => &[User, Agent, Reasoning, Call, Result, Context],
            Self::Plain => &[User, Agent, Result, Context],
        }
    }
}

/// Text of one kind in one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPiece<'a> {
    /// Whose words.
    pub kind: TextKind,
    /// The words; never blank.
    pub text: Cow<'a, str>,
}

/// Tool text is indexed up to this many UTF-16 units (seed A).
pub const TOOL_TEXT_LIMIT: usize = 3_072;
/// One document holds at most this many characters (seed A, A.6).
pub const CHUNK_LIMIT: usize = 8_000;

/// The pieces of an event's text, at most one of each kind, in the order of their first words. Blocks of
/// one kind are trimmed and joined by a line break; blank ones are dropped. Unknown events and blocks
/// contribute nothing.
pub fn pieces(event: &Event) -> Vec<TextPiece<'_>> {
    let mut pieces = Pieces::default();
    match &event.data {
        EventData::UserMessage(message) | EventData::SteeringMessage(message) => {
            pieces.blocks(&message.content, TextKind::User);
        }
        EventData::AssistantMessage(message) => pieces.blocks(&message.content, TextKind::Agent),
        EventData::ContextMessage(message) => pieces.blocks(&message.content, TextKind::Context),
        EventData::ToolResult(result) if result.is_recalled => {
            pieces.blocks(&result.content, TextKind::Context);
        }
        EventData::ToolResult(result) => {
            pieces.blocks(&result.content, TextKind::Result);
            if let Some(error) = &result.error {
                pieces.add(TextKind::Result, Cow::Borrowed(&error.name));
                pieces.add(
                    TextKind::Result,
                    Cow::Borrowed(error.code.as_deref().unwrap_or("")),
                );
            }
        }
        EventData::PromptBlocked(prompt) => {
            pieces.blocks(&prompt.content, TextKind::User);
            pieces.add(TextKind::Context, Cow::Borrowed(&prompt.reason));
        }
        EventData::ToolCall(call) => pieces.call(&call.name, &call.arguments),
        EventData::TodoWrite(list) => {
            for todo in &list.todos {
                pieces.add(
                    TextKind::Call,
                    Cow::Owned(format!("{} {}", todo.status, todo.content)),
                );
            }
        }
        EventData::TurnEnd(end) => turn_end(end, &mut pieces),
        _ => {}
    }
    pieces.found
}

/// Whether a message holds words of its own kind, not only calls or reasoning.
pub fn speaks(message: &Message) -> bool {
    message
        .content
        .iter()
        .any(|block| matches!(block, ContentBlock::Text { text } if !text.trim().is_empty()))
}

fn turn_end<'a>(end: &'a TurnEnd, pieces: &mut Pieces<'a>) {
    let reason = &end.reason;
    if reason.kind == "completed" {
        return;
    }
    pieces.add(TextKind::Context, Cow::Borrowed(&reason.kind));
    for detail in [&reason.reason, &reason.message, &reason.code]
        .into_iter()
        .flatten()
    {
        pieces.add(TextKind::Context, Cow::Borrowed(detail));
    }
}

#[derive(Default)]
struct Pieces<'a> {
    found: Vec<TextPiece<'a>>,
}

impl<'a> Pieces<'a> {
    fn add(&mut self, kind: TextKind, text: Cow<'a, str>) {
        let trimmed = match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
            Cow::Owned(text) if text.trim().len() == text.len() => Cow::Owned(text),
            Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
        };
        if trimmed.is_empty() {
            return;
        }
        match self.found.iter_mut().find(|piece| piece.kind == kind) {
            Some(piece) => {
                let joined = piece.text.to_mut();
                joined.push('\n');
                joined.push_str(&trimmed);
            }
            None => self.found.push(TextPiece { kind, text: trimmed }),
        }
    }

    fn blocks(&mut self, blocks: &'a [ContentBlock], kind: TextKind) {
        for block in blocks {
            match block {
                ContentBlock::Text { text } => self.add(kind, Cow::Borrowed(text)),
                ContentBlock::Reasoning { text } => self.add(TextKind::Reasoning, Cow::Borrowed(text)),
                ContentBlock::ToolCall { name, arguments, .. } => self.call(name, arguments),
                ContentBlock::ToolResult { content, .. } => self.blocks(content, TextKind::Result),
                ContentBlock::Media { .. } | ContentBlock::Other(_) => {}
            }
        }
    }

    fn call(&mut self, name: &'a str, arguments: &'a str) {
        let kind = match recall::asks_history(name, arguments) {
            true => TextKind::Context,
            false => TextKind::Call,
        };
        self.add(kind, Cow::Borrowed(name));
        self.add(kind, readable_arguments(arguments));
    }
}

/// Arguments as a person would read them: a JSON object becomes `key: value` lines with real line
/// breaks, so that words beside an escape stay words; anything else stays as it was written.
pub fn readable_arguments(arguments: &str) -> Cow<'_, str> {
    if !arguments.trim_start().starts_with(['{', '[']) {
        return Cow::Borrowed(arguments);
    }
    let Ok(value) = serde_json::from_str::<Value>(arguments) else {
        return Cow::Borrowed(arguments);
    };
    let mut lines = String::with_capacity(arguments.len());
    write_value(&value, "", &mut lines);
    Cow::Owned(lines)
}

fn write_value(value: &Value, key: &str, lines: &mut String) {
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(key, value)| write_value(value, key, lines)),
        Value::Array(items) => items.iter().for_each(|item| write_value(item, key, lines)),
        Value::Null => {}
        scalar => {
            if !lines.is_empty() {
                lines.push('\n');
            }
            if !key.is_empty() {
                lines.push_str(key);
                lines.push_str(": ");
            }
            match scalar {
                Value::String(text) => lines.push_str(text),
                other => lines.push_str(&other.to_string()),
            }
        }
    }
}

/// The beginning of `text`, at most `limit` UTF-16 units, never half a character.
pub fn head_utf16(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    if let Some(head) = text.get(..limit).filter(|head| head.is_ascii()) {
        return head;
    }
    // A byte that begins a character is one unit, and two where four bytes make the character up.
    let mut units = 0;
    for (at, byte) in text.bytes().enumerate() {
        let is_start = byte & 0xC0 != 0x80;
        units += usize::from(is_start) + usize::from(byte >= 0xF0);
        if is_start && units > limit {
            return text.get(..at).unwrap_or(text);
        }
    }
    text
}

/// Cuts text into pieces of at most [`CHUNK_LIMIT`] characters, each at the last token boundary in the
/// second half of its window, or hard where there is none. Joined they give the text back.
pub fn chunks(text: &str) -> Chunks<'_> {
    Chunks { rest: text }
}

/// Iterator of [`chunks`].
#[derive(Clone, Debug)]
pub struct Chunks<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Chunks<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let at = cut(self.rest);
        let (chunk, rest) = self.rest.split_at_checked(at).unwrap_or((self.rest, ""));
        self.rest = rest;
        Some(chunk)
    }
}

/// Byte position of the next cut.
fn cut(text: &str) -> usize {
    if text.len() <= CHUNK_LIMIT {
        return text.len();
    }
    let mut last_boundary = None;
    for (count, (at, character)) in text.char_indices().enumerate() {
        if count == CHUNK_LIMIT {
            // A cut before a character that cannot continue a token is a boundary as well.
            return if continues_token(character) {
                last_boundary.unwrap_or(at)
            } else {
                at
            };
        }
        if count >= CHUNK_LIMIT / 2 && !continues_token(character) {
            last_boundary = Some(at + character.len_utf8());
        }
    }
    text.len()
}

/// Whether a character may stand inside a token; combining marks belong to the letter before them.
fn continues_token(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '.' | '-' | '/' | '+') || is_mark(character)
}

/// Combining marks of the blocks that carry them apart from their letter.
fn is_mark(character: char) -> bool {
    matches!(character,
        '\u{0300}'..='\u{036F}' | '\u{0483}'..='\u{0489}' | '\u{0591}'..='\u{05BD}' | '\u{0610}'..='\u{061A}'
        | '\u{064B}'..='\u{065F}' | '\u{0900}'..='\u{0903}' | '\u{093A}'..='\u{094F}' | '\u{0E31}'
        | '\u{0E34}'..='\u{0E3A}' | '\u{0E47}'..='\u{0E4E}' | '\u{1AB0}'..='\u{1AFF}'
        | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}' | '\u{3099}' | '\u{309A}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FE20}'..='\u{FE2F}' | '\u{200D}')
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
