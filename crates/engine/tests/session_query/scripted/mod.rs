//! What the tests are made of: a service with a scripted provider and a scripted persistence, and short words
//! for events.

mod gate;
mod persistence;
mod provider;

pub(crate) use gate::Gate;
pub(crate) use persistence::{Refusal, ScriptedPersistence};
pub(crate) use provider::{Fault, ScriptedProvider};

use lookback_engine::session_query::{
    LiveSession, LiveSessions, NewEvent, Registration, SessionQuery, SessionQueryConfig,
};
use lookback_model::event::{EventData, Message, OtherEvent, TurnEnd, TurnEndReason};
use lookback_model::session_query::{
    AbortSignal, SearchPage, SessionEventSearchRequest, SessionHit, SessionQueryError, SessionQueryErrorCode,
    SessionSearchRequest,
};
use lookback_model::{Event, SessionHeader, SurfaceOp, Timestamp};
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;

/// The scripted provider's id.
pub(crate) const PROVIDER: &str = "scripted";

/// An error of the script's own, to be found in chains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scripted(pub(crate) &'static str);

impl std::fmt::Display for Scripted {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.0)
    }
}

impl std::error::Error for Scripted {}

/// A service with one provider.
pub(crate) struct World {
    pub(crate) live: LiveSessions,
    pub(crate) query: SessionQuery,
    pub(crate) provider: Arc<ScriptedProvider>,
    pub(crate) registration: Option<Registration>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::configured(SessionQueryConfig::default())
    }

    pub(crate) fn configured(config: SessionQueryConfig) -> Self {
        let live = LiveSessions::new();
        let query = SessionQuery::new(config, live.clone()).unwrap();
        let provider = Arc::new(ScriptedProvider::new(PROVIDER));
        let registration = query.register_search_provider(provider.clone()).unwrap();
        Self {
            live,
            query,
            provider,
            registration: Some(registration),
        }
    }

    /// Begins a session in which these things were said.
    pub(crate) fn session(&self, id: &str, said: &[&str]) -> LiveSession {
        let session = self.live.create(header(id), Vec::new()).unwrap();
        for text in said {
            say(&session, text);
        }
        session
    }

    pub(crate) fn search(&self, text: &str) -> Result<SearchPage<SessionHit>, SessionQueryError> {
        self.query
            .search_sessions(&sessions_with(text), &AbortSignal::new())
    }

    /// The ids of the sessions that a search finds.
    pub(crate) fn found(&self, text: &str) -> Vec<String> {
        let page = self.search(text).unwrap();
        page.items.into_iter().map(|hit| hit.session.header.id).collect()
    }

    /// The seqs of the events that a search finds in a session.
    pub(crate) fn found_in(&self, id: &str, text: &str) -> Vec<u64> {
        let page = self
            .query
            .search_events(&events_with(id, text), &AbortSignal::new());
        page.unwrap().items.into_iter().map(|hit| hit.event.seq).collect()
    }
}

pub(crate) fn sessions_with(text: &str) -> SessionSearchRequest {
    SessionSearchRequest {
        query: text.to_owned(),
        ..SessionSearchRequest::default()
    }
}

pub(crate) fn events_with(id: &str, text: &str) -> SessionEventSearchRequest {
    SessionEventSearchRequest {
        session_id: id.to_owned(),
        query: text.to_owned(),
        ..SessionEventSearchRequest::default()
    }
}

/// Why something was refused.
pub(crate) fn code<T: Debug>(result: Result<T, SessionQueryError>) -> SessionQueryErrorCode {
    result.unwrap_err().code
}

/// Whether an error, or a cause of it, is the script's own.
pub(crate) fn has_cause(error: &SessionQueryError, cause: &Scripted) -> bool {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if error.downcast_ref::<Scripted>() == Some(cause) {
            return true;
        }
        next = error.source();
    }
    false
}

/// A header whose time of creation is the number in the id, if there is one.
pub(crate) fn header(id: &str) -> SessionHeader {
    let digits: String = id.chars().filter(char::is_ascii_digit).collect();
    SessionHeader::new(id, Timestamp(digits.parse().unwrap_or(0)))
}

pub(crate) fn child(id: &str, parent: &str) -> SessionHeader {
    SessionHeader {
        parent_session: Some(parent.to_owned()),
        ..header(id)
    }
}

pub(crate) fn user(text: &str) -> NewEvent {
    NewEvent::new(Timestamp(7), EventData::UserMessage(Message::text(text)))
}

pub(crate) fn agent(text: &str) -> NewEvent {
    NewEvent::new(Timestamp(7), EventData::AssistantMessage(Message::text(text)))
}

pub(crate) fn turn_end() -> NewEvent {
    let reason = TurnEndReason {
        kind: "completed".to_owned(),
        ..TurnEndReason::default()
    };
    NewEvent::new(Timestamp(7), EventData::TurnEnd(TurnEnd { turn: None, reason }))
}

pub(crate) fn other(name: &str, data: Value) -> NewEvent {
    let r#type = name.to_owned();
    NewEvent::new(Timestamp(7), EventData::Other(OtherEvent { r#type, data }))
}

/// The event in the place of a slice of the surface, made from `sources`.
pub(crate) fn replacing(event: NewEvent, start: u64, end: u64, sources: &[u64]) -> NewEvent {
    NewEvent {
        surface_op: Some(SurfaceOp::Replace { start, end }),
        source_event_seqs: Some(sources.to_vec()),
        ..event
    }
}

/// Appends what a person says; gives the event's seq.
pub(crate) fn say(session: &LiveSession, text: &str) -> u64 {
    session.append(user(text)).unwrap().seq
}

/// A log of these events.
pub(crate) fn log(events: Vec<NewEvent>) -> Vec<Event> {
    let numbered = events.into_iter().enumerate();
    numbered
        .map(|(place, event)| Event {
            seq: place as u64,
            time: event.time,
            data: event.data,
            surface_op: event.surface_op,
            source_event_seqs: event.source_event_seqs,
            native_id: event.native_id,
            copy_key: 0,
        })
        .collect()
}

/// A log in which these things were said.
pub(crate) fn said(texts: &[&str]) -> Vec<Event> {
    log(texts.iter().map(|text| user(text)).collect())
}
