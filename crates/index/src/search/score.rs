//! Scoring: how much each session has to do with the units of a query.
//!
//! Two things count, both by BM25 with the same rarity of a unit, counted in sessions: the one document that
//! says most of the query, and how much the session as a whole speaks of it. Rarity, frequency and length are
//! taken over the scope alone and as whole sets, so that neither sessions out of scope nor the way the index
//! was built change an order.

use super::hits::{self, UnitHit};
use super::scope::Scope;
use super::units::Unit;
use crate::error::Result;
use lookback_model::{SessionOrdinal, TextKind};
use std::cmp::Ordering;
use std::collections::HashMap;
use tantivy::DocAddress;

/// A session that holds at least one unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scored {
    /// The session.
    pub session: SessionOrdinal,
    /// Larger is better.
    pub score: f32,
    /// Its best document.
    pub best: DocAddress,
    /// The units it holds, a bit each.
    pub units: u64,
    /// Whether one document holds all units.
    pub together: bool,
}

/// What a query came to.
pub(super) struct Scoring {
    /// The sessions, in no order, each once.
    pub sessions: Vec<Scored>,
    /// How rare each unit is; 0 for one that is nowhere.
    pub rarity: Vec<f32>,
    /// All that holds a unit, ascending by address.
    documents: Vec<DocumentScore>,
}

impl Scoring {
    /// What is said around the best of each of some sessions: of a question and its answer, each holds a
    /// part of what was asked for.
    pub(super) fn exchanges(&self, scope: &Scope<'_>, chosen: &[SessionOrdinal]) -> Vec<f32> {
        let mut places = vec![usize::MAX; scope.sessions.len()];
        for (at, session) in chosen.iter().enumerate() {
            if let Some(place) = places.get_mut(session.0 as usize) {
                *place = at;
            }
        }
        let mut said: Vec<Vec<(u64, f32)>> = vec![Vec::new(); chosen.len()];
        for document in self.documents.iter().filter(|document| document.is_said) {
            let leader = scope.sessions.leader(document.session);
            let place = places.get(leader.0 as usize).copied().unwrap_or(usize::MAX);
            if let (Some(said), Some(segment)) = (said.get_mut(place), scope.segment_of(document.address)) {
                said.push((segment.place(document.address.doc_id).0, document.score));
            }
        }
        said.into_iter().map(exchange).collect()
    }

    /// Takes another scoring of the same query in: of each session the better one counts.
    pub(super) fn take_in(&mut self, other: Self) {
        let places = self
            .sessions
            .iter()
            .enumerate()
            .map(|(at, known)| (known.session, at));
        let places: HashMap<SessionOrdinal, usize> = places.collect();
        for session in other.sessions {
            let known = places
                .get(&session.session)
                .and_then(|at| self.sessions.get_mut(*at));
            let Some(known) = known else {
                self.sessions.push(session);
                continue;
            };
            let together = known.together || session.together;
            if !known.together || session.score > known.score {
                *known = session;
            }
            known.together = together;
        }
        self.rarity.extend(other.rarity);
    }
}

/// What the neighbours of the best exchange add; pairs are of an event's number and its score.
fn exchange(mut said: Vec<(u64, f32)>) -> f32 {
    said.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    said.dedup_by_key(|(seq, _)| *seq);
    let best = said.iter().map(|(_, score)| *score).fold(0.0, f32::max);
    let around = |at: usize| {
        let (seq, score) = said.get(at).copied().unwrap_or_default();
        let neighbours = [at.checked_sub(1), Some(at + 1)];
        let near = neighbours.into_iter().flatten().filter_map(|at| said.get(at));
        let near = near.filter(|(other, _)| other.abs_diff(seq) <= EXCHANGE);
        score + near.map(|(_, score)| NEIGHBOUR_WEIGHT * score).sum::<f32>()
    };
    let most = (0..said.len()).map(around).fold(0.0, f32::max);
    DOCUMENT_WEIGHT * (most - best).max(0.0)
}

/// Events no further apart than this belong to one exchange.
const EXCHANGE: u64 = 4;
/// A neighbour counts so much against the event itself.
const NEIGHBOUR_WEIGHT: f32 = 0.5;

/// How quickly another occurrence in the same document ceases to count.
const DOCUMENT_SATURATION: f32 = 0.4;
/// How far a document's length counts against it, and the length at which it does not. A fixed one: the mean
/// of an index of logs would make every sentence short.
const DOCUMENT_LENGTH: f32 = 0.2;
const USUAL_DOCUMENT: f32 = 60.0;
/// The same for sessions, whose length is their number of turns.
const SESSION_SATURATION: f32 = 1.6;
const SESSION_LENGTH: f32 = 0.75;
/// The best document counts so much more than the session as a whole.
const DOCUMENT_WEIGHT: f32 = 1.5;

