//! Proximity: words of a query that stand next to each other in a text as they do in the query.
//!
//! Looked at only in the best documents of the best sessions, as it needs positions, which are slow to read.

use super::scope::{Scope, Segment};
use super::score::Scored;
use super::units::Unit;
use crate::error::Result;
use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet};

/// Only so many sessions are looked at.
pub(super) const LOOKED_AT: usize = 64;
/// Words further apart than this are no neighbours.
const FARTHEST: u32 = 3;
/// What neighbours add, against what the two words count by themselves.
const WEIGHT: f32 = 1.0;

/// What the neighbours in the best document of each session add to its score. `rarity` is by unit.
///
/// # Errors
/// When the index cannot be read.
pub(super) fn bonuses(
    scope: &Scope<'_>,
    units: &[Unit],
    rarity: &[f32],
    sessions: &[Scored],
) -> Result<Vec<f32>> {
    let mut looked_at: Vec<LookedAt> = (0..)
        .zip(sessions)
        .map(|(session, scored)| LookedAt {
            session,
            document: scored.best,
            before: Vec::new(),
            here: Vec::new(),
            bonus: 0.0,
        })
        .collect();
    looked_at.sort_unstable_by_key(|looked_at| looked_at.document);
    for parts in looked_at.chunk_by_mut(|a, b| a.document.segment_ord == b.document.segment_ord) {
        let segment = parts.first().and_then(|first| scope.segment_of(first.document));
        let Some(segment) = segment else { continue };
        for (at, unit) in units.iter().enumerate() {
            positions(scope, segment, unit, parts)?;
            let of = |at: Option<usize>| at.and_then(|at| rarity.get(at)).copied().unwrap_or_default();
            let both = of(at.checked_sub(1)) + of(Some(at));
            for document in parts.iter_mut() {
                document.here.sort_unstable();
                if let Some(distance) = distance(&document.before, &document.here) {
                    document.bonus += WEIGHT * both / distance as f32;
                }
                std::mem::swap(&mut document.before, &mut document.here);
                document.here.clear();
            }
        }
    }
    looked_at.sort_unstable_by_key(|looked_at| looked_at.session);
    Ok(looked_at.into_iter().map(|looked_at| looked_at.bonus).collect())
}

/// A document in which neighbours are looked for.
struct LookedAt {
    /// Which of the sessions it is of.
    session: usize,
    document: DocAddress,
    /// Where the unit before stands in it, ascending.
    before: Vec<u32>,
    /// Where the unit at hand does.
    here: Vec<u32>,
    bonus: f32,
}

/// Adds where a unit of one term stands in documents of a segment, which are ascending: each list of the index
/// is opened once and gone through once.
fn positions(
    scope: &Scope<'_>,
    segment: &Segment<'_>,
    unit: &Unit,
    documents: &mut [LookedAt],
) -> Result<()> {
    let option = IndexRecordOption::WithFreqsAndPositions;
    for alternative in &unit.alternatives {
        let [(_, term)] = alternative.sequence.as_slice() else {
            continue;
        };
        let fields = scope.fields.iter();
        for field in fields.filter(|field| field.is_prose || !alternative.only_prose) {
            let Some(mut postings) = segment.postings(*field, term, option)? else {
                continue;
            };
            for LookedAt { document, here, .. } in documents.iter_mut() {
                let document = document.doc_id;
                if postings.doc() <= document && postings.seek(document) == document {
                    postings.append_positions_with_offset(0, here);
                }
            }
        }
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
