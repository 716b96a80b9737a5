//! What a session is: the immutable header written once (contract B, B.1) and its kind.

use crate::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The immutable facts of a session, kept outside its event log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionHeader {
    /// Format version of the log; 0 is the only one so far.
    #[serde(default)]
    pub version: u32,
    /// The agent's own id of the session.
    pub id: String,
    /// When the session began.
    pub created_at: Timestamp,
    /// Working directory at the start; absolute on the machine that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The session this one was forked from or delegated by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    /// How many leading events were inherited from the parent; absent means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed_length: Option<u64>,
    /// 0 for a top-level session, parent + 1 for a delegated one; absent means 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegation_depth: Option<u64>,
    /// `"subagent"` when an agent started it; for display only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Which composition of tools and prompts the session used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_preset: Option<String>,
    /// Fields of a newer writer, kept so that comparison and storage lose nothing.
    #[serde(flatten)]
    pub extra: BTreeMap<String, serde_json::Value>,
}

impl SessionHeader {
    /// A header with the two facts every session has.
    pub fn new(id: impl Into<String>, created_at: Timestamp) -> Self {
        Self {
            version: 0,
            id: id.into(),
            created_at,
            cwd: None,
            parent_session: None,
            seed_length: None,
            delegation_depth: None,
            origin: None,
            agent_preset: None,
            extra: BTreeMap::new(),
        }
    }

    /// Whether two headers name one session: every field equal, an absent depth counting as 0
    /// (contract B, B.1).
    pub fn agrees_with(&self, other: &Self) -> bool {
        let depth = |header: &Self| header.delegation_depth.unwrap_or(0);
        let without_depth = |header: &Self| Self {
            delegation_depth: None,
            ..header.clone()
        };
        depth(self) == depth(other) && without_depth(self) == without_depth(other)
    }
}

/// Who drove a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionKind {
    /// A person at a terminal, editor or desktop.
    #[default]
    Main,
    /// Another session's agent.
    Subagent,
    /// A program: an SDK run, `exec`, `--print`.
    Headless,
}

impl SessionKind {
    /// The lower-case name used in JSON and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Subagent => "subagent",
            Self::Headless => "headless",
        }
    }

    /// The kind of a name written by [`Self::as_str`]; anything else is `Main`.
    pub fn from_name(name: &str) -> Self {
        match name {
            "subagent" => Self::Subagent,
            "headless" => Self::Headless,
            _ => Self::Main,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_depth_is_zero_and_extra_fields_count() {
        let plain = SessionHeader::new("s", Timestamp(1));
        let zero = SessionHeader {
            delegation_depth: Some(0),
            ..plain.clone()
        };
        let one = SessionHeader {
            delegation_depth: Some(1),
            ..plain.clone()
        };
        assert!(plain.agrees_with(&zero));
        assert!(!plain.agrees_with(&one));
        let mut newer = plain.clone();
        newer.extra.insert("colour".into(), "red".into());
        assert!(!plain.agrees_with(&newer));
    }

    #[test]
    fn header_survives_json_with_unknown_fields() {
        let json = r#"{"version":0,"id":"s","createdAt":5,"cwd":"/w","futureField":[1]}"#;
        let header: SessionHeader = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&header).unwrap(), json);
    }
}
