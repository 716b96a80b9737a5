//! The port to what keeps sessions: it may be mounted and unmounted while queries run (contract B, B.6).

use super::error::SessionQueryError;
use crate::{Event, SessionHeader};
use std::error::Error;

/// Keeps logs of sessions. Reading changes nothing: a torn tail is read around, never repaired.
pub trait SessionPersistence: Send + Sync {
    /// All sessions that can be read, in any order, each id once.
    ///
    /// # Errors
    /// When the backend cannot be listed; nothing is then known of what it holds.
    fn list(&self) -> Result<Vec<PersistedSession>, PersistenceError>;

    /// One session's whole log.
    ///
    /// # Errors
    /// When the session is not there, or cannot be read.
    fn inspect(&self, session_id: &str) -> Result<SessionLog, PersistenceError>;
}

/// A session that is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct PersistedSession {
    /// Its header.
    pub header: SessionHeader,
    /// The agent that wrote it, such as `claude`; empty when the backend does not say.
    pub agent: String,
    /// Changes whenever the log may have changed, and never says unchanged of a changed log. Absent when the
    /// backend cannot tell without reading the log.
    pub revision: Option<String>,
}

/// A session's whole log.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionLog {
    /// Its header, as it stands in the log.
    pub header: SessionHeader,
    /// Event `i` has seq `i`.
    pub events: Vec<Event>,
}

/// Why a backend could not answer.
#[derive(Debug, thiserror::Error)]
pub enum PersistenceError {
    /// The backend holds no such session (any more).
    #[error("no session {session_id} is kept")]
    NotFound {
        /// What was asked for.
        session_id: String,
    },
    /// An error that is the caller's to see as it is.
    #[error(transparent)]
    Query(#[from] SessionQueryError),
    /// Anything else.
    #[error(transparent)]
    Other(Box<dyn Error + Send + Sync>),
}
