//! A search provider of plain maps. What it finds has all the query's words, as parts of words and whatever
//! their case; it ranks nothing. Order is that of creation, newest first, then of ids; of events that of the log.

use lookback_model::TextKind;
use lookback_model::session_query::{
    AbortSignal, CursorRefusal, EventDocument, EventHit, EventRecord, EventResultFilter, InventoryEntry,
    ProviderError, ProviderStatus, SearchPage, SearchProvider, SessionEventSearchSpec, SessionHit,
    SessionQueryError, SessionQueryErrorCode, SessionRecord, SessionSearchSpec, SessionSnapshot,
};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The provider. Holds nothing beyond its own life, the persisted base included.
pub struct MemoryProvider {
    id: String,
    /// Told apart from other instances, whose versions count from 1 as well.
    instance: u64,
    state: Mutex<State>,
}

/// What a provider was asked to do since it was made, or since they were last taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// How often the inventory was asked for.
    pub inventories: u64,
    /// Sessions put into the base, in order.
    pub replaced_persisted: Vec<String>,
    /// Sessions taken out of the base, in order.
    pub removed_persisted: Vec<String>,
    /// What the base was set to, in order.
    pub set_active: Vec<bool>,
    /// Sessions put into the override, in order.
    pub replaced_live: Vec<String>,
    /// Sessions taken out of the override, in order.
    pub removed_live: Vec<String>,
    /// How many searches there were.
    pub searches: u64,
}

struct State {
    base: BTreeMap<String, Held>,
    live: BTreeMap<String, Held>,
    is_active: bool,
    status: ProviderStatus,
    versions: u64,
    calls: Calls,
}

/// A snapshot and a number that no other content of this provider has had.
struct Held {
    version: u64,
    snapshot: SessionSnapshot,
}

/// Which layer of the provider a snapshot stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layer {
    Base,
    Live,
}

impl MemoryProvider {
    /// A snippet has at most this many characters.
    pub const SNIPPET_BOUND: usize = 120;

    /// An empty provider that can be asked.
    pub fn new(id: impl Into<String>) -> Self {
        static INSTANCES: AtomicU64 = AtomicU64::new(0);
        Self {
            id: id.into(),
            instance: INSTANCES.fetch_add(1, Ordering::SeqCst),
            state: Mutex::new(State {
                base: BTreeMap::new(),
                live: BTreeMap::new(),
                is_active: false,
                status: ProviderStatus::Available,
                versions: 0,
                calls: Calls::default(),
            }),
        }
    }

    /// Says from now on that it can, or cannot, be asked.
    pub fn set_status(&self, status: ProviderStatus) {
        self.state().status = status;
    }

    /// What it was asked to do so far; counting begins anew.
    pub fn take_calls(&self) -> Calls {
        std::mem::take(&mut self.state().calls)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn page<T>(
        &self,
        hits: Vec<T>,
        limit: usize,
        cursor: Option<&str>,
        bound: Bound,
    ) -> Result<SearchPage<T>, ProviderError> {
        let start = match cursor {
            Some(cursor) => bound.offset(cursor).map_err(ProviderError::other)?,
            None => 0,
        };
        let end = start.saturating_add(limit).min(hits.len());
        let next_cursor = (end < hits.len()).then(|| bound.cursor(end));
        Ok(SearchPage {
            provider_id: self.id.clone(),
            items: hits
                .into_iter()
                .skip(start)
                .take(end.saturating_sub(start))
                .collect(),
            next_cursor,
        })
    }
}

impl State {
    fn layer(&mut self, layer: Layer) -> &mut BTreeMap<String, Held> {
        match layer {
            Layer::Base => &mut self.base,
            Layer::Live => &mut self.live,
        }
    }

    /// Puts a snapshot in; what is there already keeps its version, so that cursors go on.
    fn put(&mut self, layer: Layer, snapshot: &SessionSnapshot) {
        let id = &snapshot.header.id;
        if self
            .layer(layer)
            .get(id)
            .is_some_and(|held| held.snapshot == *snapshot)
        {
            return;
        }
        self.versions += 1;
        let held = Held {
            version: self.versions,
            snapshot: snapshot.clone(),
        };
        self.layer(layer).insert(id.clone(), held);
    }

