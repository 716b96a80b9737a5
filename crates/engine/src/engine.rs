//! The facade: what the engine is made of, and its operations.

use crate::doctor::{self, DoctorReport};
use crate::grep::{self, GrepReport, GrepRequest, SessionHits};
use crate::reconcile::{self, Progress, ReconcileOptions, Reconciled};
use crate::session_query::SessionQuery;
use crate::status::{self, Degraded, Status};
use crate::transcript::{self, Transcript};
use lookback_model::document::TextCaps;
use lookback_model::hit::SessionRow;
use lookback_model::ports::{Catalogue, IndexSink, SearchAnswer, SessionFilter, SessionSearch, StoreError};
use lookback_model::session_query::SessionQueryError;
use lookback_model::{Environment, SearchRequest, SessionSource, Timestamp};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Everything the engine needs, built by the composition root.
pub struct Parts {
    /// Where transcripts are looked for.
    pub environment: Environment,
    /// The formats that are read.
    pub sources: &'static [&'static dyn SessionSource],
    /// What is known of files and sessions.
    pub catalogue: Arc<dyn Catalogue>,
    /// Answers searches.
    pub provider: Arc<dyn SessionSearch>,
    /// Opens the index for writing.
    pub sink: Arc<dyn IndexSink>,
    /// How much tool text is indexed.
    pub caps: TextCaps,
    /// Threads that read files; 0 counts as 1.
    pub workers: usize,
    /// The time.
    pub clock: fn() -> Timestamp,
}

/// Why an operation failed.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The index or the catalogue failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No session has this id, nor one that begins with it.
    #[error("no session {id}")]
    NoSuchSession {
        /// What was asked for.
        id: String,
    },
    /// Several sessions have ids that begin with this.
    #[error("{id} is the beginning of {} session ids", candidates.len())]
    AmbiguousSession {
        /// What was asked for.
        id: String,
        /// The sessions, last active first.
        candidates: Vec<SessionRow>,
    },
    /// A transcript that is there cannot be read, and nothing of it was indexed.
    #[error(transparent)]
    Query(#[from] SessionQueryError),
}

/// When the first commit of a pass is due.
const FIRST_COMMIT: Duration = Duration::from_secs(8);

/// Keeps the index in step with transcripts, and answers queries. All operations may run at once.
pub struct Engine {
    pub(crate) parts: Parts,
    pub(crate) first_commit: Duration,
    running: AtomicBool,
    degraded: Mutex<Vec<Degraded>>,
}

impl Engine {
    /// An engine of these parts. Opens nothing.
    pub fn new(parts: Parts) -> Self {
        Self {
            parts,
            first_commit: FIRST_COMMIT,
            running: AtomicBool::new(false),
            degraded: Mutex::new(Vec::new()),
        }
    }

    /// Makes the first commit of a pass come after `first` instead of one second; the intervals after it
    /// double, as always, up to eight times as much.
    #[must_use]
    pub fn commit_after(mut self, first: Duration) -> Self {
        self.first_commit = first;
        self
    }

    /// Looks for changes and reads them, newest files first. Commits in batches, so that searches see
    /// results early. While another process writes, nothing is read and the answer says so.
    ///
    /// # Errors
    /// [`EngineError::Store`] when the index or the catalogue fails. Trouble with transcripts is no error:
    /// it is in the answer.
    pub fn reconcile(
        &self,
        options: ReconcileOptions,
        progress: &dyn Progress,
    ) -> Result<Reconciled, EngineError> {
        self.running.store(true, Ordering::Relaxed);
        let result = reconcile::run(self, options, progress);
        self.running.store(false, Ordering::Relaxed);
        result
    }

    /// Runs a search over what is committed.
    ///
    /// # Errors
    /// [`EngineError::Store`] when the index cannot be read.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, EngineError> {
        Ok(self.parts.provider.search(request)?)
    }

    /// Sessions, last active first.
    ///
    /// # Errors
    /// [`EngineError::Store`] when the catalogue cannot be read.
    pub fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionRow>, EngineError> {
        Ok(self.parts.catalogue.sessions(filter)?)
    }

    /// One session by its exact id or a beginning that only it has.
    ///
    /// # Errors
    /// [`EngineError::NoSuchSession`] and [`EngineError::AmbiguousSession`], and
    /// [`EngineError::Store`] when the catalogue cannot be read.
    pub fn session(&self, id: &str) -> Result<SessionRow, EngineError> {
        let mut candidates = match id {
            "" => Vec::new(),
            id => self.parts.catalogue.find_sessions(id)?,
        };
        // Copies of one session in several files are one session.
        candidates.dedup_by(|next, held| (&next.agent, &next.session_id) == (&held.agent, &held.session_id));
        if candidates.len() > 1 {
            return Err(EngineError::AmbiguousSession {
                id: id.to_owned(),
                candidates,
            });
        }
        candidates
            .pop()
            .ok_or_else(|| EngineError::NoSuchSession { id: id.to_owned() })
    }

    /// A session's events with their texts: from its log, which `service` reads, else what was indexed.
    ///
    /// # Errors
    /// [`EngineError::Store`] when the index cannot be read, [`EngineError::Query`] when the log cannot and the
    /// index holds nothing of it either.
    pub fn transcript(
        &self,
        service: &SessionQuery,
        session: &SessionRow,
    ) -> Result<Transcript, EngineError> {
        transcript::of(self, service, session)
    }

    /// Looks through every word of every transcript as it lies on the disk, and through what was indexed of
    /// those that are gone. Needs no index and writes none. `each` takes the sessions with hits as they are
    /// found, each with all its hits, and may end the search.
    pub fn grep(
        &self,
        request: &GrepRequest,
        each: &mut dyn FnMut(SessionHits) -> ControlFlow<()>,
    ) -> GrepReport {
        grep::run(self, request, each)
    }

    /// How far the index is.
    ///
    /// # Errors
    /// [`EngineError::Store`] when the catalogue cannot be read.
    pub fn status(&self) -> Result<Status, EngineError> {
        status::of(self)
    }

    /// What is where, what is indexed, and what is not and why. Lists every root.
    ///
    /// # Errors
    /// [`EngineError::Store`] when the catalogue cannot be read.
    pub fn doctor(&self) -> Result<DoctorReport, EngineError> {
        doctor::examine(self)
    }

    pub(crate) fn source(&self, agent: &str) -> Option<&'static dyn SessionSource> {
        self.parts
            .sources
            .iter()
            .copied()
            .find(|source| source.agent() == agent)
    }

    pub(crate) fn is_running(&self) -> bool {
        self.running.load(Ordering::Relaxed)
    }

    /// Roots that the last pass could not look at.
    pub(crate) fn degraded(&self) -> Vec<Degraded> {
        self.degraded
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn set_degraded(&self, degraded: Vec<Degraded>) {
        *self.degraded.lock().unwrap_or_else(PoisonError::into_inner) = degraded;
    }
}
