//! The embedded index as the provider of a session query (contract B): a persisted base that is the index on the
//! disk, and a live override in memory, searched as one.
//!
//! There is one feed, not two. What is put into the persisted base goes into the index that `lookback index`
//! writes, by the same writer, and what that one wrote is in the base already. Whether the base is active, and
//! which sessions of transcripts were taken out of it, belongs to this object and not to the disk: searches of
//! the vault are not touched by it.

mod base;
mod cursor;
mod facts;
mod live;

use crate::catalogue;
use crate::error::{Cause, Result};
use crate::index::Index;
use crate::search::query::{Answer, Layers, Members, Question};
use crate::search::sessions::SessionRank;
use crate::text::TextSnapshot;
use crate::types::EventTypes;
use crate::writer::Writer;
use base::{Base, BaseRow, Held};
use cursor::Bound;
use live::Live;
pub(crate) use live::LiveSegment;
use lookback_model::session_query::{
    AbortSignal, EventHit, InventoryEntry, ProviderError, ProviderStatus, SearchPage, SearchProvider,
    SessionEventSearchSpec, SessionHit, SessionQueryError, SessionQueryErrorCode, SessionRecord,
    SessionResultFilter, SessionSearchSpec, SessionSnapshot,
};
use lookback_model::{SessionFacts, SessionOrdinal};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The provider's id.
pub const PROVIDER_ID: &str = "lookback";

/// So long a writer is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// It is looked for so often.
const LOOK: Duration = Duration::from_millis(20);
/// A commit that another process is making is waited for so often.
const LOOKS: usize = 10;
/// So many sessions, and no more, wait to be written.
const SESSIONS: usize = 2_048;
/// What is to be written waits for more of it up to so many bytes of text.
const BUFFER: usize = 32 << 20;

/// Another process writes to the data folder, and went on doing so for as long as was waited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("another process writes to {path}; waited {} ms for it", waited.as_millis())]
pub struct WriterBusy {
    /// The data folder.
    pub path: PathBuf,
    /// How long was waited.
    pub waited: Duration,
}

/// Searches an index and the sessions that are live as one corpus. Its id is [`PROVIDER_ID`].
pub struct IndexProvider {
    index: Arc<Index>,
    patience: Duration,
    state: Mutex<State>,
}

/// What the provider was fed, and what it keeps.
struct State {
    active: bool,
    live: Live,
    waiting: Waiting,
    /// Sessions of transcripts that were taken out of the base.
    hidden: BTreeSet<String>,
    /// Changes with every change of `hidden`.
    hidings: u64,
    reader: Option<Reader>,
    /// Tells this object's cursors from those of another.
    nonce: u64,
}

/// What waits to be written.
#[derive(Default)]
struct Waiting {
    sessions: Vec<SessionSnapshot>,
    removed: Vec<String>,
    bytes: usize,
}

/// The catalogue, opened, and the last state of it that was looked at.
struct Reader {
    connection: Connection,
    base: Base,
}

/// The facts of a session that is fed, as far as they can be told; the others are as they were known.
pub(crate) fn facts_of(snapshot: &SessionSnapshot, known: Option<SessionFacts>) -> SessionFacts {
    facts::of(&snapshot.header, snapshot.events, &snapshot.documents, known)
}

impl IndexProvider {
    /// A provider over an index. Opens nothing.
    pub fn new(index: Arc<Index>) -> Self {
        let caps = index.options().caps;
        Self {
            index,
            patience: PATIENCE,
            state: Mutex::new(State {
                active: false,
                live: Live::new(caps),
                waiting: Waiting::default(),
                hidden: BTreeSet::new(),
                hidings: 0,
                reader: None,
                nonce: nonce(),
            }),
        }
    }

