//! The one writer, and the commit that keeps catalogue and text index in step.
//!
//! A commit is prepared in both, then made in the catalogue, then in the text index; both carry its
//! number. A crash between the two leaves the catalogue one ahead: the next writer sees that the text
//! index's number is smaller, owes the files of the later commits a read from their start, and removes
//! documents of sessions that the catalogue no longer knows. The other way round cannot happen short of
//! a restored backup, which is found out the same way and rebuilt.

use crate::archive::{self, ArchivedSession};
use crate::catalogue::{self, read, write};
use crate::error::{Cause, Layout, Result};
use crate::fed::Feeding;
use crate::index::Options;
use crate::schema::{Fields, TEXT_VERSION};
use crate::segments::Segments;
use crate::text::{self, Payload};
use crate::types::EventTypes;
use lookback_model::document::TextCaps;
use lookback_model::hit::{Presence, SessionRow};
use lookback_model::ports::{Batch, FileId, FileRead, IndexWriter, StoreError, StoredText};
use lookback_model::session_query::SessionSnapshot;
use lookback_model::source::{Position, ReadCursor, SourceFile};
use lookback_model::{Document, SessionOrdinal, TextKind};
use rusqlite::{Connection, TransactionBehavior, params};
use std::collections::HashSet;
use std::fs::File;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use tantivy::indexer::NoMergePolicy;

/// Holds the lock of a data folder and writes to it.
pub(crate) struct Writer {
    layout: Layout,
    fields: Fields,
    index: tantivy::Index,
    /// Begun when it is first needed: a pass that only moves stamps never pays for it.
    text: Mutex<Option<tantivy::IndexWriter>>,
    segments: Segments,
    /// Sessions that the next commit takes out.
    retracted: Mutex<Vec<SessionOrdinal>>,
    catalogue: Mutex<Connection>,
    next_session: AtomicU32,
    identity: String,
    caps: TextCaps,
    /// Held open for its lock; last, so that it is let go when all else is closed.
    _lock: File,
}

impl Writer {
    /// Opens under a lock that is held, healing what a crash left.
    ///
    /// # Errors
    /// When the data folder cannot be written, or is damaged.
    pub(crate) fn open(layout: &Layout, options: Options, lock: File) -> Result<Self> {
        let catalogue = catalogue::open_writer(&layout.catalogue())?;
        let index = text::open_or_create(&layout.text())?;
        let payload = text::payload(&index)?;
        let identity = identity(&catalogue)?;
        let generation = catalogue::meta_number(&catalogue, "text_generation")?;
        let is_new = payload == Payload::default();
        if payload.generation > generation || !(is_new || payload.index == identity) {
            return Err(Cause::Foreign);
        }
        if !is_new && payload.version < TEXT_VERSION {
            return Err(Cause::Outdated);
        }
        let (_, fields) = crate::schema::schema();
        let budget = options.heap_bytes / options.threads.max(1);
        let segments = Segments::new(&index, fields, budget, EventTypes::read(&catalogue)?);
        let next: u64 = catalogue::meta_number(&catalogue, "next_session")?;
        let writer = Self {
            layout: layout.clone(),
            fields,
            index,
            text: Mutex::new(None),
            segments,
            retracted: Mutex::default(),
            catalogue: Mutex::new(catalogue),
            next_session: AtomicU32::new(u32::try_from(next).unwrap_or(u32::MAX)),
            identity,
            caps: options.caps,
            _lock: lock,
        };
        if payload.generation < generation {
            writer.heal(payload.generation)?;
        }
        if is_new {
            writer.restore_archive()?;
        }
        writer.adopt_caps()?;
        Ok(writer)
    }

