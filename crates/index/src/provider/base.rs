//! The persisted base as it is read: the catalogue's sessions, one for each id.
//!
//! It is the index that everybody searches. Of several files that hold one session the fullest counts, as it does
//! there; a session that was fed comes before one that was read.

use crate::catalogue::{self, read};
use crate::error::Result;
use crate::search::sessions::SessionRank;
use crate::types::EventTypes;
use lookback_model::hit::Presence;
use lookback_model::ports::FileState;
use lookback_model::session_query::{InventoryEntry, SessionRecord};
use lookback_model::source::{FileRole, FileStamp};
use lookback_model::{SessionFacts, SessionKind, SessionOrdinal, Timestamp};
use rusqlite::{Connection, Row};
use std::cell::OnceCell;
use std::collections::HashMap;

/// One state of the catalogue.
#[derive(Default)]
pub(super) struct Base {
    /// What SQLite calls this state on this connection.
    version: i64,
    /// The catalogue's generation.
    pub(super) generation: u64,
    /// Whose catalogue it is.
    pub(super) identity: String,
    /// The numbers of event types.
    pub(super) types: EventTypes,
    /// One more than the largest ordinal.
    pub(super) len: u32,
    rows: Vec<BaseRow>,
    by_id: HashMap<String, usize>,
    by_ordinal: HashMap<SessionOrdinal, usize>,
    records: OnceCell<Vec<SessionRecord>>,
    /// By ordinal.
    ranks: Vec<Option<SessionRank>>,
    /// Whether the text index has all that the catalogue says, so that neither a crash nor a commit came between.
    pub(super) is_whole: bool,
}

/// A session.
pub(super) struct BaseRow {
    /// Its number.
    pub(super) ordinal: SessionOrdinal,
    /// Its id.
    pub(super) session_id: String,
    rank: SessionRank,
    /// Seqs that are shadowed.
    pub(super) shadowed: Vec<(u64, u64)>,
    /// Whether it was fed and no transcript holds it.
    pub(super) is_fed: bool,
    /// Changes with every change of it.
    pub(super) state: u64,
    entry: InventoryEntry,
    agent: String,
}

/// How much of the catalogue the text index holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// The commit of the text index.
    pub(super) generation: u64,
    /// Whether its documents are as long as they are to be.
    pub(super) fits: bool,
}

impl Base {
    /// Reads the catalogue, unless `known` is of the same state of it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn read(
        connection: &Connection,
        known: Option<Self>,
        held: impl Fn(&str) -> Held,
    ) -> Result<Self> {
        let _state = connection.unchecked_transaction()?;
        let mut statement = connection.prepare_cached("PRAGMA data_version")?;
        let version: i64 = statement.query_row([], |row| row.get(0))?;
        if let Some(known) = known.filter(|known| known.version == version && known.is_whole) {
            return Ok(known);
        }
        let identity = catalogue::meta(connection, "identity")?.unwrap_or_default();
        let mut base = Self {
            version,
            generation: catalogue::meta_number(connection, "generation")?,
            types: EventTypes::read(connection)?,
            ..Self::default()
        };
        let text_generation = catalogue::meta_number(connection, "text_generation")?;
        let held = held(&identity);
        // After a crash the text index lacks what these rows say.
        base.is_whole = held.generation >= text_generation;
        let newest = if base.is_whole { u64::MAX } else { held.generation };
        base.identity = identity;
        base.read_rows(connection, newest, held.fits)?;
        Ok(base)
    }

    fn read_rows(&mut self, connection: &Connection, newest: u64, fits: bool) -> Result<()> {
        let sql = "SELECT ordinal, sessions.session_id, sessions.agent, role, kind, sessions.created_at, updated_at,
                turns, recalls, shadowed, fingerprint, extractors, revision, size, modified_ns, device, inode,
                state, presence, header, facts, generation
            FROM sessions JOIN files ON files.id = sessions.file
            WHERE leader = ordinal OR role = 'fed'
            ORDER BY ordinal";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let ordinal: u32 = row.get(0)?;
            self.len = self.len.max(ordinal.saturating_add(1));
            if row.get::<_, i64>(21)?.unsigned_abs() <= newest {
                self.take(BaseRow::of(row, fits)?);
            }
        }
        self.ranks = vec![None; self.len as usize];
        for row in &self.rows {
            if let Some(place) = self.ranks.get_mut(row.ordinal.0 as usize) {
                *place = Some(row.rank);
            }
        }
        self.by_ordinal = (0..).zip(&self.rows).map(|(at, row)| (row.ordinal, at)).collect();
        Ok(())
    }

    /// Takes a session in, or the better of it and the one there is of the same id.
    fn take(&mut self, row: BaseRow) {
        let Some(place) = self.by_id.get(&row.session_id) else {
            self.by_id.insert(row.session_id.clone(), self.rows.len());
            self.rows.push(row);
            return;
        };
        if let Some(known) = self.rows.get_mut(*place)
            && (!row.is_fed, &row.agent) < (!known.is_fed, &known.agent)
        {
            *known = row;
        }
    }

    /// What ranking needs of all sessions, by ordinal.
    pub(super) fn ranks(&self) -> &[Option<SessionRank>] {
        &self.ranks
    }

    /// All sessions.
    pub(super) fn rows(&self) -> &[BaseRow] {
        &self.rows
    }

    /// The session of an id.
    pub(super) fn get(&self, id: &str) -> Option<&BaseRow> {
        self.rows.get(*self.by_id.get(id)?)
    }

    /// The session of a number.
    pub(super) fn of_ordinal(&self, ordinal: SessionOrdinal) -> Option<&BaseRow> {
        self.rows.get(*self.by_ordinal.get(&ordinal)?)
    }

    /// The records of all sessions, in the order of [`Self::rows`].
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub(super) fn records(&self, connection: &Connection) -> Result<&[SessionRecord]> {
        if let Some(records) = self.records.get() {
            return Ok(records);
        }
        let mut records = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            records.push(row.record(connection)?);
        }
        Ok(self.records.get_or_init(|| records))
    }
}

