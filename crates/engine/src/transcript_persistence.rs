//! Agents' transcripts as a persistence for session queries: what their programs wrote is the log, read where it
//! lies.
//!
//! A listing is a stat for each file. Of files that are as the catalogue saw them last the catalogue's sessions are
//! taken; files that are new or have changed since are read, once for each change, so it is well to bring the
//! catalogue up to date before. Sessions have the revision of their file ([`FileStamp::revision`]), which is also
//! what an index that was made from the same file says. Of several files with one session id the fullest stands, by
//! the catalogue's own rule; where two agents have used one id the same rule decides between them.
//!
//! What can be read is listed, and nothing else. A session whose transcript is gone is not: the archive keeps the
//! words of it that were indexed, and no log. A file that cannot be read is not either; [`TranscriptPersistence::unread`]
//! names it. Sessions in a folder that could not be looked at stay listed as they were last known, since nothing
//! says that they are gone; reading one of them fails.

mod listing;
mod sinks;

use crate::discover::{self, Sight};
use crate::plan;
use crate::presence;
use listing::{Candidate, Catalogued, Leader, Listing};
use lookback_model::ports::{Catalogue, FileRow, FileState, StoreError};
use lookback_model::session_query::{PersistedSession, PersistenceError, SessionLog, SessionPersistence};
use lookback_model::source::{
    EventSink, FileRole, FileStamp, ReadCursor, ReadError, ReadSession, SourceFile,
};
use lookback_model::{Environment, SessionSource};
use sinks::{Summaries, Whole};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The persistence. Reads only; opening it opens nothing.
pub struct TranscriptPersistence {
    environment: Environment,
    sources: &'static [&'static dyn SessionSource],
    catalogue: Arc<dyn Catalogue>,
    known: Mutex<Known>,
    /// Held by the listing that runs: two at once would read every changed file twice.
    turn: Mutex<()>,
}

/// What earlier listings found out.
#[derive(Default)]
struct Known {
    /// Files that are not as the catalogue saw them, as they were read here.
    read: HashMap<PathBuf, FileSummary>,
    /// What the catalogue said at one generation.
    catalogued: Option<Arc<Catalogued>>,
    /// Each session of the last listing, as it was listed, and where it is.
    listed: HashMap<String, Candidate>,
    unread: Vec<Unread>,
}

/// A file as far as a listing needs it.
struct FileSummary {
    stamp: FileStamp,
    /// Where to go on when it grows.
    cursor: Option<ReadCursor>,
    sessions: Vec<ReadSession>,
}

/// A transcript that could not be read.
#[derive(Clone, Debug)]
pub struct Unread {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub error: Arc<TranscriptError>,
}

/// Why transcripts could not be listed or read.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    /// The catalogue failed.
    #[error(transparent)]
    Catalogue(#[from] StoreError),
    /// A transcript cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The format's reader failed on it.
    #[error("the reader of {agent} failed on {path}")]
    Reader {
        /// The agent.
        agent: String,
        /// The file.
        path: PathBuf,
    },
}

impl From<TranscriptError> for PersistenceError {
    fn from(error: TranscriptError) -> Self {
        Self::Other(Box::new(error))
    }
}

