//! The surface: which events of a log an agent would still send (contract B, B.3).
//!
//! A log only grows, yet a conversation is rewound, compacted and edited. Events say so themselves by
//! their [`SurfaceOp`]; folding a log from its start gives the ordered list of seqs that are *current*,
//! leaves those that were replaced *shadowed*, and all others *log-only*.

use crate::event::{Event, SurfaceOp};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Where an event stands after the fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SurfaceState {
    /// On the surface.
    Current,
    /// Was on the surface and has been replaced.
    Shadowed,
    /// Never was on the surface.
    LogOnly,
}

impl SurfaceState {
    /// Where an event stands, of which is known whether it ever entered the surface. `shadowed` are inclusive
    /// ranges in ascending order.
    pub fn within(has_marker: bool, seq: u64, shadowed: &[(u64, u64)]) -> Self {
        if !has_marker {
            return Self::LogOnly;
        }
        let after = shadowed.partition_point(|&(_, last)| last < seq);
        match shadowed.get(after) {
            Some(&(first, _)) if first <= seq => Self::Shadowed,
            _ => Self::Current,
        }
    }
}

/// Why a log cannot be folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SurfaceError {
    /// The first event to replace is not on the surface.
    #[error("event {seq} replaces from {start}, which is not on the surface")]
    StartNotOnSurface {
        /// The replacing event.
        seq: u64,
        /// The missing one.
        start: u64,
    },
    /// The last event to replace is not on the surface.
    #[error("event {seq} replaces up to {end}, which is not on the surface")]
    EndNotOnSurface {
        /// The replacing event.
        seq: u64,
        /// The missing one.
        end: u64,
    },
    /// The slice runs backwards.
    #[error("event {seq} replaces {start} to {end}, which stand in the other order on the surface")]
    StartAfterEnd {
        /// The replacing event.
        seq: u64,
        /// First event of the slice.
        start: u64,
        /// Last event of the slice.
        end: u64,
    },
}

/// One replacement: what came, and what it took away in surface order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The replacing event.
    pub by: u64,
    /// What it removed, in surface order.
    pub shadowed: Vec<u64>,
}

/// The state of a fold. Feed events in log order with [`Surface::apply`]; feeding more later gives the
/// same state as feeding all at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surface {
    current: Vec<u64>,
    replacements: Vec<Replacement>,
}

impl Surface {
    /// Folds a whole log.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<Self, SurfaceError> {
        let mut surface = Self::default();
        for event in events {
            surface.apply(event)?;
        }
        Ok(surface)
    }

    /// Goes on with a fold of which only the current events were kept.
    pub fn resume(current: Vec<u64>) -> Self {
        Self {
            current,
            replacements: Vec::new(),
        }
    }

    /// Hands out the last replacement and forgets it, for callers who keep their own account.
    pub fn take_replacement(&mut self) -> Option<Replacement> {
        self.replacements.pop()
    }

    /// Takes the next event of the log. An event without a marker, or of a type that may not have one,
    /// changes nothing. A failed replacement leaves the state as it was.
    pub fn apply(&mut self, event: &Event) -> Result<(), SurfaceError> {
        match event.surface_op {
            Some(op) if event.data.surface_eligible() => self.apply_op(event.seq, op),
            _ => Ok(()),
        }
    }

    /// The same by seq and marker alone, for callers who hold no event.
    pub fn apply_op(&mut self, seq: u64, op: SurfaceOp) -> Result<(), SurfaceError> {
        let SurfaceOp::Replace { start, end } = op else {
            self.current.push(seq);
            return Ok(());
        };
        let slice = self.slice(seq, start, end)?;
        let shadowed = self.current.splice(slice, [seq]).collect();
        self.replacements.push(Replacement { by: seq, shadowed });
        Ok(())
    }

    /// The places on the surface that event `seq` would take by replacing `start` to `end`.
    pub fn slice(&self, seq: u64, start: u64, end: u64) -> Result<RangeInclusive<usize>, SurfaceError> {
        let from = self
            .position(start)
            .ok_or(SurfaceError::StartNotOnSurface { seq, start })?;
        let to = self
            .position(end)
            .ok_or(SurfaceError::EndNotOnSurface { seq, end })?;
        if from > to {
            return Err(SurfaceError::StartAfterEnd { seq, start, end });
        }
        Ok(from..=to)
    }

    /// The current events, in surface order.
    pub fn current(&self) -> &[u64] {
        &self.current
    }

    /// All replacements, in log order.
    pub fn replacements(&self) -> &[Replacement] {
        &self.replacements
    }

    /// Where `seq` stands on the surface, from 0.
    pub fn position(&self, seq: u64) -> Option<usize> {
        // Without replacements the surface ascends; look from the end, where readers ask.
        self.current.iter().rposition(|&at| at == seq)
    }

    /// The state of every event of a log of `length` events.
    pub fn states(&self, length: u64) -> Vec<SurfaceState> {
        let mut states = vec![SurfaceState::LogOnly; usize::try_from(length).unwrap_or(0)];
        let mut mark = |seq: u64, state| {
            if let Some(slot) = usize::try_from(seq).ok().and_then(|at| states.get_mut(at)) {
                *slot = state;
            }
        };
        for replacement in &self.replacements {
            replacement
                .shadowed
                .iter()
                .for_each(|&seq| mark(seq, SurfaceState::Shadowed));
        }
        self.current
            .iter()
            .for_each(|&seq| mark(seq, SurfaceState::Current));
        states
    }
}

