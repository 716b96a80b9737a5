//! Sums that stay while a query is typed: each letter changes the last word only, so that what the words before
//! it add up to is kept from one search to the next. A search then looks at the documents of its last word,
//! not at those of all.
//!
//! Scores are added up in the order of units, here as there, so that an answer does not depend on what was
//! searched before.

use super::super::hits::{Finder, UnitHit};
use super::super::scope::Scope;
use super::super::units::Unit;
use super::{
    BestDocuments, DocumentScore, Scoring, SessionScores, UnitDocuments, Wanted, Weighting, all_bits, is_said,
};
use crate::error::Result;
use lookback_model::SessionOrdinal;
use std::sync::Arc;
use tantivy::DocAddress;

/// Of an index of more documents than this nothing is kept, so that memory stays bounded.
const LIMIT: usize = 1 << 21;

/// What the first units of a query add up to.
pub(in crate::search) struct Sums {
    units: Vec<Unit>,
    weighting: Weighting,
    added: Vec<UnitDocuments>,
    /// By ordinal, the scores of sessions as wholes and the units they hold.
    scores: Vec<f32>,
    held: Vec<u64>,
    documents: Documents,
    /// The best document of each session, and by ordinal where in there it is, plus one.
    found: Vec<DocumentScore>,
    places: Vec<usize>,
}

/// What each document of the index holds.
struct Documents {
    /// Where those of each segment begin.
    starts: Vec<usize>,
    sums: Vec<DocumentSum>,
}

#[derive(Clone, Copy, Default)]
struct DocumentSum {
    score: f32,
    units: u64,
}

/// Scores every session when the units but the last were in the search before; `None` leaves it to be added up
/// anew, which is less work when all units are wanted and one of them is rare.
///
/// # Errors
/// When the index cannot be read.
pub(super) fn score_on(
    finder: &Finder<'_>,
    units: &[Unit],
    weighting: Weighting,
    wanted: Wanted,
) -> Result<Option<Scoring>> {
    let is_open = !matches!(wanted, Wanted::Units(bits) if bits != 0);
    let Some((last, before)) = units.split_last().filter(|_| is_open) else {
        return Ok(None);
    };
    if before.is_empty() || !finder.had_last_time(before) {
        return Ok(None);
    }
    let Some(sums) = Sums::of(finder, before, weighting)? else {
        return Ok(None);
    };
    let hits = finder.of_unit(last)?;
    let bit = bit(before.len());
    let mut sessions = sums.sessions(finder.scope);
    let rarity = sessions.add(&hits, bit);
    let unit = UnitDocuments { hits, rarity, bit };
    let mut best = sums.best(&sessions, all_bits(units.len()));
    let mut said = Vec::new();
    for hit in unit.hits.iter() {
        let DocumentSum { score, units } = sums.documents.with(&unit, hit, weighting);
        best.take(hit, score, units);
        if is_said(hit.kind) {
            said.push(DocumentScore::of(hit, score));
        }
    }
    let sessions = best.scored();
    let rarity = sums.added.iter().map(|unit| unit.rarity).chain([unit.rarity]);
    Ok(Some(Scoring {
        sessions,
        rarity: rarity.collect(),
        said,
        sums: Some(sums),
    }))
}

/// The bit of a unit; none beyond the last that there is one for.
fn bit(at: usize) -> u64 {
    u32::try_from(at)
        .ok()
        .and_then(|at| 1u64.checked_shl(at))
        .unwrap_or(0)
}

impl Sums {
    /// Those of these units, when what is kept is of all of them; else one more is added to what is kept, and
    /// the next search may have them.
    fn of(finder: &Finder<'_>, units: &[Unit], weighting: Weighting) -> Result<Option<Arc<Self>>> {
        let mut kept = finder.sums.borrow_mut();
        if let Some(sums) = kept.as_ref().filter(|sums| sums.weighting == weighting) {
            if sums.units == units {
                return Ok(Some(Arc::clone(sums)));
            }
            // A word that means nothing by itself may be the beginning of one that does.
            if sums.units.len() > units.len() && sums.units.starts_with(units) {
                return Ok(None);
            }
        }
        let known = kept.take();
        let known = known.filter(|sums| sums.weighting == weighting && units.starts_with(&sums.units));
        let known = known.and_then(Arc::into_inner);
        let Some(mut sums) = known.or_else(|| Self::empty(finder.scope, weighting)) else {
            return Ok(None);
        };
        if let Some(unit) = units.get(sums.units.len()) {
            sums.add(finder.scope, unit, finder.of_unit(unit)?);
        }
        let is_whole = sums.units.len() == units.len();
        let sums = Arc::new(sums);
        *kept = Some(Arc::clone(&sums));
        Ok(is_whole.then_some(sums))
    }