    /// What searches see of a session, and in which layer.
    fn seen(&self, id: &str) -> Option<(Layer, &Held)> {
        let live = self.live.get(id).map(|held| (Layer::Live, held));
        live.or_else(|| {
            let base = self.base.get(id).filter(|_| self.is_active)?;
            Some((Layer::Base, base))
        })
    }

    /// All sessions that searches see, newest first.
    fn all_seen(&self) -> Vec<(Layer, &Held)> {
        let hidden = |id: &&String| !self.live.contains_key(*id);
        let ids = self.live.keys().chain(self.base.keys().filter(hidden));
        let mut seen: Vec<_> = ids.filter_map(|id| self.seen(id)).collect();
        seen.sort_by_key(|(_, held)| {
            let header = &held.snapshot.header;
            (Reverse(header.created_at), header.id.clone())
        });
        seen
    }
}

/// What a cursor is given for: the request without its limit, and the state of what it searches.
struct Bound {
    request: u64,
    generation: u64,
}

impl Bound {
    fn cursor(&self, offset: usize) -> String {
        format!("memory.{:x}.{:x}.{offset}", self.request, self.generation)
    }

    fn offset(&self, cursor: &str) -> Result<usize, CursorRefusal> {
        let parts: Vec<&str> = cursor.split('.').collect();
        let ["memory", request, generation, offset] = parts.as_slice() else {
            return Err(CursorRefusal::Malformed);
        };
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        if number(request) != Some(self.request) {
            return Err(CursorRefusal::Malformed);
        }
        let offset = offset.parse().map_err(|_| CursorRefusal::Malformed)?;
        match number(generation) {
            Some(generation) if generation == self.generation => Ok(offset),
            Some(_) => Err(CursorRefusal::Stale),
            None => Err(CursorRefusal::Malformed),
        }
    }
}

fn hash_of(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl SearchProvider for MemoryProvider {
    fn id(&self) -> &str {
        &self.id
    }

    fn status(&self) -> ProviderStatus {
        self.state().status
    }

    fn persisted_inventory(&self) -> Result<Vec<InventoryEntry>, ProviderError> {
        let mut state = self.state();
        state.calls.inventories += 1;
        let entry = |(id, held): (&String, &Held)| InventoryEntry {
            session_id: id.clone(),
            fingerprint: held.snapshot.fingerprint.clone(),
            revision: held.snapshot.revision.clone(),
            extractors: held.snapshot.extractors.clone(),
        };
        Ok(state.base.iter().map(entry).collect())
    }

    fn replace_persisted(&self, snapshot: &SessionSnapshot) -> Result<(), ProviderError> {
        let mut state = self.state();
        state.put(Layer::Base, snapshot);
        state.calls.replaced_persisted.push(snapshot.header.id.clone());
        Ok(())
    }

    fn remove_persisted(&self, session_id: &str) -> Result<(), ProviderError> {
        let mut state = self.state();
        state.base.remove(session_id);
        state.calls.removed_persisted.push(session_id.to_owned());
        Ok(())
    }

    fn set_persisted_active(&self, active: bool) -> Result<(), ProviderError> {
        let mut state = self.state();
        state.is_active = active;
        state.calls.set_active.push(active);
        Ok(())
    }

    fn replace_live(&self, snapshot: &SessionSnapshot) -> Result<(), ProviderError> {
        let mut state = self.state();
        state.put(Layer::Live, snapshot);
        state.calls.replaced_live.push(snapshot.header.id.clone());
        Ok(())
    }

    fn remove_live(&self, session_id: &str) -> Result<(), ProviderError> {
        let mut state = self.state();
        state.live.remove(session_id);
        state.calls.removed_live.push(session_id.to_owned());
        Ok(())
    }

    fn search_sessions(
        &self,
        spec: &SessionSearchSpec,
        abort: &AbortSignal,
    ) -> Result<SearchPage<SessionHit>, ProviderError> {
        refuse_aborted(abort)?;
        let mut state = self.state();
        state.calls.searches += 1;
        let query = Words::of(&spec.query);
        let seen = state.all_seen();
        let versions: Vec<_> = seen
            .iter()
            .map(|(_, held)| (&held.snapshot.header.id, held.version))
            .collect();
        let bound = Bound {
            request: hash_of(format!(
                "sessions {:?}",
                (&spec.query, &spec.session_filters, &spec.event_filters)
            )),
            generation: hash_of((self.instance, versions)),
        };
        let mut hits = Vec::new();
        for (layer, held) in seen {
            let session = record(layer, &held.snapshot);
            if !spec.session_filters.iter().all(|filter| filter.takes(&session)) {
                continue;
            }
            let best = matches(&held.snapshot, &query, &spec.event_filters).next();
            hits.extend(best.map(|best_match| SessionHit { session, best_match }));
        }
        self.page(hits, spec.limit, spec.cursor.as_deref(), bound)
    }

    fn search_events(
        &self,
        spec: &SessionEventSearchSpec,
        abort: &AbortSignal,
    ) -> Result<SearchPage<EventHit>, ProviderError> {
        refuse_aborted(abort)?;
        let mut state = self.state();
        state.calls.searches += 1;
        let query = Words::of(&spec.query);
        let held = state.seen(&spec.session_id).map(|(_, held)| held);
        let bound = Bound {
            request: hash_of(format!(
                "events {:?}",
                (&spec.session_id, &spec.query, &spec.filters)
            )),
            generation: hash_of((self.instance, held.map(|held| held.version))),
        };
        let hits = held
            .map(|held| matches(&held.snapshot, &query, &spec.filters).collect())
            .unwrap_or_default();
        self.page(hits, spec.limit, spec.cursor.as_deref(), bound)
    }
}

fn refuse_aborted(abort: &AbortSignal) -> Result<(), ProviderError> {
    if abort.is_aborted() {
        let code = SessionQueryErrorCode::Aborted;
        return Err(SessionQueryError::new(code, "the search was aborted").into());
    }
    Ok(())
}

fn record(layer: Layer, snapshot: &SessionSnapshot) -> SessionRecord {
    SessionRecord {
        header: snapshot.header.clone(),
        live: layer == Layer::Live,
        persisted: layer == Layer::Base || snapshot.persisted,
    }
}

/// A session's events that have all words and pass all filters, in order.
fn matches<'a>(
    snapshot: &'a SessionSnapshot,
    query: &'a Words,
    filters: &'a [EventResultFilter],
) -> impl Iterator<Item = EventHit> + 'a {
    snapshot.documents.iter().filter_map(move |document| {
        let event = EventRecord {
            session_id: snapshot.header.id.clone(),
            seq: document.seq,
            time: document.time,
            r#type: document.type_name.clone(),
            surface: snapshot.surface(document),
        };
        let is_hit = filters.iter().all(|filter| filter.takes(&event)) && query.all_in(&document.text());
        is_hit.then(|| EventHit {
            event,
            snippet: query.snippet(document),
        })
    })
}