    /// Brings the catalogue back to what the text index holds.
    fn heal(&self, text_generation: u64) -> Result<()> {
        {
            let catalogue = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner);
            write::owe_reads_after(&catalogue, text_generation)?;
        }
        for session in self.unknown_sessions()? {
            self.retract_session(session);
        }
        Ok(())
    }

    /// Owes everything a read when documents are to hold more or less text of tools than those that were
    /// written. Hits of what is owed a read stay until it has been read.
    fn adopt_caps(&self) -> Result<()> {
        let caps = self.caps;
        let mut catalogue = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner);
        if catalogue::text_caps(&catalogue)? == caps {
            return Ok(());
        }
        let transaction = catalogue.transaction()?;
        write::owe_reads_of_present(&transaction)?;
        catalogue::set_meta(&transaction, "tool_text", &caps.tool_text.to_string())?;
        Ok(transaction.commit()?)
    }

    /// Sessions that have documents and no row.
    fn unknown_sessions(&self) -> Result<Vec<SessionOrdinal>> {
        let catalogue = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner);
        let mut statement = catalogue.prepare("SELECT ordinal FROM sessions")?;
        let known = statement.query_map([], |row| row.get(0))?;
        let known: HashSet<u32> = known.collect::<rusqlite::Result<_>>()?;
        let reader: tantivy::IndexReader = self.index.reader()?;
        let mut unknown = Vec::new();
        for segment in reader.searcher().segment_readers() {
            let terms = segment.inverted_index(self.fields.session)?;
            let mut stream = terms.terms().stream()?;
            while stream.advance() {
                let bytes: Option<[u8; 8]> = stream.key().try_into().ok();
                let ordinal = bytes.and_then(|bytes| u32::try_from(u64::from_be_bytes(bytes)).ok());
                unknown.extend(
                    ordinal
                        .filter(|ordinal| !known.contains(ordinal))
                        .map(SessionOrdinal),
                );
            }
        }
        Ok(unknown)
    }

    /// Puts the archive's sessions into an index that was begun anew.
    fn restore_archive(&self) -> Result<()> {
        let mut batch = Batch::default();
        let mut restored = Vec::new();
        for path in archive::files(&self.layout.archive()) {
            // One unreadable file must not keep the others away; it stays where it is.
            let Ok((session, texts)) = archive::read(&path) else {
                continue;
            };
            let ordinal = self.new_session();
            self.segments.add(documents(ordinal, texts).collect())?;
            restored.push(session.file.path.clone());
            batch.read.push(FileRead {
                id: None,
                file: session.file.clone(),
                cursor: ReadCursor {
                    position: Position::Whole,
                    state: String::new(),
                },
                account: lookback_model::source::ReadAccount::default(),
                sessions: vec![session.as_read(ordinal)],
            });
        }
        if batch.read.is_empty() {
            return Ok(());
        }
        self.commit_batch(&batch)?;
        let catalogue = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner);
        for path in restored {
            let bytes = path.as_os_str().as_encoded_bytes();
            catalogue.execute(
                "UPDATE files SET presence = 'missing' WHERE path = ?1",
                params![bytes],
            )?;
        }
        Ok(())
    }

    fn retract_session(&self, session: SessionOrdinal) {
        let mut retracted = self.retracted.lock().unwrap_or_else(PoisonError::into_inner);
        retracted.push(session);
    }

    fn begin_text(&self) -> Result<tantivy::IndexWriter> {
        // It only publishes segments that were built elsewhere: its thread never gets a document.
        let writer = self.index.writer_with_num_threads(1, SMALLEST_HEAP)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(writer)
    }

    /// A number that no session has.
    pub(crate) fn next_session(&self) -> SessionOrdinal {
        SessionOrdinal(self.next_session.fetch_add(1, Ordering::SeqCst))
    }

    /// Adds documents to the next commit.
    ///
    /// # Errors
    /// When the index cannot take them.
    pub(crate) fn add_documents(&self, documents: Vec<Document>) -> Result<()> {
        self.segments.add(documents)
    }

    /// Commits sessions that are fed, and takes away others; gives the new generation.
    ///
    /// # Errors
    /// When the data folder cannot be written; the old state stays.
    pub(crate) fn feed(&self, sessions: &[SessionSnapshot], removed: &[String]) -> Result<u64> {
        let feeding = {
            let catalogue = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner);
            Feeding::prepare(self, &catalogue, self.caps, sessions, removed)?
        };
        self.commit_all(None, &feeding)
    }

    fn commit_batch(&self, batch: &Batch) -> Result<u64> {
        self.commit_all(Some(batch), &Feeding::default())
    }

    /// The commit. See the top of this file for the order of its steps.
    fn commit_all(&self, batch: Option<&Batch>, feeding: &Feeding) -> Result<u64> {
        let nothing = Batch::default();
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        let mut catalogue = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner);
        let superseded = self.archive_vanished(&catalogue, batch.unwrap_or(&nothing))?;
        let generation = catalogue::meta_number(&catalogue, "generation")? + 1;
        let mut gone = write::retired(&catalogue, batch.unwrap_or(&nothing))?;
        for file in &superseded {
            gone.extend(write::sessions_of(&catalogue, *file)?);
        }
        gone.extend(&feeding.gone);
        gone.append(&mut self.retracted.lock().unwrap_or_else(PoisonError::into_inner));
        let transaction = catalogue.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let record = || -> Result<()> {
            // What is fed is no pass over the transcripts, and says nothing of when there was one.
            if let Some(batch) = batch {
                write::apply(&transaction, batch, generation)?;
            }
            feeding.write(&transaction, generation)?;
            for file in &superseded {
                write::delete_file(&transaction, *file)?;
            }
            catalogue::set_meta(&transaction, "generation", &generation.to_string())?;
            let next = self.next_session.load(Ordering::SeqCst);
            catalogue::set_meta(&transaction, "next_session", &next.to_string())
        };
        // The text index writes its segments while the catalogue writes its rows.
        let (written, recorded) = thread::scope(|scope| {
            let written = scope.spawn(|| self.segments.take_written());
            let recorded = record();
            (
                written.join().unwrap_or_else(|panic| resume_unwind(panic)),
                recorded,
            )
        });
        let written = written?;
        recorded?;
        // Nothing is added meanwhile, so that these are the types of all that was written.
        let types = self.segments.types().record(&transaction)?;
        if written.is_empty() && gone.is_empty() {
            // Only stamps, presence or titles: nothing of it concerns the text index.
            transaction.commit()?;
            self.segments.types().recorded(types);
            return Ok(generation);
        }
        let writer = match text.as_mut() {
            Some(writer) => writer,
            None => text.insert(self.begin_text()?),
        };
        for segment in written {
            writer.add_segment(segment)?;
        }
        for session in gone {
            writer.delete_term(self.fields.session_term(session));
        }
        let mut prepared = writer.prepare_commit()?;
        let payload = Payload {
            index: self.identity.clone(),
            generation,
            version: TEXT_VERSION,
        };
        prepared.set_payload(&serde_json::to_string(&payload)?);
        catalogue::set_meta(&transaction, "text_generation", &generation.to_string())?;
        transaction.commit()?;
        self.segments.types().recorded(types);
        prepared.commit()?;
        self.merge_small(writer)?;
        Ok(generation)
    }

    /// Keeps the number of segments bounded: when there are too many, the smaller ones become one.
    fn merge_small(&self, writer: &mut tantivy::IndexWriter) -> Result<()> {
        let mut segments = self.index.searchable_segment_metas()?;
        let worn = |segment: &tantivy::SegmentMeta| {
            segment.num_deleted_docs() > WORN_DOCUMENTS && segment.num_deleted_docs() > segment.max_doc() / 3
        };
        if segments.len() <= SEGMENTS_LIMIT && !segments.iter().any(worn) {
            return Ok(());
        }
        segments.sort_by_key(tantivy::SegmentMeta::num_docs);
        let small = if segments.len() > SEGMENTS_LIMIT {
            segments.len() - SEGMENTS_KEPT
        } else {
            0
        };
        let chosen = segments
            .iter()
            .enumerate()
            .filter(|(at, segment)| *at < small || worn(segment));
        let ids: Vec<_> = chosen.map(|(_, segment)| segment.id()).collect();
        writer.merge(&ids).wait()?;
        writer.garbage_collect_files().wait()?;
        Ok(())
    }

    /// Writes sessions whose files the batch calls missing to the archive. Gives the files that are not
    /// needed there, because another file that is present holds at least as much of their sessions.
    fn archive_vanished(&self, catalogue: &Connection, batch: &Batch) -> Result<Vec<FileId>> {
        let missing = batch
            .presence
            .iter()
            .filter(|(_, presence)| *presence == Presence::Missing);
        let missing: Vec<FileId> = missing.map(|&(id, _)| id).collect();
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        let snapshot = text::open_snapshot(&self.layout.text())?;
        let mut superseded = Vec::new();
        for report in read::file_reports(catalogue)? {
            if !missing.contains(&report.row.id) || report.row.presence == Presence::Missing {
                continue;
            }
            let mut needed = false;
            for session in &report.sessions {
                if has_fuller_copy(catalogue, report.row.id, session, &missing)? {
                    continue;
                }
                needed = true;
                let row = &report.row;
                let (agent, root, path) = (row.agent.clone(), row.root.clone(), row.path.clone());
                let archived = ArchivedSession {
                    file: SourceFile {
                        agent,
                        root,
                        path,
                        role: row.role,
                        stamp: row.stamp,
                    },
                    header: session.header.clone(),
                    facts: session.facts.clone(),
                    shadowed: session.shadowed.clone(),
                    resume: session.resume.clone(),
                };
                let texts = snapshot.stored_text(session.ordinal, &self.segments.types())?;
                let folder = self.layout.archive();
                let path = archive::path_of(&folder, &row.agent, &row.path, &session.session_id);
                archive::write(&path, &archived, &texts)?;
            }
            if !needed && !report.sessions.is_empty() {
                superseded.push(report.row.id);
            }
        }
        Ok(superseded)
    }
}

