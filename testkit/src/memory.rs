//! An index that lives in memory: catalogue, writer and search provider behind the model's ports.
//!
//! It does what the ports promise in the simplest way, so that what uses them can be tested without a
//! store, and a store can be compared with it. At every commit it checks that no file was split; see
//! [`Memory::violations`]. Searching finds texts that contain all words of the query, whatever their case.

use lookback_model::Timestamp;
use lookback_model::document::{Document, SessionOrdinal};
use lookback_model::hit::{Evidence, Hit, Presence, SessionRow, Snippet};
use lookback_model::ports::{
    Batch, Catalogue, CatalogueCounts, FileCursor, FileFailure, FileId, FileRead, FileReport, FileRow,
    FileState, IndexAge, IndexSink, IndexWriter, SearchAnswer, SearchPage, SessionFilter, SessionRead,
    SessionSearch, StoreError, StoredText,
};
use lookback_model::query::SearchRequest;
use lookback_model::source::{ReadAccount, ReadCursor, SourceFile};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The index. Clones share what they hold.
#[derive(Clone, Default)]
pub struct Memory {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    next_session: AtomicU32,
    is_locked: AtomicBool,
    writers_asked: AtomicU64,
    /// Documents that may still be added before the writer refuses; 0 means any number.
    room: AtomicU64,
}

#[derive(Clone, Default)]
struct State {
    files: BTreeMap<i64, StoredFile>,
    documents: Vec<Document>,
    titles: BTreeMap<(String, String), String>,
    generation: u64,
    last_reconcile_at: Option<Timestamp>,
    last_sweep_completed_at: Option<Timestamp>,
    batches: Vec<Batch>,
    violations: Vec<String>,
}

#[derive(Clone)]
struct StoredFile {
    row: FileRow,
    cursor: Option<ReadCursor>,
    account: ReadAccount,
    error: Option<String>,
    sessions: Vec<SessionRead>,
}

/// What one session looks like to a reader of the index, without any number that depends on the order of
/// reads: agent, id, facts as JSON, and the texts as (seq, kind, chunk, text) in that order.
pub type SessionImage = (String, String, String, Vec<(u64, u64, u32, String)>);

impl Memory {
    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often a writer was asked for.
    pub fn writers_asked(&self) -> u64 {
        self.shared.writers_asked.load(Ordering::SeqCst)
    }

    /// All batches committed so far.
    pub fn batches(&self) -> Vec<Batch> {
        self.state().batches.clone()
    }

    /// What commits made visible that they must not: documents of no session, or beyond what the
    /// catalogue says was read of one.
    pub fn violations(&self) -> Vec<String> {
        self.state().violations.clone()
    }

    /// Takes the writer's lock as another process would, or gives it back.
    pub fn hold_lock(&self, held: bool) {
        self.shared.is_locked.store(held, Ordering::SeqCst);
    }

    /// Makes writers refuse after `room` more documents.
    pub fn refuse_after(&self, room: u64) {
        self.shared.room.store(room + 1, Ordering::SeqCst);
    }

    /// The documents that are committed.
    pub fn document_count(&self) -> usize {
        self.state().documents.len()
    }

    /// Every session of every file that is there, in a form that two indexes can be compared by.
    pub fn image(&self) -> Vec<SessionImage> {
        let state = self.state();
        let mut image: Vec<SessionImage> = state
            .files
            .values()
            .filter(|file| file.row.presence == Presence::Present)
            .flat_map(|file| file.sessions.iter().map(move |read| (file, read)))
            .map(|(file, read)| {
                let mut texts: Vec<_> = state
                    .of_session(read.ordinal)
                    .map(|document| {
                        (
                            document.seq,
                            document.kind.code(),
                            document.chunk,
                            document.text.clone(),
                        )
                    })
                    .collect();
                texts.sort();
                let facts =
                    serde_json::to_string(&(&read.session.header, &read.session.facts)).unwrap_or_default();
                (
                    file.row.agent.clone(),
                    read.session.header.id.clone(),
                    facts,
                    texts,
                )
            })
            .collect();
        image.sort();
        image
    }
}

