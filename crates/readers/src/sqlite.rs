//! Agents' live databases, read without leaving a trace: no lock that a writer could meet, no copy, and no
//! file made, changed or removed beside them.
//!
//! How one is opened depends on what lies beside it:
//!
//! - **A log and its index** (`-wal`, `-shm`): an agent is at work, or went without closing. SQLite's own way of
//!   reading beside a writer is used, with the index opened for reading only.
//! - **A log without an index**: a copy, or a crash. SQLite builds the index in memory.
//! - **An open transaction's journal** (`-journal`): SQLite's locks decide; a busy one is told as such.
//! - **Neither**: the file is taken as it is, without locks.
//!
//! Where no lock keeps a writer away, [`Store::check`] tells afterwards whether one came.

use crate::{lines, walk};
use lookback_model::source::{FileStamp, IssueCode, ReadError, SourceFile};
use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use std::borrow::Cow;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a lock of a writer is waited for.
const BUSY: Duration = Duration::from_millis(500);
/// Near a checkpoint an opening can fail for a moment.
const ATTEMPTS: usize = 3;

/// A database that is open for reading, at one moment of it.
pub struct Store {
    connection: Connection,
    path: PathBuf,
    access: Access,
    /// Its marks before anything was read.
    before: Marks,
}

/// How a database is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// Beside a writer, by the index of its log.
    Beside,
    /// By an index of the log in memory.
    OwnIndex,
    /// By SQLite's locks.
    Locked,
    /// As a file that nobody writes.
    Still,
}

impl Access {
    /// The parameters that ask SQLite for it.
    fn parameters(self) -> &'static str {
        match self {
            Self::Beside => "mode=ro&readonly_shm=1",
            // With locks, exclusive mode would want one to write; `nolock` would leave out the log.
            Self::OwnIndex if cfg!(windows) => "mode=ro&vfs=win32-none",
            Self::OwnIndex => "mode=ro&vfs=unix-none",
            Self::Locked => "mode=ro",
            Self::Still => "mode=ro&immutable=1",
        }
    }

    /// What a database's neighbours ask for.
    fn of(path: &Path) -> Self {
        let log = length(&beside(path, "-wal"));
        let has_index = length(&beside(path, "-shm")).is_some();
        match log {
            Some(_) if has_index => Self::Beside,
            Some(1..) => Self::OwnIndex,
            _ if length(&beside(path, "-journal")).is_some_and(|length| length > 0) => Self::Locked,
            _ => Self::Still,
        }
    }
}

/// What tells whether a database was written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marks {
    database: Option<FileStamp>,
    log: Option<FileStamp>,
}

impl Marks {
    fn of(path: &Path) -> Self {
        let of = |path: &Path| fs::metadata(path).ok().map(|metadata| walk::stamp(&metadata));
        Self {
            database: of(path),
            log: of(&beside(path, "-wal")),
        }
    }
}

impl Store {
    /// Opens a database at the moment it is in.
    ///
    /// # Errors
    /// [`ReadError::NoSession`] when it is empty or no database, [`ReadError::Io`] when it is locked or the
    /// operating system refuses.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let length = fs::File::open(path)
            .and_then(|file| file.metadata())
            .map_err(|source| io_error(path, source))?
            .len();
        if length == 0 && self::length(&beside(path, "-wal")).unwrap_or(0) == 0 {
            return Err(no_session(path, IssueCode::EmptyFile, "it is empty"));
        }
        let mut attempt = 1;
        loop {
            let before = Marks::of(path);
            let access = Access::of(path);
            match connect(path, access) {
                Ok(connection) => {
                    return Ok(Self {
                        connection,
                        path: path.to_owned(),
                        access,
                        before,
                    });
                }
                Err(error) if attempt == ATTEMPTS || !may_pass(&error) => {
                    return Err(read_error(path, error));
                }
                Err(_) => attempt += 1,
            }
        }
    }

    /// The connection, within a transaction that holds the moment.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The columns of a table or view; empty when there is none of this name.
    ///
    /// # Errors
    /// As [`Store::error`].
    pub fn columns(&self, table: &str) -> Result<Vec<String>, ReadError> {
        let columns = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self
                .connection
                .prepare_cached("SELECT name FROM pragma_table_info(?1)")?;
            let names = statement.query_map([table], |row| row.get(0))?;
            names.collect()
        };
        columns().map_err(|error| self.error(error))
    }

    /// The columns of a table as a list for `SELECT`, those that it does not have as `NULL`: agents add columns,
    /// and one that is not there yet would fail the whole statement.
    ///
    /// # Errors
    /// As [`Store::columns`].
    pub fn select(&self, table: &str, wanted: &[&str]) -> Result<String, ReadError> {
        let held = self.columns(table)?;
        let column = |name: &&str| {
            if held.iter().any(|held| held == name) {
                format!("{table}.{name} AS {name}")
            } else {
                format!("NULL AS {name}")
            }
        };
        Ok(wanted.iter().map(column).collect::<Vec<_>>().join(", "))
    }

    /// The bytes of a value of any length in bounded memory: a long one is condensed as a long line is. Gives
    /// also how many bytes of text that cost.
    ///
    /// # Errors
    /// What SQLite fails with.
    pub fn condensed(&self, table: &str, column: &str, rowid: i64) -> rusqlite::Result<(Vec<u8>, u64)> {
        let blob = self
            .connection
            .blob_open(rusqlite::MAIN_DB, table, column, rowid, true)?;
        lines::document(blob).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
    }

    /// What an error of a statement means for the file.
    pub fn error(&self, error: rusqlite::Error) -> ReadError {
        match self.check() {
            Ok(()) => read_error(&self.path, error),
            Err(changed) => changed,
        }
    }

    /// Whether what was read is of one moment.
    ///
    /// # Errors
    /// [`ReadError::Changed`] when a writer came that nothing kept away.
    pub fn check(&self) -> Result<(), ReadError> {
        let now = Marks::of(&self.path);
        let holds = match self.access {
            Access::Beside | Access::Locked => true,
            Access::OwnIndex => now == self.before,
            // A log that was begun meanwhile leaves the file as it was until it is put back into it.
            Access::Still => now.database == self.before.database,
        };
        if holds {
            return Ok(());
        }
        Err(ReadError::Changed {
            path: self.path.clone(),
        })
    }
}

