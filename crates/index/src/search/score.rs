//! Scoring: how much each session has to do with the units of a query.
//!
//! Two things count, both by BM25 with the same rarity of a unit, counted in sessions: the one document that
//! says most of the query, and how much the session as a whole speaks of it. Rarity, frequency and length are
//! taken over the scope alone and as whole sets, so that neither sessions out of scope nor the way the index
//! was built change an order.

pub(super) mod sums;

use super::hits::{Finder, UnitHit};
use super::scope::Scope;
use super::units::Unit;
use crate::error::Result;
use lookback_model::{SessionOrdinal, TextKind};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;
use sums::Sums;
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
    /// What people and agents say of it in sessions that may be wanted; what stands here twice counts once.
    said: Vec<DocumentScore>,
    /// The sums that this one went on from, whose words of people and agents count as well.
    sums: Option<Arc<Sums>>,
}

/// Which sessions are wanted. The others need not be scored, and may be all the same; they still count for how
/// rare a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Those that hold any unit.
    Any,
    /// Those that hold all of these units, a bit each.
    Units(u64),
    /// Those that hold so many units.
    Count(usize),
}

impl Wanted {
    /// Those that hold every one of so many units.
    pub(super) fn all(units: usize) -> Self {
        Self::Units(all_bits(units))
    }

    fn fits(self, units: u64) -> bool {
        match self {
            Self::Any => units != 0,
            Self::Units(wanted) => units & wanted == wanted,
            Self::Count(wanted) => units.count_ones() as usize >= wanted,
        }
    }
}