impl State {
    fn age(&self) -> IndexAge {
        IndexAge {
            generation: self.generation,
            last_reconcile_at: self.last_reconcile_at,
            last_sweep_completed_at: self.last_sweep_completed_at,
        }
    }

    fn sessions(&self) -> impl Iterator<Item = (&StoredFile, &SessionRead)> {
        self.files
            .values()
            .flat_map(|file| file.sessions.iter().map(move |read| (file, read)))
    }

    fn of_session(&self, session: SessionOrdinal) -> impl Iterator<Item = &Document> {
        self.documents
            .iter()
            .filter(move |document| document.session == session)
    }

    fn rows(&self) -> Vec<SessionRow> {
        let mut fullest: BTreeMap<(String, String), SessionRow> = BTreeMap::new();
        for (file, read) in self.sessions() {
            let row = self.row(file, read);
            match fullest.entry((row.agent.clone(), row.session_id.clone())) {
                Entry::Vacant(slot) => drop(slot.insert(row)),
                Entry::Occupied(mut slot) => {
                    let copies = slot.get().copies + 1;
                    if row.facts.events > slot.get().facts.events {
                        slot.insert(row);
                    }
                    slot.get_mut().copies = copies;
                }
            }
        }
        let mut rows: Vec<_> = fullest.into_values().collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.facts.updated_at), row.ordinal));
        rows
    }

    fn row(&self, file: &StoredFile, read: &SessionRead) -> SessionRow {
        let (header, facts) = (read.session.header.clone(), read.session.facts.clone());
        let side = self.titles.get(&(file.row.agent.clone(), header.id.clone()));
        let own = || facts.title.as_ref().map(|title| title.text.clone());
        SessionRow {
            ordinal: read.ordinal,
            agent: file.row.agent.clone(),
            session_id: header.id.clone(),
            title: side.cloned().or_else(own).unwrap_or_else(|| header.id.clone()),
            header,
            facts,
            shadowed: read.session.shadowed.clone(),
            path: file.row.path.clone(),
            presence: file.row.presence,
            resume: read
                .resume
                .clone()
                .filter(|_| file.row.presence == Presence::Present),
            copies: 0,
        }
    }

    fn slot(&mut self, id: Option<FileId>, file: &SourceFile) -> &mut StoredFile {
        let known = id.map(|id| id.0).filter(|id| self.files.contains_key(id));
        let next = self.files.keys().next_back().map_or(1, |last| last + 1);
        let id = known.unwrap_or(next);
        let stored = self.files.entry(id).or_insert_with(|| StoredFile {
            row: FileRow {
                id: FileId(id),
                agent: file.agent.clone(),
                root: PathBuf::new(),
                path: PathBuf::new(),
                role: file.role,
                stamp: file.stamp,
                state: FileState::Due,
                presence: Presence::Present,
            },
            cursor: None,
            account: ReadAccount::default(),
            error: None,
            sessions: Vec::new(),
        });
        stored.row.root.clone_from(&file.root);
        stored.row.path.clone_from(&file.path);
        stored.row.stamp = file.stamp;
        stored.row.presence = Presence::Present;
        stored
    }

    fn read(&mut self, read: FileRead) {
        let slot = self.slot(read.id, &read.file);
        slot.row.state = FileState::Current;
        (slot.cursor, slot.account, slot.error) = (Some(read.cursor), read.account, None);
        let before = std::mem::replace(&mut slot.sessions, read.sessions);
        let kept = |ordinal| slot.sessions.iter().any(|read| read.ordinal == ordinal);
        let gone: Vec<_> = before
            .iter()
            .map(|read| read.ordinal)
            .filter(|&ordinal| !kept(ordinal))
            .collect();
        if !gone.is_empty() {
            self.documents
                .retain(|document| !gone.contains(&document.session));
        }
    }

    fn failed(&mut self, failure: FileFailure) {
        let slot = self.slot(failure.id, &failure.file);
        slot.row.state = FileState::Failed;
        slot.error = Some(failure.error);
        slot.account = failure.account;
    }

    fn check(&mut self) {
        let events_read = |(file, read): (&StoredFile, &SessionRead)| {
            let whole = file.row.state == FileState::Current;
            (
                read.ordinal,
                if whole {
                    read.session.facts.events
                } else {
                    u64::MAX
                },
            )
        };
        let events: HashMap<_, _> = self.sessions().map(events_read).collect();
        for document in &self.documents {
            match events.get(&document.session) {
                None => self
                    .violations
                    .push(format!("{document:?} belongs to no session")),
                Some(events) if document.seq >= *events => {
                    self.violations.push(format!("{document:?} was not read"));
                }
                Some(_) => {}
            }
        }
    }
}

