//! Proximity: words of a query that stand next to each other in a text as they do in the query.
//!
//! Looked at only in the best documents of the best sessions, as it needs positions, which are slow to read.

use super::scope::{FieldScope, Scope, Segment};
use super::score::Scored;
use super::units::Unit;
use crate::error::Result;
use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet};

/// Only so many sessions are looked at.
pub(super) const LOOKED_AT: usize = 64;
/// Words further apart than this are no neighbours.
const FARTHEST: u32 = 3;
/// What neighbours add, against what the two words count by themselves.
const WEIGHT: f32 = 1.0;

/// What the neighbours in a session's best document add to its score. `rarity` is by unit.
///
/// # Errors
/// When the index cannot be read.
pub(super) fn bonus(scope: &Scope<'_>, units: &[Unit], rarity: &[f32], scored: &Scored) -> Result<f32> {
    let Some(segment) = scope.segment_of(scored.best) else {
        return Ok(0.0);
    };
    let document = scored.best.doc_id;
    let mut bonus = 0.0;
    let mut before: Option<Vec<u32>> = None;
    for (at, unit) in units.iter().enumerate() {
        let here = positions(scope, segment, document, unit)?;
        if let Some(distance) = before.as_deref().and_then(|before| distance(before, &here)) {
            let of = |at: Option<usize>| at.and_then(|at| rarity.get(at)).copied().unwrap_or_default();
            bonus += WEIGHT * (of(at.checked_sub(1)) + of(Some(at))) / distance as f32;
        }
        before = Some(here);
    }
    Ok(bonus)
}

/// Where a unit of one term stands in a document, ascending.
fn positions(scope: &Scope<'_>, segment: &Segment<'_>, document: DocId, unit: &Unit) -> Result<Vec<u32>> {
    let mut all = Vec::new();
    for alternative in &unit.alternatives {
        let [(_, term)] = alternative.sequence.as_slice() else {
            continue;
        };
        for field in scope
            .fields
            .iter()
            .filter(|field| field.is_prose || !alternative.only_prose)
        {
            positions_of(segment, *field, term, document, &mut all)?;
        }
    }
    all.sort_unstable();
    Ok(all)
}

fn positions_of(
    segment: &Segment<'_>,
    field: FieldScope,
    term: &str,
    document: DocId,
    all: &mut Vec<u32>,
) -> Result<()> {
    let option = IndexRecordOption::WithFreqsAndPositions;
    if let Some(mut postings) = segment.postings(field, term, option)?
        && postings.doc() <= document
        && postings.seek(document) == document
    {
        postings.append_positions_with_offset(0, all);
    }
    Ok(())
}

/// The smallest distance between two ascending lists, when it is small; standing at the same place is none.
fn distance(left: &[u32], right: &[u32]) -> Option<u32> {
    let mut smallest = None;
    let (mut lefts, mut rights) = (left.iter().peekable(), right.iter().peekable());
    while let (Some(&&a), Some(&&b)) = (lefts.peek(), rights.peek()) {
        let apart = a.abs_diff(b);
        if apart > 0 && apart <= FARTHEST && smallest.is_none_or(|known| apart < known) {
            smallest = Some(apart);
        }
        if a < b {
            lefts.next();
        } else {
            rights.next();
        }
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_near_and_not_the_same() {
        assert_eq!(distance(&[1, 50], &[9, 52]), Some(2));
        assert_eq!(distance(&[5], &[5]), None);
        assert_eq!(distance(&[5], &[9]), None);
        assert_eq!(distance(&[], &[9]), None);
        assert_eq!(distance(&[2, 3], &[3]), Some(1));
    }
}
