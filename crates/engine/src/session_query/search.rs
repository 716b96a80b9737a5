//! Full-text searches: a request is checked and decided, and becomes a job of the provider (contract B, B.8).

use super::chain::{Job, Waiting, aborted};
use super::corpus::{LiveSet, check_agreement, not_found};
use super::feeding::{Feeding, Given};
use super::outside::querying;
use super::registration::Accepted;
use super::selection::Entry;
use super::{Parts, SessionQuery};
use lookback_model::session_query::{
    AbortSignal, EventHit, EventResultFilter, ProviderError, SearchPage, SearchProvider,
    SessionEventSearchRequest, SessionEventSearchSpec, SessionHit, SessionQueryError, SessionQueryErrorCode,
    SessionResultFilter, SessionSearchRequest, SessionSearchSpec,
};
use std::sync::Arc;

/// A search that a provider has accepted.
struct Search<T> {
    entry: Arc<Entry>,
    /// The session whose events are searched.
    target: Option<String>,
    limit: usize,
    query: Query<T>,
    abort: AbortSignal,
}

type Query<T> =
    Box<dyn FnOnce(&dyn SearchProvider, &AbortSignal) -> Result<SearchPage<T>, ProviderError> + Send>;

impl SessionQuery {
    pub(super) fn find_sessions(
        &self,
        request: &SessionSearchRequest,
        abort: &AbortSignal,
    ) -> Result<SearchPage<SessionHit>, SessionQueryError> {
        let (entry, accepted) = self.begin_search(abort)?;
        let spec = SessionSearchSpec {
            query: checked_query(&request.query)?,
            limit: self.parts.config.limit(request.limit)?,
            session_filters: request.session_filters.clone(),
            event_filters: request.event_filters.clone(),
            cursor: request.cursor.clone(),
        };
        spec.session_filters
            .iter()
            .try_for_each(SessionResultFilter::validate)?;
        spec.event_filters
            .iter()
            .try_for_each(EventResultFilter::validate)?;
        let search = Search {
            entry,
            target: None,
            limit: spec.limit,
            query: Box::new(move |provider, abort| provider.search_sessions(&spec, abort)),
            abort: abort.clone(),
        };
        self.wait_in_line(search, accepted)
    }

    pub(super) fn find_events(
        &self,
        request: &SessionEventSearchRequest,
        abort: &AbortSignal,
    ) -> Result<SearchPage<EventHit>, SessionQueryError> {
        let (entry, accepted) = self.begin_search(abort)?;
        let spec = SessionEventSearchSpec {
            session_id: request.session_id.clone(),
            query: checked_query(&request.query)?,
            limit: self.parts.config.limit(request.limit)?,
            filters: request.filters.clone(),
            cursor: request.cursor.clone(),
        };
        spec.filters.iter().try_for_each(EventResultFilter::validate)?;
        let search = Search {
            entry,
            target: Some(request.session_id.clone()),
            limit: spec.limit,
            query: Box::new(move |provider, abort| provider.search_events(&spec, abort)),
            abort: abort.clone(),
        };
        self.wait_in_line(search, accepted)
    }

    fn begin_search(&self, abort: &AbortSignal) -> Result<(Arc<Entry>, Accepted), SessionQueryError> {
        if abort.is_aborted() {
            return Err(aborted());
        }
        let configured = self.parts.config.search_provider.as_deref();
        self.parts.providers.select(configured)
    }

    fn wait_in_line<T: Send + 'static>(
        &self,
        search: Search<T>,
        accepted: Accepted,
    ) -> Result<SearchPage<T>, SessionQueryError> {
        let (waiting, promise) = Waiting::new();
        let abort = search.abort.clone();
        let chain = Arc::clone(&search.entry.chain);
        chain.enqueue(|| {
            // Which sessions live is decided now, in the order of the jobs.
            let live = self.parts.corpus.live.all();
            let parts = Arc::clone(&self.parts);
            let job: Job<Given> = Box::new(move |given| {
                let outcome = search.run(&parts, &live, given);
                promise.keep(outcome);
                // Only what has been answered is finished.
                drop(accepted);
            });
            job
        });
        waiting.wait(&abort)
    }
}

impl<T> Search<T> {
    fn run(
        self,
        parts: &Parts,
        live: &LiveSet,
        given: &mut Given,
    ) -> Result<SearchPage<T>, SessionQueryError> {
        if self.abort.is_aborted() {
            return Err(aborted());
        }
        self.feed(parts, live, given)?;
        if self.abort.is_aborted() {
            return Err(aborted());
        }
        let Self {
            entry,
            limit,
            query,
            abort,
            ..
        } = self;
        let page = querying(&entry.id, || query(&*entry.provider, &abort))?;
        check_page(&entry.id, limit, page)
    }

    /// Brings the provider up to date with whatever the search looks into.
    fn feed(&self, parts: &Parts, live: &LiveSet, given: &mut Given) -> Result<(), SessionQueryError> {
        let extractors = parts.extractors.accepted();
        let mut feeding = Feeding {
            provider: &*self.entry.provider,
            id: &self.entry.id,
            corpus: &parts.corpus,
            extractors: &extractors,
            given,
        };
        if let Some(session) = self.target.as_ref().and_then(|id| live.get(id)) {
            let known = parts.corpus.known_of(session)?;
            return feeding.feed_live_session(session, known.as_ref());
        }
        let kept = parts.corpus.mounts.refresh()?;
        if let Some(kept) = &kept {
            check_agreement(live, &kept.sessions)?;
        }
        if let Some(id) = &self.target
            && !kept.as_ref().is_some_and(|kept| kept.sessions.contains_key(id))
        {
            return Err(not_found(id));
        }
        let kept = feeding.feed_persisted(live, kept)?;
        let listing = kept.map(|kept| kept.sessions).unwrap_or_default();
        feeding.feed_live(live, &listing)
    }
}

/// The query as providers get it.
fn checked_query(query: &str) -> Result<String, SessionQueryError> {
    let invalid = |message| SessionQueryError::new(SessionQueryErrorCode::InvalidQuery, message);
    let trimmed = query.trim();
    if trimmed.is_empty() {
        return Err(invalid("the query is blank"));
    }
    if trimmed.contains('\0') {
        return Err(invalid("the query is no text: it holds a NUL"));
    }
    Ok(trimmed.to_owned())
}

fn check_page<T>(id: &str, limit: usize, page: SearchPage<T>) -> Result<SearchPage<T>, SessionQueryError> {
    let wrong = |message| SessionQueryError::new(SessionQueryErrorCode::ProviderError, message);
    if page.provider_id != id {
        let message = format!("provider {id} answered as {}", page.provider_id);
        return Err(wrong(message));
    }
    let hits = page.items.len();
    if hits > limit {
        let message = format!("provider {id} answered with {hits} hits, the limit is {limit}");
        return Err(wrong(message));
    }
    Ok(page)
}
