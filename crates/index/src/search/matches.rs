//! Running a query over all documents, grouped by session, and folding copies.

use super::sessions::SessionSet;
use crate::error::Result;
use crate::schema;
use crate::text::TextSnapshot;
use lookback_model::SessionOrdinal;
use std::collections::{BTreeSet, HashMap};
use tantivy::DocAddress;
use tantivy::query::{EnableScoring, Query};

/// A session that was found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Match {
    /// The session.
    pub session: SessionOrdinal,
    /// Larger is better.
    pub score: f32,
    /// Its best document.
    pub best: Option<DocAddress>,
}

/// What a rung found.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// Sessions, in no order, each once.
    pub matches: Vec<Match>,
    /// How they were found.
    pub route: String,
    /// The words searched for, when some were repaired.
    pub repaired: Option<Vec<String>>,
    /// Terms to mark in snippets.
    pub terms: BTreeSet<String>,
}

/// The matches of one query within one session.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    best_score: f32,
    best: Option<DocAddress>,
    sum: f32,
}

impl Tally {
    fn add(&mut self, score: f32, address: DocAddress) {
        self.sum += score;
        if self.best.is_none() || score > self.best_score {
            (self.best_score, self.best) = (score, Some(address));
        }
    }

    /// The best document decides; a session that speaks of it throughout stands above one that mentions
    /// it once, by a bounded amount.
    fn score(&self) -> f32 {
        if self.best_score <= 0.0 {
            return 0.0;
        }
        let others = (self.sum - self.best_score).max(0.0) / self.best_score;
        self.best_score * (1.0 + EVIDENCE_WEIGHT * (1.0 + others).ln())
    }
}

const EVIDENCE_WEIGHT: f32 = 0.25;

/// Runs a query; gives each allowed session that has a matching document, copies folded into the session
/// where they were said first.
///
/// # Errors
/// When the index cannot be read.
pub(super) fn by_session(
    text: &TextSnapshot,
    query: &dyn Query,
    sessions: &SessionSet,
) -> Result<Vec<Match>> {
    let mut tallies = vec![Tally::default(); sessions.len()];
    let mut touched = Vec::new();
    each_match(text, query, |session, address, score| {
        if !sessions.allows(session) {
            return;
        }
        if let Some(tally) = tallies.get_mut(session.0 as usize) {
            if tally.best.is_none() {
                touched.push(session);
            }
            tally.add(score, address);
        }
    })?;
    let families = families(&touched, sessions);
    if !families.is_empty() {
        fold_copies(text, query, sessions, &families, &mut tallies)?;
    }
    let mut found: HashMap<SessionOrdinal, Match> = HashMap::with_capacity(touched.len());
    for session in touched {
        let Some(tally) = tallies
            .get(session.0 as usize)
            .filter(|tally| tally.best.is_some())
        else {
            continue;
        };
        let leader = SessionOrdinal(sessions.facts(session).leader);
        let here = Match {
            session: leader,
            score: tally.score(),
            best: tally.best,
        };
        let place = found.entry(leader).or_insert(here);
        if here.score > place.score {
            *place = here;
        }
    }
    Ok(found.into_values().collect())
}

/// Calls `each` with every matching document that is not deleted.
fn each_match(
    text: &TextSnapshot,
    query: &dyn Query,
    mut each: impl FnMut(SessionOrdinal, DocAddress, f32),
) -> Result<()> {
    let weight = query.weight(EnableScoring::enabled_from_searcher(&text.searcher))?;
    for (segment_ord, segment) in (0..).zip(text.searcher.segment_readers()) {
        let session = segment
            .fast_fields()
            .u64(schema::SESSION)?
            .first_or_default_col(u64::MAX);
        let alive = segment.alive_bitset();
        weight.for_each(segment, &mut |doc_id, score| {
            if alive.is_none_or(|alive| alive.is_alive(doc_id)) {
                let session =
                    u32::try_from(session.get_val(doc_id)).map_or(super::NO_SESSION, SessionOrdinal);
                each(session, DocAddress { segment_ord, doc_id }, score);
            }
        })?;
    }
    Ok(())
}

/// Sessions among `touched` whose beginnings are copies of one another, by their first copy key.
fn families(touched: &[SessionOrdinal], sessions: &SessionSet) -> HashMap<SessionOrdinal, u64> {
    let mut count: HashMap<u64, usize> = HashMap::new();
    let key_of = |session: SessionOrdinal| sessions.facts(session).first_copy_key;
    for &session in touched {
        *count.entry(key_of(session)).or_default() += 1;
    }
    let in_family = |session: &SessionOrdinal| {
        key_of(*session) != 0 && count.get(&key_of(*session)).is_some_and(|&n| n > 1)
    };
    touched
        .iter()
        .copied()
        .filter(in_family)
        .map(|session| (session, key_of(session)))
        .collect()
}

/// Counts the matches of families anew, each copied event only in the earliest session that has it.
fn fold_copies(
    text: &TextSnapshot,
    query: &dyn Query,
    sessions: &SessionSet,
    families: &HashMap<SessionOrdinal, u64>,
    tallies: &mut [Tally],
) -> Result<()> {
    let mut documents = Vec::new();
    each_match(text, query, |session, address, score| {
        if families.contains_key(&session) {
            documents.push((session, address, score));
        }
    })?;
    let mut keyed = Vec::with_capacity(documents.len());
    for (session, address, score) in documents {
        let columns = text.searcher.segment_reader(address.segment_ord).fast_fields();
        let key = columns.u64(schema::COPY_KEY)?.first(address.doc_id).unwrap_or(0);
        keyed.push((session, address, score, key));
    }
    let mut first: HashMap<(u64, u64), SessionOrdinal> = HashMap::new();
    for &(session, _, _, key) in keyed.iter().filter(|entry| entry.3 != 0) {
        let family = families.get(&session).copied().unwrap_or_default();
        let holder = first.entry((family, key)).or_insert(session);
        if older(sessions, session, *holder) {
            *holder = session;
        }
    }
    for session in families.keys() {
        if let Some(tally) = tallies.get_mut(session.0 as usize) {
            *tally = Tally::default();
        }
    }
    for (session, address, score, key) in keyed {
        let family = families.get(&session).copied().unwrap_or_default();
        let kept = key == 0 || first.get(&(family, key)) == Some(&session);
        if let Some(tally) = tallies.get_mut(session.0 as usize).filter(|_| kept) {
            tally.add(score, address);
        }
    }
    Ok(())
}

/// Whether `session` is where something was said first, rather than `other`: it began earlier, or ended
/// earlier when both began with the same words; of copies of one file the leader.
fn older(sessions: &SessionSet, session: SessionOrdinal, other: SessionOrdinal) -> bool {
    let order = |session: SessionOrdinal| {
        let facts = sessions.facts(session);
        (
            facts.created_at,
            facts.updated_at,
            facts.leader != session.0,
            session,
        )
    };
    order(session) < order(other)
}
