//! Live sessions: those that run in this process, whose logs grow while they are searched.
//!
//! Appending never waits for a search. A session's log is locked to push an event and to copy the pointers of
//! new ones; whatever takes long, extraction and folding for a search, works on the session's *view*, a second
//! list of the same events that is brought up to the log when somebody looks.

use super::view::LiveView;
use lookback_model::event::EventData;
use lookback_model::session_query::{HeaderError, LogError, LogState, validate_header, validate_next};
use lookback_model::{Event, SessionHeader, SurfaceOp, Timestamp};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Why a live session was not created, forked or appended to.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LiveError {
    /// The header cannot be.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// An event does not fit the log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A session of this id runs already.
    #[error("session {id} is live already")]
    AlreadyLive {
        /// The id.
        id: String,
    },
    /// No session of this id runs.
    #[error("no live session {id}")]
    Unknown {
        /// The id.
        id: String,
    },
    /// The session has ended. Another of the same id may run.
    #[error("session {id} has ended")]
    Ended {
        /// The id.
        id: String,
    },
    /// A fork's last event is none of the source's.
    #[error("{boundary} is no event of session {id}, which has {length}")]
    InvalidBoundary {
        /// The source.
        id: String,
        /// What was asked for.
        boundary: f64,
        /// How many events the source has.
        length: usize,
    },
    /// The recorder did not keep what happened. It has happened all the same: the session runs, the event stands
    /// in its live log, the session has ended.
    #[error("session {id} is not kept: {reason}")]
    NotKept {
        /// The session.
        id: String,
        /// What the recorder said, causes included.
        reason: String,
    },
    /// A fork would end within a turn.
    #[error("event {boundary} of session {id} does not end a turn")]
    OpenTurn {
        /// The source.
        id: String,
        /// The event that was to be the last.
        boundary: usize,
    },
}

/// An event before it is appended: all but its number.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    /// When it happened.
    pub time: Timestamp,
    /// Type and payload.
    pub data: EventData,
    /// What it does to the surface; only for types that may stand on it.
    pub surface_op: Option<SurfaceOp>,
    /// Earlier events it was made from; only with a marker.
    pub source_event_seqs: Option<Vec<u64>>,
    /// An id of the owner's.
    pub native_id: Option<String>,
}

impl NewEvent {
    /// An event that joins the surface at its end when its type may.
    pub fn new(time: Timestamp, data: EventData) -> Self {
        Self {
            time,
            surface_op: data.surface_eligible().then_some(SurfaceOp::Append),
            data,
            source_event_seqs: None,
            native_id: None,
        }
    }

    fn numbered(self, seq: u64) -> Event {
        Event {
            seq,
            time: self.time,
            data: self.data,
            surface_op: self.surface_op,
            source_event_seqs: self.source_event_seqs,
            native_id: self.native_id,
            copy_key: 0,
        }
    }
}

/// Keeps what happens to live sessions, such as [`EventLog`](crate::event_log::EventLog) by its recorder. Of one
/// session it is told in the order in which things happened, one at a time; of several at once.
pub trait LiveRecorder: Send + Sync {
    /// A session begins, with the events it was seeded with.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn began(&self, header: &SessionHeader, seed: &[Arc<Event>]) -> Result<(), RecordError>;

    /// Events were appended to a session that began here.
    ///
    /// # Errors
    /// When they cannot be kept.
    fn appended(&self, session_id: &str, events: &[Arc<Event>]) -> Result<(), RecordError>;

    /// A session ended.
    ///
    /// # Errors
    /// When it is not certain that all of it is kept.
    fn ended(&self, session_id: &str) -> Result<(), RecordError>;
}

/// Why a recorder failed.
pub type RecordError = Box<dyn Error + Send + Sync>;

/// The sessions that run in this process, each id once. Clones share them.
#[derive(Clone, Default)]
pub struct LiveSessions {
    registry: Arc<Mutex<Registry>>,
    recorder: Option<Arc<dyn LiveRecorder>>,
}

#[derive(Default)]
struct Registry {
    sessions: BTreeMap<String, Arc<Session>>,
    instances: u64,
}

impl LiveSessions {
    /// No sessions.
    pub fn new() -> Self {
        Self::default()
    }

    /// No sessions; what happens to those that begin is told to `recorder`. An append returns when the recorder
    /// has returned, and no search waits for it.
    pub fn recorded_by(recorder: Arc<dyn LiveRecorder>) -> Self {
        Self {
            recorder: Some(recorder),
            ..Self::default()
        }
    }

    /// Begins a session, with the events of `seed` in its log. The header is kept as it is: how much of the log
    /// was inherited is for it to say.
    ///
    /// # Errors
    /// When the header or the seed cannot be, or the id is taken; [`LiveError::NotKept`] by the recorder, and the
    /// session does not run then.
    pub fn create(&self, header: SessionHeader, seed: Vec<Event>) -> Result<LiveSession, LiveError> {
        validate_header(&header)?;
        self.create_from(header, seed.into_iter().map(Arc::new).collect())
    }

