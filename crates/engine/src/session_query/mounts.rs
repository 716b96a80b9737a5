//! The persistence that is mounted, and what is known of what it holds (contract B, B.6).
//!
//! Every operation over all sessions lists it again; those that come while a listing runs wait for that one.
//! What is announced while a listing runs is newer than the listing, and is kept. A listing of a persistence
//! that was unmounted meanwhile says nothing.

use super::outside::{AskingError, asking};
use lookback_model::session_query::{
    PersistedSession, SessionPersistence, SessionQueryError, SessionQueryErrorCode,
};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Sessions that are kept, by id.
pub(super) type Listing = BTreeMap<String, PersistedSession>;

/// A mounted persistence, and its sessions at one moment.
#[derive(Clone)]
pub(super) struct Kept {
    /// Tells mounts apart, of the same persistence too.
    pub(super) token: u64,
    pub(super) persistence: Arc<dyn SessionPersistence>,
    /// The same pointer as before when nothing has changed.
    pub(super) sessions: Arc<Listing>,
}

/// Where a persistence is mounted, one at a time.
#[derive(Default)]
pub(super) struct Mounts {
    state: Mutex<State>,
    /// A listing has ended, or another persistence is mounted, or none.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Counts mounts, listings and announcements.
    clock: u64,
    mount: Option<Mount>,
}

struct Mount {
    kept: Kept,
    /// What was announced, and when. Those that a listing began after are dropped.
    announced: BTreeMap<String, (u64, PersistedSession)>,
    listing: Option<Running>,
    /// How the last listing ended that somebody waited for, and when that began.
    ended: Option<(u64, Result<(), SharedFailure>)>,
}

/// A listing that runs.
struct Running {
    began: u64,
    waiting: usize,
}

impl Mounts {
    /// Mounts in the place of what was mounted before, and gives the token of the mount.
    pub(super) fn mount(&self, persistence: Arc<dyn SessionPersistence>) -> u64 {
        let mut state = self.lock();
        let token = state.tick();
        state.mount = Some(Mount {
            kept: Kept {
                token,
                persistence,
                sessions: Arc::default(),
            },
            announced: BTreeMap::new(),
            listing: None,
            ended: None,
        });
        self.changed.notify_all();
        token
    }

    /// Unmounts, unless something else was mounted since. Gives whether it did.
    pub(super) fn unmount(&self, token: u64) -> bool {
        let mut state = self.lock();
        let is_current = state
            .mount
            .as_ref()
            .is_some_and(|mount| mount.kept.token == token);
        if is_current {
            state.mount = None;
            self.changed.notify_all();
        }
        is_current
    }

    /// Takes in a session that the persistence of a mount has begun to keep, or has kept more of.
    pub(super) fn announce(&self, token: u64, session: PersistedSession) {
        let mut state = self.lock();
        let now = state.tick();
        let Some(mount) = state.mount.as_mut().filter(|mount| mount.kept.token == token) else {
            return;
        };
        let id = session.header.id.clone();
        Arc::make_mut(&mut mount.kept.sessions).insert(id.clone(), session.clone());
        mount.announced.insert(id, (now, session));
    }

    /// Whether anything is mounted.
    pub(super) fn is_mounted(&self) -> bool {
        self.lock().mount.is_some()
    }

    /// Whether this mount is the one there is.
    pub(super) fn is_current(&self, token: u64) -> bool {
        let state = self.lock();
        state
            .mount
            .as_ref()
            .is_some_and(|mount| mount.kept.token == token)
    }

    /// What is known of a session without asking.
    pub(super) fn known(&self, id: &str) -> Option<PersistedSession> {
        let state = self.lock();
        state.mount.as_ref()?.kept.sessions.get(id).cloned()
    }

