//! The operations, one file each, all of one shape, and the table that names them.

mod append_live;
mod attach_live;
mod detach_live;
mod filter_event_results;
mod filter_session_results;
mod list_events;
mod list_sessions;
mod read_event;
mod search_events;
mod search_sessions;
mod trace_event;
mod trace_session;

use super::dispatch::Method;
use lookback_engine::session_query::{LiveError, LiveSession, SessionQuery};
use lookback_wire::session_query as operation;

/// All operations.
pub(super) const METHODS: &[Method] = &[
    Method::of::<operation::ListSessions>(),
    Method::of::<operation::ListEvents>(),
    Method::of::<operation::ReadEvent>(),
    Method::of::<operation::TraceSession>(),
    Method::of::<operation::TraceEvent>(),
    Method::of::<operation::SearchSessions>(),
    Method::of::<operation::SearchEvents>(),
    Method::of::<operation::FilterSessionResults>(),
    Method::of::<operation::FilterEventResults>(),
    Method::of::<operation::AttachLive>(),
    Method::of::<operation::AppendLive>(),
    Method::of::<operation::DetachLive>(),
];

/// The session of an id that runs.
fn live_session(service: &SessionQuery, id: String) -> Result<LiveSession, LiveError> {
    service.live().get(&id).ok_or(LiveError::Unknown { id })
}
