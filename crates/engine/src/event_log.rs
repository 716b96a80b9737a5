//! The own event log: a folder with one append-only file for each session of a harness that embeds the library.
//!
//! A file is JSON lines: first the header, `{"v":0,"header":{…}}`, then one event a line, event `i` on line
//! `i + 2`. A record counts from the moment its line break is in the file; what stands after the last line break is
//! a record that was being written when the process ended.
//!
//! * **Reading changes nothing.** [`EventLog::list`] and [`EventLog::inspect`] read around such a torn tail.
//! * **Opening for writing repairs** ([`EventLog::resume`]): the torn tail is cut off, and a turn that was left open
//!   is ended by events that say so (`repair`).
//! * **Damage anywhere else is not repaired.** A session whose committed part has a record that cannot be read, or
//!   that leaves out a seq, is not loaded; the error names the file and the line.
//!
//! # What an acknowledged append survives
//!
//! When [`LogWriter::append`] has returned, the operating system has the events. They survive the death of the
//! process, however violent, under every policy of [`Fsync`]; only whole events are ever seen. What survives a power
//! cut, a crash of the system or a disk taken out is what was synced:
//!
//! | policy | after a power cut |
//! |---|---|
//! | [`Fsync::EachAppend`] | every acknowledged append is there |
//! | [`Fsync::Every`] | all that was acknowledged before the last sync; the next append after the interval syncs. Nothing syncs between appends, so the last ones before a pause may be lost however long ago they were |
//! | [`Fsync::EachBytes`] | all but less than that many bytes of the last appends of each session |
//! | [`Fsync::Never`] | nothing is promised; systems usually write back within half a minute |
//!
//! [`LogWriter::sync`] and [`LogWriter::close`] sync under every policy but `Never`, for which `sync` does and `close`
//! does not. A power cut may also leave the unsynced part of a file as garbage instead of cutting it off. If that
//! garbage holds a line break the session is reported as damaged rather than guessed at. Disks that lie about
//! having written are beyond any policy.

mod error;
mod name;
mod reading;
mod recorder;
mod repair;
mod writer;

pub use error::{Damage, LogError};
pub use recorder::LogRecorder;
pub use writer::LogWriter;

use lookback_model::session_query::{PersistedSession, PersistenceError, SessionLog, SessionPersistence};
use lookback_model::source::FileStamp;
use lookback_model::{Event, SessionHeader};
use lookback_readers::walk;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The only format version there is.
const VERSION: u32 = 0;
/// A line may have this many bytes, so that a damaged file cannot fill the memory.
pub const LINE_LIMIT: usize = 64 * 1024 * 1024;

/// When what was appended is forced onto the disk. See the module for what each survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fsync {
    /// Whenever the system likes.
    Never,
    /// Before an append returns.
    EachAppend,
    /// By the first append that ends this long after the last sync of its session.
    Every(Duration),
    /// By the append with which this many bytes have gathered in its session.
    EachBytes(u64),
}

/// Logs in a folder. All operations may run at once, in several processes as well: a session has one writer at a
/// time, and any number of readers.
#[derive(Debug)]
pub struct EventLog {
    folder: PathBuf,
    fsync: Fsync,
    /// What the beginnings of files said, so that a listing opens only files it has not seen.
    begun: Mutex<HashMap<OsString, Begun>>,
}

/// The beginning of a file: never written again, so it is read once.
#[derive(Clone, Debug)]
struct Begun {
    stamp: FileStamp,
    /// Length of the header and the first event.
    length: u64,
    header: SessionHeader,
}

/// A session that was opened for writing.
#[derive(Debug)]
pub struct Resumed {
    /// Writes what comes next.
    pub writer: LogWriter,
    /// The log, repairs included.
    pub log: SessionLog,
    /// Bytes of a torn record that were cut off.
    pub dropped_bytes: u64,
    /// How many of the last events were added because a turn was left open.
    pub repairs: usize,
}

/// The first line of a file.
#[derive(Debug, Serialize, Deserialize)]
struct HeaderLine {
    v: u32,
    header: SessionHeader,
}

impl EventLog {
    /// Logs in `folder`, which is made when it is not there, for its owner only.
    ///
    /// # Errors
    /// [`LogError::Io`] when it cannot be made.
    pub fn open(folder: impl Into<PathBuf>, fsync: Fsync) -> Result<Self, LogError> {
        let folder = folder.into();
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .create(&folder)
            .map_err(|error| LogError::io(&folder, error))?;
        Ok(Self {
            folder,
            fsync,
            begun: Mutex::default(),
        })
    }

    /// Begins a session. It is listed once it has an event.
    ///
    /// # Errors
    /// [`LogError::Exists`] when there is one of this id, [`LogError::InUse`] while somebody else creates it,
    /// [`LogError::Version`] for a header of another version, [`LogError::TooLong`], or [`LogError::Io`].
    pub fn create(&self, header: &SessionHeader) -> Result<LogWriter, LogError> {
        let path = self.path(&header.id);
        if header.version != VERSION {
            return Err(LogError::Version {
                path,
                found: header.version,
            });
        }
        let file = writer::open(&path, true)?;
        if reading::first_line(&path)?.is_some() {
            return Err(LogError::Exists {
                id: header.id.clone(),
            });
        }
        let line = HeaderLine {
            v: VERSION,
            header: header.clone(),
        };
        let mut bytes = serde_json::to_vec(&line).map_err(|error| LogError::unwritable(0, error))?;
        if bytes.len() > LINE_LIMIT {
            return Err(LogError::TooLong {
                seq: 0,
                bytes: bytes.len(),
            });
        }
        bytes.push(b'\n');
        let writer = LogWriter::begin(file, path, self.fsync, &bytes)?;
        if self.fsync != Fsync::Never {
            self.sync_folder()?;
        }
        Ok(writer)
    }