/// How much the kinds of text count, in hundredths. Whole numbers add up to the same in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weighting {
    /// For what was talked about: words of people before those of agents and tools.
    Talk,
    /// For names, paths and codes: a file that was changed says more than one that was mentioned.
    Work,
}

impl Weighting {
    fn of(self, kind: TextKind) -> u64 {
        match (self, kind) {
            (Self::Talk, TextKind::User) => 120,
            (Self::Talk, TextKind::Agent) => 105,
            (Self::Work, TextKind::User) => 115,
            (Self::Work, TextKind::Agent) => 95,
            (Self::Work, TextKind::Call) => 130,
            (Self::Talk, TextKind::Call) | (_, TextKind::Reasoning) => 80,
            (_, TextKind::Result) => 70,
            (_, TextKind::Context) => 20,
        }
    }
}

/// How often, of a frequency in hundredths of a weight in hundredths.
fn times(weighted: u64) -> f32 {
    weighted as f32 / 10_000.0
}

/// What a document holds of the query so far.
#[derive(Clone, Copy)]
struct DocumentScore {
    address: DocAddress,
    session: SessionOrdinal,
    score: f32,
    units: u64,
    /// Whether a person or an agent says it.
    is_said: bool,
}

/// Scores every session in scope that holds a unit.
///
/// # Errors
/// When the index cannot be read.
pub(super) fn score(scope: &Scope<'_>, units: &[Unit], weighting: Weighting) -> Result<Scoring> {
    let mut documents: Vec<DocumentScore> = Vec::new();
    let mut sessions = SessionScores::new(scope, weighting);
    let mut rarity = Vec::with_capacity(units.len());
    for (at, unit) in (0u32..).zip(units) {
        let bit = 1u64.checked_shl(at).unwrap_or(0);
        let found = hits::of_unit(scope, unit)?;
        let rare = sessions.add(&found, bit);
        rarity.push(rare);
        documents = with_unit(documents, &found, rare, bit, weighting);
    }
    let all = units
        .len()
        .try_into()
        .ok()
        .and_then(|count| 1u64.checked_shl(count));
    let all = all.unwrap_or(0).wrapping_sub(1);
    Ok(Scoring {
        sessions: best_documents(scope, &documents, &sessions, all),
        rarity,
        documents,
    })
}

/// The scores of sessions as wholes.
struct SessionScores<'a> {
    scope: &'a Scope<'a>,
    weighting: Weighting,
    scores: Vec<f32>,
    units: Vec<u64>,
    /// Weighted frequencies of the unit at hand; zero between units.
    frequencies: Vec<u64>,
}

impl<'a> SessionScores<'a> {
    fn new(scope: &'a Scope<'a>, weighting: Weighting) -> Self {
        let count = scope.sessions.len();
        Self {
            scope,
            weighting,
            scores: vec![0.0; count],
            units: vec![0; count],
            frequencies: vec![0; count],
        }
    }

    /// Adds a unit; gives how rare it is.
    fn add(&mut self, hits: &[UnitHit], bit: u64) -> f32 {
        let mut touched = Vec::new();
        for hit in hits {
            if let Some(frequency) = self.frequencies.get_mut(hit.session.0 as usize) {
                if *frequency == 0 {
                    touched.push(hit.session);
                }
                *frequency += u64::from(hit.frequency) * self.weighting.of(hit.kind);
            }
        }
        let rarity = rarity(self.scope.sessions.count(), touched.len());
        for session in touched {
            let at = session.0 as usize;
            let frequency = self
                .frequencies
                .get_mut(at)
                .map(std::mem::take)
                .unwrap_or_default();
            let length = self.scope.sessions.relative_length(session);
            if let (Some(score), Some(units)) = (self.scores.get_mut(at), self.units.get_mut(at)) {
                *score += rarity * saturated(times(frequency), SESSION_SATURATION, SESSION_LENGTH, length);
                *units |= bit;
            }
        }
        rarity
    }

    fn of(&self, session: SessionOrdinal) -> (f32, u64) {
        let at = session.0 as usize;
        let score = self.scores.get(at).copied().unwrap_or_default();
        (score, self.units.get(at).copied().unwrap_or_default())
    }
}

/// How much it says that a session holds a unit which `holders` of `all` hold.
pub(super) fn rarity(all: usize, holders: usize) -> f32 {
    if holders == 0 {
        return 0.0;
    }
    let (all, holders) = (all as f32, holders as f32);
    (1.0 + (all - holders + 0.5).max(0.0) / (holders + 0.5)).ln()
}