/// The query's words in lower case.
struct Words(Vec<String>);

impl Words {
    /// Words before the match that a snippet shows.
    const BEFORE: usize = 4;

    fn of(query: &str) -> Self {
        Self(query.split_whitespace().map(str::to_lowercase).collect())
    }

    fn all_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.0.iter().all(|word| text.contains(word.as_str()))
    }

    fn snippet(&self, document: &EventDocument) -> String {
        let first = self.0.first().map_or("", String::as_str);
        let has_match = |text: &str| text.to_lowercase().contains(first);
        let piece = document.pieces.iter().find(|(_, text)| has_match(text));
        let text = piece.map_or("", |(_, text): &(TextKind, String)| text);
        let words: Vec<&str> = text.split_whitespace().collect();
        let at = words.iter().position(|word| has_match(word)).unwrap_or(0);
        let start = at.saturating_sub(Self::BEFORE);
        let shown = words.get(start..).unwrap_or_default().join(" ");
        let head = if start > 0 { "…" } else { "" };
        if head.chars().count() + shown.chars().count() <= MemoryProvider::SNIPPET_BOUND {
            return format!("{head}{shown}");
        }
        let kept: String = shown
            .chars()
            .take(MemoryProvider::SNIPPET_BOUND.saturating_sub(2))
            .collect();
        format!("{head}{kept}…")
    }
}
