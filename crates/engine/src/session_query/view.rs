//! What a search makes of a live session's log, kept from one search to the next: only new events are folded
//! and extracted.

use super::extract::ExtractorSet;
use lookback_model::Event;
use lookback_model::session_query::{EventDocument, SessionQueryError};
use lookback_model::surface::Surface;
use std::sync::Arc;

/// Documents in order of seq, and the seqs that are shadowed, as inclusive ranges in ascending order.
type DocumentsAndShadowed = (Vec<Arc<EventDocument>>, Vec<(u64, u64)>);

/// The events of a log as far as they were looked at, their fold, and their documents.
#[derive(Default)]
pub(super) struct LiveView {
    events: Vec<Arc<Event>>,
    surface: Surface,
    /// The documents of the first `extracted` events, by the extractors of `generation`.
    documents: Vec<Arc<EventDocument>>,
    extracted: usize,
    generation: u64,
}

impl LiveView {
    pub(super) fn length(&self) -> u64 {
        self.events.len() as u64
    }

    pub(super) fn events(&self) -> &[Arc<Event>] {
        &self.events
    }

    /// Takes the next events of the log.
    pub(super) fn extend(&mut self, events: Vec<Arc<Event>>) {
        for event in &events {
            // A replacement that cannot hold was refused when it was appended.
            let _ = self.surface.apply(event);
        }
        self.events.extend(events);
    }

    /// The documents of all events, and the seqs that are shadowed.
    pub(super) fn documents(
        &mut self,
        extractors: &ExtractorSet,
    ) -> Result<DocumentsAndShadowed, SessionQueryError> {
        if self.generation != extractors.generation() {
            self.documents.clear();
            self.extracted = 0;
            self.generation = extractors.generation();
        }
        for event in self.events.get(self.extracted..).unwrap_or_default() {
            if let Some(document) = extractors.document(event)? {
                self.documents.push(Arc::new(document));
            }
            self.extracted += 1;
        }
        Ok((self.documents.clone(), shadowed_ranges(&self.surface)))
    }
}

/// The shadowed seqs of a fold, as inclusive ranges in ascending order.
pub(super) fn shadowed_ranges(surface: &Surface) -> Vec<(u64, u64)> {
    let replaced = surface.replacements().iter();
    let mut seqs: Vec<u64> = replaced.flat_map(|one| one.shadowed.iter().copied()).collect();
    seqs.sort_unstable();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for seq in seqs {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == seq => *last = seq,
            _ => ranges.push((seq, seq)),
        }
    }
    ranges
}
