//! `sessionQuery.searchEvents`: events of one session.

use crate::rpc::dispatch::{Handler, Turn};
use crate::rpc::failure::Failure;
use lookback_engine::session_query::SessionQuery;
use lookback_model::session_query::AbortSignal;
use lookback_wire::session_query::{Operation, SearchEvents};

impl Handler for SearchEvents {
    const TURN: Turn = Turn::Concurrent;

    fn handle(
        service: &SessionQuery,
        request: Self::Request,
        abort: &AbortSignal,
    ) -> Result<<Self as Operation>::Answer, Failure> {
        Ok(service.search_events(&request, abort)?)
    }
}
