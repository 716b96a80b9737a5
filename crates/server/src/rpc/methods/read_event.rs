//! `sessionQuery.readEvent`: an event in full, and events around it.

use crate::rpc::dispatch::{Handler, Turn};
use crate::rpc::failure::Failure;
use lookback_engine::session_query::SessionQuery;
use lookback_model::session_query::AbortSignal;
use lookback_wire::session_query::{Operation, ReadEvent};

impl Handler for ReadEvent {
    const TURN: Turn = Turn::Concurrent;

    fn handle(
        service: &SessionQuery,
        request: Self::Request,
        _: &AbortSignal,
    ) -> Result<<Self as Operation>::Answer, Failure> {
        Ok(service.read_event(&request)?)
    }
}
