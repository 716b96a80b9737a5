//! The logical corpus: live and kept sessions as one, each id once (contract B, B.6).
//!
//! A live session's own events win over what is kept of it. Two headers that disagree are two histories, and
//! nothing is said about either.

use super::live::{LiveSessions, Session};
use super::mounts::{Kept, Listing, Mounts};
use super::outside::{AskingError, asking};
use lookback_model::session_query::{
    LogError, PersistedSession, SessionLog, SessionQueryError, SessionQueryErrorCode, SessionRecord,
};
use lookback_model::{Event, SessionHeader};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Live sessions of one moment, by id.
pub(super) type LiveSet = BTreeMap<String, Arc<Session>>;

/// Live sessions, and whatever persistence is mounted.
pub(super) struct Corpus {
    pub(super) live: LiveSessions,
    pub(super) mounts: Mounts,
}

/// A session with its whole log.
pub(super) struct Loaded {
    pub(super) record: SessionRecord,
    pub(super) events: Vec<Arc<Event>>,
}

/// What to do about a log that was not there when it was read.
pub(super) enum InspectError {
    /// It was listed and is gone, or its persistence is: look again.
    Unsettled,
    /// For the caller.
    Failed(SessionQueryError),
}

impl From<SessionQueryError> for InspectError {
    fn from(error: SessionQueryError) -> Self {
        Self::Failed(error)
    }
}

/// Times that something is read before it is said not to hold still.
pub(super) const ATTEMPTS: usize = 2;

impl Corpus {
    /// The records of all sessions, in no order.
    pub(super) fn records(&self) -> Result<BTreeMap<String, SessionRecord>, SessionQueryError> {
        // First those that live: whoever ends meanwhile is kept by the time of the listing.
        let live = self.live.all();
        let kept = self.mounts.refresh()?;
        let listing = kept.map(|kept| kept.sessions).unwrap_or_default();
        check_agreement(&live, &listing)?;
        let kept = listing.values().map(|kept| SessionRecord {
            header: kept.header.clone(),
            live: false,
            persisted: true,
        });
        let mut records: BTreeMap<_, _> = kept.map(|record| (record.header.id.clone(), record)).collect();
        for (id, session) in live {
            let persisted = records.contains_key(&id);
            let header = session.header.clone();
            let record = SessionRecord {
                header,
                live: true,
                persisted,
            };
            records.insert(id, record);
        }
        Ok(records)
    }

    /// A session with its log. Of one that lives, nothing but memory is asked.
    pub(super) fn load(&self, id: &str) -> Result<Loaded, SessionQueryError> {
        if let Some(session) = self.live.find(id) {
            return self.load_live(&session);
        }
        for _ in 0..ATTEMPTS {
            let kept = self.mounts.refresh()?;
            let listed = kept
                .as_ref()
                .and_then(|kept| Some((kept, kept.sessions.get(id)?)));
            let read = listed.map(|(kept, listed)| self.inspect(kept, listed));
            // It may have begun to live while the backend was asked.
            if let Some(session) = self.live.find(id) {
                return self.load_live(&session);
            }
            let log = match read {
                None => return Err(not_found(id)),
                Some(Err(InspectError::Unsettled)) => continue,
                Some(Err(InspectError::Failed(error))) => return Err(error),
                Some(Ok(log)) => log,
            };
            let record = SessionRecord {
                header: log.header,
                live: false,
                persisted: true,
            };
            let events = log.events.into_iter().map(Arc::new).collect();
            return Ok(Loaded { record, events });
        }
        Err(unsettled())
    }

    fn load_live(&self, session: &Session) -> Result<Loaded, SessionQueryError> {
        let known = self.known_of(session)?;
        Ok(Loaded {
            record: SessionRecord {
                header: session.header.clone(),
                live: true,
                persisted: known.is_some(),
            },
            events: session.events(),
        })
    }

    /// What is known, without asking, to be kept of a session that lives.
    pub(super) fn known_of(&self, session: &Session) -> Result<Option<PersistedSession>, SessionQueryError> {
        let known = self.mounts.known(&session.header.id);
        if let Some(known) = &known {
            agree(&session.header, &known.header)?;
        }
        Ok(known)
    }

    /// Reads a listed session's log. Its events are numbered rightly, and its header is the listed one.
    pub(super) fn inspect(&self, kept: &Kept, listed: &PersistedSession) -> Result<SessionLog, InspectError> {
        let id = &listed.header.id;
        let what = format!("session {id}");
        let read = asking(&what, || kept.persistence.inspect(id));
        if !self.mounts.is_current(kept.token) {
            return Err(InspectError::Unsettled);
        }
        let log = match read {
            Ok(log) => log,
            Err(AskingError::NotFound) => return Err(InspectError::Unsettled),
            Err(AskingError::Failed(error)) => return Err(error.into()),
        };
        agree(&listed.header, &log.header)?;
        for (place, event) in log.events.iter().enumerate() {
            let (seq, expected) = (event.seq, place as u64);
            if seq != expected {
                let message = format!("the log of session {id} has a gap");
                let gap = LogError::NotContiguous { seq, expected };
                let error = SessionQueryError::new(SessionQueryErrorCode::PersistenceFailed, message);
                return Err(error.caused_by(gap).into());
            }
        }
        Ok(log)
    }
}

/// Checks that live and kept sessions of one id are one session.
pub(super) fn check_agreement(live: &LiveSet, listing: &Listing) -> Result<(), SessionQueryError> {
    for (id, session) in live {
        if let Some(kept) = listing.get(id) {
            agree(&session.header, &kept.header)?;
        }
    }
    Ok(())
}

fn agree(one: &SessionHeader, other: &SessionHeader) -> Result<(), SessionQueryError> {
    if one.agrees_with(other) {
        return Ok(());
    }
    let message = format!("two sources have different headers of session {}", one.id);
    Err(SessionQueryError::new(
        SessionQueryErrorCode::SourceConflict,
        message,
    ))
}

pub(super) fn not_found(id: &str) -> SessionQueryError {
    SessionQueryError::new(SessionQueryErrorCode::SessionNotFound, format!("no session {id}"))
}

pub(super) fn unsettled() -> SessionQueryError {
    SessionQueryError::new(
        SessionQueryErrorCode::PersistenceFailed,
        "the kept sessions did not stabilise while they were read",
    )
}
