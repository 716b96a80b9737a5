//! The sessions a search may find, and what ranking needs to know of each.

use super::dates::{self, DatePart};
use crate::error::Result;
use crate::paths::PathScope;
use lookback_model::query::SearchRequest;
use lookback_model::query::parse::Operators;
use lookback_model::{SessionKind, SessionOrdinal, Timestamp};
use rusqlite::{Connection, params};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What ranking needs of a session.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SessionRank {
    /// The session stands for itself in hits, or this one stands for it.
    pub leader: u32,
    /// Last activity.
    pub updated_at: Option<Timestamp>,
    /// First activity; of copies the earliest keeps a hit.
    pub created_at: Option<Timestamp>,
    /// Who drove it.
    pub kind: SessionKind,
    /// Equal in copies.
    pub first_copy_key: u64,
    /// Prompts and replies with words.
    pub turns: u64,
    /// Calls that asked a history of sessions.
    pub recalls: u64,
    /// Among sessions with a beginning in common that began and ended at the same time, by name.
    order: u32,
    allowed: bool,
}

/// A subagent's hit stands below an equal one of a session that a person drove.
const SUBAGENT_WEIGHT: f32 = 0.9;

/// A session that only asked the history stands below the one it asked for.
const ASKING_WEIGHT: f32 = 0.6;

impl SessionRank {
    /// Whether it ran on a date.
    pub(super) fn is_of(&self, part: DatePart) -> bool {
        let (from, to) = (
            self.created_at.or(self.updated_at),
            self.updated_at.or(self.created_at),
        );
        matches!((from, to), (Some(from), Some(to)) if dates::covers(part, from, to))
    }

    /// Factor of the score.
    pub(super) fn weight(&self) -> f32 {
        let driven = match self.kind {
            SessionKind::Subagent => SUBAGENT_WEIGHT,
            _ => 1.0,
        };
        // A prompt and an answer for each time the history was asked: nothing else was done.
        let only_asked = self.recalls > 0 && self.turns <= 2 * self.recalls;
        if only_asked {
            driven * ASKING_WEIGHT
        } else {
            driven
        }
    }
}

/// All sessions by ordinal, with those that the request's filters and operators let through.
pub(super) struct SessionSet {
    ranks: Vec<SessionRank>,
    /// How many may be found.
    count: usize,
    /// Their turns, on average.
    usual_turns: f32,
    /// First copy keys that several of them have.
    families: HashSet<u64>,
}

