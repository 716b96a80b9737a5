//! `sessionQuery.attachLive`: a session has begun to run.

use crate::rpc::dispatch::{Handler, Turn};
use crate::rpc::failure::Failure;
use lookback_engine::session_query::SessionQuery;
use lookback_model::session_query::AbortSignal;
use lookback_wire::session_query::AttachLive;
use lookback_wire::session_query::live::{AttachLiveRequest, AttachLiveResult};

impl Handler for AttachLive {
    const TURN: Turn = Turn::InOrder;

    fn handle(
        service: &SessionQuery,
        request: AttachLiveRequest,
        _: &AbortSignal,
    ) -> Result<AttachLiveResult, Failure> {
        let session = service.live().create(request.header, request.events)?;
        Ok(AttachLiveResult {
            session_id: session.id().to_owned(),
            length: session.event_count(),
        })
    }
}
