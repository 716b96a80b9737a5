//! What a log and a header must be like to be kept: the same rules for an event that is appended, for a log
//! that is given as a whole, and for one that is read back (contract B, B.1 to B.3).
//!
//! A log that passes can be numbered, folded and written as JSON without loss, so that whoever keeps it need
//! not look again. An event of a type that may stand on the surface and has no marker is log-only.

use crate::event::{ContentBlock, Event, EventData, SurfaceOp, ToolResult};
use crate::session::SessionHeader;
use crate::surface::{Surface, SurfaceError};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

/// Why a log, or the next event of one, is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// The event's number is not its place.
    #[error("event {seq} stands where {expected} belongs")]
    NotContiguous {
        /// The number it has.
        seq: u64,
        /// The number of its place.
        expected: u64,
    },
    /// A type that cannot stand on the surface has a marker or sources.
    #[error("event {seq} is a {type_name}, which has no place on the surface")]
    NotEligible {
        /// The event.
        seq: u64,
        /// Its type.
        type_name: String,
    },
    /// An event without a marker has sources.
    #[error("event {seq} has sources and no marker")]
    SourcesWithoutMarker {
        /// The event.
        seq: u64,
    },
    /// A source is the event itself or a later one.
    #[error("event {seq} has {source_seq} as a source, which is not before it")]
    SourceNotEarlier {
        /// The event.
        seq: u64,
        /// The source.
        source_seq: u64,
    },
    /// A source is named twice.
    #[error("event {seq} has {source_seq} as a source twice")]
    SourceRepeated {
        /// The event.
        seq: u64,
        /// The source.
        source_seq: u64,
    },
    /// Only an agent's message may have an empty list of sources.
    #[error("event {seq} has an empty list of sources")]
    NoSources {
        /// The event.
        seq: u64,
    },
    /// A replacement has sources, but not all that it takes away.
    #[error("event {seq} replaces {shadowed}, which is none of its sources")]
    SourceMissing {
        /// The event.
        seq: u64,
        /// What is missing.
        shadowed: u64,
    },
    /// A tool's result replaces something else than one tool's result.
    #[error("event {seq} is a tool/result and replaces other than one tool/result")]
    NotOneToolResult {
        /// The event.
        seq: u64,
    },
    /// A tool's result replaces another of which more than the content differs.
    #[error("event {seq} changes more than the content of tool/result {shadowed}")]
    ToolResultChanged {
        /// The event.
        seq: u64,
        /// The result that it replaces.
        shadowed: u64,
    },
    /// Written as JSON it would be read back as something else.
    #[error("event {seq} cannot be kept as JSON: {reason}")]
    NotJson {
        /// The event.
        seq: u64,
        /// What would be lost.
        reason: &'static str,
    },
    /// The log cannot be folded.
    #[error(transparent)]
    Surface(#[from] SurfaceError),
}

/// Why a header is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// Another format version.
    #[error("session {id} has format version {version}, only 0 is known")]
    UnknownVersion {
        /// The session.
        id: String,
        /// Its version.
        version: u32,
    },
    /// No id.
    #[error("a session has no id")]
    NoId,
    /// Created before 1970, or later than JSON's readers can count.
    #[error("session {id} is created at {created_at}, which is no time in milliseconds")]
    ImpossibleTime {
        /// The session.
        id: String,
        /// Its time.
        created_at: i64,
    },
    /// The working directory is not absolute.
    #[error("session {id} has the working directory {cwd}, which is not absolute")]
    RelativeCwd {
        /// The session.
        id: String,
        /// Its working directory.
        cwd: String,
    },
    /// A count is larger than JSON's readers can count.
    #[error("session {id} has a {field} of {value}")]
    ImpossibleCount {
        /// The session.
        id: String,
        /// The header's field.
        field: &'static str,
        /// Its value.
        value: u64,
    },
}

/// The largest whole number that every reader of JSON holds exactly.
const LARGEST_COUNT: u64 = (1 << 53) - 1;
/// Values may be nested this deep; with what stands around them that is less than JSON's readers refuse.
const DEEPEST: usize = 100;
/// Types whose names are taken: an event of an unknown type cannot have one of them.
const KNOWN_TYPES: [&str; 15] = [
    "turn/start",
    "turn/end",
    "step/start",
    "step/end",
    "user/message",
    "assistant/message",
    "tool/result",
    "context/message",
    "steering/message",
    "prompt/blocked",
    "tool/call",
    "todo/write",
    "assistant/chunk",
    "request/header",
    "request/header-delta",
];

/// A log as far as it was checked: what must be known to check the next event.
#[derive(Clone, Debug, Default)]
pub struct LogState {
    length: u64,
    surface: Surface,
    /// Of every tool's result that ever was on the surface, a hash of all but its content.
    results: HashMap<u64, u64>,
}