impl SessionSet {
    /// Loads the sessions and applies the filters.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub(super) fn load(
        connection: &Connection,
        request: &SearchRequest,
        operators: &Operators,
    ) -> Result<Self> {
        let mut set = Self {
            ranks: Vec::new(),
            count: 0,
            usual_turns: 1.0,
            families: HashSet::new(),
        };
        let sql = "SELECT ordinal, leader, updated_at, created_at, kind, first_copy_key, turns, recalls
            FROM sessions
            INDEXED BY sessions_for_ranking WHERE hidden = 0";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let ordinal: usize = row.get::<_, u32>(0)? as usize;
            if set.ranks.len() <= ordinal {
                set.ranks.resize(ordinal + 1, SessionRank::default());
            }
            let updated_at = row.get::<_, Option<i64>>(2)?.map(Timestamp);
            let rank = SessionRank {
                leader: row.get(1)?,
                updated_at,
                created_at: row.get::<_, Option<i64>>(3)?.map(Timestamp),
                kind: SessionKind::from_name(row.get_ref(4)?.as_str().unwrap_or_default()),
                first_copy_key: row.get::<_, i64>(5)? as u64,
                turns: row.get::<_, i64>(6)?.unsigned_abs(),
                recalls: row.get::<_, i64>(7)?.unsigned_abs(),
                order: 0,
                allowed: request
                    .since
                    .is_none_or(|since| updated_at.is_some_and(|updated| updated >= since)),
            };
            if let Some(place) = set.ranks.get_mut(ordinal) {
                *place = rank;
            }
        }
        set.narrow(connection, request, operators)?;
        set.choose_leaders(connection)?;
        set.take_stock();
        set.order_copies(connection)?;
        Ok(set)
    }

    /// Where the leader may not be found, the fullest of those it stands for that may be leads them, as it
    /// would if there were no other.
    fn choose_leaders(&mut self, connection: &Connection) -> Result<()> {
        let mut left: BTreeMap<u32, Vec<SessionOrdinal>> = BTreeMap::new();
        for (session, rank) in self.found() {
            if !self.allows(SessionOrdinal(rank.leader)) {
                left.entry(rank.leader).or_default().push(session);
            }
        }
        for sessions in left.into_values() {
            let mut named = Vec::with_capacity(sessions.len());
            for &session in &sessions {
                let rank = self.facts(session);
                let fullness = Reverse((rank.turns, rank.updated_at));
                named.push((fullness, path_of(connection, session)?, session));
            }
            let leader = named
                .into_iter()
                .min()
                .map_or(u32::MAX, |(.., session)| session.0);
            for session in sessions {
                if let Some(rank) = self.ranks.get_mut(session.0 as usize) {
                    rank.leader = leader;
                }
            }
        }
        Ok(())
    }

    /// Gives sessions that copies could be of an order by name where times give none.
    fn order_copies(&mut self, connection: &Connection) -> Result<()> {
        let mut tied: HashMap<_, Vec<SessionOrdinal>> = HashMap::new();
        for (session, rank) in self.found() {
            if rank.leader != session.0 || self.families.contains(&rank.first_copy_key) {
                let times = (rank.created_at, rank.updated_at);
                tied.entry(times).or_default().push(session);
            }
        }
        for sessions in tied.into_values().filter(|tied| tied.len() > 1) {
            let mut named = Vec::with_capacity(sessions.len());
            for session in sessions {
                let name = name_of(connection, session)?;
                named.push((name, path_of(connection, session)?, session));
            }
            named.sort();
            for (order, (.., session)) in (0..).zip(named) {
                if let Some(rank) = self.ranks.get_mut(session.0 as usize) {
                    rank.order = order;
                }
            }
        }
        Ok(())
    }

    /// The sessions that a search may find.
    fn found(&self) -> impl Iterator<Item = (SessionOrdinal, &SessionRank)> {
        let ranks = (0..).map(SessionOrdinal).zip(&self.ranks);
        ranks.filter(|(_, rank)| rank.allowed)
    }

    /// Counts what may be found.
    fn take_stock(&mut self) {
        let mut seen = HashSet::new();
        let mut turns = 0;
        for rank in self.ranks.iter().filter(|rank| rank.allowed) {
            self.count += 1;
            turns += rank.turns;
            if rank.first_copy_key != 0 && !seen.insert(rank.first_copy_key) {
                self.families.insert(rank.first_copy_key);
            }
        }
        self.usual_turns = (turns as f32 / self.count.max(1) as f32).max(1.0);
    }

    /// Applies the filters that need more than numbers.
    fn narrow(
        &mut self,
        connection: &Connection,
        request: &SearchRequest,
        operators: &Operators,
    ) -> Result<()> {
        let scope = PathScope::of(&request.paths);
        if request.agents.is_empty() && scope.is_everywhere() && operators.is_empty() {
            return Ok(());
        }
        let lowered = |values: &[String]| {
            values
                .iter()
                .map(|value| value.to_lowercase())
                .collect::<Vec<_>>()
        };
        let (repo, path) = (lowered(&operators.repo), lowered(&operators.path));
        let sql = "SELECT ordinal, sessions.agent, cwd, path FROM sessions JOIN files ON files.id = file";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let Some(rank) = self.ranks.get_mut(row.get::<_, u32>(0)? as usize) else {
                continue;
            };
            let agent = row.get_ref(1)?.as_str().unwrap_or_default();
            let cwd = row.get_ref(2)?.as_str().ok();
            let transcript = String::from_utf8_lossy(row.get_ref(3)?.as_blob().unwrap_or_default());
            rank.allowed = rank.allowed
                && (request.agents.is_empty() || request.agents.iter().any(|wanted| wanted == agent))
                && scope.holds(cwd)
                && repo.iter().all(|value| last_two_segments(cwd).contains(value))
                && path.iter().all(|value| place(cwd, &transcript).contains(value));
        }
        Ok(())
    }

    /// Whether a search may find it.
    pub(super) fn allows(&self, session: SessionOrdinal) -> bool {
        self.ranks
            .get(session.0 as usize)
            .is_some_and(|rank| rank.allowed)
    }

    /// Those that a search may find, one for each group of copies.
    pub(super) fn allowed(&self) -> impl Iterator<Item = SessionOrdinal> {
        let leads = self.found().filter(|(session, rank)| rank.leader == session.0);
        leads.map(|(session, _)| session)
    }

    /// What ranking needs of one.
    pub(super) fn facts(&self, session: SessionOrdinal) -> SessionRank {
        self.ranks.get(session.0 as usize).copied().unwrap_or_default()
    }

    /// The sessions that a search may find and that ran on a date.
    pub(super) fn of_date(&self, part: DatePart) -> impl Iterator<Item = &SessionRank> {
        self.ranks
            .iter()
            .filter(move |rank| rank.allowed && rank.is_of(part))
    }

    /// How many sessions a search may find.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// How long a session is, against the usual one.
    pub(super) fn relative_length(&self, session: SessionOrdinal) -> f32 {
        self.facts(session).turns as f32 / self.usual_turns
    }

    /// The session that stands for this one in hits.
    pub(super) fn leader(&self, session: SessionOrdinal) -> SessionOrdinal {
        SessionOrdinal(self.facts(session).leader)
    }

    /// What a session has in common with others that begin with the same words; `None` when there are none.
    pub(super) fn family(&self, session: SessionOrdinal) -> Option<u64> {
        let key = self.facts(session).first_copy_key;
        self.families.contains(&key).then_some(key)
    }

    /// Whether `session` is where something was said first, rather than `other`: it began earlier, or ended
    /// earlier when both began with the same words; of copies of one file the leader.
    pub(super) fn is_older(&self, session: SessionOrdinal, other: SessionOrdinal) -> bool {
        let order = |session: SessionOrdinal| {
            let facts = self.facts(session);
            let follows = facts.leader != session.0;
            (facts.created_at, facts.updated_at, follows, facts.order)
        };
        order(session) < order(other)
    }

    /// One more than the largest ordinal.
    pub(super) fn len(&self) -> usize {
        self.ranks.len()
    }
}

