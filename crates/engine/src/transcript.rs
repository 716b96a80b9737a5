//! One session as a person reads it: its events with their texts and where they stand on the surface.
//!
//! The transcript itself is the better source: it has every word, and a session query reads it. When it is gone,
//! what was indexed is shown instead, up to the index's caps.

use crate::engine::{Engine, EngineError};
use crate::session_query::SessionQuery;
use lookback_model::event::{EventData, Message};
use lookback_model::hit::{Presence, SessionRow};
use lookback_model::ports::StoredText;
use lookback_model::session_query::{ReadEventRequest, SessionQueryError, SessionQueryErrorCode};
use lookback_model::{Event, Surface, SurfaceState, TextKind, Timestamp, text};

/// A session's events.
#[derive(Clone, Debug, PartialEq)]
pub struct Transcript {
    /// Whether the transcript is gone, and this is what was indexed of it.
    pub from_archive: bool,
    /// The events in order of seq.
    pub events: Vec<ShownEvent>,
}

/// An event as a person reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownEvent {
    /// Position in the log.
    pub seq: u64,
    /// When it happened.
    pub time: Timestamp,
    /// The type's name, such as `user/message`.
    pub type_name: String,
    /// `user`, `assistant`, `tool` or `system`.
    pub role: &'static str,
    /// Whose words it mainly holds; `None` when it holds none.
    pub kind: Option<TextKind>,
    /// Where it stands.
    pub surface: SurfaceState,
    /// All its words, one piece a line, in full.
    pub text: String,
    /// Its words by kind.
    pub pieces: Vec<(TextKind, String)>,
    /// Where a message came from, such as `compaction`.
    pub source: Option<String>,
}

/// The reading window of a service that reads whole logs: enough for any, as a window ends where the log does.
pub const WHOLE_LOG: usize = u32::MAX as usize;

/// A session's log by the service, whose reading window must be [`WHOLE_LOG`]; when it cannot be read, what was
/// indexed of it.
pub(crate) fn of(
    engine: &Engine,
    service: &SessionQuery,
    session: &SessionRow,
) -> Result<Transcript, EngineError> {
    let refused = match session.presence {
        Presence::Missing => None,
        Presence::Present | Presence::Unverifiable => match from_log(service, &session.session_id) {
            Ok(events) => {
                return Ok(Transcript {
                    from_archive: false,
                    events,
                });
            }
            Err(error) => Some(error),
        },
    };
    let stored = engine.parts.catalogue.stored_text(session.ordinal)?;
    match refused {
        Some(error) if stored.is_empty() && error.code != SessionQueryErrorCode::SessionNotFound => {
            Err(error.into())
        }
        _ => Ok(Transcript {
            from_archive: true,
            events: from_stored(stored, &session.shadowed),
        }),
    }
}