#[cfg(test)]
mod tests {
    //! Properties: the worked examples of contract B.3 hold; folding in two parts equals folding whole;
    //! every seq that was ever on the surface is either current or shadowed.
    use super::*;
    use proptest::prelude::*;

    fn fold(ops: &[(u64, SurfaceOp)]) -> Result<Surface, SurfaceError> {
        let mut surface = Surface::default();
        for &(seq, op) in ops {
            surface.apply_op(seq, op)?;
        }
        Ok(surface)
    }

    const APPEND: SurfaceOp = SurfaceOp::Append;

    fn replace(start: u64, end: u64) -> SurfaceOp {
        SurfaceOp::Replace { start, end }
    }

    #[test]
    fn start_may_be_the_larger_number_when_it_stands_first() {
        let surface = fold(&[(0, APPEND), (2, APPEND), (3, replace(0, 0)), (4, replace(3, 2))]).unwrap();
        use SurfaceState::{Current, LogOnly, Shadowed};
        assert_eq!(
            surface.states(5),
            [Shadowed, LogOnly, Shadowed, Shadowed, Current]
        );
        assert_eq!(surface.replacements()[1].shadowed, [3, 2]);
    }

    #[test]
    fn replacing_what_is_not_there_fails_and_changes_nothing() {
        let mut surface = fold(&[(0, APPEND)]).unwrap();
        let before = surface.clone();
        assert_eq!(
            surface.apply_op(2, replace(9, 9)),
            Err(SurfaceError::StartNotOnSurface { seq: 2, start: 9 })
        );
        assert_eq!(
            surface.apply_op(2, replace(0, 9)),
            Err(SurfaceError::EndNotOnSurface { seq: 2, end: 9 })
        );
        assert_eq!(surface, before);
    }

    #[test]
    fn a_slice_may_not_run_backwards() {
        assert_eq!(
            fold(&[(0, APPEND), (1, APPEND), (2, replace(1, 0))]),
            Err(SurfaceError::StartAfterEnd {
                seq: 2,
                start: 1,
                end: 0
            })
        );
    }

    #[test]
    fn log_only_inside_a_replaced_range_stays_log_only() {
        let surface = fold(&[(0, APPEND), (1, APPEND), (3, APPEND), (4, replace(0, 3))]).unwrap();
        use SurfaceState::{Current, LogOnly, Shadowed};
        assert_eq!(
            surface.states(5),
            [Shadowed, Shadowed, LogOnly, Shadowed, Current]
        );
        assert!(
            fold(&[
                (0, APPEND),
                (1, APPEND),
                (3, APPEND),
                (4, replace(0, 3)),
                (5, replace(1, 1))
            ])
            .is_err()
        );
    }

    proptest! {
        #[test]
        fn every_eligible_event_is_current_or_shadowed(choices in prop::collection::vec((0u8..4, any::<u16>(), any::<u16>()), 1..60)) {
            let mut ops = Vec::new();
            let mut surface = Surface::default();
            for (seq, (kind, a, b)) in choices.iter().enumerate() {
                let seq = seq as u64;
                let length = surface.current().len();
                let op = if *kind == 0 && length > 0 {
                    let (a, b) = (*a as usize % length, *b as usize % length);
                    replace(surface.current()[a.min(b)], surface.current()[a.max(b)])
                } else {
                    APPEND
                };
                surface.apply_op(seq, op).unwrap();
                ops.push((seq, op));
            }
            prop_assert_eq!(&fold(&ops).unwrap(), &surface);
            prop_assert!(surface.states(ops.len() as u64).iter().all(|state| *state != SurfaceState::LogOnly));
            let shadowed: usize = surface.replacements().iter().map(|r| r.shadowed.len()).sum();
            prop_assert_eq!(shadowed + surface.current().len(), ops.len());
        }
    }
}