/// tantivy refuses a writer less.
const SMALLEST_HEAP: usize = 15 << 20;
/// Above this many segments the smaller ones are merged, so that opening and searching stay cheap.
const SEGMENTS_LIMIT: usize = 16;
/// So many of the largest are left alone then.
const SEGMENTS_KEPT: usize = 7;
/// A segment is worn when a third of it, and more documents than this, are deleted.
const WORN_DOCUMENTS: u32 = 1_000;

/// Whether a present file other than `file` holds as much of the session.
fn has_fuller_copy(
    catalogue: &Connection,
    file: FileId,
    session: &SessionRow,
    missing: &[FileId],
) -> Result<bool> {
    let sql = "SELECT files.id FROM sessions JOIN files ON files.id = sessions.file
        WHERE sessions.agent = ?1 AND sessions.session_id = ?2 AND sessions.turns >= ?3
            AND files.id <> ?4 AND presence = 'present'";
    let mut statement = catalogue.prepare_cached(sql)?;
    let parameters = params![
        session.agent,
        session.session_id,
        session.facts.turns as i64,
        file.0
    ];
    let found = statement.query_map(parameters, |row| row.get(0).map(FileId))?;
    let found: Vec<FileId> = found.collect::<rusqlite::Result<_>>()?;
    Ok(found.iter().any(|id| !missing.contains(id)))
}

