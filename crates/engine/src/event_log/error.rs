//! Why a log could not be written or read.

use lookback_model::session_query::PersistenceError;
use std::io;
use std::path::{Path, PathBuf};

/// Why an operation on a log failed.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The operating system refused.
    #[error("cannot use {path}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What it said.
        #[source]
        source: io::Error,
    },
    /// A record of the committed part cannot be used.
    #[error("line {line} of {path} is damaged")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        #[source]
        damage: Damage,
    },
    /// The log has a version that is not read here; nothing is migrated.
    #[error("{path} has version {found}, only 0 is read")]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// There is a session of this id already.
    #[error("session {id} exists already")]
    Exists {
        /// The id.
        id: String,
    },
    /// There is no session of this id.
    #[error("no session {id} is kept")]
    NotFound {
        /// The id.
        id: String,
    },
    /// The session has a writer already, in this process or another.
    #[error("{path} is being written by somebody else")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// An event was appended that does not follow the last one.
    #[error("event {found} was appended where {expected} is next")]
    OutOfOrder {
        /// The next seq.
        expected: u64,
        /// The event's.
        found: u64,
    },
    /// An event, or the header, is longer than a line may be.
    #[error("event {seq} has {bytes} bytes as JSON, more than a line may have")]
    TooLong {
        /// The event; 0 for the header as well.
        seq: u64,
        /// Its length.
        bytes: usize,
    },
    /// An event has a value that its JSON cannot be read back from, such as one nested too deeply.
    #[error("event {seq} cannot be kept as JSON")]
    NotJson {
        /// The event.
        seq: u64,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The writer was closed, or failed in a way that it could not take back.
    #[error("the writer of {path} is closed")]
    Closed {
        /// The file.
        path: PathBuf,
    },
}

/// What is wrong with a record.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// It is no JSON, or none of a record.
    #[error("it is no record")]
    NotARecord(#[source] serde_json::Error),
    /// Its seq is not that of its line.
    #[error("event {found} stands where {expected} is expected")]
    Gap {
        /// The seq that belongs there.
        expected: u64,
        /// The one that stands there.
        found: u64,
    },
    /// It is longer than a line may be.
    #[error("it is longer than a line may be")]
    TooLong,
    /// The header is of a session that belongs into another file.
    #[error("it is the header of session {found}")]
    OtherSession {
        /// The session it names.
        found: String,
    },
}

impl LogError {
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }

    pub(super) fn damaged(path: &Path, line: u64, damage: Damage) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            line,
            damage,
        }
    }

    pub(super) fn unwritable(seq: u64, source: serde_json::Error) -> Self {
        Self::NotJson { seq, source }
    }
}

impl From<LogError> for PersistenceError {
    fn from(error: LogError) -> Self {
        match error {
            LogError::NotFound { id } => Self::NotFound { session_id: id },
            error => Self::Other(Box::new(error)),
        }
    }
}
