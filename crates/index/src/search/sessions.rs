//! The sessions a search may find, and what ranking needs to know of each.

use super::dates::{self, DatePart};
use crate::error::Result;
use lookback_model::paths::PathScope;
use lookback_model::query::SearchRequest;
use lookback_model::query::parse::Operators;
use lookback_model::{SessionFacts, SessionKind, SessionOrdinal, Timestamp};
use rusqlite::{Connection, params};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What ranking needs of a session.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SessionRank {
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
    /// Whether others that may be found begin with the same words.
    has_family: bool,
    /// Among sessions with a beginning in common that began and ended at the same time, by name.
    order: u32,
    allowed: bool,
}

/// A subagent's hit stands below an equal one of a session that a person drove.
const SUBAGENT_WEIGHT: f32 = 0.9;

/// A session that only asked the history stands below the one it asked for.
const ASKING_WEIGHT: f32 = 0.6;

impl SessionRank {
    /// Of a session that stands for itself alone.
    pub(crate) fn apart(facts: &SessionFacts) -> Self {
        Self {
            updated_at: facts.updated_at,
            created_at: facts.created_at,
            kind: facts.kind,
            turns: facts.turns,
            recalls: facts.recalls,
            ..Self::default()
        }
    }

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
}

/// What is known of all sessions, kept from one search to the next while nobody writes.
#[derive(Default)]
pub(super) struct KnownSessions {
    /// What SQLite calls this state of the catalogue on this connection.
    version: Option<i64>,
    /// As the catalogue has them.
    rows: Vec<SessionRank>,
    /// For searches without filters.
    all: Option<Arc<SessionSet>>,
    /// For searches with filters.
    places: Option<Vec<Place>>,
    /// The filters of the last search that had any, and what they let through.
    last: Option<(Filters, Arc<SessionSet>)>,
}

/// What narrows a search.
#[derive(PartialEq)]
struct Filters {
    agents: Vec<String>,
    paths: Vec<String>,
    since: Option<Timestamp>,
    operators: Operators,
}

/// What filters look into.
struct Place {
    session: SessionOrdinal,
    agent: String,
    cwd: Option<String>,
    transcript: String,
}

impl KnownSessions {
    /// The sessions that a request's filters and operators let through. Must be asked within a transaction,
    /// so that all it reads is of one state.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub(super) fn narrowed(
        &mut self,
        connection: &Connection,
        request: &SearchRequest,
        operators: &Operators,
    ) -> Result<Arc<SessionSet>> {
        self.renew(connection)?;
        let folders = PathScope::of(&request.paths);
        let by_place = !(request.agents.is_empty() && folders.is_everywhere() && operators.is_empty());
        if !by_place && request.since.is_none() {
            if let Some(all) = &self.all {
                return Ok(Arc::clone(all));
            }
            let all = Arc::new(SessionSet::of(self.rows.clone(), connection)?);
            self.all = Some(Arc::clone(&all));
            return Ok(all);
        }
        let filters = Filters {
            agents: request.agents.clone(),
            paths: request.paths.clone(),
            since: request.since,
            operators: operators.clone(),
        };
        if let Some((_, narrowed)) = self.last.as_ref().filter(|(known, _)| *known == filters) {
            return Ok(Arc::clone(narrowed));
        }
        let mut ranks = self.rows.clone();
        if let Some(since) = request.since {
            for rank in &mut ranks {
                rank.allowed = rank.allowed && rank.updated_at.is_some_and(|updated| updated >= since);
            }
        }
        if by_place {
            let places = match self.places.take() {
                Some(places) => places,
                None => read_places(connection)?,
            };
            narrow(&mut ranks, &places, &folders, request, operators);
            self.places = Some(places);
        }
        let narrowed = Arc::new(SessionSet::of(ranks, connection)?);
        self.last = Some((filters, Arc::clone(&narrowed)));
        Ok(narrowed)
    }

    /// Reads all anew when another connection has written since.
    fn renew(&mut self, connection: &Connection) -> Result<()> {
        let mut statement = connection.prepare_cached("PRAGMA data_version")?;
        let version = Some(statement.query_row([], |row| row.get(0))?);
        if self.version != version {
            *self = Self {
                version,
                rows: read_ranks(connection)?,
                ..Self::default()
            };
        }
        Ok(())
    }
}

fn read_ranks(connection: &Connection) -> Result<Vec<SessionRank>> {
    let sql = "SELECT ordinal, leader, updated_at, created_at, kind, first_copy_key, turns, recalls
        FROM sessions
        INDEXED BY sessions_for_ranking WHERE hidden = 0";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut ranks: Vec<SessionRank> = Vec::new();
    while let Some(row) = rows.next()? {
        let ordinal: usize = row.get::<_, u32>(0)? as usize;
        if ranks.len() <= ordinal {
            ranks.resize(ordinal + 1, SessionRank::default());
        }
        let rank = SessionRank {
            leader: row.get(1)?,
            updated_at: row.get::<_, Option<i64>>(2)?.map(Timestamp),
            created_at: row.get::<_, Option<i64>>(3)?.map(Timestamp),
            kind: SessionKind::from_name(row.get_ref(4)?.as_str().unwrap_or_default()),
            first_copy_key: row.get::<_, i64>(5)? as u64,
            turns: row.get::<_, i64>(6)?.unsigned_abs(),
            recalls: row.get::<_, i64>(7)?.unsigned_abs(),
            has_family: false,
            order: 0,
            allowed: true,
        };
        if let Some(place) = ranks.get_mut(ordinal) {
            *place = rank;
        }
    }
    Ok(ranks)
}