    fn create_from(&self, header: SessionHeader, events: Vec<Arc<Event>>) -> Result<LiveSession, LiveError> {
        let mut state = LogState::default();
        for event in &events {
            validate_next(&mut state, event)?;
        }
        let mut registry = self.lock();
        if registry.sessions.contains_key(&header.id) {
            return Err(LiveError::AlreadyLive { id: header.id });
        }
        registry.instances += 1;
        let session = Arc::new(Session {
            instance: registry.instances,
            order: Mutex::default(),
            log: Mutex::new(Log {
                events: events.clone(),
                state,
                ended: false,
            }),
            view: Mutex::default(),
            header,
        });
        let order = session.order();
        let id = session.header.id.clone();
        registry.sessions.insert(id.clone(), Arc::clone(&session));
        // A recorder may wait for the disk, and other sessions must not.
        drop(registry);
        let owned = self.owned(Arc::clone(&session));
        let kept = self.record(&id, |recorder| recorder.began(&session.header, &events));
        drop(order);
        match kept {
            Ok(()) => Ok(owned),
            Err(error) => {
                owned.leave();
                Err(error)
            }
        }
    }

    fn record(
        &self,
        id: &str,
        tell: impl FnOnce(&dyn LiveRecorder) -> Result<(), RecordError>,
    ) -> Result<(), LiveError> {
        let told = self.recorder.as_deref().map_or(Ok(()), tell);
        told.map_err(|error| {
            let mut reason = error.to_string();
            let mut cause = error.source();
            while let Some(inner) = cause {
                reason.push_str(&format!(": {inner}"));
                cause = inner.source();
            }
            LiveError::NotKept {
                id: id.to_owned(),
                reason,
            }
        })
    }

    /// The session of an id, if it runs.
    pub fn get(&self, id: &str) -> Option<LiveSession> {
        self.find(id).map(|session| self.owned(session))
    }

    /// The ids of all sessions that run, ascending.
    pub fn ids(&self) -> Vec<String> {
        self.lock().sessions.keys().cloned().collect()
    }

    /// Forks a session that runs, see [`LiveSession::fork`].
    ///
    /// # Errors
    /// [`LiveError::Unknown`] when none of this id runs, and those of [`LiveSession::fork`].
    pub fn fork(
        &self,
        source: &str,
        child: SessionHeader,
        boundary: Option<f64>,
    ) -> Result<LiveSession, LiveError> {
        let unknown = || LiveError::Unknown {
            id: source.to_owned(),
        };
        self.get(source).ok_or_else(unknown)?.fork(child, boundary)
    }

    pub(super) fn find(&self, id: &str) -> Option<Arc<Session>> {
        self.lock().sessions.get(id).cloned()
    }

    /// All sessions that run, by id.
    pub(super) fn all(&self) -> BTreeMap<String, Arc<Session>> {
        self.lock().sessions.clone()
    }

    fn owned(&self, session: Arc<Session>) -> LiveSession {
        LiveSession {
            session,
            sessions: self.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for LiveSessions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("LiveSessions").field(&self.ids()).finish()
    }
}

/// A handle to a live session. Clones are handles to the same; dropping one ends nothing.
#[derive(Clone)]
pub struct LiveSession {
    session: Arc<Session>,
    sessions: LiveSessions,
}

impl LiveSession {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.session.header.id
    }

    /// Its header.
    pub fn header(&self) -> &SessionHeader {
        &self.session.header
    }

    /// How many events its log has.
    pub fn event_count(&self) -> u64 {
        self.session.length()
    }

    /// Appends an event, and gives it as it stands in the log.
    ///
    /// # Errors
    /// When it does not fit the log, or the session has ended; the log is then as it was. [`LiveError::NotKept`] by
    /// the recorder.
    pub fn append(&self, event: NewEvent) -> Result<Event, LiveError> {
        let mut event = event.numbered(0);
        let _order = self.session.order();
        let mut log = self.session.open_log()?;
        event.seq = log.state.length();
        validate_next(&mut log.state, &event)?;
        let event = Arc::new(event);
        log.events.push(Arc::clone(&event));
        drop(log);
        self.keep(std::slice::from_ref(&event))?;
        Ok(Event::clone(&event))
    }

    /// Appends several events, one after the other and nothing between, or none of them.
    ///
    /// # Errors
    /// When one does not fit the log, or the session has ended; the log is then as it was. [`LiveError::NotKept`] by
    /// the recorder.
    pub fn append_all(&self, events: Vec<NewEvent>) -> Result<Vec<Event>, LiveError> {
        let _order = self.session.order();
        let mut log = self.session.open_log()?;
        let mut state = log.state.clone();
        let mut appended = Vec::with_capacity(events.len());
        for event in events {
            let event = event.numbered(state.length());
            validate_next(&mut state, &event)?;
            appended.push(Arc::new(event));
        }
        log.state = state;
        log.events.extend(appended.iter().cloned());
        drop(log);
        self.keep(&appended)?;
        Ok(appended.iter().map(|event| Event::clone(event)).collect())
    }