    /// The same, which waits so long for another process that writes; 5 seconds otherwise.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reading(&self, error: Cause) -> ProviderError {
        match error {
            Cause::Aborted => ProviderError::Query(SessionQueryError::new(
                SessionQueryErrorCode::Aborted,
                "the search was aborted",
            )),
            error => ProviderError::other(error.reading(self.index.root())),
        }
    }

    /// Writes what waits, unless more is likely to follow: a base that is inactive is being brought up to date.
    fn flush_when_due(&self, state: &mut State) -> std::result::Result<(), ProviderError> {
        let waiting = &state.waiting;
        let is_full = waiting.bytes >= BUFFER || waiting.sessions.len() >= SESSIONS;
        match state.active || is_full {
            true => self.flush(state, self.patience),
            false => Ok(()),
        }
    }

    /// Writes what waits. What cannot be written is forgotten: the base then holds what it held, and says so.
    fn flush(&self, state: &mut State, patience: Duration) -> std::result::Result<(), ProviderError> {
        if state.waiting.is_empty() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut state.waiting);
        let writer = self.writer(waiting.bytes as u64, patience)?;
        // The writer may have begun the catalogue anew.
        state.reader = None;
        let fed = writer.feed(&waiting.sessions, &waiting.removed);
        fed.map_err(|error| ProviderError::other(error.writing(self.index.root())))?;
        Ok(())
    }

    fn writer(&self, bytes: u64, patience: Duration) -> std::result::Result<Writer, ProviderError> {
        let begun = Instant::now();
        loop {
            let opened = self.index.writer_for(bytes).map_err(ProviderError::other)?;
            if let Some(writer) = opened {
                return Ok(writer);
            }
            if begun.elapsed() >= patience {
                return Err(ProviderError::other(WriterBusy {
                    path: self.index.root().to_owned(),
                    waited: patience,
                }));
            }
            look_again_soon();
        }
    }

    /// Brings the base's last state up to date; `None` while nothing was ever indexed.
    fn read<'s>(&self, state: &'s mut State) -> std::result::Result<Option<&'s Reader>, ProviderError> {
        let read = self.renewed(state.reader.take());
        state.reader = read.map_err(|error| self.reading(error))?;
        Ok(state.reader.as_ref())
    }

    /// The same, after a writer has looked at what an earlier lookback or a crash left. While another process
    /// writes, that one does.
    fn mend(&self, state: &mut State) -> std::result::Result<(), ProviderError> {
        let is_well = match self.read(state)? {
            Some(reader) => reader.base.is_whole,
            None => !self.index.catalogue_path().exists(),
        };
        if is_well {
            return Ok(());
        }
        state.reader = None;
        drop(self.index.writer_for(0).map_err(ProviderError::other)?);
        self.read(state).map(|_| ())
    }

    fn renewed(&self, known: Option<Reader>) -> Result<Option<Reader>> {
        let (connection, known) = match known {
            Some(Reader { connection, base }) => (connection, Some(base)),
            None => match catalogue::open_reader(&self.index.catalogue_path())? {
                Some(connection) => (connection, None),
                None => return Ok(None),
            },
        };
        let caps = catalogue::text_caps(&connection)?;
        let held = |identity: &str| Held {
            generation: self.index.text_generation(identity),
            fits: caps == self.index.options().caps,
        };
        let mut base = Base::read(&connection, known, held)?;
        for _ in 0..LOOKS {
            if base.is_whole {
                break;
            }
            // A commit that is just being made is no gap; one that a crash cut off stays.
            look_again_soon();
            base = Base::read(&connection, None, held)?;
        }
        Ok(Some(Reader { connection, base }))
    }

    /// What is on the disk, when it is active: the text first, so that the catalogue knows all that is in it.
    fn disk(&self, state: &mut State) -> std::result::Result<Option<Arc<TextSnapshot>>, ProviderError> {
        if !state.active {
            return Ok(None);
        }
        let snapshot = self.index.snapshot().map_err(ProviderError::other)?;
        Ok(match self.read(state)? {
            Some(_) => snapshot,
            None => None,
        })
    }
}

impl Drop for IndexProvider {
    /// Writes what waits, unless another process is at it; then whoever fed it finds it missing and feeds it again.
    fn drop(&mut self) {
        let mut state = self.state();
        let _ = self.flush(&mut state, Duration::ZERO);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "what another process does cannot be waited for with an end to it"
)]
fn look_again_soon() {
    thread::sleep(LOOK);
}

/// A number that no other object is likely to have.
fn nonce() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.removed.is_empty()
    }

    fn add(&mut self, snapshot: &SessionSnapshot) {
        self.forget(&snapshot.header.id);
        let texts = snapshot.documents.iter().flat_map(|document| &document.pieces);
        self.bytes += texts.map(|(_, text)| text.len()).sum::<usize>();
        self.sessions.push(snapshot.clone());
    }

    fn forget(&mut self, id: &str) {
        self.sessions.retain(|waiting| waiting.header.id != id);
        self.removed.retain(|waiting| waiting != id);
    }
}

impl State {
    fn hide(&mut self, id: &str) {
        self.hidings += u64::from(self.hidden.insert(id.to_owned()));
    }

    fn show(&mut self, id: &str) {
        self.hidings += u64::from(self.hidden.remove(id));
    }

    /// The base, when searches see it.
    fn base(&self) -> Option<&Reader> {
        self.reader.as_ref().filter(|_| self.active)
    }