fn read_places(connection: &Connection) -> Result<Vec<Place>> {
    let sql = "SELECT ordinal, sessions.agent, cwd, path FROM sessions JOIN files ON files.id = file";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut places = Vec::new();
    while let Some(row) = rows.next()? {
        let transcript = String::from_utf8_lossy(row.get_ref(3)?.as_blob().unwrap_or_default());
        places.push(Place {
            session: SessionOrdinal(row.get(0)?),
            agent: row.get_ref(1)?.as_str().unwrap_or_default().to_owned(),
            cwd: row.get_ref(2)?.as_str().ok().map(str::to_owned),
            transcript: transcript.into_owned(),
        });
    }
    Ok(places)
}

/// Applies the filters that need more than numbers.
fn narrow(
    ranks: &mut [SessionRank],
    places: &[Place],
    folders: &PathScope,
    request: &SearchRequest,
    operators: &Operators,
) {
    let lowered = |values: &[String]| {
        values
            .iter()
            .map(|value| value.to_lowercase())
            .collect::<Vec<_>>()
    };
    let (repo, path) = (lowered(&operators.repo), lowered(&operators.path));
    // Many sessions share a folder, and comparing folders takes them apart.
    let mut known: HashMap<Option<&str>, bool> = HashMap::new();
    for found in places {
        let Some(rank) = ranks.get_mut(found.session.0 as usize) else {
            continue;
        };
        let cwd = found.cwd.as_deref();
        let fits_folder = *known.entry(cwd).or_insert_with(|| {
            folders.holds(cwd) && repo.iter().all(|value| last_two_segments(cwd).contains(value))
        });
        rank.allowed = rank.allowed
            && fits_folder
            && (request.agents.is_empty() || request.agents.contains(&found.agent))
            && path
                .iter()
                .all(|value| place(cwd, &found.transcript).contains(value));
    }
}

impl SessionSet {
    /// Sessions each of which stands for itself: none is a copy of another. Those without a rank may not be found.
    pub(super) fn apart(ranks: Vec<Option<SessionRank>>) -> Self {
        let apart = |(ordinal, rank): (u32, Option<SessionRank>)| match rank {
            Some(rank) => SessionRank {
                leader: ordinal,
                first_copy_key: 0,
                allowed: true,
                ..rank
            },
            None => SessionRank::default(),
        };
        let mut set = Self {
            ranks: (0..).zip(ranks).map(apart).collect(),
            count: 0,
            usual_turns: 1.0,
        };
        set.take_stock();
        set
    }

    fn of(ranks: Vec<SessionRank>, connection: &Connection) -> Result<Self> {
        let mut set = Self {
            ranks,
            count: 0,
            usual_turns: 1.0,
        };
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
            let follows = rank.leader != session.0;
            if follows || rank.has_family {
                let times = (rank.created_at, rank.updated_at, follows);
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
        let mut holders: HashMap<u64, usize> = HashMap::new();
        let mut turns = 0;
        for rank in self.ranks.iter().filter(|rank| rank.allowed) {
            self.count += 1;
            turns += rank.turns;
            if rank.first_copy_key != 0 {
                *holders.entry(rank.first_copy_key).or_default() += 1;
            }
        }
        holders.retain(|_, count| *count > 1);
        if !holders.is_empty() {
            for rank in &mut self.ranks {
                rank.has_family = holders.contains_key(&rank.first_copy_key);
            }
        }
        self.usual_turns = (turns as f32 / self.count.max(1) as f32).max(1.0);
    }

    /// Whether a search may find it.
    #[inline]
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
        let rank = self.ranks.get(session.0 as usize);
        SessionOrdinal(rank.map_or(0, |rank| rank.leader))
    }

    /// What a session has in common with others that begin with the same words; `None` when there are none.
    pub(super) fn family(&self, session: SessionOrdinal) -> Option<u64> {
        let rank = self.ranks.get(session.0 as usize)?;
        rank.has_family.then_some(rank.first_copy_key)
    }

    /// Whether `session` is where something was said first, rather than `other`: it began earlier, or ended
    /// earlier when both began with the same words. Of several files of one session it is the leader, which is
    /// the one that is shown.
    pub(super) fn is_older(&self, session: SessionOrdinal, other: SessionOrdinal) -> bool {
        let age = |session: SessionOrdinal| {
            let facts = self.facts(session);
            (facts.created_at, facts.updated_at, facts.order)
        };
        let order = |session: SessionOrdinal| {
            let leader = self.leader(session);
            (age(leader), leader != session, age(session))
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
