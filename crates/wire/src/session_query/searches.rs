//! `searchSessions`, `searchEvents`. Shapes are looked at here in the order in which the service looks at
//! values: query, limit, filters.

use super::Operation;
use super::fields::Fields;
use super::filtering::{event_filters, session_filters};
use super::refusal::Refusal;
use lookback_model::session_query::{
    EventHit, SearchPage, SessionEventSearchRequest, SessionHit, SessionQueryErrorCode, SessionSearchRequest,
};
use serde_json::Value;

/// Finds sessions, each once, with its best event.
#[derive(Clone, Copy, Debug)]
pub struct SearchSessions;

impl Operation for SearchSessions {
    const NAME: &'static str = "sessionQuery.searchSessions";
    type Request = SessionSearchRequest;
    type Answer = SearchPage<SessionHit>;

    fn request(fields: &mut Fields) -> Result<Self::Request, Refusal> {
        let query = query(fields)?;
        let limit = limit(fields)?;
        Ok(SessionSearchRequest {
            query,
            limit,
            session_filters: session_filters(fields.take("sessionFilters"))?,
            event_filters: event_filters(fields.take("eventFilters"))?,
            cursor: fields.optional_text("cursor")?,
        })
    }
}

/// Finds events of one session.
#[derive(Clone, Copy, Debug)]
pub struct SearchEvents;

impl Operation for SearchEvents {
    const NAME: &'static str = "sessionQuery.searchEvents";
    type Request = SessionEventSearchRequest;
    type Answer = SearchPage<EventHit>;

    fn request(fields: &mut Fields) -> Result<Self::Request, Refusal> {
        let session_id = fields.text("sessionId")?;
        let query = query(fields)?;
        let limit = limit(fields)?;
        Ok(SessionEventSearchRequest {
            session_id,
            query,
            limit,
            filters: event_filters(fields.take("filters"))?,
            cursor: fields.optional_text("cursor")?,
        })
    }
}

fn query(fields: &mut Fields) -> Result<String, Refusal> {
    match fields.take("query") {
        Some(Value::String(query)) => Ok(query),
        Some(_) => Err(Refusal::query(
            SessionQueryErrorCode::InvalidQuery,
            "the query is no text",
        )),
        None => Err(Refusal::query(
            SessionQueryErrorCode::InvalidQuery,
            "the query is missing",
        )),
    }
}

/// Any number here, for the service knows the limits.
fn limit(fields: &mut Fields) -> Result<Option<f64>, Refusal> {
    let Some(value) = fields.take("limit") else {
        return Ok(None);
    };
    let message = || format!("the limit is {value}, not a whole number");
    let number = value.as_f64();
    number
        .map(Some)
        .ok_or_else(|| Refusal::query(SessionQueryErrorCode::InvalidLimit, message()))
}
