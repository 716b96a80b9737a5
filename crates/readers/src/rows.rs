//! Databases that hold many sessions: which of them changed, and each read on from its last row or anew.
//!
//! A format lists its sessions, each with a mark that changes whenever the session does, and tells one session
//! after the other. What was read before is remembered by these marks; of the sessions that were read last also
//! their logs and the row they ended at, so that one more message costs one message. Agents rewrite rows in
//! place, so a format also marks the rows before that one, and a session whose earlier rows changed is read anew.
//!
//! A session that is listed no more has vanished only if the list was complete; it is then forgotten here, and
//! what was read of it stays with the receiver.

use crate::log::{LogState, SessionLog};
use crate::sqlite::{self, Store};
use crate::{mend, packed};
use lookback_model::source::{
    EventSink, IssueCode, Position, ReadAccount, ReadCursor, ReadError, ReadOutcome, SinkClosed, SourceFile,
};
use rusqlite::types::ValueRef;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// A format whose sessions are rows of a database.
pub trait RowFormat {
    /// Every session of the store.
    ///
    /// # Errors
    /// [`ReadError`] when the list would not be complete.
    fn sessions(&self, store: &Store) -> Result<Vec<Listed>, ReadError>;

    /// A mark of a session's rows up to `row`, which changes when one of them is changed, added or removed.
    ///
    /// # Errors
    /// What SQLite fails with; the session is then read anew.
    fn mark_up_to(&self, store: &Store, session: &Listed, row: i64) -> rusqlite::Result<u64>;

    /// Tells a session: all of it, or what comes after the row `after`.
    ///
    /// # Errors
    /// [`Stop`]; what was told until then counts.
    fn tell(
        &self,
        store: &Store,
        session: &Listed,
        after: Option<i64>,
        telling: &mut Telling<'_>,
    ) -> Result<(), Stop>;
}

/// A session of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its id in the agent's own terms.
    pub id: String,
    /// What its rows are found by.
    pub key: String,
    /// Changes whenever anything of it does.
    pub mark: u64,
}

/// Why a session is told no further.
#[derive(Debug)]
pub enum Stop {
    /// The receiver wants nothing more.
    Closed(SinkClosed),
    /// The store failed.
    Store(rusqlite::Error),
    /// What came does not follow what was read: it must be read anew.
    Anew,
}

impl From<SinkClosed> for Stop {
    fn from(closed: SinkClosed) -> Self {
        Self::Closed(closed)
    }
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error)
    }
}

/// A session's log while its rows are told, and the account of these rows.
pub struct Telling<'s> {
    /// The log.
    pub log: SessionLog<'s>,
    account: &'s mut ReadAccount,
    /// Rows of this session so far.
    rows: u64,
    /// Rows of this session that an earlier read has accounted for.
    accounted: u64,
    settled: Option<i64>,
}

impl Telling<'_> {
    /// A row gave events.
    pub fn record(&mut self, bytes: usize) {
        self.row(bytes, |account| account.records += 1);
    }

    /// A row holds the agent's state.
    pub fn bookkeeping(&mut self, bytes: usize) {
        self.row(bytes, |account| account.bookkeeping += 1);
    }

    /// A row could not be read.
    pub fn lost(&mut self, bytes: usize, code: IssueCode, detail: impl Into<String>) {
        let detail = detail.into();
        let line = self.rows + 1;
        self.row(bytes, |account| {
            account.lost += 1;
            account.note(line, code, detail);
        });
    }

    /// A row holds something of a type that the format does not know.
    pub fn unknown(&mut self, name: &str) {
        if self.rows >= self.accounted {
            self.account.note_unknown(name);
        }
    }

    /// Something about the row at hand is worth a note.
    pub fn note(&mut self, code: IssueCode, detail: impl Into<String>) {
        if self.rows >= self.accounted {
            self.account.note(self.rows + 1, code, detail);
        }
    }

    /// A row's JSON, mended where it must be. `None` when it is none; the row is then lost.
    pub fn json<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Option<T> {
        let text = String::from_utf8_lossy(bytes);
        let error = match serde_json::from_str(&text) {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        if let Ok(value) = serde_json::from_str(&mend::mend(&text)) {
            self.note(IssueCode::Repaired, "bad escapes or bytes were replaced");
            return Some(value);
        }
        self.lost(bytes.len(), IssueCode::NotJson, error.to_string());
        None
    }

    /// Everything up to this row was told and will not change: a later read may go on after it.
    pub fn settled(&mut self, row: i64) {
        self.settled = Some(row);
    }

    fn row(&mut self, bytes: usize, count: impl FnOnce(&mut ReadAccount)) {
        self.account.bytes += bytes as u64;
        self.rows += 1;
        if self.rows > self.accounted {
            self.account.lines += 1;
            count(self.account);
        }
    }
}

