//! Reading the catalogue.

use super::{meta_number, path_from};
use crate::error::Result;
use lookback_model::hit::{Presence, SessionRow};
use lookback_model::paths::PathScope;
use lookback_model::ports::{
    CatalogueCounts, FileCursor, FileId, FileReport, FileRow, FileState, IndexAge, SessionFilter,
};
use lookback_model::source::{FileRole, FileStamp, ReadAccount};
use lookback_model::{SessionFacts, SessionHeader, SessionOrdinal, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::{BTreeMap, HashMap};

const FILE_COLUMNS: &str =
    "files.id, files.agent, root, path, role, size, modified_ns, device, inode, state, presence";

fn file_row(row: &Row<'_>) -> rusqlite::Result<FileRow> {
    let role: String = row.get(4)?;
    let state: String = row.get(9)?;
    let presence: String = row.get(10)?;
    Ok(FileRow {
        id: FileId(row.get(0)?),
        agent: row.get(1)?,
        root: path_from(row.get(2)?),
        path: path_from(row.get(3)?),
        role: FileRole::from_name(&role),
        stamp: FileStamp {
            size: row.get::<_, i64>(5)? as u64,
            modified_ns: row.get(6)?,
            device: row.get::<_, i64>(7)? as u64,
            inode: row.get::<_, i64>(8)? as u64,
        },
        state: FileState::from_name(&state),
        presence: Presence::from_name(&presence),
    })
}

/// All files, each with the commit that last wrote its row.
///
/// # Errors
/// When the catalogue cannot be read.
pub fn files(connection: &Connection) -> Result<Vec<(FileRow, u64)>> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {FILE_COLUMNS}, generation FROM files"))?;
    let rows = statement.query_map([], |row| Ok((file_row(row)?, row.get::<_, i64>(11)? as u64)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Where a file's last read ended.
///
/// # Errors
/// When the catalogue cannot be read.
pub fn cursor(connection: &Connection, file: FileId) -> Result<FileCursor> {
    let mut statement = connection.prepare_cached("SELECT cursor, account FROM reads WHERE file = ?1")?;
    let found: Option<(Option<Vec<u8>>, String)> = statement
        .query_row([file.0], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((cursor, account)) = found else {
        return Ok(FileCursor::default());
    };
    let mut statement =
        connection.prepare_cached("SELECT session_id, ordinal FROM sessions WHERE file = ?1")?;
    let sessions = statement.query_map([file.0], |row| Ok((row.get(0)?, SessionOrdinal(row.get(1)?))))?;
    Ok(FileCursor {
        // A cursor of another version is as good as none: the file is read from its start.
        cursor: cursor.and_then(|packed| serde_json::from_slice(&super::unpack(&packed).ok()?).ok()),
        account: serde_json::from_str(&account).unwrap_or_default(),
        sessions: sessions.collect::<rusqlite::Result<_>>()?,
    })
}

/// Files with the account of their reads, in order of path.
///
/// # Errors
/// When the catalogue cannot be read.
pub fn file_reports(connection: &Connection) -> Result<Vec<FileReport>> {
    let mut sessions: HashMap<FileId, Vec<SessionRow>> = HashMap::new();
    for (file, session) in session_rows(connection, "", params![])? {
        sessions.entry(file).or_default().push(session);
    }
    let sql = format!(
        "SELECT {FILE_COLUMNS}, account, error FROM files LEFT JOIN reads ON reads.file = files.id ORDER BY path"
    );
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map([], |row| {
        Ok((
            file_row(row)?,
            row.get::<_, Option<String>>(11)?,
            row.get::<_, Option<String>>(12)?,
        ))
    })?;
    rows.map(|row| {
        let (row, account, error) = row?;
        let account: ReadAccount = account
            .and_then(|account| serde_json::from_str(&account).ok())
            .unwrap_or_default();
        let sessions = sessions.remove(&row.id).unwrap_or_default();
        Ok(FileReport {
            row,
            account,
            error,
            sessions,
        })
    })
    .collect()
}

/// Session rows with their files, by a condition on `sessions` and `files`.
fn session_rows(
    connection: &Connection,
    condition: &str,
    parameters: &[&dyn rusqlite::ToSql],
) -> Result<Vec<(FileId, SessionRow)>> {
    let sql = format!(
        "SELECT ordinal, sessions.agent, sessions.session_id, header, facts, shadowed, resume, path, presence,
            titles.title, files.id
        FROM sessions JOIN files ON files.id = sessions.file
        LEFT JOIN titles ON titles.agent = sessions.agent AND titles.session_id = sessions.session_id
        {condition}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(parameters)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push((FileId(row.get(10)?), session_row(row)?));
    }
    Ok(found)
}

fn session_row(row: &Row<'_>) -> Result<SessionRow> {
    let header: SessionHeader = serde_json::from_str(row.get_ref(3)?.as_str().unwrap_or_default())?;
    let facts: SessionFacts = serde_json::from_str(row.get_ref(4)?.as_str().unwrap_or_default())?;
    let shadowed = serde_json::from_str(row.get_ref(5)?.as_str().unwrap_or_default())?;
    let resume: Option<String> = row.get(6)?;
    let presence = Presence::from_name(row.get_ref(8)?.as_str().unwrap_or_default());
    let side_title: Option<String> = row.get(9)?;
    let title = side_title
        .or_else(|| facts.title.as_ref().map(|title| title.text.clone()))
        .unwrap_or_else(|| header.id.clone());
    let resume = match presence {
        Presence::Present => resume.and_then(|resume| serde_json::from_str(&resume).ok()),
        Presence::Unverifiable | Presence::Missing => None,
    };
    Ok(SessionRow {
        ordinal: SessionOrdinal(row.get(0)?),
        agent: row.get(1)?,
        session_id: row.get(2)?,
        header,
        facts,
        title,
        shadowed,
        path: path_from(row.get(7)?),
        presence,
        resume,
        copies: 0,
    })
}

/// A session by its ordinal; `None` when it is gone.
///
/// # Errors
/// When the catalogue cannot be read.
pub fn session(connection: &Connection, ordinal: SessionOrdinal) -> Result<Option<SessionRow>> {
    let rows = session_rows(connection, "WHERE ordinal = ?1", params![ordinal.0])?;
    Ok(rows.into_iter().next().map(|(_, session)| session))
}

/// The header of a session.
///
/// # Errors
/// When the catalogue cannot be read, or has no such session.
pub fn header(connection: &Connection, ordinal: SessionOrdinal) -> Result<SessionHeader> {
    let mut statement = connection.prepare_cached("SELECT header FROM sessions WHERE ordinal = ?1")?;
    let json: String = statement.query_row([ordinal.0], |row| row.get(0))?;
    Ok(serde_json::from_str(&json)?)
}

/// Sessions, last active first; of several files that hold one session only the fullest.
///
/// # Errors
/// When the catalogue cannot be read.
pub fn sessions(connection: &Connection, filter: &SessionFilter) -> Result<Vec<SessionRow>> {
    let paths = PathScope::of(&filter.paths);
    let rows = session_rows(connection, "", params![])?
        .into_iter()
        .map(|(_, session)| session);
    let mut kept = fullest(rows);
    kept.retain(|session| {
        let cwd = session.header.cwd.as_deref();
        filter.takes(&paths, &session.agent, cwd, &session.facts)
    });
    Ok(kept)
}

/// Sessions whose id is `id` or begins with it; an exact one alone.
///
/// # Errors
/// When the catalogue cannot be read.
pub fn find_sessions(connection: &Connection, id: &str) -> Result<Vec<SessionRow>> {
    let exact = session_rows(connection, "WHERE sessions.session_id = ?1", params![id])?;
    if !exact.is_empty() {
        return Ok(fullest(exact.into_iter().map(|(_, session)| session)));
    }
    let condition = "WHERE substr(sessions.session_id, 1, length(?1)) = ?1";
    let starting = session_rows(connection, condition, params![id])?;
    Ok(fullest(starting.into_iter().map(|(_, session)| session)))
}

/// One row for each session, the fullest of its copies, last active first.
fn fullest(rows: impl Iterator<Item = SessionRow>) -> Vec<SessionRow> {
    let mut rows: Vec<SessionRow> = rows.collect();
    let identity = |row: &SessionRow| (row.agent.clone(), row.session_id.clone());
    rows.sort_by_cached_key(|row| {
        let fullness = (
            row.facts.turns,
            row.facts.updated_at,
            row.presence == Presence::Present,
        );
        (identity(row), std::cmp::Reverse(fullness), row.path.clone())
    });
    let mut kept: Vec<SessionRow> = Vec::with_capacity(rows.len());
    for row in rows {
        match kept.last_mut() {
            Some(last) if identity(last) == identity(&row) => last.copies += 1,
            _ => kept.push(row),
        }
    }
    kept.sort_by_cached_key(|row| (std::cmp::Reverse(row.facts.updated_at), identity(row)));
    kept
}

/// When the index was last brought up to date.
///
/// # Errors
/// When the catalogue cannot be read.
pub fn age(connection: &Connection) -> Result<IndexAge> {
    let time = |key: &str| -> Result<Option<Timestamp>> {
        Ok(super::meta(connection, key)?
            .and_then(|value| value.parse().ok())
            .map(Timestamp))
    };
    Ok(IndexAge {
        generation: meta_number(connection, "generation")?,
        last_reconcile_at: time("last_reconcile_at")?,
        last_sweep_completed_at: time("last_sweep_completed_at")?,
    })
}

/// Counts.
///
/// # Errors
/// When the catalogue cannot be read.
pub fn counts(connection: &Connection) -> Result<CatalogueCounts> {
    let count = |sql: &str| -> Result<u64> {
        let mut statement = connection.prepare_cached(sql)?;
        Ok(statement
            .query_row([], |row| row.get::<_, i64>(0))?
            .unsigned_abs())
    };
    let mut counts = CatalogueCounts {
        // Of several files with one session only the fullest leads.
        sessions: count("SELECT count(*) FROM sessions WHERE leader = ordinal")?,
        age: age(connection)?,
        ..CatalogueCounts::default()
    };
    let missing = Presence::Missing.as_str();
    let sql =
        "SELECT state, presence, count(*) FROM files WHERE role = 'transcript' GROUP BY state, presence";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut vanished = 0;
    while let Some(row) = rows.next()? {
        let files = row.get::<_, i64>(2)?.unsigned_abs();
        let place = match FileState::from_name(row.get_ref(0)?.as_str().unwrap_or_default()) {
            _ if row.get_ref(1)?.as_str().unwrap_or_default() == missing => &mut vanished,
            FileState::Current => &mut counts.files_current,
            FileState::Due => &mut counts.files_due,
            FileState::Failed => &mut counts.files_failed,
        };
        *place += files;
    }
    if vanished > 0 {
        counts.sessions_missing =
            count("SELECT count(*) FROM sessions JOIN files ON files.id = file WHERE presence = 'missing'")?;
    }
    Ok(counts)
}

/// How many sessions each agent has.
///
/// # Errors
/// When the catalogue cannot be read.
pub fn sessions_by_agent(connection: &Connection) -> Result<BTreeMap<String, u64>> {
    let sql = "SELECT agent, count(*) FROM sessions WHERE leader = ordinal GROUP BY agent";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
