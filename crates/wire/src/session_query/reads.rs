//! `listSessions`, `listEvents`, `readEvent`.

use super::Operation;
use super::fields::Fields;
use super::refusal::Refusal;
use lookback_model::session_query::{
    EventRecord, ReadEventRequest, ReadEventResult, SessionQueryErrorCode, SessionRecord,
};
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ListSessionsRequest {}

/// Which session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionRequest {
    /// Its id.
    pub session_id: String,
}

impl SessionRequest {
    /// Takes the session's id.
    pub(super) fn take(fields: &mut Fields) -> Result<Self, Refusal> {
        let session_id = fields.text("sessionId")?;
        Ok(Self { session_id })
    }
}

/// All sessions, newest first.
#[derive(Clone, Copy, Debug)]
pub struct ListSessions;

impl Operation for ListSessions {
    const NAME: &'static str = "sessionQuery.listSessions";
    type Request = ListSessionsRequest;
    type Answer = Vec<SessionRecord>;

    fn request(_: &mut Fields) -> Result<Self::Request, Refusal> {
        Ok(ListSessionsRequest {})
    }
}

/// All events of a session, in log order.
#[derive(Clone, Copy, Debug)]
pub struct ListEvents;

impl Operation for ListEvents {
    const NAME: &'static str = "sessionQuery.listEvents";
    type Request = SessionRequest;
    type Answer = Vec<EventRecord>;

    fn request(fields: &mut Fields) -> Result<Self::Request, Refusal> {
        SessionRequest::take(fields)
    }
}

/// An event in full, and events around it.
#[derive(Clone, Copy, Debug)]
pub struct ReadEvent;

impl Operation for ReadEvent {
    const NAME: &'static str = "sessionQuery.readEvent";
    type Request = ReadEventRequest;
    type Answer = ReadEventResult;

    fn request(fields: &mut Fields) -> Result<Self::Request, Refusal> {
        Ok(ReadEventRequest {
            session_id: fields.text("sessionId")?,
            seq: fields.number("seq")?,
            before: window(fields, "before")?,
            after: window(fields, "after")?,
        })
    }
}

/// How many events around one: any number here, for the service knows the limit.
fn window(fields: &mut Fields, name: &str) -> Result<Option<f64>, Refusal> {
    let Some(value) = fields.take(name) else {
        return Ok(None);
    };
    let message = || format!("{name} is {value}, not a whole number");
    let number = value.as_f64();
    number
        .map(Some)
        .ok_or_else(|| Refusal::query(SessionQueryErrorCode::InvalidWindow, message()))
}
