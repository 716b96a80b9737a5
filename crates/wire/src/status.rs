//! The state of an index, as contract A tells it.

use serde::{Deserialize, Serialize};

/// The indexer's own observations; not a fresh look at the file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchStatus {
    /// Whether searching is switched on.
    pub enabled: bool,
    /// What the indexer is at.
    pub phase: Phase,
    /// Files read.
    pub files_indexed: u64,
    /// Files owed a read.
    pub files_due: u64,
    /// Files that could not be read.
    pub files_failed: u64,
    /// Folders that could not be looked at.
    pub degraded_roots: Vec<DegradedRoot>,
    /// When a pass last ended, in milliseconds since the epoch.
    pub last_reconcile_at: Option<i64>,
    /// When a pass over everything last ended, in milliseconds since the epoch.
    pub last_sweep_completed_at: Option<i64>,
    /// The index's generation.
    pub generation: u64,
}

impl SearchStatus {
    /// What is said where there is no search at all.
    pub fn absent() -> Self {
        Self {
            enabled: false,
            phase: Phase::Idle,
            files_indexed: 0,
            files_due: 0,
            files_failed: 0,
            degraded_roots: Vec::new(),
            last_reconcile_at: None,
            last_sweep_completed_at: None,
            generation: 0,
        }
    }
}

/// What an indexer is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// It has not begun.
    Idle,
    /// Something is owed a read, or not everything was looked at yet.
    Indexing,
    /// Nothing is owed.
    Current,
    /// A folder or a file could not be read.
    Degraded,
    /// It has ended.
    Closed,
}

impl Phase {
    /// The contract's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Indexing => "indexing",
            Self::Current => "current",
            Self::Degraded => "degraded",
            Self::Closed => "closed",
        }
    }
}

/// A folder that could not be looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DegradedRoot {
    /// Which, told on the same machine only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Why.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: the sentinel of an absent service is the contract's, word for word.
    #[test]
    fn the_absent_service_is_written_word_for_word() {
        let json = concat!(
            r#"{"enabled":false,"phase":"idle","filesIndexed":0,"filesDue":0,"filesFailed":0,"#,
            r#""degradedRoots":[],"lastReconcileAt":null,"lastSweepCompletedAt":null,"generation":0}"#,
        );
        assert_eq!(serde_json::to_string(&SearchStatus::absent()).unwrap(), json);
        assert_eq!(
            serde_json::from_str::<SearchStatus>(json).unwrap(),
            SearchStatus::absent()
        );
    }
}
