//! Session query: live and stored sessions as one logical corpus, listed, read, traced and searched
//! (contract B).
//!
//! [`SessionQuery`] is the service. It presents the [`LiveSessions`] of this process and, while one is
//! [mounted](SessionQuery::mount), the sessions of a persistence; a session in both is one, and its live events
//! win. Text is found by a registered provider, which the service feeds two layers: a durable base of what is
//! kept, and an override of what lives. It authorises nobody: whoever gives others access decides which sessions
//! they may see.
//!
//! All calls block and may come from any thread.
//!
//! * `live` and `view`: sessions that run. `mounts` and `corpus`: what is kept, and both together.
//! * `reads`, `traces` and `lineage` answer without a provider.
//! * `extract` says what words events hold; `selection`, `chain`, `feeding` and `search` bring them to a
//!   provider and ask it.
//! * `registration` ties providers and extractors to their owners; `outside` contains what others wrote.

mod chain;
mod config;
mod corpus;
mod extract;
mod feeding;
mod lineage;
mod live;
mod mounts;
mod outside;
mod reads;
mod registration;
mod search;
mod selection;
mod traces;
mod view;

pub use config::SessionQueryConfig;
pub use extract::{ContentTextExtractor, EventTextExtractor, ExtractError};
pub use live::{LiveError, LiveRecorder, LiveSession, LiveSessions, NewEvent, RecordError};
pub use outside::Panicked;
pub use registration::{Drain, Registration};

use corpus::Corpus;
use extract::Extractors;
use feeding::{Feeding, Given};
use lookback_model::session_query::{
    AbortSignal, EventHit, EventRecord, EventTrace, PersistedSession, ReadEventRequest, ReadEventResult,
    SearchPage, SearchProvider, SessionEventSearchRequest, SessionHit, SessionPersistence, SessionQueryError,
    SessionRecord, SessionSearchRequest, SessionTrace,
};
use selection::Providers;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The service. Clones share everything.
#[derive(Clone)]
pub struct SessionQuery {
    parts: Arc<Parts>,
}

struct Parts {
    config: SessionQueryConfig,
    corpus: Corpus,
    extractors: Extractors,
    providers: Providers,
}

impl SessionQuery {
    /// A service over the sessions that run, with no persistence and no provider.
    ///
    /// # Errors
    /// `SESSION_QUERY_INVALID_CONFIG` when the configuration makes no sense.
    pub fn new(config: SessionQueryConfig, live: LiveSessions) -> Result<Self, SessionQueryError> {
        config.validate()?;
        let parts = Parts {
            config,
            corpus: Corpus {
                live,
                mounts: mounts::Mounts::default(),
            },
            extractors: Extractors::new(),
            providers: Providers::default(),
        };
        Ok(Self {
            parts: Arc::new(parts),
        })
    }

    /// The sessions that run.
    pub fn live(&self) -> &LiveSessions {
        &self.parts.corpus.live
    }

    /// All sessions, newest first, then by id.
    ///
    /// # Errors
    /// `SESSION_QUERY_PERSISTENCE_FAILED` when the mounted persistence cannot be listed, and
    /// `SESSION_QUERY_SOURCE_CONFLICT` when it has another header of a session that runs. The typed errors of a
    /// backend pass as they are, here and in all that follows.
    pub fn list_sessions(&self) -> Result<Vec<SessionRecord>, SessionQueryError> {
        reads::list_sessions(&self.parts.corpus)
    }

    /// All events of a session in log order, each with where it stands on the surface.
    ///
    /// # Errors
    /// `SESSION_QUERY_SESSION_NOT_FOUND`, `SESSION_QUERY_INVALID_SURFACE` when the log cannot be folded, and
    /// those of reading a kept session: `SESSION_QUERY_PERSISTENCE_FAILED` and `SESSION_QUERY_SOURCE_CONFLICT`.
    /// A session that runs is read whatever the persistence does.
    pub fn list_events(&self, session_id: &str) -> Result<Vec<EventRecord>, SessionQueryError> {
        reads::list_events(&self.parts.corpus, session_id)
    }

    /// An event in full, with its neighbours in the log, cut at both ends of the log.
    ///
    /// # Errors
    /// `SESSION_QUERY_INVALID_WINDOW`, looked at first; `SESSION_QUERY_SESSION_NOT_FOUND` and
    /// `SESSION_QUERY_EVENT_NOT_FOUND`; those of reading a kept session. The log need not fold.
    pub fn read_event(&self, request: &ReadEventRequest) -> Result<ReadEventResult, SessionQueryError> {
        reads::read_event(&self.parts.corpus, &self.parts.config, request)
    }

    /// A session's parents up to the root, and all that descends from it.
    ///
    /// # Errors
    /// Those of [`SessionQuery::list_sessions`], `SESSION_QUERY_SESSION_NOT_FOUND`, and
    /// `SESSION_QUERY_INVALID_LINEAGE` when the session descends from itself.
    pub fn trace_session(&self, session_id: &str) -> Result<SessionTrace, SessionQueryError> {
        lineage::trace_session(&self.parts.corpus, session_id)
    }

    /// What an event was made from, and what replaced it.
    ///
    /// # Errors
    /// Those of [`SessionQuery::list_events`], and `SESSION_QUERY_EVENT_NOT_FOUND` for a number that is no
    /// event's: negative, fractional or too large.
    pub fn trace_event(&self, session_id: &str, seq: f64) -> Result<EventTrace, SessionQueryError> {
        traces::trace_event(&self.parts.corpus, session_id, seq)
    }

