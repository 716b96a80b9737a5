//! `traceSession`, `traceEvent`.

use super::Operation;
use super::fields::Fields;
use super::reads::SessionRequest;
use super::refusal::Refusal;
use lookback_model::session_query::{EventTrace, SessionTrace};
use serde::{Deserialize, Serialize};

/// Which event of which session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TraceEventRequest {
    /// The session.
    pub session_id: String,
    /// The event. A number without such an event, negative and fractional ones too, is not found.
    pub seq: f64,
}

/// Where a session comes from, and what descends from it.
#[derive(Clone, Copy, Debug)]
pub struct TraceSession;

impl Operation for TraceSession {
    const NAME: &'static str = "sessionQuery.traceSession";
    type Request = SessionRequest;
    type Answer = SessionTrace;

    fn request(fields: &mut Fields) -> Result<Self::Request, Refusal> {
        SessionRequest::take(fields)
    }
}

/// What an event was made from, and what replaced it.
#[derive(Clone, Copy, Debug)]
pub struct TraceEvent;

impl Operation for TraceEvent {
    const NAME: &'static str = "sessionQuery.traceEvent";
    type Request = TraceEventRequest;
    type Answer = EventTrace;

    fn request(fields: &mut Fields) -> Result<Self::Request, Refusal> {
        Ok(TraceEventRequest {
            session_id: fields.text("sessionId")?,
            seq: fields.number("seq")?,
        })
    }
}
