//! The documents of a unit: every one in scope that holds the word or phrase, and how much of it.

use super::query;
use super::scope::{FieldScope, Scope, Segment};
use super::score::sums::Sums;
use super::sessions::SessionSet;
use super::units::{Alternative, Unit};
use crate::error::Result;
use crate::text::TextSnapshot;
use lookback_model::session_query::AbortSignal;
use lookback_model::{SessionOrdinal, TextKind, View};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocId, DocSet, TERMINATED};

/// A document that holds a unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnitHit {
    /// The document.
    pub address: DocAddress,
    /// Its session.
    pub session: SessionOrdinal,
    /// Whose words.
    pub kind: TextKind,
    /// How often the unit stands there, in hundredths; forms of the word count less than once.
    pub frequency: u32,
    /// About how many terms the document has.
    pub length: u32,
}

/// A unit and its documents.
type Known = (Unit, Arc<Vec<UnitHit>>);

/// The units of the last search with their documents: whoever types a query letter by letter changes one word
/// at a time.
#[derive(Default)]
pub(crate) struct LastUnits {
    /// What they were looked up in.
    scope: Option<(Arc<TextSnapshot>, Arc<SessionSet>, View)>,
    units: Vec<Known>,
    sums: Option<Arc<Sums>>,
}

/// What a search begins with.
#[derive(Default)]
pub(super) struct Begun {
    units: Vec<Known>,
    sums: Option<Arc<Sums>>,
}

impl LastUnits {
    /// So many documents are kept at most.
    const LIMIT: usize = 1 << 20;

    /// Takes out what is of this very state of text and sessions.
    pub(super) fn take(&mut self, text: &Arc<TextSnapshot>, sessions: &Arc<SessionSet>, view: View) -> Begun {
        let begun = Begun {
            units: std::mem::take(&mut self.units),
            sums: self.sums.take(),
        };
        let is_same = self
            .scope
            .take()
            .is_some_and(|(known_text, known_sessions, known_view)| {
                Arc::ptr_eq(&known_text, text) && Arc::ptr_eq(&known_sessions, sessions) && known_view == view
            });
        if is_same { begun } else { Begun::default() }
    }

    /// Keeps the units of a search.
    pub(super) fn keep(
        &mut self,
        text: &Arc<TextSnapshot>,
        sessions: &Arc<SessionSet>,
        view: View,
        finder: Finder<'_>,
    ) {
        let mut left = Self::LIMIT;
        self.sums = finder.sums.into_inner();
        // Units that sums stood for were not asked for, and are of the query all the same.
        let summed = finder.last.into_inner().into_iter();
        let is_summed = |(unit, _): &Known| self.sums.as_deref().is_some_and(|sums| sums.has(unit));
        let units = finder
            .known
            .into_inner()
            .into_iter()
            .chain(summed.filter(is_summed));
        let kept = units.filter(|(_, hits)| match left.checked_sub(hits.len()) {
            Some(less) => {
                left = less;
                true
            }
            None => false,
        });
        self.units = kept.collect();
        self.scope = Some((Arc::clone(text), Arc::clone(sessions), view));
    }
}

/// The documents of the units of a search. A unit that is asked for again is not looked up again.
pub(super) struct Finder<'a> {
    /// Where is looked.
    pub scope: &'a Scope<'a>,
    known: RefCell<Vec<Known>>,
    last: RefCell<Vec<Known>>,
    /// All units of the last search.
    before: Vec<Unit>,
    /// Sums of the last search, then of this one.
    pub sums: RefCell<Option<Arc<Sums>>>,
    tally: RefCell<Tally>,
    abort: Option<&'a AbortSignal>,
}

impl<'a> Finder<'a> {
    /// The same, which stops when `abort` says so.
    pub(super) fn until(self, abort: &'a AbortSignal) -> Self {
        Self {
            abort: Some(abort),
            ..self
        }
    }

    /// A finder that has what the last search found at hand.
    pub(super) fn new(scope: &'a Scope<'a>, last: Begun) -> Self {
        Self {
            scope,
            known: RefCell::default(),
            before: last.units.iter().map(|(unit, _)| unit.clone()).collect(),
            last: RefCell::new(last.units),
            sums: RefCell::new(last.sums),
            tally: RefCell::default(),
            abort: None,
        }
    }

    /// Whether the last search looked for these units.
    pub(super) fn had_last_time(&self, units: &[Unit]) -> bool {
        units.iter().all(|unit| self.before.contains(unit))
    }

    /// The documents of a unit, ascending by address. What was copied into a session from an older one counts
    /// only there.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn of_unit(&self, unit: &Unit) -> Result<Arc<Vec<UnitHit>>> {
        if let Some((_, hits)) = self.known.borrow().iter().find(|(known, _)| known == unit) {
            return Ok(Arc::clone(hits));
        }
        let mut last = self.last.borrow_mut();
        let known = match last.iter().position(|(known, _)| known == unit) {
            Some(at) => last.swap_remove(at),
            None => (unit.clone(), Arc::new(self.look_up(unit)?)),
        };
        let hits = Arc::clone(&known.1);
        self.known.borrow_mut().push(known);
        Ok(hits)
    }

    fn look_up(&self, unit: &Unit) -> Result<Vec<UnitHit>> {
        self.abort.map_or(Ok(()), query::check)?;
        let mut tally = self.tally.borrow_mut();
        let mut hits = Vec::new();
        for segment in &self.scope.segments {
            for field in &self.scope.fields {
                count(segment, *field, unit, &mut tally)?;
            }
            tally.take(|document, frequency| {
                if let Some((session, kind)) = segment.open_to(self.scope.sessions, document) {
                    hits.push(UnitHit {
                        address: DocAddress::new(segment.ord, document),
                        session,
                        kind,
                        frequency,
                        length: segment.length(kind, document),
                    });
                }
            });
        }
        fold_copies(self.scope, &mut hits);
        Ok(hits)
    }
}

