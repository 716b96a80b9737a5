//! One session as a person reads it: its events with their texts and where they stand on the surface.
//!
//! The transcript itself is the better source: it has every word. When it is gone, what was indexed is
//! shown instead, up to the index's caps.

use crate::engine::{Engine, EngineError};
use lookback_model::event::{EventData, Message};
use lookback_model::hit::{Presence, SessionRow};
use lookback_model::ports::StoredText;
use lookback_model::source::{
    EventSink, FileRole, ReadError, ReadSession, SideTitle, SinkClosed, SourceFile,
};
use lookback_model::{Event, SessionSource, Surface, SurfaceState, TextKind, Timestamp, text};
use lookback_readers::walk;
use std::fs;

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

pub(crate) fn of(engine: &Engine, session: &SessionRow) -> Result<Transcript, EngineError> {
    let mut refused = None;
    if session.presence != Presence::Missing {
        match from_file(engine, session) {
            Ok(Some(events)) => {
                return Ok(Transcript {
                    from_archive: false,
                    events,
                });
            }
            Ok(None) => {}
            Err(error) => refused = Some(error),
        }
    }
    let stored = engine.parts.catalogue.stored_text(session.ordinal)?;
    match refused {
        Some(error) if stored.is_empty() => Err(error.into()),
        _ => Ok(Transcript {
            from_archive: true,
            events: from_stored(stored, &session.shadowed),
        }),
    }
}

/// The session's events from its transcript; `None` when that holds no such session any more.
fn from_file(engine: &Engine, session: &SessionRow) -> Result<Option<Vec<ShownEvent>>, ReadError> {
    let Some(source) = engine.source(&session.agent) else {
        return Ok(None);
    };
    let file = locate(engine, source, session)?;
    let mut collected = Collected::of(&session.session_id);
    source.read(&file, None, &mut collected)?;
    Ok(collected.found.then(|| collected.finish()))
}

fn locate(
    engine: &Engine,
    source: &dyn SessionSource,
    session: &SessionRow,
) -> Result<SourceFile, ReadError> {
    let path = session.path.clone();
    let metadata = fs::metadata(&path).map_err(|source| ReadError::Io {
        path: path.clone(),
        source,
    })?;
    let roots = source.roots(&engine.parts.environment);
    let root = roots.into_iter().find(|root| path.starts_with(root));
    let root = root.or_else(|| path.parent().map(Into::into)).unwrap_or_default();
    let agent = session.agent.clone();
    Ok(SourceFile {
        agent,
        root,
        path,
        role: FileRole::Transcript,
        stamp: walk::stamp(&metadata),
    })
}

/// Collects one session of a file.
struct Collected<'a> {
    session_id: &'a str,
    wanted: bool,
    found: bool,
    surface: Surface,
    events: Vec<ShownEvent>,
}

impl<'a> Collected<'a> {
    fn of(session_id: &'a str) -> Self {
        Self {
            session_id,
            wanted: false,
            found: false,
            surface: Surface::default(),
            events: Vec::new(),
        }
    }

    fn finish(mut self) -> Vec<ShownEvent> {
        let length = self.events.iter().map(|event| event.seq + 1).max().unwrap_or(0);
        let states = self.surface.states(length);
        for event in &mut self.events {
            let state = usize::try_from(event.seq).ok().and_then(|seq| states.get(seq));
            event.surface = state.copied().unwrap_or(SurfaceState::LogOnly);
        }
        self.events
    }
}

impl EventSink for Collected<'_> {
    fn begin(&mut self, session_id: &str, resumed: bool) -> Result<(), SinkClosed> {
        self.wanted = session_id == self.session_id;
        if self.wanted && !resumed {
            self.surface = Surface::default();
            self.events.clear();
        }
        self.found |= self.wanted;
        Ok(())
    }

    fn wants(&self, session_id: &str) -> bool {
        session_id == self.session_id
    }

    fn event(&mut self, event: Event) -> Result<(), SinkClosed> {
        if self.wanted {
            // A marker that cannot hold leaves the event off the surface; its words are shown all the same.
            let _ = self.surface.apply(&event);
            self.events.push(shown(&event));
        }
        Ok(())
    }

    fn end(&mut self, _: ReadSession) -> Result<(), SinkClosed> {
        self.wanted = false;
        Ok(())
    }

    fn title(&mut self, _: SideTitle) {}
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

/// An event of which only words are left; its type is told from whose they are.
fn archived(text: StoredText, shadowed: &[(u64, u64)]) -> ShownEvent {
    let (type_name, role) = match text.kind {
        TextKind::User => ("user/message", "user"),
        TextKind::Agent | TextKind::Reasoning => ("assistant/message", "assistant"),
        TextKind::Call => ("tool/call", "tool"),
        TextKind::Result => ("tool/result", "tool"),
        TextKind::Context => ("context/message", "system"),
    };
    let is_shadowed = shadowed.iter().any(|&(from, to)| (from..=to).contains(&text.seq));
    ShownEvent {
        seq: text.seq,
        time: text.time,
        type_name: type_name.to_owned(),
        role,
        kind: Some(text.kind),
        surface: if is_shadowed {
            SurfaceState::Shadowed
        } else {
            SurfaceState::Current
        },
        text: String::new(),
        pieces: vec![(text.kind, text.text)],
        source: None,
    }
}