    /// The session of the base that a search sees under an id.
    fn persisted(&self, id: &str) -> Option<&BaseRow> {
        let is_hidden = self.hidden.contains(id) || self.live.get(id).is_some();
        self.base()?.base.get(id).filter(|_| !is_hidden)
    }

    /// The number of the first live session.
    fn live_from(&self) -> u32 {
        self.base().map_or(0, |reader| reader.base.len)
    }

    /// What a cursor over all sessions is bound to.
    fn generation(&self) -> u64 {
        let base = self
            .base()
            .map(|reader| (&reader.base.identity, reader.base.generation));
        let is_own = !(self.live.is_empty() && self.hidden.is_empty());
        let own = is_own.then(|| (self.nonce, self.live.version(), self.hidings));
        cursor::hash(&format!("{base:?} {own:?}"))
    }

    /// Which sessions may be found, by number.
    fn ranks(&self, filters: &[SessionResultFilter]) -> Result<Vec<Option<SessionRank>>> {
        let takes = |record: &SessionRecord| filters.iter().all(|filter| filter.takes(record));
        let mut ranks = Vec::new();
        if let Some(Reader { connection, base }) = self.base() {
            ranks.extend_from_slice(base.ranks());
            let mut leave_out = |row: &BaseRow| {
                if let Some(place) = ranks.get_mut(row.ordinal.0 as usize) {
                    *place = None;
                }
            };
            let unseen = self.live.ids().chain(&self.hidden);
            unseen.filter_map(|id| base.get(id)).for_each(&mut leave_out);
            if !filters.is_empty() {
                let records = base.rows().iter().zip(base.records(connection)?);
                let left_out = records.filter(|(_, record)| !takes(record));
                left_out.for_each(|(row, _)| leave_out(row));
            }
        }
        ranks.extend((0..self.live.numbers()).map(|number| {
            let session = self.live.of_number(number);
            let session = session.filter(|session| takes(&session.record));
            session.map(|session| SessionRank::apart(&session.facts))
        }));
        Ok(ranks)
    }

    /// The record of the session of a number.
    fn record(&self, session: SessionOrdinal) -> Result<Option<SessionRecord>> {
        if let Some(number) = session.0.checked_sub(self.live_from()) {
            return Ok(self.live.of_number(number).map(|session| session.record.clone()));
        }
        match self.base() {
            Some(Reader { connection, base }) => {
                let row = base.of_ordinal(session);
                row.map(|row| row.record(connection)).transpose()
            }
            None => Ok(None),
        }
    }

    /// What a search looks through.
    fn layers<'a>(&'a self, disk: Option<&'a Arc<TextSnapshot>>, no_types: &'a EventTypes) -> Layers<'a> {
        Layers {
            disk,
            live: self.live.segments(),
            types: (
                self.base().map_or(no_types, |reader| &reader.base.types),
                self.live.types(),
            ),
            live_from: self.live_from(),
        }
    }
}

impl Members for State {
    fn id(&self, session: SessionOrdinal) -> &str {
        if let Some(number) = session.0.checked_sub(self.live_from()) {
            let session = self.live.of_number(number);
            return session.map_or("", |session| &session.record.header.id);
        }
        let row = self.base().and_then(|reader| reader.base.of_ordinal(session));
        row.map_or("", |row| &row.session_id)
    }

    fn shadowed(&self, session: SessionOrdinal) -> &[(u64, u64)] {
        if let Some(number) = session.0.checked_sub(self.live_from()) {
            let session = self.live.of_number(number);
            return session.map_or(&[], |session| &session.shadowed);
        }
        let row = self.base().and_then(|reader| reader.base.of_ordinal(session));
        row.map_or(&[], |row| &row.shadowed)
    }
}

impl SearchProvider for IndexProvider {
    fn id(&self) -> &str {
        PROVIDER_ID
    }

    fn status(&self) -> ProviderStatus {
        // Opening an index of a newer lookback failed before there was a provider; all else can be mended by
        // the next writer, or is told by the search that meets it.
        ProviderStatus::Available
    }

    fn persisted_inventory(&self) -> std::result::Result<Vec<InventoryEntry>, ProviderError> {
        let mut state = self.state();
        self.flush(&mut state, self.patience)?;
        self.mend(&mut state)?;
        let Some(reader) = &state.reader else {
            return Ok(Vec::new());
        };
        let rows = reader.base.rows().iter();
        let shown = rows.filter(|row| !state.hidden.contains(&row.session_id));
        Ok(shown.map(BaseRow::entry).collect())
    }

    fn replace_persisted(&self, snapshot: &SessionSnapshot) -> std::result::Result<(), ProviderError> {
        let mut state = self.state();
        state.show(&snapshot.header.id);
        state.waiting.add(snapshot);
        self.flush_when_due(&mut state)
    }

