//! Traces: where a session comes from, and what became of an event (contract B, B.4 and B.5).

use super::record::{EventRecord, SessionRecord};
use serde::{Deserialize, Serialize};

/// A session's lineage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionTrace {
    /// The session that was asked for.
    pub target: SessionRecord,
    /// Its parents, nearest first, as far as the corpus has them.
    pub parents: Vec<SessionRecord>,
    /// The last parent, or the target itself when it has none. Absent when a parent is not in the corpus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<SessionRecord>,
    /// The first parent id that is not in the corpus. Present exactly when `root` is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unresolved_parent_id: Option<String>,
    /// Everything that descends from the target; siblings by creation, then by id.
    pub children: Vec<SessionNode>,
}

/// A descendant and its own descendants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionNode {
    /// The session.
    pub session: SessionRecord,
    /// Its children; siblings by creation, then by id.
    pub children: Vec<SessionNode>,
}

/// What an event was made from, and what replaced it. Related events are seqs: their content is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EventTrace {
    /// The event that was asked for.
    pub target: EventRecord,
    /// The event that took its place on the surface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadowed_by: Option<u64>,
    /// The replacer, its replacer, and so on to the event now on the surface.
    pub replacement_chain: Vec<u64>,
    /// What the event itself took off the surface, in surface order.
    pub shadows: Vec<u64>,
    /// The event's own sources, in its order.
    pub references: Vec<u64>,
    /// Events that name it as a source, in log order.
    pub referenced_by: Vec<u64>,
}