impl LogState {
    /// How many events there are; the number of the next one.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The fold so far.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// Takes the next event of a log that was read, and is JSON therefore; checks all but that.
    ///
    /// # Errors
    /// Why it does not fit. The state is then as it was.
    pub fn follow(&mut self, event: &Event) -> Result<(), LogError> {
        let seq = event.seq;
        if seq != self.length {
            let expected = self.length;
            return Err(LogError::NotContiguous { seq, expected });
        }
        check_sources(event)?;
        let Some(op) = event.surface_op else {
            self.length += 1;
            return Ok(());
        };
        if !event.data.surface_eligible() {
            let type_name = event.type_name().to_owned();
            return Err(LogError::NotEligible { seq, type_name });
        }
        if let SurfaceOp::Replace { start, end } = op {
            let slice = self.surface.slice(seq, start, end)?;
            let shadowed = self.surface.current().get(slice).unwrap_or_default();
            check_replacement(event, shadowed, &self.results)?;
        }
        self.surface.apply_op(seq, op)?;
        if let EventData::ToolResult(result) = &event.data {
            self.results.insert(seq, hash_beside_content(result));
        }
        self.length += 1;
        Ok(())
    }
}

/// Folds a log that was read, keeping to the rules by which its events were appended.
///
/// # Errors
/// The first event that does not fit, and why.
pub fn fold_log<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<Surface, LogError> {
    let mut state = LogState::default();
    for event in events {
        state.follow(event)?;
    }
    Ok(state.surface)
}

/// Checks a whole log.
///
/// # Errors
/// The first event that does not fit, and why.
pub fn validate_log(events: &[Event]) -> Result<(), LogError> {
    let mut state = LogState::default();
    events
        .iter()
        .try_for_each(|event| validate_next(&mut state, event))
}

/// Checks the event that is to follow, and takes it into the state.
///
/// # Errors
/// Why it does not fit. The state is then as it was.
pub fn validate_next(state: &mut LogState, event: &Event) -> Result<(), LogError> {
    check_json(event.seq, &event.data)?;
    state.follow(event)
}

/// Checks what does not depend on other events: where sources may stand, and that they come before.
fn check_sources(event: &Event) -> Result<(), LogError> {
    let seq = event.seq;
    let Some(sources) = &event.source_event_seqs else {
        return Ok(());
    };
    if !event.data.surface_eligible() {
        let type_name = event.type_name().to_owned();
        return Err(LogError::NotEligible { seq, type_name });
    }
    if event.surface_op.is_none() {
        return Err(LogError::SourcesWithoutMarker { seq });
    }
    if sources.is_empty() && !matches!(event.data, EventData::AssistantMessage(_)) {
        return Err(LogError::NoSources { seq });
    }
    let mut seen = HashSet::with_capacity(sources.len());
    for &source_seq in sources {
        if source_seq >= seq {
            return Err(LogError::SourceNotEarlier { seq, source_seq });
        }
        if !seen.insert(source_seq) {
            return Err(LogError::SourceRepeated { seq, source_seq });
        }
    }
    Ok(())
}

fn check_replacement(event: &Event, shadowed: &[u64], results: &HashMap<u64, u64>) -> Result<(), LogError> {
    let seq = event.seq;
    if let Some(sources) = &event.source_event_seqs {
        let sources: HashSet<u64> = sources.iter().copied().collect();
        if let Some(&shadowed) = shadowed.iter().find(|shadowed| !sources.contains(shadowed)) {
            return Err(LogError::SourceMissing { seq, shadowed });
        }
    }
    let EventData::ToolResult(result) = &event.data else {
        return Ok(());
    };
    let &[shadowed] = shadowed else {
        return Err(LogError::NotOneToolResult { seq });
    };
    let Some(&before) = results.get(&shadowed) else {
        return Err(LogError::NotOneToolResult { seq });
    };
    if before != hash_beside_content(result) {
        return Err(LogError::ToolResultChanged { seq, shadowed });
    }
    Ok(())
}

/// A number that is equal for two results which differ in their content alone.
fn hash_beside_content(result: &ToolResult) -> u64 {
    let rest = ToolResult {
        call_id: result.call_id.clone(),
        content: Vec::new(),
        is_error: result.is_error,
        is_recalled: result.is_recalled,
        error: result.error.clone(),
        turn: result.turn,
        step: result.step,
        meta: result.meta.clone(),
    };
    let mut written = Vec::new();
    if let Ok(value) = serde_json::to_value(&rest) {
        super::canonical::write(&value, &mut written);
    }
    xxh3_64(&written)
}

