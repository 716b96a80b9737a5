//! `sessionQuery.detachLive`: a session no longer runs.

use crate::rpc::dispatch::{Handler, Turn};
use crate::rpc::failure::Failure;
use lookback_engine::session_query::SessionQuery;
use lookback_model::session_query::AbortSignal;
use lookback_wire::session_query::live::DetachLiveResult;
use lookback_wire::session_query::{DetachLive, SessionRequest};

impl Handler for DetachLive {
    const TURN: Turn = Turn::InOrder;

    fn handle(
        service: &SessionQuery,
        request: SessionRequest,
        _: &AbortSignal,
    ) -> Result<DetachLiveResult, Failure> {
        let session = super::live_session(service, request.session_id)?;
        session.end()?;
        Ok(DetachLiveResult {
            session_id: session.id().to_owned(),
        })
    }
}