    /// Finds sessions by their text, each once with its best event. Everything that was appended, kept or ended
    /// before this call is seen.
    ///
    /// # Errors
    /// In this order: `SESSION_QUERY_ABORTED`; one of the four about providers; `SESSION_QUERY_INVALID_QUERY`,
    /// `…_INVALID_LIMIT` and `…_INVALID_FILTER`; those of [`SessionQuery::list_sessions`] and of reading kept
    /// sessions, `SESSION_QUERY_INVALID_SURFACE`, and `SESSION_QUERY_INDEX_FAILED` when the provider could not
    /// be brought up to date; `SESSION_QUERY_PROVIDER_ERROR` when it failed, with its own error as the cause.
    /// Once `abort` is aborted the answer is `SESSION_QUERY_ABORTED`, at once.
    pub fn search_sessions(
        &self,
        request: &SessionSearchRequest,
        abort: &AbortSignal,
    ) -> Result<SearchPage<SessionHit>, SessionQueryError> {
        self.find_sessions(request, abort)
    }

    /// Finds events of one session by their text. Of a session that runs, only that session is looked at;
    /// otherwise as [`SessionQuery::search_sessions`].
    ///
    /// # Errors
    /// Those of [`SessionQuery::search_sessions`], and `SESSION_QUERY_SESSION_NOT_FOUND`.
    pub fn search_events(
        &self,
        request: &SessionEventSearchRequest,
        abort: &AbortSignal,
    ) -> Result<SearchPage<EventHit>, SessionQueryError> {
        self.find_events(request, abort)
    }

    /// Registers a provider for as long as the registration is held. One that comes back is fed on from what it
    /// was given before.
    ///
    /// # Errors
    /// `SESSION_QUERY_DUPLICATE_PROVIDER` when one of its id is registered.
    pub fn register_search_provider(
        &self,
        provider: Arc<dyn SearchProvider>,
    ) -> Result<Registration, SessionQueryError> {
        self.parts.providers.register(provider)
    }

    /// Registers what says the words of an event type, for as long as the registration is held.
    ///
    /// # Errors
    /// `SESSION_QUERY_INVALID_EXTRACTOR` when its version is blank, and `SESSION_QUERY_DUPLICATE_EXTRACTOR` when
    /// the type has an extractor, as every core type with text has.
    pub fn register_event_text_extractor(
        &self,
        type_name: &str,
        extractor: Arc<dyn EventTextExtractor>,
    ) -> Result<Registration, SessionQueryError> {
        self.parts.extractors.register_event(type_name, extractor)
    }

    /// Registers what says the words of a type of content block, for as long as the registration is held.
    ///
    /// # Errors
    /// As [`SessionQuery::register_event_text_extractor`].
    pub fn register_content_text_extractor(
        &self,
        block_type: &str,
        extractor: Arc<dyn ContentTextExtractor>,
    ) -> Result<Registration, SessionQueryError> {
        self.parts.extractors.register_block(block_type, extractor)
    }

    /// Mounts a persistence, in the place of one that is mounted, and lists it once. A listing that fails is
    /// tried again by whatever needs it.
    pub fn mount(&self, persistence: Arc<dyn SessionPersistence>) -> Mounted {
        let token = self.parts.corpus.mounts.mount(persistence);
        // Reads of sessions that run compare their headers with this.
        let _ = self.parts.corpus.mounts.refresh();
        Mounted {
            parts: Arc::clone(&self.parts),
            token,
        }
    }
}

impl fmt::Debug for SessionQuery {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SessionQuery")
            .field("config", &self.parts.config)
            .field("live", &self.parts.corpus.live)
            .finish_non_exhaustive()
    }
}

/// A mounted persistence. Dropping it unmounts, unless another was mounted since: its sessions are no longer
/// seen, and nothing of what providers hold of them is removed.
#[must_use = "dropping it unmounts the persistence"]
pub struct Mounted {
    parts: Arc<Parts>,
    token: u64,
}

impl Mounted {
    /// Says that a session has begun to be kept, or more of it: it is known at once, and no listing that began
    /// before takes it away.
    pub fn announce(&self, session: PersistedSession) {
        self.parts.corpus.mounts.announce(self.token, session);
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if !self.parts.corpus.mounts.unmount(self.token) {
            return;
        }
        for entry in self.parts.providers.all() {
            let parts = Arc::clone(&self.parts);
            let provider = Arc::clone(&entry);
            entry
                .chain
                .enqueue(|| Box::new(move |given| deactivate(&parts, &provider, given)));
        }
    }
}

impl fmt::Debug for Mounted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Mounted").finish_non_exhaustive()
    }
}

/// Puts a provider's base out of sight when nothing is mounted. Should that fail, the next search tries again.
fn deactivate(parts: &Parts, entry: &selection::Entry, given: &mut Given) {
    if parts.corpus.mounts.is_mounted() {
        return;
    }
    let extractors = parts.extractors.accepted();
    let mut feeding = Feeding {
        provider: &*entry.provider,
        id: &entry.id,
        corpus: &parts.corpus,
        extractors: &extractors,
        given,
    };
    let _ = feeding.feed_persisted(&BTreeMap::new(), None);
}