impl TranscriptPersistence {
    /// The transcripts of `sources` under `environment`, as far as `catalogue` knows them without reading.
    pub fn new(
        environment: Environment,
        sources: &'static [&'static dyn SessionSource],
        catalogue: Arc<dyn Catalogue>,
    ) -> Self {
        Self {
            environment,
            sources,
            catalogue,
            known: Mutex::default(),
            turn: Mutex::default(),
        }
    }

    /// The transcripts that the last listing found and could not read. Files that hold no session are none.
    pub fn unread(&self) -> Vec<Unread> {
        self.known().unread.clone()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn source(&self, agent: &str) -> Option<&'static dyn SessionSource> {
        self.sources
            .iter()
            .copied()
            .find(|source| source.agent() == agent)
    }

    /// Lists everything, and notes where it is.
    fn look(&self) -> Result<Vec<PersistedSession>, TranscriptError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let catalogued = self.catalogued()?;
        let sight = discover::look(self.sources, &self.environment);
        let mut listing = Listing::default();
        let (mut as_known, mut changed) = (HashMap::new(), Vec::new());
        for file in sight
            .files
            .iter()
            .filter(|file| file.role == FileRole::Transcript)
        {
            let row = catalogued.files.get(file.path.as_os_str());
            if row.is_some_and(|row| is_as_catalogued(row, file)) {
                as_known.insert(file.path.as_os_str(), file.clone());
            } else {
                changed.push(file);
            }
        }
        as_known.extend(out_of_sight(&catalogued, &sight));
        for session in self.catalogued_in(&as_known, &catalogued)? {
            listing.add(session);
        }
        self.read_changed(&changed, &mut listing);
        let (sessions, listed) = listing.finish();
        self.known().listed = listed;
        Ok(sessions)
    }

    /// What the catalogue says now; asked again when it was written since.
    fn catalogued(&self) -> Result<Arc<Catalogued>, TranscriptError> {
        let generation = self.catalogue.age()?.generation;
        let held = self.known().catalogued.clone();
        if let Some(held) = held.filter(|held| held.generation == generation) {
            return Ok(held);
        }
        let fresh = Arc::new(Catalogued::ask(&*self.catalogue, generation)?);
        self.known().catalogued = Some(fresh.clone());
        Ok(fresh)
    }

    /// The catalogue's sessions in files that are as it saw them. Where the fullest copy of a session is in another
    /// file, all copies are looked at.
    fn catalogued_in(
        &self,
        as_known: &HashMap<&OsStr, SourceFile>,
        catalogued: &Catalogued,
    ) -> Result<Vec<Candidate>, TranscriptError> {
        let mut sessions = Vec::new();
        let mut has_hidden_copies = false;
        for leader in &catalogued.leaders {
            match as_known.get(leader.path.as_os_str()) {
                Some(file) => sessions.push(leader.in_file(file)),
                None => has_hidden_copies |= leader.copies > 0,
            }
        }
        if has_hidden_copies {
            for report in self.catalogue.file_reports()? {
                if let Some(file) = as_known.get(report.row.path.as_os_str()) {
                    let leaders = report.sessions.iter().map(Leader::of);
                    sessions.extend(leaders.map(|leader| leader.in_file(file)));
                }
            }
        }
        Ok(sessions)
    }

    /// Reads the files that are not as the catalogue saw them, those that were read here before only where they
    /// grew.
    fn read_changed(&self, changed: &[&SourceFile], listing: &mut Listing) {
        let mut before = std::mem::take(&mut self.known().read);
        let mut unread = Vec::new();
        let mut after = HashMap::with_capacity(changed.len());
        for file in changed {
            let held = before.remove(&file.path);
            match self.summarise(file, held) {
                Ok(summary) => {
                    for session in &summary.sessions {
                        listing.add(Candidate::read(file, session));
                    }
                    after.insert(file.path.clone(), summary);
                }
                Err(error) => unread.push(Unread {
                    path: file.path.clone(),
                    error: Arc::new(error),
                }),
            }
        }
        let mut known = self.known();
        known.read = after;
        known.unread = unread;
    }

    /// The sessions of a file. One without a session is a file like any other.
    fn summarise(
        &self,
        file: &SourceFile,
        held: Option<FileSummary>,
    ) -> Result<FileSummary, TranscriptError> {
        if let Some(held) = held {
            if held.stamp == file.stamp {
                return Ok(held);
            }
            if let Some(cursor) = &held.cursor
                && let Ok(summary) = self.summarise_from(file, Some(cursor), held.sessions)
            {
                return Ok(summary);
            }
        }
        match self.summarise_from(file, None, Vec::new()) {
            Err(TranscriptError::Read(ReadError::NoSession { .. })) => Ok(FileSummary {
                stamp: file.stamp,
                cursor: None,
                sessions: Vec::new(),
            }),
            other => other,
        }
    }

    fn summarise_from(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sessions: Vec<ReadSession>,
    ) -> Result<FileSummary, TranscriptError> {
        let mut summaries = Summaries::new(sessions);
        let cursor = self.read(file, cursor, &mut summaries)?;
        Ok(FileSummary {
            stamp: file.stamp,
            cursor: Some(cursor),
            sessions: summaries.finish(),
        })
    }

    /// Reads a file; a reader that panics costs this file.
    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadCursor, TranscriptError> {
        let failed = || TranscriptError::Reader {
            agent: file.agent.clone(),
            path: file.path.clone(),
        };
        let source = self.source(&file.agent).ok_or_else(failed)?;
        let outcome = catch_unwind(AssertUnwindSafe(|| source.read(file, cursor, sink)));
        Ok(outcome.map_err(|_| failed())??.cursor)
    }

    fn listed(&self, session_id: &str) -> Option<Candidate> {
        self.known().listed.get(session_id).cloned()
    }
}

/// Whether the catalogue read a file to its end as it is now.
fn is_as_catalogued(row: &FileRow, file: &SourceFile) -> bool {
    row.agent == file.agent && row.state == FileState::Current && plan::unchanged(&row.stamp, &file.stamp)
}

/// The catalogue's files that may be there and could not be looked at, as they were when they last were.
fn out_of_sight<'a>(catalogued: &'a Catalogued, sight: &Sight) -> Vec<(&'a OsStr, SourceFile)> {
    let found: HashSet<&OsStr> = sight.files.iter().map(|file| file.path.as_os_str()).collect();
    let is_unseen = |row: &&FileRow| !found.contains(row.path.as_os_str()) && row.state == FileState::Current;
    let unseen = catalogued.files.values().filter(is_unseen);
    let file = |row: &FileRow| SourceFile {
        agent: row.agent.clone(),
        root: row.root.clone(),
        path: row.path.clone(),
        role: row.role,
        stamp: row.stamp,
    };
    presence::unknown(unseen, sight)
        .into_iter()
        .map(|row| (row.path.as_os_str(), file(row)))
        .collect()
}

impl SessionPersistence for TranscriptPersistence {
    fn list(&self) -> Result<Vec<PersistedSession>, PersistenceError> {
        Ok(self.look()?)
    }

    /// One session's whole log, tool text in full, as its file has it now. The header is the one that was listed:
    /// what a program adds to it while the file grows, or what changes in the files around it, shows with the next
    /// listing, and is no conflict.
    fn inspect(&self, session_id: &str) -> Result<SessionLog, PersistenceError> {
        let not_found = || PersistenceError::NotFound {
            session_id: session_id.to_owned(),
        };
        let listed = match self.listed(session_id) {
            Some(listed) => listed,
            None => {
                self.look()?;
                self.listed(session_id).ok_or_else(not_found)?
            }
        };
        let mut whole = Whole::of(session_id);
        match self.read(&listed.file, None, &mut whole) {
            Err(TranscriptError::Read(ReadError::Io { source, .. }))
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                Err(not_found())
            }
            Err(TranscriptError::Read(ReadError::NoSession { .. })) => Err(not_found()),
            Err(error) => Err(error.into()),
            Ok(_) => Ok(SessionLog {
                header: listed.header,
                events: whole.finish().ok_or_else(not_found)?,
            }),
        }
    }
}
