//! `sessionQuery.appendLive`: events have happened in a session that runs.

use crate::rpc::dispatch::{Handler, Turn};
use crate::rpc::failure::Failure;
use lookback_engine::session_query::{LiveSession, NewEvent, SessionQuery};
use lookback_model::session_query::AbortSignal;
use lookback_wire::session_query::live::{AppendLiveRequest, AppendLiveResult, AppendedEvent};
use lookback_wire::session_query::{AppendLive, Refusal};

impl Handler for AppendLive {
    const TURN: Turn = Turn::InOrder;

    fn handle(
        service: &SessionQuery,
        request: AppendLiveRequest,
        _: &AbortSignal,
    ) -> Result<AppendLiveResult, Failure> {
        let session = super::live_session(service, request.session_id)?;
        check_seqs(&session, &request.events)?;
        let events = request.events.into_iter().map(new_event).collect();
        let appended = session.append_all(events)?;
        let seqs = appended.iter().map(|event| event.seq).collect();
        Ok(AppendLiveResult { seqs })
    }
}

/// A seq that was given must be the one the event gets. Live sessions are changed in the order of the lines, so
/// that none comes between this and the appending.
fn check_seqs(session: &LiveSession, events: &[AppendedEvent]) -> Result<(), Refusal> {
    for (at, (event, next)) in events.iter().zip(session.event_count()..).enumerate() {
        if let Some(seq) = event.seq.filter(|&seq| seq != next) {
            let problem = format!("is {seq}, and the next event is {next}");
            return Err(Refusal::parameter(format!("events[{at}].seq"), problem));
        }
    }
    Ok(())
}

fn new_event(event: AppendedEvent) -> NewEvent {
    NewEvent {
        time: event.time,
        data: event.data,
        surface_op: event.surface_op,
        source_event_seqs: event.source_event_seqs,
        native_id: event.native_id,
    }
}