/// Checks that an event is the same after it was written as JSON and read again.
fn check_json(seq: u64, data: &EventData) -> Result<(), LogError> {
    let checked = match data {
        EventData::TurnStart(value)
        | EventData::StepStart(value)
        | EventData::StepEnd(value)
        | EventData::AssistantChunk(value)
        | EventData::RequestHeader(value)
        | EventData::RequestHeaderDelta(value) => check_value(value, 0),
        EventData::UserMessage(message)
        | EventData::AssistantMessage(message)
        | EventData::ContextMessage(message)
        | EventData::SteeringMessage(message) => {
            let beside = check_optional(&[&message.source, &message.usage]);
            beside.and_then(|()| check_blocks(&message.content, 0))
        }
        EventData::ToolResult(result) => {
            check_optional(&[&result.meta]).and_then(|()| check_blocks(&result.content, 0))
        }
        EventData::PromptBlocked(prompt) => {
            check_optional(&[&prompt.source]).and_then(|()| check_blocks(&prompt.content, 0))
        }
        EventData::Other(other) if KNOWN_TYPES.contains(&other.r#type.as_str()) => {
            Err("its type is a known one, and its payload is not of that type")
        }
        EventData::Other(other) => check_value(&other.data, 0),
        EventData::TurnEnd(_) | EventData::ToolCall(_) | EventData::TodoWrite(_) => Ok(()),
    };
    checked.map_err(|reason| LogError::NotJson { seq, reason })
}

fn check_optional(values: &[&Option<Value>]) -> Result<(), &'static str> {
    let mut given = values.iter().filter_map(|value| value.as_ref());
    given.try_for_each(|value| match value {
        // A reader of JSON cannot tell it from an absent field.
        Value::Null => Err("a field is null instead of absent"),
        value => check_value(value, 0),
    })
}

fn check_blocks(blocks: &[ContentBlock], depth: usize) -> Result<(), &'static str> {
    if depth > DEEPEST / 2 {
        return Err(TOO_DEEP);
    }
    blocks.iter().try_for_each(|block| match block {
        ContentBlock::ToolResult { content, .. } => check_blocks(content, depth + 1),
        ContentBlock::Other(value) => {
            check_value(value, 2 * depth)?;
            match serde_json::from_value(value.clone()) {
                Ok(ContentBlock::Other(_)) => Ok(()),
                _ => Err("a block has a known type and is kept as an unknown one"),
            }
        }
        ContentBlock::Text { .. }
        | ContentBlock::Reasoning { .. }
        | ContentBlock::ToolCall { .. }
        | ContentBlock::Media { .. } => Ok(()),
    })
}

const TOO_DEEP: &str = "it is nested too deep";

fn check_value(value: &Value, depth: usize) -> Result<(), &'static str> {
    if depth > DEEPEST {
        return Err(TOO_DEEP);
    }
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| check_value(item, depth + 1)),
        Value::Object(fields) => fields
            .values()
            .try_for_each(|value| check_value(value, depth + 1)),
        Value::Number(number) if !survives(number) => Err("a number would be read as another one"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// Whether a number is the same after it was written and read; minus zero is not for every reader.
fn survives(number: &serde_json::Number) -> bool {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else {
        return true;
    };
    let is_minus_zero = float == 0.0 && float.is_sign_negative();
    let read: Result<serde_json::Number, _> = serde_json::from_str(&number.to_string());
    !is_minus_zero && read.is_ok_and(|read| read == *number)
}

/// Checks what a header says.
///
/// # Errors
/// The first field that cannot be, and why.
pub fn validate_header(header: &SessionHeader) -> Result<(), HeaderError> {
    let id = || header.id.clone();
    if header.id.trim().is_empty() {
        return Err(HeaderError::NoId);
    }
    if header.version != 0 {
        let version = header.version;
        return Err(HeaderError::UnknownVersion { id: id(), version });
    }
    let created_at = header.created_at.0;
    if u64::try_from(created_at).map_or(true, |time| time > LARGEST_COUNT) {
        return Err(HeaderError::ImpossibleTime { id: id(), created_at });
    }
    if let Some(cwd) = header.cwd.as_ref().filter(|cwd| !is_absolute(cwd)) {
        let cwd = cwd.clone();
        return Err(HeaderError::RelativeCwd { id: id(), cwd });
    }
    let counts = [
        ("seedLength", header.seed_length),
        ("delegationDepth", header.delegation_depth),
    ];
    for (field, value) in counts {
        if let Some(value) = value.filter(|&value| value > LARGEST_COUNT) {
            return Err(HeaderError::ImpossibleCount {
                id: id(),
                field,
                value,
            });
        }
    }
    Ok(())
}

/// Whether a path is absolute on any machine: it need not be this one that wrote it.
fn is_absolute(path: &str) -> bool {
    let mut characters = path.chars();
    match (characters.next(), characters.next(), characters.next()) {
        (Some('/' | '\\'), ..) => true,
        (Some(drive), Some(':'), Some('/' | '\\')) => drive.is_ascii_alphabetic(),
        _ => false,
    }
}

#[cfg(test)]
#[path = "validate_tests.rs"]
mod tests;