/// The values of a row by the names of its columns, whatever types they have: SQLite holds any type in any
/// column.
#[derive(Clone, Copy)]
pub struct Fields<'r>(pub &'r Row<'r>);

impl<'r> Fields<'r> {
    fn value(&self, name: &str) -> ValueRef<'r> {
        self.0.get_ref(name).unwrap_or(ValueRef::Null)
    }

    /// The bytes of a text or blob; empty for anything else.
    pub fn bytes(&self, name: &str) -> &'r [u8] {
        match self.value(name) {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
            _ => &[],
        }
    }

    /// A text, or a number as text; `None` when there is none or it is empty.
    pub fn text(&self, name: &str) -> Option<Cow<'r, str>> {
        let text = match self.value(name) {
            ValueRef::Null => return None,
            ValueRef::Integer(number) => Cow::Owned(number.to_string()),
            ValueRef::Real(number) => Cow::Owned(number.to_string()),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes),
        };
        (!text.is_empty()).then_some(text)
    }

    /// A number, also one that stands as text.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.value(name) {
            ValueRef::Integer(number) => Some(number as f64),
            ValueRef::Real(number) => Some(number),
            ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok()?.trim().parse().ok(),
            ValueRef::Null | ValueRef::Blob(_) => None,
        }
    }

    /// A whole number, also one that stands as text.
    pub fn integer(&self, name: &str) -> Option<i64> {
        match self.value(name) {
            ValueRef::Integer(number) => Some(number),
            _ => self
                .number(name)
                .filter(|number| number.is_finite())
                .map(|number| number as i64),
        }
    }

    /// Whether a number stands there that is not 0.
    pub fn is_set(&self, name: &str) -> bool {
        self.integer(name).is_some_and(|number| number != 0)
    }
}

/// Whether something stands in the database that cannot stand there, which may concern only a part of it.
pub fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
    ) || matches!(
        code(error),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}

/// Makes the stamps of databases cover their logs, so that what is only in a log is a change as well.
pub fn cover_logs(files: &mut [SourceFile]) {
    for file in files {
        let Ok(metadata) = fs::metadata(beside(&file.path, "-wal")) else {
            continue;
        };
        let log = walk::stamp(&metadata);
        file.stamp.size = file.stamp.size.saturating_add(log.size);
        file.stamp.modified_ns = file.stamp.modified_ns.max(log.modified_ns);
    }
}

/// The path of what SQLite keeps beside a database.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

fn length(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|metadata| metadata.len())
}

fn connect(path: &Path, access: Access) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri(path, access.parameters()), flags)?;
    // What closes last would put the log back into the database.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.busy_timeout(BUSY)?;
    if access == Access::OwnIndex {
        // Said before anything is read, this is what keeps the index of the log out of the file system.
        connection.query_row("PRAGMA locking_mode = EXCLUSIVE", [], |_| Ok(()))?;
    }
    connection.execute_batch("BEGIN")?;
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
    Ok(connection)
}

/// The path as SQLite's URI, every byte that could mean something else escaped.
fn uri(path: &Path, parameters: &str) -> String {
    let mut uri = String::from("file:");
    let bytes = path.as_os_str().as_encoded_bytes();
    let is_drive = matches!(bytes, [drive, b':', ..] if drive.is_ascii_alphabetic());
    if cfg!(windows) && is_drive {
        uri.push('/');
    }
    for &byte in bytes {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            b':' if cfg!(windows) => uri.push(':'),
            other if other.is_ascii_alphanumeric() => uri.push(char::from(other)),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri.push('?');
    uri.push_str(parameters);
    uri
}

fn code(error: &rusqlite::Error) -> Option<ErrorCode> {
    error.sqlite_error_code()
}

fn may_pass(error: &rusqlite::Error) -> bool {
    matches!(
        code(error),
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::ReadOnly)
    )
}

fn read_error(path: &Path, error: rusqlite::Error) -> ReadError {
    let detail = error.to_string();
    if is_damage(&error) {
        return no_session(path, IssueCode::DamagedDatabase, &detail);
    }
    match code(&error) {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            io_error(path, io::Error::new(io::ErrorKind::WouldBlock, detail))
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => {
            let detail = format!("it cannot be read without writing to it: {detail}");
            no_session(path, IssueCode::UnreadableDatabase, &detail)
        }
        _ => io_error(path, io::Error::other(error)),
    }
}

fn no_session(path: &Path, code: IssueCode, detail: &str) -> ReadError {
    ReadError::NoSession {
        path: path.to_owned(),
        code,
        detail: detail.to_owned(),
    }
}

fn io_error(path: &Path, source: io::Error) -> ReadError {
    ReadError::Io {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
#[path = "sqlite_tests.rs"]
mod tests;
