//! Errors of SQLite, tantivy and the file system as the ports' one error.

use lookback_model::ports::StoreError;
use std::path::{Path, PathBuf};

/// Any error of a store below, with whether it was met while writing.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// Of the catalogue.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// Of the text index.
    #[error(transparent)]
    Tantivy(#[from] tantivy::TantivyError),
    /// Of a query against it.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Of stored JSON.
    #[error("stored data is not what was written")]
    Json(#[from] serde_json::Error),
    /// The text index is not the one the catalogue belongs to.
    #[error("the text index belongs to another catalogue")]
    Foreign,
    /// The text index was analysed as an earlier lookback did.
    #[error("the text index is of an earlier version")]
    Outdated,
    /// An indexing thread failed amid a segment, so that what others had added to it is gone.
    #[error("a part of the text index was lost while it was built; the next run builds it again")]
    LostSegment,
    /// The caller no longer waits for an answer.
    #[error("the search was aborted")]
    Aborted,
    /// The text index was written by a later lookback.
    #[error("a newer lookback wrote this text index, of version {0}")]
    NewerText(u64),
}

impl From<tantivy::directory::error::OpenDirectoryError> for Cause {
    fn from(error: tantivy::directory::error::OpenDirectoryError) -> Self {
        Self::Tantivy(error.into())
    }
}

impl Cause {
    /// Whether what is stored is at fault, so that only a rebuild helps.
    pub fn is_damage(&self) -> bool {
        use tantivy::TantivyError as Text;
        match self {
            Self::Sqlite(rusqlite::Error::SqliteFailure(failure, _)) => matches!(
                failure.code,
                rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase
            ),
            Self::Sqlite(_) | Self::Json(_) | Self::Foreign | Self::Outdated => true,
            Self::NewerText(_) | Self::LostSegment | Self::Aborted => false,
            Self::Tantivy(error) => !matches!(
                error,
                Text::IoError(_)
                    | Text::OpenWriteError(_)
                    | Text::LockFailure(..)
                    | Text::OpenDirectoryError(_)
            ),
            Self::Io(_) => false,
        }
    }

    /// As an error of reading `path`.
    pub fn reading(self, path: &Path) -> StoreError {
        StoreError::Read {
            path: path.to_owned(),
            source: Box::new(self),
        }
    }

    /// As an error of writing `path`.
    pub fn writing(self, path: &Path) -> StoreError {
        StoreError::Write {
            path: path.to_owned(),
            source: Box::new(self),
        }
    }
}

/// Result with a cause below.
pub(crate) type Result<T> = std::result::Result<T, Cause>;

/// Where the parts of a data folder lie.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The data folder.
    pub root: PathBuf,
}

impl Layout {
    /// The catalogue.
    pub(crate) fn catalogue(&self) -> PathBuf {
        self.root.join("catalogue.sqlite")
    }

    /// The text index.
    pub(crate) fn text(&self) -> PathBuf {
        self.root.join("text")
    }

    /// Sessions whose transcripts are gone.
    pub(crate) fn archive(&self) -> PathBuf {
        self.root.join("archive")
    }

    /// The writer's lock.
    pub(crate) fn lock(&self) -> PathBuf {
        self.root.join("lock")
    }
}
