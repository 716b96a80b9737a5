//! The documents of a unit: every one in scope that holds the word or phrase, and how much of it.

use super::scope::{FieldScope, Scope, Segment};
use super::units::{Alternative, Unit};
use crate::error::Result;
use lookback_model::{SessionOrdinal, TextKind};
use std::collections::HashMap;
use tantivy::postings::Postings;
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

/// The documents of a unit, ascending by address. What was copied into a session from an older one counts
/// only there.
///
/// # Errors
/// When the index cannot be read.
pub(super) fn of_unit(scope: &Scope<'_>, unit: &Unit) -> Result<Vec<UnitHit>> {
    let mut hits = Vec::new();
    for segment in &scope.segments {
        let before = hits.len();
        for field in &scope.fields {
            let lengths = segment.field(*field);
            let found = frequencies(segment, *field, unit)?;
            hits.extend(found.into_iter().filter_map(|(document, frequency)| {
                let (session, kind) = segment.open_to(scope.sessions, document)?;
                Some(UnitHit {
                    address: DocAddress::new(segment.ord, document),
                    session,
                    kind,
                    frequency,
                    length: lengths.length(document),
                })
            }));
        }
        // One ascending run for each field, which this sort only has to merge.
        hits.get_mut(before..)
            .unwrap_or_default()
            .sort_by_key(|hit| hit.address);
    }
    fold_copies(scope, &mut hits);
    Ok(hits)
}

/// How often the unit stands in each document of a field, ascending by document.
fn frequencies(segment: &Segment<'_>, field: FieldScope, unit: &Unit) -> Result<Vec<(DocId, u32)>> {
    let mut found = Vec::new();
    for alternative in &unit.alternatives {
        if alternative.only_prose && !field.is_prose {
            continue;
        }
        let more = match alternative.sequence.as_slice() {
            [(_, term)] => of_term(segment, field, term, alternative.weight)?,
            _ => of_phrase(segment, field, alternative)?,
        };
        found = merged(found, more);
    }
    Ok(found)
}

fn of_term(segment: &Segment<'_>, field: FieldScope, term: &str, weight: u32) -> Result<Vec<(DocId, u32)>> {
    let Some(mut postings) = segment.postings(field, term, IndexRecordOption::WithFreqs)? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::with_capacity(postings.size_hint() as usize);
    let mut document = postings.doc();
    while document != TERMINATED {
        found.push((document, weight * postings.term_freq()));
        document = postings.advance();
    }
    Ok(found)
}

fn of_phrase(segment: &Segment<'_>, field: FieldScope, phrase: &Alternative) -> Result<Vec<(DocId, u32)>> {
    let Some(mut scorer) = segment.phrase(field, &phrase.sequence)? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    let mut document = scorer.doc();
    while document != TERMINATED {
        found.push((document, phrase.weight));
        document = scorer.advance();
    }
    Ok(found)
}

/// Two ascending lists as one; what stands in both adds up.
fn merged(left: Vec<(DocId, u32)>, right: Vec<(DocId, u32)>) -> Vec<(DocId, u32)> {
    if left.is_empty() {
        return right;
    }
    if right.is_empty() {
        return left;
    }
    let mut all = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(&(a, in_left)), Some(&(b, in_right))) = (left.peek(), right.peek()) {
        if a <= b {
            left.next();
        }
        if b <= a {
            right.next();
        }
        all.push(match a.cmp(&b) {
            std::cmp::Ordering::Less => (a, in_left),
            std::cmp::Ordering::Greater => (b, in_right),
            std::cmp::Ordering::Equal => (a, in_left + in_right),
        });
    }
    all.extend(left);
    all.extend(right);
    all
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
        /// Property: two lists as one are a sum by document, ascending.
        #[test]
        fn merging_adds_up(
            left in proptest::collection::btree_map(0u32..40, 1u8..9, 0..20),
            right in proptest::collection::btree_map(0u32..40, 1u8..9, 0..20),
        ) {
            let list = |map: &BTreeMap<u32, u8>| map.iter().map(|(&d, &f)| (d, u32::from(f))).collect::<Vec<_>>();
            let mut sum: BTreeMap<u32, u32> = BTreeMap::new();
            for (document, frequency) in list(&left).into_iter().chain(list(&right)) {
                *sum.entry(document).or_default() += frequency;
            }
            prop_assert_eq!(merged(list(&left), list(&right)), sum.into_iter().collect::<Vec<_>>());
        }
    }
}
