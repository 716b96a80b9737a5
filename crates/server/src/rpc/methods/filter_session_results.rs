//! `sessionQuery.filterSessionResults`: a pure function over records or hits of sessions.

use crate::rpc::dispatch::{Handler, Turn};
use crate::rpc::failure::Failure;
use lookback_engine::session_query::SessionQuery;
use lookback_model::session_query::AbortSignal;
use lookback_model::session_query::filter::filter_session_results;
use lookback_wire::session_query::{FilterSessionResults, Operation};

impl Handler for FilterSessionResults {
    const TURN: Turn = Turn::Concurrent;

    fn handle(
        _: &SessionQuery,
        request: Self::Request,
        _: &AbortSignal,
    ) -> Result<<Self as Operation>::Answer, Failure> {
        Ok(filter_session_results(request.items, &request.filters)?)
    }
}
