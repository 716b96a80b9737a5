//! `sessionQuery.filterEventResults`: a pure function over records or hits of events.

use crate::rpc::dispatch::{Handler, Turn};
use crate::rpc::failure::Failure;
use lookback_engine::session_query::SessionQuery;
use lookback_model::session_query::AbortSignal;
use lookback_model::session_query::filter::filter_event_results;
use lookback_wire::session_query::{FilterEventResults, Operation};

impl Handler for FilterEventResults {
    const TURN: Turn = Turn::Concurrent;

    fn handle(
        _: &SessionQuery,
        request: Self::Request,
        _: &AbortSignal,
    ) -> Result<<Self as Operation>::Answer, Failure> {
        Ok(filter_event_results(request.items, &request.filters)?)
    }
}