/// The session's events and where each stands. A marker that cannot hold leaves its event off the surface; its
/// words are shown all the same.
fn from_log(service: &SessionQuery, session_id: &str) -> Result<Vec<ShownEvent>, SessionQueryError> {
    let whole = ReadEventRequest {
        session_id: session_id.to_owned(),
        seq: 0.0,
        before: None,
        after: Some(WHOLE_LOG as f64),
    };
    let log = match service.read_event(&whole) {
        Ok(read) => read.events,
        Err(error) if error.code == SessionQueryErrorCode::EventNotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut surface = Surface::default();
    for event in &log {
        let _ = surface.apply(event);
    }
    let states = surface.states(log.len() as u64);
    let states = states.into_iter().chain(std::iter::repeat(SurfaceState::LogOnly));
    let shown = log.iter().zip(states).map(|(event, surface)| ShownEvent {
        surface,
        ..shown(event)
    });
    Ok(shown.collect())
}

/// An event with its words; where it stands is filled in when the log has been folded.
fn shown(event: &Event) -> ShownEvent {
    let pieces: Vec<_> = text::pieces(event)
        .into_iter()
        .map(|piece| (piece.kind, piece.text.into_owned()))
        .collect();
    let (role, own) = role(&event.data);
    let own = own.filter(|own| pieces.iter().any(|(kind, _)| kind == own));
    ShownEvent {
        seq: event.seq,
        time: event.time,
        type_name: event.type_name().to_owned(),
        role,
        kind: own.or_else(|| pieces.first().map(|&(kind, _)| kind)),
        surface: SurfaceState::LogOnly,
        text: joined(&pieces),
        pieces,
        source: message(&event.data).and_then(source_name),
    }
}

/// Who speaks in an event of a type, and the kind of text that is its own.
fn role(data: &EventData) -> (&'static str, Option<TextKind>) {
    match data {
        EventData::UserMessage(_) | EventData::SteeringMessage(_) | EventData::PromptBlocked(_) => {
            ("user", Some(TextKind::User))
        }
        EventData::AssistantMessage(_) | EventData::AssistantChunk(_) => ("assistant", Some(TextKind::Agent)),
        EventData::ToolCall(_) | EventData::TodoWrite(_) => ("tool", Some(TextKind::Call)),
        EventData::ToolResult(_) => ("tool", Some(TextKind::Result)),
        _ => ("system", None),
    }
}

fn message(data: &EventData) -> Option<&Message> {
    match data {
        EventData::UserMessage(message)
        | EventData::AssistantMessage(message)
        | EventData::ContextMessage(message)
        | EventData::SteeringMessage(message) => Some(message),
        _ => None,
    }
}

/// A message's source, where it is a name or an object that has one.
fn source_name(message: &Message) -> Option<String> {
    let source = message.source.as_ref()?;
    let named = || {
        ["type", "kind", "name"]
            .into_iter()
            .find_map(|field| source.get(field)?.as_str())
    };
    source.as_str().or_else(named).map(str::to_owned)
}

fn joined(pieces: &[(TextKind, String)]) -> String {
    pieces
        .iter()
        .map(|(_, text)| text.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Events made of what was indexed.
pub(crate) fn from_stored(mut stored: Vec<StoredText>, shadowed: &[(u64, u64)]) -> Vec<ShownEvent> {
    // Stable: the chunks of an event stay in their order.
    stored.sort_by_key(|text| text.seq);
    let mut events: Vec<ShownEvent> = Vec::new();
    for text in stored {
        match events.last_mut().filter(|event| event.seq == text.seq) {
            Some(event) => add_piece(&mut event.pieces, text.kind, text.text),
            None => events.push(archived(text, shadowed)),
        }
    }
    for event in &mut events {
        event.text = joined(&event.pieces);
    }
    events
}

/// Chunks of one kind were cut from one text, and joined they give it back.
fn add_piece(pieces: &mut Vec<(TextKind, String)>, kind: TextKind, text: String) {
    match pieces.iter_mut().find(|(held, _)| *held == kind) {
        Some((_, held)) => held.push_str(&text),
        None => pieces.push((kind, text)),
    }
}

/// An event of which only words are left; its type is told from whose they are when it was not kept.
fn archived(text: StoredText, shadowed: &[(u64, u64)]) -> ShownEvent {
    let (usual, role) = match text.kind {
        TextKind::User => ("user/message", "user"),
        TextKind::Agent | TextKind::Reasoning => ("assistant/message", "assistant"),
        TextKind::Call => ("tool/call", "tool"),
        TextKind::Result => ("tool/result", "tool"),
        TextKind::Context => ("context/message", "system"),
    };
    let is_shadowed = shadowed.iter().any(|&(from, to)| (from..=to).contains(&text.seq));
    let is_kept = !text.event_type.is_empty();
    let surface = match (is_kept && !text.has_marker, is_shadowed) {
        (true, _) => SurfaceState::LogOnly,
        (false, true) => SurfaceState::Shadowed,
        (false, false) => SurfaceState::Current,
    };
    ShownEvent {
        seq: text.seq,
        time: text.time,
        type_name: if is_kept {
            text.event_type.into_owned()
        } else {
            usual.to_owned()
        },
        role,
        kind: Some(text.kind),
        surface,
        text: String::new(),
        pieces: vec![(text.kind, text.text)],
        source: None,
    }
}