impl Catalogue for Memory {
    fn files(&self) -> Result<Vec<FileRow>, StoreError> {
        Ok(self.state().files.values().map(|file| file.row.clone()).collect())
    }

    fn cursor(&self, file: FileId) -> Result<FileCursor, StoreError> {
        let state = self.state();
        let Some(file) = state.files.get(&file.0) else {
            return Ok(FileCursor::default());
        };
        let sessions = file
            .sessions
            .iter()
            .map(|read| (read.session.header.id.clone(), read.ordinal))
            .collect();
        Ok(FileCursor {
            cursor: file.cursor.clone(),
            account: file.account.clone(),
            sessions,
        })
    }

    fn file_reports(&self) -> Result<Vec<FileReport>, StoreError> {
        let state = self.state();
        let mut reports: Vec<_> = state
            .files
            .values()
            .map(|file| FileReport {
                row: file.row.clone(),
                account: file.account.clone(),
                error: file.error.clone(),
                sessions: file.sessions.iter().map(|read| state.row(file, read)).collect(),
            })
            .collect();
        reports.sort_by(|a, b| a.row.path.cmp(&b.row.path));
        Ok(reports)
    }

    fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionRow>, StoreError> {
        let wanted = |row: &SessionRow| {
            (filter.agents.is_empty() || filter.agents.contains(&row.agent))
                && (filter.kinds.is_empty() || filter.kinds.contains(&row.kind()))
                && filter
                    .since
                    .is_none_or(|since| row.facts.updated_at >= Some(since))
                && (filter.hidden || !row.facts.hidden)
        };
        Ok(self.state().rows().into_iter().filter(wanted).collect())
    }

    fn find_sessions(&self, id: &str) -> Result<Vec<SessionRow>, StoreError> {
        let rows: Vec<_> = self
            .state()
            .rows()
            .into_iter()
            .filter(|row| row.session_id.starts_with(id))
            .collect();
        let exact: Vec<_> = rows.iter().filter(|row| row.session_id == id).cloned().collect();
        Ok(if exact.is_empty() { rows } else { exact })
    }

    fn session(&self, session: SessionOrdinal) -> Result<Option<SessionRow>, StoreError> {
        let rows = self.state().rows();
        Ok(rows.into_iter().find(|row| row.ordinal == session))
    }

    fn sessions_by_agent(&self) -> Result<BTreeMap<String, u64>, StoreError> {
        let mut counts = BTreeMap::new();
        for row in self.state().rows() {
            *counts.entry(row.agent.clone()).or_default() += 1;
        }
        Ok(counts)
    }

    fn age(&self) -> Result<IndexAge, StoreError> {
        Ok(self.state().age())
    }

    fn counts(&self) -> Result<CatalogueCounts, StoreError> {
        let state = self.state();
        let files = |wanted| {
            state
                .files
                .values()
                .filter(|file| file.row.state == wanted)
                .count() as u64
        };
        let rows = state.rows();
        Ok(CatalogueCounts {
            files_current: files(FileState::Current),
            files_due: files(FileState::Due),
            files_failed: files(FileState::Failed),
            sessions: rows.len() as u64,
            sessions_missing: rows
                .iter()
                .filter(|row| row.presence == Presence::Missing)
                .count() as u64,
            age: state.age(),
        })
    }

    fn stored_text(&self, session: SessionOrdinal) -> Result<Vec<StoredText>, StoreError> {
        let state = self.state();
        let mut documents: Vec<_> = state.of_session(session).cloned().collect();
        documents.sort_by_key(|document| (document.seq, document.kind, document.chunk));
        let stored = documents.into_iter().map(|document| StoredText {
            seq: document.seq,
            time: document.time,
            kind: document.kind,
            copy_key: document.copy_key,
            event_type: document.event_type,
            has_marker: document.has_marker,
            text: document.text,
        });
        Ok(stored.collect())
    }
}