/// A mark of all values of a row.
///
/// # Errors
/// What SQLite fails with.
pub fn mark(row: &rusqlite::Row<'_>) -> rusqlite::Result<u64> {
    let mut hash = Xxh3::new();
    for column in 0..row.as_ref().column_count() {
        match row.get_ref(column)? {
            ValueRef::Null => hash.update(&[0]),
            ValueRef::Integer(number) => hash.update(&number.to_le_bytes()),
            ValueRef::Real(number) => hash.update(&number.to_le_bytes()),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                hash.update(&bytes.len().to_le_bytes());
                hash.update(bytes);
            }
        }
    }
    Ok(hash.digest())
}

/// Sessions of which the log is kept.
const KEPT: usize = 16;

/// What is remembered of a store.
#[derive(Default, Serialize, Deserialize)]
struct State {
    /// Of each session the hash of its id, its mark, and how many rows were accounted for.
    sessions: String,
    /// Those that may be gone on with, last read last.
    kept: Vec<Kept>,
}

/// A session that may be gone on with.
#[derive(Serialize, Deserialize)]
struct Kept {
    id: String,
    /// The row it ended at.
    row: i64,
    /// The mark of its rows up to this.
    mark: u64,
    log: LogState,
}

/// What is remembered of a session.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Seen {
    mark: u64,
    rows: u64,
}

fn key_of(id: &str) -> u64 {
    packed::shortened(xxh3_64(id.as_bytes()))
}

/// Reads a store: every session that is new or changed since `cursor`.
///
/// # Errors
/// [`ReadError`] when it cannot be opened or listed, or is not of one moment.
pub fn read(
    format: &dyn RowFormat,
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    let state = match cursor {
        Some(cursor) => remembered(file, cursor)?,
        None => State::default(),
    };
    let store = Store::open(&file.path)?;
    let sessions = format.sessions(&store)?;
    let mut reading = Reading {
        format,
        store: &store,
        before: seen(&state.sessions),
        now: HashMap::with_capacity(sessions.len()),
        kept: state.kept,
        account: ReadAccount::default(),
    };
    for session in &sessions {
        reading.session(session, sink)?;
        if sink.has_enough() {
            break;
        }
    }
    store.check()?;
    Ok(reading.outcome(sessions.len() as u64))
}

fn remembered(file: &SourceFile, cursor: &ReadCursor) -> Result<State, ReadError> {
    let stale = || ReadError::StaleCursor {
        path: file.path.clone(),
    };
    match cursor.position {
        Position::Rows { .. } => serde_json::from_str(&cursor.state).map_err(|_| stale()),
        _ => Err(stale()),
    }
}

fn seen(packed: &str) -> HashMap<u64, Seen> {
    let numbers = packed::read(packed).unwrap_or_default();
    let sessions = numbers.chunks_exact(3).filter_map(|chunk| match *chunk {
        [id, mark, rows] => Some((id, Seen { mark, rows })),
        _ => None,
    });
    sessions.collect()
}