impl BaseRow {
    fn of(row: &Row<'_>, fits: bool) -> Result<Self> {
        let time =
            |at: usize| -> Result<Option<Timestamp>> { Ok(row.get::<_, Option<i64>>(at)?.map(Timestamp)) };
        let facts = SessionFacts {
            kind: SessionKind::from_name(row.get_ref(4)?.as_str().unwrap_or_default()),
            created_at: time(5)?,
            updated_at: time(6)?,
            turns: row.get::<_, i64>(7)?.unsigned_abs(),
            recalls: row.get::<_, i64>(8)?.unsigned_abs(),
            ..SessionFacts::default()
        };
        let shadowed = match row.get_ref(9)?.as_str().unwrap_or("[]") {
            "[]" => Vec::new(),
            json => serde_json::from_str(json)?,
        };
        let session_id: String = row.get(1)?;
        let fingerprint: String = row.get(10)?;
        let is_fed = row.get_ref(3)?.as_str().unwrap_or_default() == FileRole::Fed.as_str();
        let revision = match is_fed || !fingerprint.is_empty() {
            _ if !fits => None,
            true => row.get(12)?,
            false => revision_of_file(row)?,
        };
        Ok(Self {
            ordinal: SessionOrdinal(row.get(0)?),
            rank: SessionRank::apart(&facts),
            shadowed,
            is_fed,
            state: state(row)?,
            entry: InventoryEntry {
                session_id: session_id.clone(),
                fingerprint: if fits { fingerprint } else { String::new() },
                revision,
                extractors: row.get(11)?,
            },
            session_id,
            agent: row.get(2)?,
        })
    }

    /// What it was made from.
    pub(super) fn entry(&self) -> InventoryEntry {
        self.entry.clone()
    }

    /// What is told of it.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub(super) fn record(&self, connection: &Connection) -> Result<SessionRecord> {
        Ok(SessionRecord {
            header: read::header(connection, self.ordinal)?,
            live: false,
            persisted: true,
        })
    }
}

/// The revision of a session that was read from a transcript: of the file as it was then. Unknown when the file
/// is owed a read or could not be read.
fn revision_of_file(row: &Row<'_>) -> Result<Option<String>> {
    let is_read = FileState::from_name(row.get_ref(17)?.as_str().unwrap_or_default()) == FileState::Current;
    let is_there = Presence::from_name(row.get_ref(18)?.as_str().unwrap_or_default()) == Presence::Present;
    if !(is_read && is_there) {
        return Ok(None);
    }
    let stamp = FileStamp {
        size: row.get::<_, i64>(13)? as u64,
        modified_ns: row.get(14)?,
        device: row.get::<_, i64>(15)? as u64,
        inode: row.get::<_, i64>(16)? as u64,
    };
    Ok(Some(stamp.revision()))
}

/// A number that is another one whenever the session's words or record are.
fn state(row: &Row<'_>) -> Result<u64> {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    hash.update(&row.get::<_, i64>(0)?.to_le_bytes());
    // Header, facts, shadowed seqs: a session that grew has more events, which the facts count.
    for column in [19, 20, 9] {
        let text = row.get_ref(column)?.as_str().unwrap_or_default();
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    Ok(hash.digest())
}