impl SessionSearch for Memory {
    fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, StoreError> {
        if request.cursor.is_some() {
            return Ok(SearchAnswer::MalformedCursor);
        }
        let state = self.state();
        let words: Vec<_> = request.query.split_whitespace().map(str::to_lowercase).collect();
        let found = |document: &&Document| {
            let text = document.text.to_lowercase();
            request.view.kinds().contains(&document.kind) && words.iter().all(|word| text.contains(word))
        };
        let mut hits = Vec::new();
        for session in state.rows().into_iter().filter(|_| !words.is_empty()) {
            let Some(document) = state.of_session(session.ordinal).find(found) else {
                continue;
            };
            let snippet = Snippet {
                text: document.text.clone(),
                ..Snippet::default()
            };
            let evidence = Evidence {
                snippet,
                kind: document.kind,
                time: document.time,
                seq: document.seq,
            };
            hits.push(Hit {
                session,
                score: 1.0,
                evidence: Some(evidence),
            });
        }
        hits.truncate(request.limit);
        Ok(SearchAnswer::Results(SearchPage {
            hits,
            generation: state.generation,
            route: "and".to_owned(),
            ..SearchPage::default()
        }))
    }
}

impl IndexSink for Memory {
    fn writer(&self, _: u64) -> Result<Option<Box<dyn IndexWriter>>, StoreError> {
        self.shared.writers_asked.fetch_add(1, Ordering::SeqCst);
        if self.shared.is_locked.swap(true, Ordering::SeqCst) {
            return Ok(None);
        }
        Ok(Some(Box::new(MemoryWriter {
            memory: self.clone(),
            pending: Mutex::default(),
        })))
    }
}

/// What is to become visible with the next commit.
#[derive(Default)]
struct Changes {
    added: Vec<Document>,
    retracted: Vec<SessionOrdinal>,
}

struct MemoryWriter {
    memory: Memory,
    pending: Mutex<Changes>,
}

impl MemoryWriter {
    fn pending(&self) -> MutexGuard<'_, Changes> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for MemoryWriter {
    fn drop(&mut self) {
        self.memory.hold_lock(false);
    }
}

impl IndexWriter for MemoryWriter {
    fn new_session(&self) -> SessionOrdinal {
        SessionOrdinal(self.memory.shared.next_session.fetch_add(1, Ordering::SeqCst))
    }

    fn add(&self, documents: Vec<Document>) -> Result<(), StoreError> {
        let room = &self.memory.shared.room;
        for document in documents {
            let left = room.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |room| {
                (room > 1).then(|| room - 1)
            });
            if left == Err(1) {
                return Err(StoreError::Write {
                    path: PathBuf::from("memory"),
                    source: "no room left".into(),
                });
            }
            self.pending().added.push(document);
        }
        Ok(())
    }

    fn retract(&self, session: SessionOrdinal) -> Result<(), StoreError> {
        let mut pending = self.pending();
        pending.added.retain(|document| document.session != session);
        pending.retracted.push(session);
        Ok(())
    }

    fn commit(&self, batch: Batch) -> Result<u64, StoreError> {
        let changes = std::mem::take(&mut *self.pending());
        let mut state = self.memory.state();
        state.batches.push(batch.clone());
        state
            .documents
            .retain(|document| !changes.retracted.contains(&document.session));
        state.documents.extend(changes.added);
        batch.read.into_iter().for_each(|read| state.read(read));
        batch.failed.into_iter().for_each(|failure| state.failed(failure));
        for (id, file) in batch.restamped {
            state.slot(Some(id), &file);
        }
        for (id, presence) in batch.presence {
            if let Some(file) = state.files.get_mut(&id.0) {
                file.row.presence = presence;
            }
        }
        for title in batch.titles {
            let key = (title.agent, title.session_id);
            if title.title.is_empty() {
                state.titles.remove(&key);
            } else {
                state.titles.insert(key, title.title);
            }
        }
        state.last_reconcile_at = Some(batch.time);
        if batch.sweep_completed {
            state.last_sweep_completed_at = Some(batch.time);
        }
        state.generation += 1;
        state.check();
        Ok(state.generation)
    }
}
