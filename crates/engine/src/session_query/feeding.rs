//! Feeding a provider its two layers (contract B, B.10).
//!
//! What a provider was given is remembered, so that a session is given again only when it has changed, and the
//! persisted base is gone through only when what is kept has. What failed is not remembered as given: the next
//! job tries it again.

use super::corpus::{ATTEMPTS, Corpus, InspectError, LiveSet, unsettled};
use super::extract::ExtractorSet;
use super::live::Session;
use super::mounts::{Kept, Listing};
use super::outside::feeding;
use super::reads::fold;
use super::view::shadowed_ranges;
use lookback_model::session_query::{
    InventoryEntry, PersistedSession, ProviderError, SearchProvider, SessionLog, SessionQueryError,
    SessionQueryErrorCode, SessionSnapshot, fingerprint,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// What a provider was given, as far as it is known.
#[derive(Default)]
pub(super) struct Given {
    /// Sessions in the live override; without a mark when it is not known what of them is there.
    live: BTreeMap<String, Option<LiveMark>>,
    /// Whether the persisted base is active.
    active: Option<bool>,
    /// What the base was last brought in step with.
    reconciled: Option<Reconciled>,
    /// Sessions that were found to be in the base as they are now, under another revision.
    equal: HashMap<String, Equal>,
}

/// All that a live session's snapshot depends on.
#[derive(PartialEq)]
struct LiveMark {
    instance: u64,
    length: u64,
    generation: u64,
    agent: String,
    persisted: bool,
}

struct Reconciled {
    token: u64,
    generation: u64,
    listing: Arc<Listing>,
    /// Sessions that lived, so that what is kept of them was left as it was.
    deferred: BTreeSet<String>,
}

#[derive(PartialEq)]
struct Equal {
    fingerprint: String,
    revision: Option<String>,
    extractors: String,
}

/// A provider that nobody else calls meanwhile, and what it is fed from.
pub(super) struct Feeding<'a> {
    pub(super) provider: &'a dyn SearchProvider,
    pub(super) id: &'a str,
    pub(super) corpus: &'a Corpus,
    pub(super) extractors: &'a ExtractorSet,
    pub(super) given: &'a mut Given,
}

