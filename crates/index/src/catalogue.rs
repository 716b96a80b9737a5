//! The catalogue: files, how far each was read, and sessions, in one SQLite file.
//!
//! Readers open it read-only and never wait: it is kept in write-ahead mode. The writer's side is in
//! [`mod@write`], the ports' questions in [`mod@read`].

pub mod read;
pub mod write;

use crate::error::{Cause, Result};
use lookback_model::document::TextCaps;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Migrations in order; the catalogue's version is how many were applied.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/1.sql"),
    include_str!("migrations/2.sql"),
    include_str!("migrations/3.sql"),
];

/// The newest version known here.
pub const VERSION: u64 = MIGRATIONS.len() as u64;

/// Memory for pages that are not committed yet.
const CACHE_KIBIBYTES: i64 = 16 << 10;

/// Stamped into the file, so that a foreign database is never taken for a catalogue ("lkbk").
const APPLICATION_ID: i32 = 0x6c6b_626b;

/// Opens for reading; `None` while there is none, another process is just making it, or it is of an earlier
/// version, which the next writer brings up to this one.
///
/// # Errors
/// When the file cannot be opened or is no catalogue.
pub fn open_reader(path: &Path) -> Result<Option<Connection>> {
    if !path.exists() {
        return Ok(None);
    }
    let connection = open_existing(path)?;
    if version(&connection)? < VERSION {
        return Ok(None);
    }
    check_identity(&connection)?;
    Ok(Some(connection))
}

fn open_existing(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    let ready = prepare(&connection);
    if ready.is_ok() || has_log(path) {
        return ready.map(|()| connection);
    }
    // A folder that cannot be written has no room for the shared-memory file of write-ahead mode. With
    // nothing in the log, the file alone is the whole truth.
    let uri = format!("file:{}?immutable=1", percent_encoded(path));
    let connection = Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)?;
    prepare(&connection)?;
    Ok(connection)
}

fn prepare(connection: &Connection) -> Result<()> {
    connection.busy_timeout(Duration::from_secs(5))?;
    // The first look at the file: fails here when it cannot be read.
    version(connection)?;
    connection.pragma_update(None, "mmap_size", 256_i64 << 20)?;
    Ok(())
}

fn check_identity(connection: &Connection) -> Result<()> {
    let id: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if id == APPLICATION_ID {
        Ok(())
    } else {
        Err(Cause::Foreign)
    }
}

fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|metadata| metadata.len() > 0)
}

fn percent_encoded(path: &Path) -> String {
    let mut encoded = String::new();
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Opens for writing, makes the file when there is none, and migrates it.
///
/// # Errors
/// When the file cannot be opened or written.
pub fn open_writer(path: &Path) -> Result<Connection> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(30))?;
    let fresh = version(&connection)? == 0;
    if !fresh {
        check_identity(&connection)?;
    }
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    // Room for the rows of a first index: what does not fit is written before its commit, and then again.
    connection.pragma_update(None, "cache_size", -CACHE_KIBIBYTES)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    migrate(&mut connection)?;
    Ok(connection)
}

fn migrate(connection: &mut Connection) -> Result<()> {
    let applied = version(connection)?;
    let due = MIGRATIONS
        .get(usize::try_from(applied).unwrap_or(usize::MAX)..)
        .unwrap_or_default();
    if due.is_empty() {
        return Ok(());
    }
    // All at once: a reader never sees a version between two.
    let transaction = connection.transaction()?;
    for migration in due {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION as i64)?;
    transaction.commit()?;
    Ok(())
}

/// The version of a catalogue; 0 for an empty file.
///
/// # Errors
/// When it cannot be read.
pub fn version(connection: &Connection) -> Result<u64> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(version.unsigned_abs())
}

/// A value of the meta table.
///
/// # Errors
/// When it cannot be read.
pub fn meta(connection: &Connection, key: &str) -> Result<Option<String>> {
    let mut statement = connection.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
    Ok(statement.query_row([key], |row| row.get(0)).optional()?)
}

/// The same as a number; 0 when there is none.
///
/// # Errors
/// When it cannot be read.
pub fn meta_number(connection: &Connection, key: &str) -> Result<u64> {
    Ok(meta(connection, key)?
        .and_then(|value| value.parse().ok())
        .unwrap_or(0))
}

/// Writes a value of the meta table.
///
/// # Errors
/// When it cannot be written.
pub fn set_meta(connection: &Connection, key: &str, value: &str) -> Result<()> {
    let sql = "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2";
    connection.prepare_cached(sql)?.execute([key, value])?;
    Ok(())
}

/// How much text of tools the documents hold that were written so far.
///
/// # Errors
/// When it cannot be read.
pub fn text_caps(connection: &Connection) -> Result<TextCaps> {
    let written = meta(connection, "tool_text")?.and_then(|value| value.parse().ok());
    Ok(written.map_or_else(TextCaps::default, |tool_text| TextCaps { tool_text }))
}

/// The quickest: what is packed is written anew with every message.
const PACKING_LEVEL: i32 = 1;

/// Packs what is written often and read rarely; unpacked by [`unpack`].
///
/// # Errors
/// When there is no memory for it.
pub(crate) fn pack(bytes: &[u8]) -> Result<Vec<u8>> {
    thread_local! {
        // Making one takes longer than what it is used for.
        static PACKER: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
    }
    PACKER.with_borrow_mut(|packer| {
        let packer = match packer {
            Some(packer) => packer,
            None => packer.insert(zstd::bulk::Compressor::new(PACKING_LEVEL)?),
        };
        Ok(packer.compress(bytes)?)
    })
}

/// Undoes [`pack`].
///
/// # Errors
/// When the bytes were not packed by it.
pub(crate) fn unpack(packed: &[u8]) -> Result<Vec<u8>> {
    Ok(zstd::decode_all(packed)?)
}

/// A path as SQLite keeps it: its bytes, which need not be Unicode.
struct SqlPath<'a>(&'a Path);

impl ToSql for SqlPath<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(
            self.0.as_os_str().as_encoded_bytes(),
        )))
    }
}

#[cfg(unix)]
fn path_from(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

#[cfg(not(unix))]
fn path_from(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}