/// How often something stands in each document of a segment: sums up lists of documents without ever sorting
/// or merging them. Empty between uses.
#[derive(Default)]
struct Tally {
    counts: Vec<u32>,
    /// A bit for each document that was counted.
    counted: Vec<u64>,
}

impl Tally {
    fn grow(&mut self, documents: usize) {
        if self.counts.len() < documents {
            self.counts.resize(documents, 0);
            self.counted.resize(documents.div_ceil(64), 0);
        }
    }

    fn add(&mut self, document: DocId, count: u32) {
        let at = document as usize;
        if let (Some(sum), Some(word)) = (self.counts.get_mut(at), self.counted.get_mut(at / 64)) {
            *sum += count;
            *word |= 1 << (at % 64);
        }
    }

    /// Gives every document that was counted, ascending, and forgets it.
    fn take(&mut self, mut give: impl FnMut(DocId, u32)) {
        for (word, first) in self.counted.iter_mut().zip((0u32..).step_by(64)) {
            let mut left = std::mem::take(word);
            while left != 0 {
                let document = first + left.trailing_zeros();
                left &= left - 1;
                if let Some(count) = self.counts.get_mut(document as usize) {
                    give(document, std::mem::take(count));
                }
            }
        }
    }
}

/// Counts how often the unit stands in each document of a field, in hundredths.
fn count(segment: &Segment<'_>, field: FieldScope, unit: &Unit, tally: &mut Tally) -> Result<()> {
    tally.grow(segment.documents());
    for alternative in &unit.alternatives {
        if alternative.only_prose && !field.is_prose {
            continue;
        }
        match alternative.sequence.as_slice() {
            [(_, term)] => count_term(segment, field, term, alternative.weight, tally)?,
            _ => count_phrase(segment, field, alternative, tally)?,
        }
    }
    Ok(())
}

fn count_term(
    segment: &Segment<'_>,
    field: FieldScope,
    term: &str,
    weight: u32,
    tally: &mut Tally,
) -> Result<()> {
    let Some(mut blocks) = segment.blocks(field, term, IndexRecordOption::WithFreqs)? else {
        return Ok(());
    };
    while !blocks.docs().is_empty() {
        for (&document, &frequency) in blocks.docs().iter().zip(blocks.freqs()) {
            tally.add(document, weight * frequency);
        }
        blocks.advance();
    }
    Ok(())
}

fn count_phrase(
    segment: &Segment<'_>,
    field: FieldScope,
    phrase: &Alternative,
    tally: &mut Tally,
) -> Result<()> {
    let Some(mut scorer) = segment.phrase(field, &phrase.sequence)? else {
        return Ok(());
    };
    let mut document = scorer.doc();
    while document != TERMINATED {
        tally.add(document, phrase.weight);
        document = scorer.advance();
    }
    Ok(())
}

/// Takes away copies of events that an older session of the same family holds.
fn fold_copies(scope: &Scope<'_>, hits: &mut Vec<UnitHit>) {
    let copy_of = |hit: &UnitHit| -> Option<(u64, u64)> {
        let family = scope.sessions.family(hit.session)?;
        let key = scope.segment_of(hit.address)?.copy_key(hit.address.doc_id);
        (key != 0).then_some((family, key))
    };
    let mut first: HashMap<(u64, u64), SessionOrdinal> = HashMap::new();
    for hit in hits.iter() {
        if let Some(copy) = copy_of(hit) {
            let holder = first.entry(copy).or_insert(hit.session);
            if scope.sessions.is_older(hit.session, *holder) {
                *holder = hit.session;
            }
        }
    }
    if first.is_empty() {
        return;
    }
    hits.retain(|hit| copy_of(hit).is_none_or(|copy| first.get(&copy) == Some(&hit.session)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Property: lists add up by document, ascending, and nothing is left of them.
        #[test]
        fn a_tally_adds_up(
            lists in proptest::collection::vec(proptest::collection::btree_map(0u32..200, 1u32..9, 0..20), 0..4),
        ) {
            let mut tally = Tally::default();
            tally.grow(200);
            let mut sum: BTreeMap<u32, u32> = BTreeMap::new();
            for (document, count) in lists.into_iter().flatten() {
                tally.add(document, count);
                *sum.entry(document).or_default() += count;
            }
            let mut given = Vec::new();
            tally.take(|document, count| given.push((document, count)));
            prop_assert_eq!(given, sum.into_iter().collect::<Vec<_>>());
            tally.take(|document, _| panic!("{document} is left"));
        }
    }
}