/// BM25's share of a frequency, given a length relative to the usual one.
fn saturated(frequency: f32, saturation: f32, length_weight: f32, length: f32) -> f32 {
    let spread = saturation * (1.0 - length_weight + length_weight * length);
    frequency * (saturation + 1.0) / (frequency + spread)
}

/// Adds a unit's documents, both lists ascending.
fn with_unit(
    documents: Vec<DocumentScore>,
    hits: &[UnitHit],
    rarity: f32,
    bit: u64,
    weighting: Weighting,
) -> Vec<DocumentScore> {
    let mut all = Vec::with_capacity(documents.len() + hits.len());
    let mut documents = documents.into_iter().peekable();
    for hit in hits {
        while let Some(earlier) = documents.next_if(|document| document.address < hit.address) {
            all.push(earlier);
        }
        let length = hit.length as f32 / USUAL_DOCUMENT;
        let frequency = hit.frequency as f32 / 100.0;
        let share = saturated(frequency, DOCUMENT_SATURATION, DOCUMENT_LENGTH, length);
        let score = rarity * share * weighting.of(hit.kind) as f32 / 100.0;
        all.push(
            match documents.next_if(|document| document.address == hit.address) {
                Some(known) => DocumentScore {
                    score: known.score + score,
                    units: known.units | bit,
                    ..known
                },
                None => DocumentScore {
                    address: hit.address,
                    session: hit.session,
                    score,
                    units: bit,
                    is_said: matches!(hit.kind, TextKind::User | TextKind::Agent),
                },
            },
        );
    }
    all.extend(documents);
    all
}

/// Each session with its best document; sessions that another one stands for give it theirs.
fn best_documents(
    scope: &Scope<'_>,
    documents: &[DocumentScore],
    sessions: &SessionScores<'_>,
    all: u64,
) -> Vec<Scored> {
    let mut found: Vec<(Scored, &DocumentScore)> = Vec::new();
    // Where in `found` a session is, plus one.
    let mut places = vec![0usize; scope.sessions.len()];
    for document in documents {
        let (whole, units) = sessions.of(document.session);
        let here = Scored {
            session: scope.sessions.leader(document.session),
            score: DOCUMENT_WEIGHT * document.score + whole,
            best: document.address,
            units,
            together: document.units & all == all,
        };
        let Some(place) = places.get_mut(here.session.0 as usize) else {
            continue;
        };
        let known = place.checked_sub(1).and_then(|at| found.get_mut(at));
        let Some((known, known_document)) = known else {
            found.push((here, document));
            *place = found.len();
            continue;
        };
        let together = known.together || here.together;
        if is_better(scope, document, known_document) {
            (*known, *known_document) = (here, document);
        }
        known.together = together;
    }
    found.into_iter().map(|(scored, _)| scored).collect()
}

/// Whether one document is better than another; of equals the earlier in the session, then the one of the
/// session that leads the other or is older, wherever the index keeps it.
fn is_better(scope: &Scope<'_>, one: &DocumentScore, other: &DocumentScore) -> bool {
    let place = |document: &DocumentScore| {
        let segment = scope.segment_of(document.address)?;
        Some(segment.place(document.address.doc_id))
    };
    let follows = |document: &DocumentScore| scope.sessions.leader(document.session) != document.session;
    super::ordered(other.score)
        .cmp(&super::ordered(one.score))
        .then_with(|| place(one).cmp(&place(other)))
        .then_with(|| follows(one).cmp(&follows(other)))
        .then_with(|| match scope.sessions.is_older(one.session, other.session) {
            true => Ordering::Less,
            false => Ordering::Greater,
        })
        .is_lt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Property: more of a unit is never worse, a longer text never better, and all stays in bounds.
        #[test]
        fn shares_are_monotonic(frequency in 0.1f32..500.0, more in 0.1f32..9.0, length in 0.0f32..90.0) {
            let share = |frequency, length| saturated(frequency, 1.2, 0.75, length);
            prop_assert!(share(frequency + more, length) >= share(frequency, length));
            prop_assert!(share(frequency, length + 1.0) <= share(frequency, length));
            prop_assert!((0.0..=2.2).contains(&share(frequency, length)));
        }

        /// Property: what fewer sessions hold says more, and nothing counts against a session.
        #[test]
        fn rarer_says_more(all in 1usize..9_000, holders in 1usize..9_000) {
            let holders = holders.min(all);
            prop_assert!(rarity(all, holders) > 0.0);
            prop_assert!(holders == 1 || rarity(all, holders - 1) > rarity(all, holders));
        }
    }
}