    /// Whether a unit is one of them.
    pub(in crate::search) fn has(&self, unit: &Unit) -> bool {
        self.units.contains(unit)
    }

    /// Those of no unit; `None` when there are too many documents.
    fn empty(scope: &Scope<'_>, weighting: Weighting) -> Option<Self> {
        let count = scope.sessions.len();
        Some(Self {
            units: Vec::new(),
            weighting,
            added: Vec::new(),
            scores: vec![0.0; count],
            held: vec![0; count],
            documents: Documents::of(scope)?,
            found: Vec::new(),
            places: vec![0; count],
        })
    }

    /// Adds one more unit.
    fn add(&mut self, scope: &Scope<'_>, unit: &Unit, hits: Arc<Vec<UnitHit>>) {
        let bit = bit(self.units.len());
        let mut sessions = self.sessions(scope);
        let rarity = sessions.add(&hits, bit);
        let added = UnitDocuments { hits, rarity, bit };
        let mut best = self.best(&sessions, 0);
        for hit in added.hits.iter() {
            let sum = self.documents.with(&added, hit, self.weighting);
            best.take(hit, sum.score, sum.units);
            self.documents.set(hit.address, sum);
        }
        let (found, places) = (best.found, best.places);
        self.found = found.into_iter().map(|(document, _)| document).collect();
        self.places = places;
        (self.scores, self.held) = (sessions.scores, sessions.units);
        self.units.push(unit.clone());
        self.added.push(added);
    }

    /// The scores of sessions as they are so far.
    fn sessions<'a>(&self, scope: &'a Scope<'a>) -> SessionScores<'a> {
        SessionScores {
            scope,
            weighting: self.weighting,
            frequencies: vec![0; self.scores.len()],
            scores: self.scores.clone(),
            units: self.held.clone(),
        }
    }

    /// The best documents as they are so far. Adding a unit makes no document worse.
    fn best<'a>(&self, sessions: &'a SessionScores<'a>, all: u64) -> BestDocuments<'a> {
        BestDocuments {
            sessions,
            all,
            leaders: vec![true; self.places.len()],
            found: self.found.iter().map(|document| (*document, false)).collect(),
            places: self.places.clone(),
            last: None,
        }
    }

    /// What people and agents say in some sessions; a document may come twice.
    pub(super) fn said<'s>(
        &'s self,
        is_wanted: impl Fn(SessionOrdinal) -> bool + Copy + 's,
    ) -> impl Iterator<Item = DocumentScore> + 's {
        let hits = self.added.iter().flat_map(|unit| unit.hits.iter());
        let said = hits.filter(move |hit| is_said(hit.kind) && is_wanted(hit.session));
        said.map(|hit| DocumentScore::of(hit, self.documents.get(hit.address).score))
    }
}

impl Documents {
    fn of(scope: &Scope<'_>) -> Option<Self> {
        let mut starts = Vec::with_capacity(scope.segments.len());
        let mut count = 0;
        for segment in &scope.segments {
            starts.push(count);
            count += segment.documents();
        }
        (count <= LIMIT).then(|| Self {
            starts,
            sums: vec![DocumentSum::default(); count],
        })
    }

    fn place(&self, address: DocAddress) -> usize {
        let start = self.starts.get(address.segment_ord as usize);
        start.map_or(usize::MAX, |start| start + address.doc_id as usize)
    }

    fn get(&self, address: DocAddress) -> DocumentSum {
        self.sums.get(self.place(address)).copied().unwrap_or_default()
    }

    fn set(&mut self, address: DocAddress, sum: DocumentSum) {
        let place = self.place(address);
        if let Some(known) = self.sums.get_mut(place) {
            *known = sum;
        }
    }

    /// A document's sum with what a unit adds to it.
    fn with(&self, unit: &UnitDocuments, hit: &UnitHit, weighting: Weighting) -> DocumentSum {
        let DocumentSum { score, units } = self.get(hit.address);
        DocumentSum {
            score: score + unit.score(hit, weighting),
            units: units | unit.bit,
        }
    }
}