/// What `repo:` looks into: the last two segments of the working directory.
fn last_two_segments(cwd: Option<&str>) -> String {
    let Some(cwd) = cwd else {
        return "unknown location".to_owned();
    };
    let segments: Vec<&str> = cwd
        .split(['/', '\\'])
        .filter(|segment| !segment.is_empty())
        .collect();
    let last = segments
        .get(segments.len().saturating_sub(2)..)
        .unwrap_or_default();
    last.join("/").to_lowercase()
}

/// What `path:` looks into: the working directory and the transcript's path.
fn place(cwd: Option<&str>, transcript: &str) -> String {
    format!("{} {transcript}", cwd.unwrap_or_default()).to_lowercase()
}

/// Agent and id of a session, for breaking ties.
///
/// # Errors
/// When the catalogue cannot be read.
pub(super) fn name_of(connection: &Connection, session: SessionOrdinal) -> Result<(String, String)> {
    let mut statement =
        connection.prepare_cached("SELECT agent, session_id FROM sessions WHERE ordinal = ?1")?;
    Ok(statement.query_row(params![session.0], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// Where the transcript of a session is, or was.
fn path_of(connection: &Connection, session: SessionOrdinal) -> Result<Vec<u8>> {
    let sql = "SELECT path FROM sessions JOIN files ON files.id = file WHERE ordinal = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row(params![session.0], |row| row.get(0))?)
}