    /// Tells the recorder of events.
    fn keep(&self, events: &[Arc<Event>]) -> Result<(), LiveError> {
        let id = self.id();
        self.sessions.record(id, |recorder| recorder.appended(id, events))
    }

    /// Ends the session: it is no longer live, and nothing can be appended. A second time changes nothing.
    ///
    /// # Errors
    /// [`LiveError::NotKept`] by the recorder; the session has ended all the same.
    pub fn end(&self) -> Result<(), LiveError> {
        let _order = self.session.order();
        if !self.leave() {
            return Ok(());
        }
        let id = self.id();
        self.sessions.record(id, |recorder| recorder.ended(id))
    }

    /// Takes the session out of those that run; says whether it ran.
    fn leave(&self) -> bool {
        let ran = !std::mem::replace(&mut self.session.lock_log().ended, true);
        let mut registry = self.sessions.lock();
        let current = registry.sessions.get(self.id());
        if current.is_some_and(|current| Arc::ptr_eq(current, &self.session)) {
            registry.sessions.remove(self.id());
        }
        ran
    }

    /// Begins a session with a copy of this one's events up to and including `boundary`, by default all of
    /// them. The last one must end a turn. The child has this session as its parent, the count of events as its
    /// seed length, and this one's working directory unless it has its own.
    ///
    /// # Errors
    /// When this session has ended, the child's id is taken, `boundary` is no event or does not end a turn, or
    /// the child's header cannot be; the first that applies.
    pub fn fork(&self, child: SessionHeader, boundary: Option<f64>) -> Result<LiveSession, LiveError> {
        drop(self.session.open_log()?);
        let events = self.session.events();
        if self.sessions.find(&child.id).is_some() {
            return Err(LiveError::AlreadyLive { id: child.id });
        }
        let seed = self.inherited(&events, boundary)?;
        let header = SessionHeader {
            cwd: child.cwd.or_else(|| self.header().cwd.clone()),
            parent_session: Some(self.id().to_owned()),
            seed_length: Some(seed.len() as u64),
            ..child
        };
        validate_header(&header)?;
        self.sessions.create_from(header, seed.to_vec())
    }

    /// The events that a fork begins with.
    fn inherited<'a>(
        &self,
        events: &'a [Arc<Event>],
        boundary: Option<f64>,
    ) -> Result<&'a [Arc<Event>], LiveError> {
        let id = || self.id().to_owned();
        let length = events.len();
        let last = match (boundary, length.checked_sub(1)) {
            (None, None) => return Ok(&[]),
            (None, Some(last)) => Some(last),
            (Some(boundary), Some(last)) => super::config::whole_number(boundary, 0, last),
            (Some(_), None) => None,
        };
        let Some((boundary, seed)) = last.and_then(|last| Some((last, events.get(..=last)?))) else {
            let boundary = boundary.unwrap_or_default();
            return Err(LiveError::InvalidBoundary {
                id: id(),
                boundary,
                length,
            });
        };
        let ends_turn = |event: &Arc<Event>| matches!(event.data, EventData::TurnEnd(_));
        if !seed.last().is_some_and(ends_turn) {
            return Err(LiveError::OpenTurn { id: id(), boundary });
        }
        Ok(seed)
    }
}

impl fmt::Debug for LiveSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("LiveSession").field(&self.id()).finish()
    }
}

/// A session that runs, or ran until a moment ago.
pub(super) struct Session {
    /// Tells it from others of the same id, before and after.
    pub(super) instance: u64,
    pub(super) header: SessionHeader,
    /// Held while something happens and the recorder is told of it, so that it is told in order.
    order: Mutex<()>,
    log: Mutex<Log>,
    view: Mutex<LiveView>,
}

struct Log {
    events: Vec<Arc<Event>>,
    state: LogState,
    ended: bool,
}

/// Pointers that are copied under one lock of a log.
const COPIED_AT_ONCE: usize = 1024;

impl Session {
    pub(super) fn length(&self) -> u64 {
        self.lock_log().state.length()
    }

    /// The view, with all events that were appended before this call.
    pub(super) fn view(&self) -> MutexGuard<'_, LiveView> {
        let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        let length = self.length();
        while view.length() < length {
            let from = view.events().len();
            let log = self.lock_log();
            let rest = log.events.get(from..).unwrap_or_default();
            let new: Vec<_> = rest.iter().take(COPIED_AT_ONCE).cloned().collect();
            drop(log);
            view.extend(new);
        }
        view
    }

    /// All events so far.
    pub(super) fn events(&self) -> Vec<Arc<Event>> {
        self.view().events().to_vec()
    }

    fn order(&self) -> MutexGuard<'_, ()> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_log(&self) -> Result<MutexGuard<'_, Log>, LiveError> {
        let log = self.lock_log();
        if log.ended {
            let id = self.header.id.clone();
            return Err(LiveError::Ended { id });
        }
        Ok(log)
    }

    fn lock_log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
