//! Writing the catalogue: one transaction for each commit of the index.

use super::SqlPath;
use crate::error::Result;
use lookback_model::hit::Presence;
use lookback_model::ports::{Batch, FileFailure, FileId, FileRead, FileState, SessionRead};
use lookback_model::source::{SideTitle, SourceFile};
use lookback_model::{SessionOrdinal, Timestamp};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use std::path::Path;

/// The sessions that applying a batch takes away.
///
/// # Errors
/// When the catalogue cannot be read.
pub fn retired(connection: &Connection, batch: &Batch) -> Result<Vec<SessionOrdinal>> {
    let mut retired = Vec::new();
    // A first index takes nothing away, and asks nothing for each of its files.
    let is_empty = "SELECT NOT EXISTS (SELECT 1 FROM files)";
    if connection.query_row(is_empty, [], |row| row.get(0))? {
        return Ok(retired);
    }
    for read in &batch.read {
        let known = match read.id {
            Some(id) => Some(id),
            None => file_at(connection, &read.file)?,
        };
        if let Some(id) = known {
            retired.extend(retired_of(connection, id, read)?);
        }
        for file in superseded_by(connection, read)? {
            retired.extend(sessions_of(connection, file)?);
        }
    }
    Ok(retired)
}

/// Rows that stand for sessions which were fed, and which a transcript turns out to hold.
fn superseded_by(connection: &Connection, read: &FileRead) -> Result<Vec<FileId>> {
    let mut files = Vec::new();
    let any = "SELECT EXISTS (SELECT 1 FROM files WHERE role = 'fed')";
    if !connection.prepare_cached(any)?.query_row([], |row| row.get(0))? {
        return Ok(files);
    }
    let sql = "SELECT files.id FROM sessions JOIN files ON files.id = sessions.file
        WHERE sessions.agent = ?1 AND sessions.session_id = ?2 AND role = 'fed'";
    let mut statement = connection.prepare_cached(sql)?;
    for session in &read.sessions {
        let name = params![read.file.agent, session.session.header.id];
        let found = statement.query_map(name, |row| row.get(0).map(FileId))?;
        for file in found {
            files.push(file?);
        }
    }
    Ok(files)
}

/// The row of a session that was fed and no transcript holds.
///
/// # Errors
/// When the catalogue cannot be read.
pub fn fed_at(connection: &Connection, path: &Path) -> Result<Option<FileId>> {
    let sql = "SELECT id FROM files WHERE path = ?1 AND role = 'fed'";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement
        .query_row([SqlPath(path)], |row| row.get(0).map(FileId))
        .optional()?)
}

/// Adds the row of a session that was fed and no transcript holds.
///
/// # Errors
/// When the catalogue cannot be written.
pub fn add_fed_file(transaction: &Transaction<'_>, file: &SourceFile, generation: u64) -> Result<FileId> {
    write_file(transaction, None, file, FileState::Current, generation)
}

/// A transcript is to be read from the start: what the catalogue has of it does not stem from there.
///
/// # Errors
/// When the catalogue cannot be written.
pub fn owe_read(transaction: &Transaction<'_>, file: FileId, generation: u64) -> Result<()> {
    transaction
        .prepare_cached("UPDATE reads SET cursor = NULL WHERE file = ?1")?
        .execute([file.0])?;
    let sql = "UPDATE files SET generation = ?2, state = CASE state WHEN 'current' THEN 'due' ELSE state END
        WHERE id = ?1";
    transaction
        .prepare_cached(sql)?
        .execute(params![file.0, generation as i64])?;
    Ok(())
}

/// Writes a session of a file, in the place of another.
///
/// # Errors
/// When the catalogue cannot be written.
pub fn write_session_of(
    transaction: &Transaction<'_>,
    file: FileId,
    agent: &str,
    read: &SessionRead,
    replaces: Option<SessionOrdinal>,
) -> Result<()> {
    if let Some(replaced) = replaces {
        delete_session(transaction, replaced)?;
    }
    write_session(transaction, file, agent, read)?;
    choose_leader(transaction, agent, &read.session.header.id)
}

