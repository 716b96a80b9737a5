//! `sessionQuery.traceEvent`: what an event was made from, and what replaced it.

use crate::rpc::dispatch::{Handler, Turn};
use crate::rpc::failure::Failure;
use lookback_engine::session_query::SessionQuery;
use lookback_model::session_query::AbortSignal;
use lookback_wire::session_query::{Operation, TraceEvent};

impl Handler for TraceEvent {
    const TURN: Turn = Turn::Concurrent;

    fn handle(
        service: &SessionQuery,
        request: Self::Request,
        _: &AbortSignal,
    ) -> Result<<Self as Operation>::Answer, Failure> {
        Ok(service.trace_event(&request.session_id, request.seq)?)
    }
}