    /// Opens a session for writing, and repairs what its last writer left behind.
    ///
    /// # Errors
    /// [`LogError::NotFound`], [`LogError::InUse`] while it has another writer, [`LogError::Damaged`] when its
    /// committed part cannot be read, [`LogError::Version`], or [`LogError::Io`].
    pub fn resume(&self, session_id: &str) -> Result<Resumed, LogError> {
        let path = self.path(session_id);
        let not_found = || LogError::NotFound {
            id: session_id.to_owned(),
        };
        let file = writer::open(&path, false).map_err(|error| match error {
            LogError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => not_found(),
            error => error,
        })?;
        let read = reading::whole(&path, session_id)?.ok_or_else(not_found)?;
        let mut log = read.log;
        let next = log.events.len() as u64;
        let writer = LogWriter::go_on(file, path, self.fsync, read.committed, next)?;
        let repairs = repair::of_open_turn(&log.events);
        writer.append(&repairs)?;
        let count = repairs.len();
        log.events.extend(repairs);
        Ok(Resumed {
            writer,
            log,
            dropped_bytes: read.torn,
            repairs: count,
        })
    }

    /// Files that are no session that can be listed, and why: their header cannot be read, or names another session.
    ///
    /// # Errors
    /// [`LogError::Io`] when the folder cannot be listed.
    pub fn damaged(&self) -> Result<Vec<LogError>, LogError> {
        let mut damaged = Vec::new();
        for name in self.names()? {
            if let Err(error) = self.listed(&name) {
                damaged.push(error);
            }
        }
        Ok(damaged)
    }

    fn path(&self, session_id: &str) -> PathBuf {
        self.folder.join(name::of_session(session_id))
    }

    /// Names of all log files, sorted.
    fn names(&self) -> Result<Vec<OsString>, LogError> {
        let fail = |error| LogError::io(&self.folder, error);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(fail)? {
            let name = entry.map_err(fail)?.file_name();
            if name::is_log(&name) {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// A file's session; `None` when it has no event yet.
    fn listed(&self, name: &OsString) -> Result<Option<PersistedSession>, LogError> {
        let path = self.folder.join(name);
        let metadata = match fs::metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(LogError::io(&path, error)),
        };
        let stamp = walk::stamp(&metadata);
        let known = self.begun().get(name).cloned();
        let is_same = |begun: &Begun| begun.stamp.same_file(&stamp) && stamp.size >= begun.length;
        let header = match known.filter(is_same) {
            Some(begun) => begun.header,
            None => match begin(&path, name, stamp)? {
                None => return Ok(None),
                Some(begun) => {
                    let header = begun.header.clone();
                    self.begun().insert(name.clone(), begun);
                    header
                }
            },
        };
        Ok(Some(PersistedSession {
            header,
            agent: String::new(),
            revision: Some(stamp.revision()),
        }))
    }

    fn begun(&self) -> std::sync::MutexGuard<'_, HashMap<OsString, Begun>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the names in the folder durable; systems that cannot sync a folder need not.
    fn sync_folder(&self) -> Result<(), LogError> {
        if cfg!(not(unix)) {
            return Ok(());
        }
        File::open(&self.folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|error| LogError::io(&self.folder, error))
    }
}

/// Reads the beginning of a file; `None` when it has no whole event.
fn begin(path: &Path, name: &OsString, stamp: FileStamp) -> Result<Option<Begun>, LogError> {
    let Some((header, length)) = reading::beginning(path)? else {
        return Ok(None);
    };
    if name::of_session(&header.id) != *name {
        return Err(LogError::damaged(
            path,
            1,
            Damage::OtherSession { found: header.id },
        ));
    }
    Ok(Some(Begun {
        stamp,
        length,
        header,
    }))
}

impl SessionPersistence for EventLog {
    /// All sessions with an event. A file that is no session any more ([`EventLog::damaged`]) is left out: the
    /// others are read all the same.
    fn list(&self) -> Result<Vec<PersistedSession>, PersistenceError> {
        let names = self.names().map_err(PersistenceError::from)?;
        self.begun().retain(|name, _| names.binary_search(name).is_ok());
        let mut sessions = Vec::new();
        for name in names {
            match self.listed(&name) {
                Ok(session) => sessions.extend(session),
                Err(error @ LogError::Io { .. }) => return Err(error.into()),
                Err(_) => {}
            }
        }
        Ok(sessions)
    }

    /// One session's log as far as it is committed. The end of an open turn is not made up.
    fn inspect(&self, session_id: &str) -> Result<SessionLog, PersistenceError> {
        let read = reading::whole(&self.path(session_id), session_id)?;
        let read = read.ok_or_else(|| PersistenceError::NotFound {
            session_id: session_id.to_owned(),
        })?;
        Ok(read.log)
    }
}

/// An event in the spelling of the log, without its line break.
fn spelled(event: &Event) -> Result<Vec<u8>, LogError> {
    let bytes = serde_json::to_vec(event).map_err(|error| LogError::unwritable(event.seq, error))?;
    if bytes.len() > LINE_LIMIT {
        return Err(LogError::TooLong {
            seq: event.seq,
            bytes: bytes.len(),
        });
    }
    Ok(bytes)
}

#[cfg(test)]
#[path = "event_log_tests.rs"]
mod tests;