    /// Lists what is mounted, or waits for whoever does; `None` when nothing is mounted.
    pub(super) fn refresh(&self) -> Result<Option<Kept>, SessionQueryError> {
        let mut state = self.lock();
        loop {
            let began = state.clock + 1;
            let Some(mount) = &mut state.mount else {
                return Ok(None);
            };
            let token = mount.kept.token;
            if let Some(running) = &mut mount.listing {
                running.waiting += 1;
                let began = running.began;
                let (locked, outcome) = self.wait_for(state, token, began);
                match outcome {
                    Some(Ok(kept)) => return Ok(Some(kept)),
                    Some(Err(failure)) => return Err(failure.into()),
                    None => state = locked,
                }
                continue;
            }
            mount.listing = Some(Running { began, waiting: 0 });
            let persistence = Arc::clone(&mount.kept.persistence);
            state.clock = began;
            drop(state);
            let listed = asking("the list of kept sessions", || persistence.list());
            state = self.lock();
            let Some(mount) = state.mount.as_mut().filter(|mount| mount.kept.token == token) else {
                continue;
            };
            let finished = mount.finish(listed.map(by_id));
            self.changed.notify_all();
            return finished.map(Some);
        }
    }

    /// Waits for a listing that another runs; gives its outcome, or nothing when its mount is gone.
    fn wait_for<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        token: u64,
        began: u64,
    ) -> (MutexGuard<'a, State>, Option<Result<Kept, SharedFailure>>) {
        loop {
            let Some(mount) = state.mount.as_ref().filter(|mount| mount.kept.token == token) else {
                return (state, None);
            };
            match &mount.ended {
                Some((ended, outcome)) if *ended >= began => {
                    let outcome = outcome.clone().map(|()| mount.kept.clone());
                    return (state, Some(outcome));
                }
                _ => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn by_id(sessions: Vec<PersistedSession>) -> Listing {
    let sessions = sessions.into_iter();
    sessions
        .map(|session| (session.header.id.clone(), session))
        .collect()
}

impl State {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }
}

impl Mount {
    /// Takes in how the running listing ended.
    fn finish(&mut self, listed: Result<Listing, AskingError>) -> Result<Kept, SessionQueryError> {
        let Some(running) = self.listing.take() else {
            return Ok(self.kept.clone());
        };
        match listed {
            Ok(mut listing) => {
                self.announced.retain(|_, (at, _)| *at > running.began);
                for (id, (_, session)) in &self.announced {
                    listing.insert(id.clone(), session.clone());
                }
                if *self.kept.sessions != listing {
                    self.kept.sessions = Arc::new(listing);
                }
                self.ended = Some((running.began, Ok(())));
                Ok(self.kept.clone())
            }
            Err(error) => {
                let error = failed(error);
                if running.waiting == 0 {
                    // How the one before ended stays: who waited for that may not have looked yet.
                    return Err(error);
                }
                let failure = SharedFailure::from(error);
                self.ended = Some((running.began, Err(failure.clone())));
                Err(failure.into())
            }
        }
    }
}

fn failed(error: AskingError) -> SessionQueryError {
    match error {
        AskingError::Failed(error) => error,
        AskingError::NotFound => SessionQueryError::new(
            SessionQueryErrorCode::PersistenceFailed,
            "the list of kept sessions is not there",
        ),
    }
}

/// A failure that several callers are told of: an error has one owner, so its cause is shared.
#[derive(Clone)]
struct SharedFailure {
    code: SessionQueryErrorCode,
    message: String,
    cause: Option<SharedCause>,
}

#[derive(Clone, Debug)]
struct SharedCause(Arc<dyn Error + Send + Sync>);

impl std::fmt::Display for SharedCause {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("listing failed, for several callers at once")
    }
}

impl Error for SharedCause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

impl From<SessionQueryError> for SharedFailure {
    fn from(error: SessionQueryError) -> Self {
        Self {
            code: error.code,
            message: error.message,
            cause: error.source.map(|cause| SharedCause(Arc::from(cause))),
        }
    }
}

impl From<SharedFailure> for SessionQueryError {
    fn from(failure: SharedFailure) -> Self {
        let error = Self::new(failure.code, failure.message);
        match failure.cause {
            Some(cause) => error.caused_by(cause),
            None => error,
        }
    }
}
