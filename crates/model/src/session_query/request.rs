//! Requests and their answers: reading a window of events, and searching (contract B, B.5 and B.8).

use super::filter::{EventResultFilter, SessionResultFilter};
use super::record::{EventRecord, SessionRecord};
use crate::Event;
use serde::{Deserialize, Serialize};

/// Which event to read, and how many raw events around it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReadEventRequest {
    /// The session.
    pub session_id: String,
    /// The event. A number without such an event, negative and fractional ones too, is not found.
    pub seq: f64,
    /// Events before it, 0 to the configured `readWindowMax`; absent means 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
    /// Events after it, 0 to the configured `readWindowMax`; absent means 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<f64>,
}

/// An event in full, and the raw events around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReadEventResult {
    /// The session.
    pub session: SessionRecord,
    /// The event that was asked for.
    pub target: Event,
    /// The window, the target included, in log order.
    pub events: Vec<Event>,
    /// Seq of the first event of the window.
    pub start_seq: u64,
    /// Seq of the last event of the window.
    pub end_seq: u64,
}

/// A search over all sessions, as a caller asks for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionSearchRequest {
    /// What is looked for; not blank.
    pub query: String,
    /// Which sessions may be found, applied before ranking.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub session_filters: Vec<SessionResultFilter>,
    /// Which events may be found, applied before ranking.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub event_filters: Vec<EventResultFilter>,
    /// Hits on a page, 1 to the configured `maxLimit`; absent means `defaultLimit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Where the last page ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A search over the events of one session, as a caller asks for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionEventSearchRequest {
    /// The session.
    pub session_id: String,
    /// What is looked for; not blank.
    pub query: String,
    /// Which events may be found, applied before ranking.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<EventResultFilter>,
    /// Hits on a page, 1 to the configured `maxLimit`; absent means `defaultLimit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Where the last page ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A search over all sessions as a provider gets it: query trimmed, limit decided, filters valid.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSearchSpec {
    /// What is looked for; never blank.
    pub query: String,
    /// Which sessions may be found.
    pub session_filters: Vec<SessionResultFilter>,
    /// Which events may be found.
    pub event_filters: Vec<EventResultFilter>,
    /// Hits on the page, at least 1.
    pub limit: usize,
    /// Where the last page ended.
    pub cursor: Option<String>,
}

/// A search over one session's events as a provider gets it: query trimmed, limit decided, filters valid.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionEventSearchSpec {
    /// The session.
    pub session_id: String,
    /// What is looked for; never blank.
    pub query: String,
    /// Which events may be found.
    pub filters: Vec<EventResultFilter>,
    /// Hits on the page, at least 1.
    pub limit: usize,
    /// Where the last page ended.
    pub cursor: Option<String>,
}

/// A page of hits, best first. No scores: those of two providers cannot be compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "{T}Page")
)]
#[serde(rename_all = "camelCase")]
pub struct SearchPage<T> {
    /// The provider that answered.
    pub provider_id: String,
    /// The hits, at most the limit.
    pub items: Vec<T>,
    /// Where the next page begins; absent when there is none.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

fn none() -> Option<String> {
    None
}

/// An event that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EventHit {
    /// The event.
    #[serde(flatten)]
    pub event: EventRecord,
    /// Words around the match, as plain text without marks.
    pub snippet: String,
}

/// A session that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionHit {
    /// The session.
    #[serde(flatten)]
    pub session: SessionRecord,
    /// Its best event.
    pub best_match: EventHit,
}