    fn remove_persisted(&self, session_id: &str) -> std::result::Result<(), ProviderError> {
        let mut state = self.state();
        state.waiting.forget(session_id);
        self.read(&mut state)?;
        let row = state
            .reader
            .as_ref()
            .and_then(|reader| reader.base.get(session_id));
        match row.map(|row| row.is_fed) {
            None => return Ok(()),
            Some(true) => state.waiting.removed.push(session_id.to_owned()),
            Some(false) => {}
        }
        // What a transcript holds of it the vault keeps.
        state.hide(session_id);
        self.flush_when_due(&mut state)
    }

    fn set_persisted_active(&self, active: bool) -> std::result::Result<(), ProviderError> {
        let mut state = self.state();
        state.active = false;
        if active {
            self.flush(&mut state, self.patience)?;
            self.mend(&mut state)?;
        }
        state.active = active;
        Ok(())
    }

    fn replace_live(&self, snapshot: &SessionSnapshot) -> std::result::Result<(), ProviderError> {
        self.state().live.replace(snapshot);
        Ok(())
    }

    fn remove_live(&self, session_id: &str) -> std::result::Result<(), ProviderError> {
        self.state().live.remove(session_id);
        Ok(())
    }

    fn search_sessions(
        &self,
        spec: &SessionSearchSpec,
        abort: &AbortSignal,
    ) -> std::result::Result<SearchPage<SessionHit>, ProviderError> {
        let mut state = self.state();
        self.flush(&mut state, self.patience)?;
        let disk = self.disk(&mut state)?;
        state.live.prepare().map_err(|error| self.reading(error))?;
        let bound = Bound::to_sessions(spec, state.generation());
        let offset = bound.offset(spec.cursor.as_deref())?;
        let answer = || -> Result<(Vec<SessionHit>, bool)> {
            let no_types = EventTypes::default();
            let question = Question {
                layers: state.layers(disk.as_ref(), &no_types),
                members: &*state,
                query: &spec.query,
                filters: &spec.event_filters,
                abort,
                offset,
                limit: spec.limit,
            };
            let Answer { hits, has_more } = question.sessions(state.ranks(&spec.session_filters)?)?;
            let mut items = Vec::with_capacity(hits.len());
            for (session, best_match) in hits {
                if let Some(session) = state.record(session)? {
                    items.push(SessionHit { session, best_match });
                }
            }
            Ok((items, has_more))
        };
        let (items, has_more) = answer().map_err(|error| self.reading(error))?;
        Ok(SearchPage {
            provider_id: PROVIDER_ID.to_owned(),
            items,
            next_cursor: has_more.then(|| bound.cursor(offset.saturating_add(spec.limit))),
        })
    }

    fn search_events(
        &self,
        spec: &SessionEventSearchSpec,
        abort: &AbortSignal,
    ) -> std::result::Result<SearchPage<EventHit>, ProviderError> {
        let mut state = self.state();
        let id = spec.session_id.as_str();
        let mut disk = None;
        if state.live.get(id).is_none() {
            self.flush(&mut state, self.patience)?;
            disk = self.disk(&mut state)?;
        } else {
            state.live.prepare().map_err(|error| self.reading(error))?;
        }
        let live = state.live.get(id).map(|session| {
            let generation = cursor::hash(&format!("{} {}", state.nonce, session.version));
            (SessionOrdinal(session.number), true, generation)
        });
        let persisted = || {
            let row = state.persisted(id)?;
            Some((row.ordinal, false, row.state))
        };
        let target = live.or_else(persisted);
        let bound = Bound::to_events(spec, target.map_or(0, |(_, _, generation)| generation));
        let offset = bound.offset(spec.cursor.as_deref())?;
        let mut page = SearchPage {
            provider_id: PROVIDER_ID.to_owned(),
            items: Vec::new(),
            next_cursor: None,
        };
        let Some((session, is_live, _)) = target else {
            return Ok(page);
        };
        let no_types = EventTypes::default();
        let mut layers = state.layers(disk.as_ref(), &no_types);
        if !is_live {
            layers.live = &[];
        }
        let question = Question {
            layers,
            members: &*state,
            query: &spec.query,
            filters: &spec.filters,
            abort,
            offset,
            limit: spec.limit,
        };
        let answer = question.events(session, is_live);
        let Answer { hits, has_more } = answer.map_err(|error| self.reading(error))?;
        page.items = hits.into_iter().map(|(_, hit)| hit).collect();
        page.next_cursor = has_more.then(|| bound.cursor(offset.saturating_add(spec.limit)));
        Ok(page)
    }
}
