//! Records: a session and an event as lists, hits and traces name them (contract B, B.6).

use crate::{SessionHeader, SurfaceState, Timestamp};
use serde::{Deserialize, Serialize};

/// A session of the logical corpus: one for each id, wherever it is held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionRecord {
    /// Its immutable header.
    pub header: SessionHeader,
    /// Whether it is running in this process.
    pub live: bool,
    /// Whether the mounted persistence has it. Independent of `live`.
    pub persisted: bool,
}

/// An event of a session, without its payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EventRecord {
    /// The session it belongs to.
    pub session_id: String,
    /// Position in the log, from 0.
    pub seq: u64,
    /// When it happened.
    pub time: Timestamp,
    /// The type's name, such as `user/message`.
    pub r#type: String,
    /// Where it stands after the fold.
    pub surface: SurfaceState,
}