struct Reading<'r> {
    format: &'r dyn RowFormat,
    store: &'r Store,
    /// Sessions of the read before.
    before: HashMap<u64, Seen>,
    /// Sessions of this one.
    now: HashMap<u64, Seen>,
    kept: Vec<Kept>,
    account: ReadAccount,
}

impl Reading<'_> {
    fn session(&mut self, session: &Listed, sink: &mut dyn EventSink) -> Result<(), ReadError> {
        let key = key_of(&session.id);
        let mark = packed::shortened(session.mark);
        let before = self.before.get(&key).copied();
        if before.is_some_and(|seen| seen.mark == mark) {
            self.now.extend(before.map(|seen| (key, seen)));
            return Ok(());
        }
        let kept = self.kept.iter().position(|kept| kept.id == session.id);
        let kept = kept.map(|at| self.kept.remove(at));
        let accounted = before.map_or(0, |seen| seen.rows);
        let rows = match kept.filter(|kept| self.still_holds(session, kept)) {
            Some(kept) => match self.tell(session, Some(kept), accounted, sink)? {
                Some(rows) => rows,
                None => self.tell(session, None, accounted, sink)?.unwrap_or(0),
            },
            None => self.tell(session, None, accounted, sink)?.unwrap_or(0),
        };
        let rows = rows.max(accounted);
        self.now.insert(key, Seen { mark, rows });
        Ok(())
    }

    fn still_holds(&self, session: &Listed, kept: &Kept) -> bool {
        self.format
            .mark_up_to(self.store, session, kept.row)
            .is_ok_and(|mark| mark == kept.mark)
    }

    /// Tells a session; gives how many rows it has so far, or `None` when it must be told anew.
    fn tell(
        &mut self,
        session: &Listed,
        kept: Option<Kept>,
        accounted: u64,
        sink: &mut dyn EventSink,
    ) -> Result<Option<u64>, ReadError> {
        let after = kept.as_ref().map(|kept| kept.row);
        let log = SessionLog::begin(sink, &session.id, kept.map(|kept| kept.log))?;
        let mut telling = Telling {
            log,
            account: &mut self.account,
            // Going on, all rows before are accounted for.
            rows: if after.is_some() { accounted } else { 0 },
            accounted,
            settled: after,
        };
        match self.format.tell(self.store, session, after, &mut telling) {
            Ok(()) => {}
            Err(Stop::Closed(closed)) => return Err(closed.into()),
            Err(Stop::Anew) if after.is_some() => return Ok(None),
            Err(Stop::Anew) => {}
            Err(Stop::Store(error)) if sqlite::is_damage(&error) => {
                self.store.check()?;
                telling.settled = None;
                telling.lost(0, IssueCode::DamagedDatabase, format!("{}: {error}", session.id));
            }
            Err(Stop::Store(error)) => return Err(self.store.error(error)),
        }
        let (rows, settled) = (telling.rows, telling.settled);
        let log = telling.log.finish()?;
        if let Some(row) = settled
            && let Ok(mark) = self.format.mark_up_to(self.store, session, row)
        {
            self.keep(Kept {
                id: session.id.clone(),
                row,
                mark,
                log,
            });
        }
        Ok(Some(rows))
    }

    fn keep(&mut self, kept: Kept) {
        if self.kept.len() >= KEPT {
            self.kept.remove(0);
        }
        self.kept.push(kept);
    }

    fn outcome(self, sessions: u64) -> ReadOutcome {
        let mut seen: Vec<_> = self.now.into_iter().collect();
        seen.sort_unstable_by_key(|&(id, _)| id);
        let numbers = seen.into_iter().flat_map(|(id, seen)| [id, seen.mark, seen.rows]);
        let state = State {
            sessions: packed::write(numbers),
            kept: self.kept,
        };
        ReadOutcome {
            cursor: ReadCursor {
                position: Position::Rows { sessions },
                // It holds nothing that JSON could refuse.
                state: serde_json::to_string(&state).unwrap_or_default(),
            },
            account: self.account,
        }
    }
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
