//! The sessions a search may find, and what ranking needs to know of each.

use crate::error::Result;
use lookback_model::paths::PathScope;
use lookback_model::query::SearchRequest;
use lookback_model::query::parse::Operators;
use lookback_model::{SessionKind, SessionOrdinal, Timestamp};
use rusqlite::{Connection, params};

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
    allowed: bool,
}

/// A subagent's hit stands below an equal one of a session that a person drove.
const SUBAGENT_WEIGHT: f32 = 0.9;

impl SessionRank {
    /// Factor of the score.
    pub(super) fn weight(&self) -> f32 {
        if self.kind == SessionKind::Subagent {
            SUBAGENT_WEIGHT
        } else {
            1.0
        }
    }
}

/// All sessions by ordinal, with those that the request's filters and operators let through.
pub(super) struct SessionSet {
    ranks: Vec<SessionRank>,
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
        let mut set = Self { ranks: Vec::new() };
        let sql = "SELECT ordinal, leader, updated_at, created_at, kind, first_copy_key FROM sessions
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
                allowed: request
                    .since
                    .is_none_or(|since| updated_at.is_some_and(|updated| updated >= since)),
            };
            if let Some(place) = set.ranks.get_mut(ordinal) {
                *place = rank;
            }
        }
        set.narrow(connection, request, operators)?;
        Ok(set)
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
        let ranks = (0..).zip(&self.ranks);
        ranks
            .filter(|(at, rank)| rank.allowed && rank.leader == *at)
            .map(|(at, _)| SessionOrdinal(at))
    }

    /// What ranking needs of one.
    pub(super) fn facts(&self, session: SessionOrdinal) -> SessionRank {
        self.ranks.get(session.0 as usize).copied().unwrap_or_default()
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
