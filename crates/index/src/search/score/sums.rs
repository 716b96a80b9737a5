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
use std::sync::Arc;
use tantivy::DocAddress;

/// So many documents are kept at most; of more, each search adds up anew.
const LIMIT: usize = 1 << 18;
/// Beside so few documents of the last word, those before it are looked for one by one.
const SPARSE: usize = 32;

/// What the first units of a query add up to.
pub(in crate::search) struct Sums {
    units: Vec<Unit>,
    weighting: Weighting,
    rarity: Vec<f32>,
    /// By ordinal, the scores of sessions as wholes and the units they hold.
    scores: Vec<f32>,
    held: Vec<u64>,
    /// Every document that holds one of the units, ascending by address.
    documents: Vec<DocumentSum>,
    /// The best document of each session, and by ordinal where in there it is, plus one.
    found: Vec<DocumentScore>,
    places: Vec<usize>,
}

/// A document and what it holds.
#[derive(Clone, Copy)]
struct DocumentSum {
    document: DocumentScore,
    units: u64,
    is_said: bool,
}

/// Scores every session when the units but the last were in the search before, and none is left out from the
/// start; `None` leaves it to be added up anew.
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
    sums.each_with(&unit, |hit, score, units| {
        best.take(hit, score, units);
        if is_said(hit.kind) {
            said.push(DocumentScore::of(hit, score));
        }
    });
    let sessions = best.scored();
    let mut rarity = sums.rarity.clone();
    rarity.push(unit.rarity);
    Ok(Some(Scoring {
        sessions,
        rarity,
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
    /// Those of these units: what is kept of the first of them, and the others added. `None` when they stand in
    /// too many documents.
    fn of(finder: &Finder<'_>, units: &[Unit], weighting: Weighting) -> Result<Option<Arc<Self>>> {
        let kept = finder.sums.borrow_mut().take();
        let kept = kept.filter(|sums| sums.weighting == weighting && units.starts_with(&sums.units));
        let mut sums = kept.unwrap_or_else(|| Arc::new(Self::empty(finder.scope, weighting)));
        for unit in units.get(sums.units.len()..).unwrap_or_default() {
            let hits = finder.of_unit(unit)?;
            if sums.documents.len() + hits.len() > LIMIT {
                return Ok(None);
            }
            sums = Arc::new(sums.extended(finder.scope, unit, hits));
        }
        *finder.sums.borrow_mut() = Some(Arc::clone(&sums));
        Ok(Some(sums))
    }

    fn empty(scope: &Scope<'_>, weighting: Weighting) -> Self {
        let count = scope.sessions.len();
        Self {
            units: Vec::new(),
            weighting,
            rarity: Vec::new(),
            scores: vec![0.0; count],
            held: vec![0; count],
            documents: Vec::new(),
            found: Vec::new(),
            places: vec![0; count],
        }
    }

    /// With one more unit.
    fn extended(&self, scope: &Scope<'_>, unit: &Unit, hits: Arc<Vec<UnitHit>>) -> Self {
        let bit = bit(self.units.len());
        let mut sessions = self.sessions(scope);
        let rarity = sessions.add(&hits, bit);
        let added = UnitDocuments { hits, rarity, bit };
        let mut best = self.best(&sessions, 0);
        let mut sums = Vec::with_capacity(added.hits.len());
        self.each_with(&added, |hit, score, units| {
            best.take(hit, score, units);
            sums.push(DocumentSum {
                document: DocumentScore::of(hit, score),
                units,
                is_said: is_said(hit.kind),
            });
        });
        let (found, places) = (best.found, best.places);
        let mut units = self.units.clone();
        units.push(unit.clone());
        let mut rarities = self.rarity.clone();
        rarities.push(added.rarity);
        Self {
            units,
            weighting: self.weighting,
            rarity: rarities,
            documents: merged(&self.documents, sums),
            found: found.into_iter().map(|(document, _)| document).collect(),
            places,
            scores: sessions.scores,
            held: sessions.units,
        }
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

    /// Gives every document of a unit, with its score and units those of the first units included.
    fn each_with(&self, unit: &UnitDocuments, mut give: impl FnMut(&UnitHit, f32, u64)) {
        let is_sparse = unit.hits.len() < self.documents.len() / SPARSE;
        let mut rest = self.documents.as_slice();
        for hit in unit.hits.iter() {
            let earlier = |sum: &DocumentSum| sum.document.address < hit.address;
            let skipped = match is_sparse {
                true => rest.partition_point(earlier),
                false => rest.iter().take_while(|sum| earlier(sum)).count(),
            };
            rest = rest.get(skipped..).unwrap_or_default();
            let (mut score, mut units) = (0.0, 0);
            if let Some(sum) = rest.first().filter(|sum| sum.document.address == hit.address) {
                (score, units) = (sum.document.score, sum.units);
            }
            score += unit.score(hit, self.weighting);
            give(hit, score, units | unit.bit);
        }
    }

    /// What people and agents say.
    pub(super) fn said(&self) -> impl Iterator<Item = DocumentScore> {
        let said = self.documents.iter().filter(|sum| sum.is_said);
        said.map(|sum| sum.document)
    }
}

/// Two ascending lists as one; where both have a document, the newer sum counts.
fn merged(older: &[DocumentSum], newer: Vec<DocumentSum>) -> Vec<DocumentSum> {
    let mut all = Vec::with_capacity(older.len() + newer.len());
    let mut rest = older;
    for sum in newer {
        let address: DocAddress = sum.document.address;
        let before = rest
            .iter()
            .take_while(|older| older.document.address < address)
            .count();
        let (earlier, others) = rest.split_at_checked(before).unwrap_or((rest, &[]));
        all.extend_from_slice(earlier);
        rest = match others.split_first() {
            Some((same, others)) if same.document.address == address => others,
            _ => others,
        };
        all.push(sum);
    }
    all.extend_from_slice(rest);
    all
}