/// A bit for each of so many units.
fn all_bits(units: usize) -> u64 {
    let next = u32::try_from(units)
        .ok()
        .and_then(|count| 1u64.checked_shl(count));
    next.unwrap_or(0).wrapping_sub(1)
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
        let place_of = |session| {
            let leader = scope.sessions.leader(session);
            places
                .get(leader.0 as usize)
                .copied()
                .filter(|at| *at < chosen.len())
        };
        let is_chosen = |session| place_of(session).is_some();
        let summed = self.sums.iter().flat_map(|sums| sums.said(is_chosen));
        let mut said: Vec<Vec<(u64, f32)>> = vec![Vec::new(); chosen.len()];
        for document in self.said.iter().copied().chain(summed) {
            let said = place_of(document.session).and_then(|at| said.get_mut(at));
            if let (Some(said), Some(segment)) = (said, scope.segment_of(document.address)) {
                said.push((segment.seq(document.address.doc_id), document.score));
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

/// A document and its score.
#[derive(Clone, Copy)]
struct DocumentScore {
    address: DocAddress,
    session: SessionOrdinal,
    score: f32,
}

impl DocumentScore {
    fn of(hit: &UnitHit, score: f32) -> Self {
        Self {
            address: hit.address,
            session: hit.session,
            score,
        }
    }
}

/// Scores every session in scope that holds a unit and may be wanted.
///
/// # Errors
/// When the index cannot be read.
pub(super) fn score(
    finder: &Finder<'_>,
    units: &[Unit],
    weighting: Weighting,
    wanted: Wanted,
) -> Result<Scoring> {
    if let Some(scoring) = sums::score_on(finder, units, weighting, wanted)? {
        return Ok(scoring);
    }
    let scope = finder.scope;
    let mut sessions = SessionScores::new(scope, weighting);
    let mut found = Vec::with_capacity(units.len());
    for (at, unit) in (0u32..).zip(units) {
        let bit = 1u64.checked_shl(at).unwrap_or(0);
        let hits = finder.of_unit(unit)?;
        let rarity = sessions.add(&hits, bit);
        found.push(UnitDocuments { hits, rarity, bit });
    }
    let mut scoring = Scoring {
        sessions: Vec::new(),
        rarity: found.iter().map(|unit| unit.rarity).collect(),
        said: Vec::new(),
        sums: None,
    };
    let leaders = sessions.wanted_leaders(wanted);
    if leaders.contains(&true) {
        let mut best = BestDocuments::new(&sessions, all_bits(units.len()), leaders);
        scoring.said = add_up(&found, weighting, &mut best);
        scoring.sessions = best.scored();
    }
    Ok(scoring)
}

/// Whether these are words of people or agents, not of their tools and programs.
fn is_said(kind: TextKind) -> bool {
    matches!(kind, TextKind::User | TextKind::Agent)
}

/// The documents of a unit, and how rare it is.
struct UnitDocuments {
    hits: Arc<Vec<UnitHit>>,
    rarity: f32,
    bit: u64,
}

impl UnitDocuments {
    /// What the unit adds to a document's score.
    fn score(&self, hit: &UnitHit, weighting: Weighting) -> f32 {
        let length = hit.length as f32 / USUAL_DOCUMENT;
        let frequency = hit.frequency as f32 / 100.0;
        let share = saturated(frequency, DOCUMENT_SATURATION, DOCUMENT_LENGTH, length);
        self.rarity * share * weighting.of(hit.kind) as f32 / 100.0
    }
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
        // Documents of one session mostly stand side by side.
        for together in hits.chunk_by(|a, b| a.session == b.session) {
            let weighted = together
                .iter()
                .map(|hit| u64::from(hit.frequency) * self.weighting.of(hit.kind));
            let session = together.first().map(|hit| hit.session).unwrap_or_default();
            if let Some(frequency) = self.frequencies.get_mut(session.0 as usize) {
                if *frequency == 0 {
                    touched.push(session);
                }
                *frequency += weighted.sum::<u64>();
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

    /// By ordinal, whether a session stands for one that may be wanted.
    fn wanted_leaders(&self, wanted: Wanted) -> Vec<bool> {
        let mut leaders = vec![false; self.units.len()];
        for (session, units) in (0..).map(SessionOrdinal).zip(&self.units) {
            if *units != 0 && wanted.fits(*units) {
                let leader = self.scope.sessions.leader(session);
                if let Some(is_wanted) = leaders.get_mut(leader.0 as usize) {
                    *is_wanted = true;
                }
            }
        }
        leaders
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

/// So many neighbouring documents are added up at a time, so that they stay close to the processor.
const WINDOW: u32 = 1_024;

/// A document while its units are added up.
#[derive(Clone, Default)]
struct Sum<'a> {
    hit: Option<&'a UnitHit>,
    units: u64,
    score: f32,
}

/// Gives the documents of all units, ascending by address, their scores added up in the order of units, to
/// `best`; of those in question, what people and agents say comes back, when there is more than one unit.
fn add_up(units: &[UnitDocuments], weighting: Weighting, best: &mut BestDocuments<'_>) -> Vec<DocumentScore> {
    let mut said = Vec::new();
    if let [unit] = units {
        for hit in unit.hits.iter() {
            best.take(hit, unit.score(hit, weighting), unit.bit);
        }
        return said;
    }
    let mut window: Vec<Sum<'_>> = vec![Sum::default(); WINDOW as usize];
    let mut rest: Vec<&[UnitHit]> = units.iter().map(|unit| unit.hits.as_slice()).collect();
    while let Some(first) = rest.iter().filter_map(|hits| Some(hits.first()?.address)).min() {
        let end = DocAddress::new(first.segment_ord, first.doc_id.saturating_add(WINDOW));
        let mut filled = 0;
        for (unit, hits) in units.iter().zip(&mut rest) {
            while let Some((hit, others)) = hits.split_first().filter(|(hit, _)| hit.address < end) {
                *hits = others;
                if !best.is_in_question(hit.session) {
                    continue;
                }
                let at = (hit.address.doc_id - first.doc_id) as usize;
                filled = filled.max(at + 1);
                if let Some(sum) = window.get_mut(at) {
                    sum.hit = Some(hit);
                    sum.score += unit.score(hit, weighting);
                    sum.units |= unit.bit;
                }
            }
        }
        for sum in window.iter_mut().take(filled) {
            let (score, units) = (std::mem::take(&mut sum.score), std::mem::take(&mut sum.units));
            if let Some(hit) = sum.hit.take() {
                best.take(hit, score, units);
                if is_said(hit.kind) {
                    said.push(DocumentScore::of(hit, score));
                }
            }
        }
    }
    said
}

/// The best document of each session so far; sessions that another one stands for give it theirs.
struct BestDocuments<'a> {
    sessions: &'a SessionScores<'a>,
    /// All units, a bit each.
    all: u64,
    /// By ordinal, the sessions that stand for those in question.
    leaders: Vec<bool>,
    found: Vec<(DocumentScore, bool)>,
    /// By ordinal, where in `found` a session is, plus one.
    places: Vec<usize>,
    /// The session of the last document, and where in `found` it is: the next one is likely of the same.
    last: Option<(SessionOrdinal, usize)>,
}

impl<'a> BestDocuments<'a> {
    fn new(sessions: &'a SessionScores<'a>, all: u64, leaders: Vec<bool>) -> Self {
        Self {
            sessions,
            all,
            found: Vec::new(),
            places: vec![0; leaders.len()],
            leaders,
            last: None,
        }
    }

    fn is_in_question(&self, session: SessionOrdinal) -> bool {
        let leader = self.sessions.scope.sessions.leader(session);
        self.leaders.get(leader.0 as usize).copied().unwrap_or_default()
    }

    /// Takes a document in.
    fn take(&mut self, hit: &UnitHit, score: f32, units: u64) {
        let at = match self.last {
            Some((session, at)) if session == hit.session => at,
            _ => match self.place_of(hit.session) {
                Some(at) => at,
                None => return,
            },
        };
        let together = units & self.all == self.all;
        let document = DocumentScore::of(hit, score);
        match self.found.get_mut(at) {
            Some((known, known_together)) => {
                *known_together |= together;
                if is_better(self.sessions.scope, &document, known) {
                    *known = document;
                }
            }
            None => self.found.push((document, together)),
        }
    }

    /// Where in `found` the session is that stands for this one, or is to be put.
    fn place_of(&mut self, session: SessionOrdinal) -> Option<usize> {
        let leader = self.sessions.scope.sessions.leader(session);
        let place = self.places.get_mut(leader.0 as usize)?;
        let at = place.checked_sub(1).unwrap_or(self.found.len());
        *place = at + 1;
        self.last = Some((session, at));
        Some(at)
    }

    fn scored(self) -> Vec<Scored> {
        let scored = self.found.iter().map(|(document, together)| {
            let (whole, units) = self.sessions.of(document.session);
            Scored {
                session: self.sessions.scope.sessions.leader(document.session),
                score: DOCUMENT_WEIGHT * document.score + whole,
                best: document.address,
                units,
                together: *together,
            }
        });
        scored.collect()
    }
}

/// Twice what scores are rounded to, see [`super::ordered`].
const CLEAR_DIFFERENCE: f32 = 0.000_2;

/// Whether one document is better than another; of equals the earlier in the session, then the one of the
/// older session, wherever the index keeps it.
fn is_better(scope: &Scope<'_>, one: &DocumentScore, other: &DocumentScore) -> bool {
    // Nearly always the scores are so different that they differ rounded as well.
    let difference = one.score - other.score;
    if difference.abs() > CLEAR_DIFFERENCE {
        return difference > 0.0;
    }
    let place = |document: &DocumentScore| {
        let segment = scope.segment_of(document.address)?;
        Some(segment.place(document.address.doc_id))
    };
    super::ordered(other.score)
        .cmp(&super::ordered(one.score))
        .then_with(|| place(one).cmp(&place(other)))
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