impl Feeding<'_> {
    /// Brings the base in step with what is kept; without a persistence it is only put out of sight. Gives what
    /// is kept.
    pub(super) fn feed_persisted(
        &mut self,
        live: &LiveSet,
        kept: Option<Kept>,
    ) -> Result<Option<Kept>, SessionQueryError> {
        let Some(mut kept) = kept else {
            self.given.reconciled = None;
            if self.given.active != Some(false) {
                self.activate(false)?;
            }
            return Ok(None);
        };
        for _ in 0..ATTEMPTS {
            if self.is_reconciled(&kept, live) {
                return Ok(Some(kept));
            }
            match self.reconcile(&kept, live) {
                Ok(()) => return Ok(Some(kept)),
                Err(InspectError::Failed(error)) => return Err(error),
                Err(InspectError::Unsettled) => {}
            }
            let Some(now) = self.corpus.mounts.refresh()? else {
                return self.feed_persisted(live, None);
            };
            kept = now;
        }
        Err(unsettled())
    }

    /// Whether the base needs nothing: it was in step, and nothing has changed that it holds.
    fn is_reconciled(&self, kept: &Kept, live: &LiveSet) -> bool {
        let Some(last) = &self.given.reconciled else {
            return false;
        };
        if last.token != kept.token || last.generation != self.extractors.generation() {
            return false;
        }
        if last.listing.len() != kept.sessions.len() {
            return false;
        }
        let is_listing_same = Arc::ptr_eq(&last.listing, &kept.sessions);
        kept.sessions.iter().all(|(id, session)| {
            let Some(before) = last.listing.get(id) else {
                return false;
            };
            let is_session_same = || before.header == session.header && before.agent == session.agent;
            if !is_listing_same && !is_session_same() {
                return false;
            }
            let is_same = session.revision.is_some() && before.revision == session.revision;
            live.contains_key(id) || (is_same && !last.deferred.contains(id))
        })
    }

    /// Goes through all that is kept. The base is inactive meanwhile, and stays so when this fails.
    fn reconcile(&mut self, kept: &Kept, live: &LiveSet) -> Result<(), InspectError> {
        self.given.reconciled = None;
        self.activate(false)?;
        let inventory = self.step("say what its base holds", |provider| {
            provider.persisted_inventory()
        })?;
        let mut inventory: BTreeMap<String, InventoryEntry> = inventory
            .into_iter()
            .map(|entry| (entry.session_id.clone(), entry))
            .collect();
        let mut deferred = BTreeSet::new();
        for session in by_creation(&kept.sessions) {
            let id = &session.header.id;
            let entry = inventory.remove(id);
            // Nobody sees what the base has of a session that lives. It grows all the time, and reading it each
            // time would make every search wait for that.
            if entry.is_some() && live.contains_key(id) {
                deferred.insert(id.clone());
                continue;
            }
            self.reconcile_one(kept, session, entry)?;
        }
        for id in inventory.keys() {
            self.step("remove a session", |provider| provider.remove_persisted(id))?;
            self.given.equal.remove(id);
        }
        self.activate(true)?;
        self.given.reconciled = Some(Reconciled {
            token: kept.token,
            generation: self.extractors.generation(),
            listing: Arc::clone(&kept.sessions),
            deferred,
        });
        Ok(())
    }

    fn reconcile_one(
        &mut self,
        kept: &Kept,
        session: &PersistedSession,
        entry: Option<InventoryEntry>,
    ) -> Result<(), InspectError> {
        let id = &session.header.id;
        let extractors = self.extractors.signature();
        if entry
            .as_ref()
            .is_some_and(|entry| self.is_unchanged(session, entry, &extractors))
        {
            return Ok(());
        }
        let log = self.corpus.inspect(kept, session)?;
        let fingerprint = self.fingerprint(&log)?;
        if let Some(entry) = entry
            && entry.fingerprint == fingerprint
        {
            let revision = session.revision.clone();
            let equal = Equal {
                fingerprint,
                revision,
                extractors,
            };
            self.given.equal.insert(id.clone(), equal);
            return Ok(());
        }
        let snapshot = self.persisted_snapshot(session, log, fingerprint)?;
        self.step("replace a session", |provider| {
            provider.replace_persisted(&snapshot)
        })?;
        self.given.equal.remove(id);
        Ok(())
    }

    /// Whether the base has a session as it is, told without reading the log.
    fn is_unchanged(&self, session: &PersistedSession, entry: &InventoryEntry, extractors: &str) -> bool {
        if session.revision.is_none() {
            return false;
        }
        if session.revision == entry.revision && entry.extractors == extractors {
            return true;
        }
        self.given.equal.get(&session.header.id).is_some_and(|equal| {
            equal.fingerprint == entry.fingerprint
                && equal.revision == session.revision
                && equal.extractors == extractors
        })
    }

    fn fingerprint(&self, log: &SessionLog) -> Result<String, SessionQueryError> {
        fingerprint(&log.header, &log.events, self.extractors.versions()).map_err(|cause| {
            let message = format!("session {} cannot be written as JSON", log.header.id);
            SessionQueryError::new(SessionQueryErrorCode::IndexFailed, message).caused_by(cause)
        })
    }

    fn persisted_snapshot(
        &self,
        session: &PersistedSession,
        log: SessionLog,
        fingerprint: String,
    ) -> Result<SessionSnapshot, SessionQueryError> {
        let surface = fold(&log.header.id, &log.events)?;
        let mut documents = Vec::new();
        for event in &log.events {
            documents.extend(self.extractors.document(event)?.map(Arc::new));
        }
        Ok(SessionSnapshot {
            agent: session.agent.clone(),
            live: false,
            persisted: true,
            fingerprint,
            revision: session.revision.clone(),
            extractors: self.extractors.signature(),
            events: log.events.len() as u64,
            documents,
            shadowed: shadowed_ranges(&surface),
            header: log.header,
        })
    }

    /// Brings the live override in step with the sessions that live.
    pub(super) fn feed_live(&mut self, live: &LiveSet, listing: &Listing) -> Result<(), SessionQueryError> {
        let gone: Vec<String> = self
            .given
            .live
            .keys()
            .filter(|id| !live.contains_key(*id))
            .cloned()
            .collect();
        for id in gone {
            // Until it has been removed it is not known what is there.
            self.given.live.insert(id.clone(), None);
            self.step("remove a live session", |provider| provider.remove_live(&id))?;
            self.given.live.remove(&id);
        }
        for (id, session) in live {
            self.feed_live_session(session, listing.get(id))?;
        }
        Ok(())
    }

    /// Gives a live session, unless the override has it as it is.
    pub(super) fn feed_live_session(
        &mut self,
        session: &Session,
        kept: Option<&PersistedSession>,
    ) -> Result<(), SessionQueryError> {
        let id = &session.header.id;
        let mut mark = LiveMark {
            instance: session.instance,
            length: session.length(),
            generation: self.extractors.generation(),
            agent: kept.map(|kept| kept.agent.clone()).unwrap_or_default(),
            persisted: kept.is_some(),
        };
        if self
            .given
            .live
            .get(id)
            .is_some_and(|given| given.as_ref() == Some(&mark))
        {
            return Ok(());
        }
        let mut view = session.view();
        let (documents, shadowed) = view.documents(self.extractors)?;
        mark.length = view.length();
        drop(view);
        let snapshot = SessionSnapshot {
            header: session.header.clone(),
            agent: mark.agent.clone(),
            live: true,
            persisted: mark.persisted,
            fingerprint: String::new(),
            revision: None,
            extractors: self.extractors.signature(),
            events: mark.length,
            documents,
            shadowed,
        };
        self.given.live.insert(id.clone(), None);
        self.step("replace a live session", |provider| {
            provider.replace_live(&snapshot)
        })?;
        self.given.live.insert(id.clone(), Some(mark));
        Ok(())
    }

    fn activate(&mut self, active: bool) -> Result<(), SessionQueryError> {
        self.given.active = None;
        let step = if active {
            "activate its base"
        } else {
            "deactivate its base"
        };
        self.step(step, |provider| provider.set_persisted_active(active))?;
        self.given.active = Some(active);
        Ok(())
    }

    fn step<T>(
        &self,
        step: &str,
        call: impl FnOnce(&dyn SearchProvider) -> Result<T, ProviderError>,
    ) -> Result<T, SessionQueryError> {
        feeding(self.id, step, || call(self.provider))
    }
}

/// Sessions in the order in which they were created, then by id.
fn by_creation(listing: &Listing) -> Vec<&PersistedSession> {
    let mut sessions: Vec<_> = listing.values().collect();
    sessions.sort_by_key(|session| session.header.created_at);
    sessions
}