fn retired_of(connection: &Connection, file: FileId, read: &FileRead) -> Result<Vec<SessionOrdinal>> {
    let mut sessions = sessions_of(connection, file)?;
    sessions.retain(|ordinal| read.sessions.iter().all(|session| session.ordinal != *ordinal));
    Ok(sessions)
}

fn file_at(connection: &Connection, file: &SourceFile) -> Result<Option<FileId>> {
    let mut statement = connection.prepare_cached("SELECT id FROM files WHERE path = ?1")?;
    Ok(statement
        .query_row([SqlPath(&file.path)], |row| row.get(0).map(FileId))
        .optional()?)
}

/// Writes a batch as part of the commit `generation`.
///
/// # Errors
/// When the catalogue cannot be written.
pub fn apply(transaction: &Transaction<'_>, batch: &Batch, generation: u64) -> Result<()> {
    for read in &batch.read {
        write_read(transaction, read, generation)?;
    }
    for failure in &batch.failed {
        write_failure(transaction, failure, generation)?;
    }
    for (id, file) in &batch.restamped {
        write_stamp(transaction, *id, file)?;
    }
    for &(id, presence) in &batch.presence {
        transaction
            .prepare_cached("UPDATE files SET presence = ?2 WHERE id = ?1")?
            .execute(params![id.0, presence.as_str()])?;
    }
    for title in &batch.titles {
        write_title(transaction, title)?;
    }
    super::set_meta(transaction, "last_reconcile_at", &batch.time.0.to_string())?;
    if batch.sweep_completed {
        super::set_meta(transaction, "last_sweep_completed_at", &batch.time.0.to_string())?;
    }
    Ok(())
}

fn write_read(transaction: &Transaction<'_>, read: &FileRead, generation: u64) -> Result<()> {
    let id = write_file(transaction, read.id, &read.file, FileState::Current, generation)?;
    let cursor = super::pack(&serde_json::to_vec(&read.cursor)?)?;
    let account = serde_json::to_string(&read.account)?;
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO reads (file, cursor, account, error) VALUES (?1, ?2, ?3, NULL)",
        )?
        .execute(params![id.0, cursor, account])?;
    for ordinal in retired_of(transaction, id, read)? {
        delete_session(transaction, ordinal)?;
    }
    for file in superseded_by(transaction, read)? {
        delete_file(transaction, file)?;
    }
    for session in &read.sessions {
        write_session(transaction, id, &read.file.agent, session)?;
    }
    for session in &read.sessions {
        choose_leader(transaction, &read.file.agent, &session.session.header.id)?;
    }
    Ok(())
}

fn delete_session(transaction: &Transaction<'_>, ordinal: SessionOrdinal) -> Result<()> {
    let sql = "DELETE FROM sessions WHERE ordinal = ?1 RETURNING agent, session_id";
    let name: Option<(String, String)> = transaction
        .prepare_cached(sql)?
        .query_row([ordinal.0], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match name {
        Some((agent, id)) => choose_leader(transaction, &agent, &id),
        None => Ok(()),
    }
}

/// Takes a file and its sessions out of the catalogue; gives the sessions.
///
/// # Errors
/// When the catalogue cannot be written.
pub fn delete_file(transaction: &Transaction<'_>, file: FileId) -> Result<Vec<SessionOrdinal>> {
    let sessions = sessions_of(transaction, file)?;
    for session in &sessions {
        delete_session(transaction, *session)?;
    }
    transaction
        .prepare_cached("DELETE FROM files WHERE id = ?1")?
        .execute([file.0])?;
    Ok(sessions)
}

/// Of sessions with one agent and id, the fullest stands for all.
fn choose_leader(transaction: &Transaction<'_>, agent: &str, session_id: &str) -> Result<()> {
    // Nearly always there is one, which leads itself since it was written.
    let sql = "SELECT count(*) = 1 AND min(leader = ordinal) FROM sessions
        WHERE agent = ?1 AND session_id = ?2";
    let leads_itself: Option<bool> = transaction
        .prepare_cached(sql)?
        .query_row([agent, session_id], |row| row.get(0))?;
    if leads_itself == Some(true) {
        return Ok(());
    }
    // Of equals the first by path: the order in which files were read must not show.
    let sql = "UPDATE sessions SET leader = (
            SELECT ordinal FROM sessions AS copy JOIN files ON files.id = copy.file
            WHERE copy.agent = ?1 AND copy.session_id = ?2
            ORDER BY turns DESC, updated_at DESC, path, ordinal LIMIT 1)
        WHERE agent = ?1 AND session_id = ?2";
    transaction.prepare_cached(sql)?.execute([agent, session_id])?;
    Ok(())
}

