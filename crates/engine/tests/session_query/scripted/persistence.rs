//! A persistence that is a map of logs, and fails or waits where a test tells it to.

use super::{Gate, Scripted};
use lookback_model::session_query::{
    PersistedSession, PersistenceError, SessionLog, SessionPersistence, SessionQueryError,
};
use lookback_model::{Event, SessionHeader};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

#[derive(Default)]
pub(crate) struct ScriptedPersistence {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sessions: BTreeMap<String, SessionLog>,
    /// Counted up at each change of a session; only told when `has_revisions`.
    revisions: BTreeMap<String, u64>,
    has_revisions: bool,
    listings: usize,
    listing_now: usize,
    most_at_once: usize,
    inspected: Vec<String>,
    list_fault: Option<Refusal>,
    inspect_fault: Option<Refusal>,
    list_gate: Option<Arc<Gate>>,
    inspect_gate: Option<Arc<Gate>>,
    listed_headers: BTreeMap<String, SessionHeader>,
    hidden: Option<String>,
}

/// How a call fails, until told otherwise.
#[derive(Clone)]
pub(crate) enum Refusal {
    Own(&'static str),
    Typed(lookback_model::session_query::SessionQueryErrorCode),
    Panic,
}

impl Refusal {
    fn raise<T>(&self) -> Result<T, PersistenceError> {
        match self {
            Self::Own(text) => Err(PersistenceError::Other(Box::new(Scripted(text)))),
            Self::Typed(code) => Err(PersistenceError::Query(SessionQueryError::new(*code, "scripted"))),
            Self::Panic => panic!("scripted"),
        }
    }
}

impl ScriptedPersistence {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn with_revisions() -> Arc<Self> {
        let persistence = Self::new();
        persistence.state().has_revisions = true;
        persistence
    }

    /// Keeps a session, in the place of what was kept of it.
    pub(crate) fn keep(&self, header: SessionHeader, events: Vec<Event>) {
        let mut state = self.state();
        *state.revisions.entry(header.id.clone()).or_default() += 1;
        state
            .sessions
            .insert(header.id.clone(), SessionLog { header, events });
    }

    pub(crate) fn forget(&self, id: &str) {
        self.state().sessions.remove(id);
    }

    /// Says that a session may have changed, which it has not.
    pub(crate) fn touch(&self, id: &str) {
        *self.state().revisions.entry(id.to_owned()).or_default() += 1;
    }

    /// Lists another header of a session than its log has.
    pub(crate) fn list_as(&self, header: SessionHeader) {
        self.state().listed_headers.insert(header.id.clone(), header);
    }

    /// Lists a session whose log is not to be had.
    pub(crate) fn hide_log(&self, id: Option<&str>) {
        self.state().hidden = id.map(str::to_owned);
    }

    pub(crate) fn refuse_listing(&self, refusal: Option<Refusal>) {
        self.state().list_fault = refusal;
    }

    pub(crate) fn refuse_logs(&self, refusal: Option<Refusal>) {
        self.state().inspect_fault = refusal;
    }

    /// Makes the next listing stop, after it has looked and before it answers.
    pub(crate) fn stop_listing(&self) -> Arc<Gate> {
        Arc::clone(self.state().list_gate.insert(Arc::default()))
    }

    /// Makes the next reading of a log stop, before it looks.
    pub(crate) fn stop_inspection(&self) -> Arc<Gate> {
        Arc::clone(self.state().inspect_gate.insert(Arc::default()))
    }

    /// How often it was listed.
    pub(crate) fn listings(&self) -> usize {
        self.state().listings
    }

    /// How many listings ran at once at most.
    pub(crate) fn most_listings_at_once(&self) -> usize {
        self.state().most_at_once
    }

    /// The sessions whose logs were read since this was last asked.
    pub(crate) fn take_inspected(&self) -> Vec<String> {
        std::mem::take(&mut self.state().inspected)
    }

    /// What a session is announced as.
    pub(crate) fn persisted(&self, id: &str) -> PersistedSession {
        let state = self.state();
        state.persisted(&state.sessions[id].header)
    }

    /// The log that is kept of a session.
    pub(crate) fn events(&self, id: &str) -> Option<Vec<Event>> {
        self.state().sessions.get(id).map(|log| log.events.clone())
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl State {
    fn persisted(&self, header: &SessionHeader) -> PersistedSession {
        let revision = self.revisions.get(&header.id).filter(|_| self.has_revisions);
        let listed = self.listed_headers.get(&header.id);
        PersistedSession {
            header: listed.unwrap_or(header).clone(),
            agent: "scripted-agent".to_owned(),
            revision: revision.map(ToString::to_string),
        }
    }
}

impl SessionPersistence for ScriptedPersistence {
    fn list(&self) -> Result<Vec<PersistedSession>, PersistenceError> {
        let (listed, gate, fault) = {
            let mut state = self.state();
            state.listings += 1;
            state.listing_now += 1;
            state.most_at_once = state.most_at_once.max(state.listing_now);
            let sessions = state.sessions.values();
            let listed = sessions.map(|log| state.persisted(&log.header)).collect();
            (listed, state.list_gate.take(), state.list_fault.clone())
        };
        if let Some(gate) = gate {
            gate.pass();
        }
        self.state().listing_now -= 1;
        fault.map_or(Ok(listed), |fault| fault.raise())
    }

    fn inspect(&self, session_id: &str) -> Result<SessionLog, PersistenceError> {
        let (gate, fault) = {
            let mut state = self.state();
            state.inspected.push(session_id.to_owned());
            (state.inspect_gate.take(), state.inspect_fault.clone())
        };
        if let Some(gate) = gate {
            gate.pass();
        }
        if let Some(fault) = fault {
            return fault.raise();
        }
        let state = self.state();
        let found = state.sessions.get(session_id);
        let found = found.filter(|_| state.hidden.as_deref() != Some(session_id));
        found.cloned().ok_or_else(|| PersistenceError::NotFound {
            session_id: session_id.to_owned(),
        })
    }
}
