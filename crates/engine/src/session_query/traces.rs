//! Traces of events: what one was made from, and what became of it (contract B, B.5).

use super::corpus::Corpus;
use super::reads::record;
use lookback_model::session_query::{EventTrace, SessionQueryError};
use lookback_model::surface::Surface;
use lookback_model::{Event, SurfaceState};
use std::collections::HashMap;

/// The trace of an event of a session; any event has one, those that never were on the surface too.
pub(super) fn trace_event(corpus: &Corpus, id: &str, seq: f64) -> Result<EventTrace, SessionQueryError> {
    let loaded = corpus.load(id)?;
    let (place, target) = loaded.event(seq)?;
    let surface = loaded.fold()?;
    let states = surface.states(loaded.events.len() as u64);
    let state = states.get(place).copied().unwrap_or(SurfaceState::LogOnly);
    let chain = replacement_chain(&surface, target.seq);
    let own = surface.replacements().iter().find(|one| one.by == target.seq);
    let naming = loaded.events.iter().flat_map(|event| {
        let named = sources(event).iter().filter(|&&source| source == target.seq);
        named.map(|_| event.seq)
    });
    Ok(EventTrace {
        target: record(id, target, state),
        shadowed_by: chain.first().copied(),
        replacement_chain: chain,
        shadows: own.map(|one| one.shadowed.clone()).unwrap_or_default(),
        references: sources(target).to_vec(),
        referenced_by: naming.collect(),
    })
}

/// An event's sources; they count where a marker stands.
fn sources(event: &Event) -> &[u64] {
    match (&event.source_event_seqs, event.surface_op) {
        (Some(sources), Some(_)) if event.data.surface_eligible() => sources,
        _ => &[],
    }
}

/// What replaced an event, what replaced that, and so on. It ends, because each is later than what it replaces.
fn replacement_chain(surface: &Surface, seq: u64) -> Vec<u64> {
    let replacements = surface.replacements().iter();
    let pairs = replacements.flat_map(|one| one.shadowed.iter().map(|&shadowed| (shadowed, one.by)));
    let replacer: HashMap<u64, u64> = pairs.collect();
    std::iter::successors(replacer.get(&seq).copied(), |by| replacer.get(by).copied()).collect()
}