/// The sessions of a file.
///
/// # Errors
/// When the catalogue cannot be read.
pub fn sessions_of(connection: &Connection, file: FileId) -> Result<Vec<SessionOrdinal>> {
    let mut statement = connection.prepare_cached("SELECT ordinal FROM sessions WHERE file = ?1")?;
    let rows = statement.query_map([file.0], |row| row.get(0).map(SessionOrdinal))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn write_failure(transaction: &Transaction<'_>, failure: &FileFailure, generation: u64) -> Result<()> {
    let id = write_file(
        transaction,
        failure.id,
        &failure.file,
        FileState::Failed,
        generation,
    )?;
    let account = serde_json::to_string(&failure.account)?;
    let sql = "INSERT INTO reads (file, cursor, account, error) VALUES (?1, NULL, ?2, ?3)
        ON CONFLICT (file) DO UPDATE SET cursor = NULL, account = ?2, error = ?3";
    transaction
        .prepare_cached(sql)?
        .execute(params![id.0, account, failure.error])?;
    Ok(())
}

fn write_file(
    transaction: &Transaction<'_>,
    id: Option<FileId>,
    file: &SourceFile,
    state: FileState,
    generation: u64,
) -> Result<FileId> {
    if let Some(id) = id {
        write_stamp(transaction, id, file)?;
        transaction
            .prepare_cached("UPDATE files SET state = ?2, generation = ?3 WHERE id = ?1")?
            .execute(params![id.0, state.as_str(), generation as i64])?;
        return Ok(id);
    }
    let sql = "INSERT INTO files
        (agent, root, path, role, size, modified_ns, device, inode, state, presence, generation)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
        ON CONFLICT (path) DO UPDATE SET size = ?5, modified_ns = ?6, device = ?7, inode = ?8, state = ?9,
            presence = ?10, generation = ?11
        RETURNING id";
    let stamp = &file.stamp;
    let id = transaction.prepare_cached(sql)?.query_row(
        params![
            file.agent,
            SqlPath(&file.root),
            SqlPath(&file.path),
            file.role.as_str(),
            stamp.size as i64,
            stamp.modified_ns,
            stamp.device as i64,
            stamp.inode as i64,
            state.as_str(),
            Presence::Present.as_str(),
            generation as i64,
        ],
        |row| row.get(0),
    )?;
    Ok(FileId(id))
}

/// A file has these marks, stands at this path, and is there.
fn write_stamp(transaction: &Transaction<'_>, id: FileId, file: &SourceFile) -> Result<()> {
    // Another row may hold the path a moved file has come to; that file is no longer there.
    let taken: Option<i64> = transaction
        .prepare_cached("SELECT id FROM files WHERE path = ?1 AND id <> ?2")?
        .query_row(params![SqlPath(&file.path), id.0], |row| row.get(0))
        .optional()?;
    if let Some(other) = taken {
        let mut elsewhere = file.path.as_os_str().as_encoded_bytes().to_vec();
        elsewhere.extend_from_slice(format!("\0{other}").as_bytes());
        transaction
            .prepare_cached("UPDATE files SET path = ?2, presence = 'missing' WHERE id = ?1")?
            .execute(params![other, elsewhere])?;
    }
    let sql = "UPDATE files SET path = ?2, root = ?3, size = ?4, modified_ns = ?5, device = ?6, inode = ?7,
        presence = 'present' WHERE id = ?1";
    let stamp = &file.stamp;
    transaction.prepare_cached(sql)?.execute(params![
        id.0,
        SqlPath(&file.path),
        SqlPath(&file.root),
        stamp.size as i64,
        stamp.modified_ns,
        stamp.device as i64,
        stamp.inode as i64,
    ])?;
    Ok(())
}

fn write_session(transaction: &Transaction<'_>, file: FileId, agent: &str, read: &SessionRead) -> Result<()> {
    let sql = "INSERT OR REPLACE INTO sessions
        (ordinal, file, agent, session_id, kind, hidden, cwd, created_at, updated_at, turns, first_copy_key,
         leader, header, facts, shadowed, resume, recalls)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";
    let (header, facts) = (&read.session.header, &read.session.facts);
    let resume = read.resume.as_ref().map(serde_json::to_string).transpose()?;
    let time = |time: Option<Timestamp>| time.map(|time| time.0);
    transaction.prepare_cached(sql)?.execute(params![
        read.ordinal.0,
        file.0,
        agent,
        header.id,
        facts.kind.as_str(),
        facts.hidden,
        header.cwd,
        time(facts.created_at),
        time(facts.updated_at),
        facts.turns as i64,
        facts.first_copy_key as i64,
        read.ordinal.0,
        serde_json::to_string(header)?,
        serde_json::to_string(facts)?,
        serde_json::to_string(&read.session.shadowed)?,
        resume,
        facts.recalls as i64,
    ])?;
    Ok(())
}

fn write_title(transaction: &Transaction<'_>, title: &SideTitle) -> Result<()> {
    if title.title.trim().is_empty() {
        transaction
            .prepare_cached("DELETE FROM titles WHERE agent = ?1 AND session_id = ?2")?
            .execute([&title.agent, &title.session_id])?;
        return Ok(());
    }
    transaction
        .prepare_cached("INSERT OR REPLACE INTO titles (agent, session_id, title) VALUES (?1, ?2, ?3)")?
        .execute([&title.agent, &title.session_id, &title.title])?;
    Ok(())
}

/// Marks what the text index never got as due: rows written by commits after `generation`.
///
/// # Errors
/// When the catalogue cannot be written.
pub fn owe_reads_after(connection: &Connection, generation: u64) -> Result<()> {
    // Nothing is ever read for these; whoever fed them feeds them again.
    connection.execute(
        "DELETE FROM files WHERE generation > ?1 AND role = 'fed'",
        [generation as i64],
    )?;
    connection.execute(
        "UPDATE reads SET cursor = NULL WHERE file IN (SELECT id FROM files WHERE generation > ?1)",
        [generation as i64],
    )?;
    connection.execute(
        "UPDATE files SET state = 'due' WHERE generation > ?1 AND state = 'current'",
        [generation as i64],
    )?;
    Ok(())
}

/// Marks everything that is not known to be gone as due.
///
/// # Errors
/// When the catalogue cannot be written.
pub fn owe_reads_of_present(connection: &Connection) -> Result<()> {
    connection.execute_batch(
        "UPDATE reads SET cursor = NULL WHERE file IN (SELECT id FROM files WHERE presence <> 'missing');
        UPDATE files SET state = 'due' WHERE state = 'current' AND presence <> 'missing' AND role <> 'fed';
        UPDATE sessions SET fingerprint = '', revision = NULL WHERE fingerprint <> '';",
    )?;
    Ok(())
}

/// Marks everything that is present as due, for a text index that begins anew. Rows of files that are gone
/// are dropped: the archive brings them back. So are those that stand for no file: they are fed again.
///
/// # Errors
/// When the catalogue cannot be written.
pub fn owe_all_reads(connection: &Connection) -> Result<()> {
    connection.execute_batch(
        "DELETE FROM files WHERE presence = 'missing' OR role = 'fed';
        UPDATE reads SET cursor = NULL;
        UPDATE files SET state = 'due' WHERE state = 'current';
        DELETE FROM sessions;
        DELETE FROM meta WHERE key = 'text_generation';",
    )?;
    Ok(())
}
