//! Lists and reads: sessions, events, and an event with its neighbours (contract B, B.5 and B.6).

use super::config::{SessionQueryConfig, whole_number};
use super::corpus::{Corpus, Loaded};
use lookback_model::session_query::{
    EventRecord, ReadEventRequest, ReadEventResult, SessionQueryError, SessionQueryErrorCode, SessionRecord,
    fold_log,
};
use lookback_model::surface::Surface;
use lookback_model::{Event, SurfaceState};
use std::sync::Arc;

/// All sessions, newest first, then by id.
pub(super) fn list_sessions(corpus: &Corpus) -> Result<Vec<SessionRecord>, SessionQueryError> {
    let mut records: Vec<_> = corpus.records()?.into_values().collect();
    // Stable: those of one instant stay in the order of their ids.
    records.sort_by_key(|record| std::cmp::Reverse(record.header.created_at));
    Ok(records)
}

/// All events of a session, in log order.
pub(super) fn list_events(corpus: &Corpus, id: &str) -> Result<Vec<EventRecord>, SessionQueryError> {
    let loaded = corpus.load(id)?;
    let states = loaded.fold()?.states(loaded.events.len() as u64);
    let events = loaded.events.iter().zip(states);
    Ok(events.map(|(event, state)| record(id, event, state)).collect())
}

/// An event in full, with its neighbours. The log is not folded.
pub(super) fn read_event(
    corpus: &Corpus,
    config: &SessionQueryConfig,
    request: &ReadEventRequest,
) -> Result<ReadEventResult, SessionQueryError> {
    let before = config.window("before", request.before)?;
    let after = config.window("after", request.after)?;
    let loaded = corpus.load(&request.session_id)?;
    let (place, target) = loaded.event(request.seq)?;
    let start = place.saturating_sub(before);
    let end = place.saturating_add(after).min(loaded.events.len() - 1);
    let window = loaded.events.get(start..=end).unwrap_or_default();
    Ok(ReadEventResult {
        target: Event::clone(target),
        events: window.iter().map(|event| Event::clone(event)).collect(),
        start_seq: start as u64,
        end_seq: end as u64,
        session: loaded.record,
    })
}

pub(super) fn record(session_id: &str, event: &Event, surface: SurfaceState) -> EventRecord {
    EventRecord {
        session_id: session_id.to_owned(),
        seq: event.seq,
        time: event.time,
        r#type: event.type_name().to_owned(),
        surface,
    }
}

impl Loaded {
    /// The event of a number, and its place.
    pub(super) fn event(&self, seq: f64) -> Result<(usize, &Arc<Event>), SessionQueryError> {
        let last = self.events.len().checked_sub(1);
        let place = last.and_then(|last| whole_number(seq, 0, last));
        let found = place.and_then(|place| Some((place, self.events.get(place)?)));
        found.ok_or_else(|| {
            let message = format!("session {} has no event {seq}", self.record.header.id);
            SessionQueryError::new(SessionQueryErrorCode::EventNotFound, message)
        })
    }

    /// The fold of the whole log.
    pub(super) fn fold(&self) -> Result<Surface, SessionQueryError> {
        fold(&self.record.header.id, self.events.iter().map(Arc::as_ref))
    }
}

/// The fold of a session's whole log.
pub(super) fn fold<'a>(
    id: &str,
    events: impl IntoIterator<Item = &'a Event>,
) -> Result<Surface, SessionQueryError> {
    fold_log(events).map_err(|cause| {
        let message = format!("the log of session {id} cannot be folded");
        SessionQueryError::new(SessionQueryErrorCode::InvalidSurface, message).caused_by(cause)
    })
}
