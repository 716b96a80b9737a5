//! Why an operation failed, as the error that answers the call.

use lookback_engine::session_query::LiveError;
use lookback_model::session_query::SessionQueryError;
use lookback_wire::rpc::ErrorObject;
use lookback_wire::session_query::{Refusal, live_refused, query_failed};

/// An error that is the answer.
#[derive(Debug)]
pub struct Failure(pub ErrorObject);

impl From<SessionQueryError> for Failure {
    fn from(error: SessionQueryError) -> Self {
        Self(query_failed(&error))
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self(refusal.into())
    }
}

impl From<LiveError> for Failure {
    fn from(error: LiveError) -> Self {
        Self(live_refused(reason(&error), error.to_string()))
    }
}

/// The word for programs.
fn reason(error: &LiveError) -> &'static str {
    match error {
        LiveError::Header(_) => "invalid-header",
        LiveError::Log(_) => "invalid-event",
        LiveError::AlreadyLive { .. } => "already-live",
        LiveError::Unknown { .. } => "not-live",
        LiveError::Ended { .. } => "ended",
        LiveError::InvalidBoundary { .. } => "invalid-boundary",
        LiveError::OpenTurn { .. } => "open-turn",
        LiveError::NotKept { .. } => "not-kept",
    }
}