/// The identity of a data folder, made when there is none yet.
fn identity(catalogue: &Connection) -> Result<String> {
    if let Some(identity) = catalogue::meta(catalogue, "identity")? {
        return Ok(identity);
    }
    let identity: String = catalogue.query_row("SELECT lower(hex(randomblob(16)))", [], |row| row.get(0))?;
    catalogue::set_meta(catalogue, "identity", &identity)?;
    Ok(identity)
}

/// The documents of an archived session, whose texts are in order. Where the type of an event was not kept it is
/// the usual one of its first words.
fn documents(session: SessionOrdinal, texts: Vec<StoredText>) -> impl Iterator<Item = Document> {
    let mut last = None;
    let mut chunk = 0;
    let mut event = (None, StoredText::usual_event(TextKind::User));
    texts.into_iter().map(move |text| {
        chunk = if last == Some((text.seq, text.kind)) {
            chunk + 1
        } else {
            0
        };
        last = Some((text.seq, text.kind));
        if event.0 != Some(text.seq) {
            let kept = (text.event_type.clone(), text.has_marker);
            let usual = || StoredText::usual_event(text.kind);
            let is_kept = !text.event_type.is_empty();
            event = (Some(text.seq), if is_kept { kept } else { usual() });
        }
        let (event_type, has_marker) = event.1.clone();
        Document {
            session,
            seq: text.seq,
            chunk,
            time: text.time,
            copy_key: text.copy_key,
            event_type,
            has_marker,
            kind: text.kind,
            text: text.text,
        }
    })
}

impl Drop for Writer {
    /// Leaves the log of the catalogue empty, so that it can be read where nothing can be written.
    fn drop(&mut self) {
        let catalogue = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner);
        // A reader may be in the way; the log then stays until the next writer goes.
        let _ = catalogue.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
}

impl IndexWriter for Writer {
    fn new_session(&self) -> SessionOrdinal {
        self.next_session()
    }

    fn add(&self, documents: Vec<Document>) -> std::result::Result<(), StoreError> {
        self.add_documents(documents)
            .map_err(|error| error.writing(&self.layout.root))
    }

    fn retract(&self, session: SessionOrdinal) -> std::result::Result<(), StoreError> {
        self.retract_session(session);
        Ok(())
    }

    fn commit(&self, batch: Batch) -> std::result::Result<u64, StoreError> {
        self.commit_batch(&batch)
            .map_err(|error| error.writing(&self.layout.root))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(seq: u64, kind: TextKind, event_type: &'static str) -> StoredText {
        StoredText {
            seq,
            time: lookback_model::Timestamp(0),
            kind,
            copy_key: 0,
            event_type: event_type.into(),
            has_marker: event_type == "steering/message",
            text: "words".into(),
        }
    }

    /// Property: an archived event has the type that was kept of it, and where none was, the usual one of its first
    /// words in all its documents.
    #[test]
    fn archived_events_have_types() {
        let texts = vec![
            text(0, TextKind::User, "steering/message"),
            text(1, TextKind::Agent, ""),
            text(1, TextKind::Agent, ""),
            text(1, TextKind::Call, ""),
            text(2, TextKind::Call, ""),
            text(3, TextKind::Context, "vendor/note"),
        ];
        let documents = documents(SessionOrdinal(1), texts);
        let types = documents.map(|document| (document.chunk, document.event_type, document.has_marker));
        assert_eq!(
            types.collect::<Vec<_>>(),
            [
                (0, "steering/message".into(), true),
                (0, "assistant/message".into(), true),
                (1, "assistant/message".into(), true),
                (0, "assistant/message".into(), true),
                (0, "tool/call".into(), false),
                (0, "vendor/note".into(), false),
            ]
        );
    }

    /// Property: archives of before types were kept are read.
    #[test]
    fn earlier_archives_are_read() {
        let json = r#"{"seq":1,"time":5,"kind":"agent","text":"words"}"#;
        let text: StoredText = serde_json::from_str(json).unwrap();
        assert_eq!((text.event_type.as_ref(), text.has_marker), ("", false));
    }
}
