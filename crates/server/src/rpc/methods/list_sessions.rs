//! `sessionQuery.listSessions`: all sessions, newest first.

use crate::rpc::dispatch::{Handler, Turn};
use crate::rpc::failure::Failure;
use lookback_engine::session_query::SessionQuery;
use lookback_model::session_query::AbortSignal;
use lookback_wire::session_query::{ListSessions, Operation};

impl Handler for ListSessions {
    const TURN: Turn = Turn::Concurrent;

    fn handle(
        service: &SessionQuery,
        _: Self::Request,
        _: &AbortSignal,
    ) -> Result<<Self as Operation>::Answer, Failure> {
        Ok(service.list_sessions()?)
    }
}
