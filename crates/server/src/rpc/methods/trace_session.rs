//! `sessionQuery.traceSession`: where a session comes from, and what descends from it.

use crate::rpc::dispatch::{Handler, Turn};
use crate::rpc::failure::Failure;
use lookback_engine::session_query::SessionQuery;
use lookback_model::session_query::AbortSignal;
use lookback_wire::session_query::{Operation, TraceSession};

impl Handler for TraceSession {
    const TURN: Turn = Turn::Concurrent;

    fn handle(
        service: &SessionQuery,
        request: Self::Request,
        _: &AbortSignal,
    ) -> Result<<Self as Operation>::Answer, Failure> {
        Ok(service.trace_session(&request.session_id)?)
    }
}
