//! How far the index is.

use crate::discover::Sight;
use crate::engine::{Engine, EngineError};
use crate::presence;
use lookback_model::hit::Presence;
use lookback_model::ports::{CatalogueCounts, FileRow, FileState};
use lookback_model::source::{IssueCode, ReadAccount};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A root that cannot be looked at, and why.
pub(crate) type Degraded = (PathBuf, String);

/// How far the index is, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Nothing was ever looked at.
    Idle,
    /// A pass is running, or one is owed.
    Indexing,
    /// Everything that was found is read.
    Current,
    /// Some root cannot be looked at, or some transcript cannot be read.
    Degraded,
    /// The engine was shut down. For hosts that outlive it; an engine never says so itself.
    Closed,
}

impl Phase {
    /// Contract A's word.
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

/// How far the index is.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// In a word.
    pub phase: Phase,
    /// In numbers.
    pub counts: CatalogueCounts,
    /// Roots that could not be looked at, with one reason each.
    pub degraded_roots: Vec<(PathBuf, String)>,
}

pub(crate) fn of(engine: &Engine) -> Result<Status, EngineError> {
    let catalogue = &engine.parts.catalogue;
    let counts = catalogue.counts()?;
    let rows = catalogue.files()?;
    let degraded_roots = degraded(engine.degraded(), &rows);
    let mut lossy = false;
    for row in rows.iter().filter(|row| row.state == FileState::Failed) {
        lossy = lossy || is_loss(&catalogue.cursor(row.id)?.account);
    }
    let phase = phase(&counts, !degraded_roots.is_empty() || lossy, engine.is_running());
    Ok(Status {
        phase,
        counts,
        degraded_roots,
    })
}

/// Whether a file that failed holds anything of the person's; an empty one does not.
pub(crate) fn is_loss(account: &ReadAccount) -> bool {
    let harmless = [IssueCode::EmptyFile.as_str()];
    account.issue_counts.is_empty()
        || account
            .issue_counts
            .keys()
            .any(|code| !harmless.contains(&code.as_str()))
}

fn phase(counts: &CatalogueCounts, degraded: bool, running: bool) -> Phase {
    if counts.age.last_reconcile_at.is_none() && !running {
        return Phase::Idle;
    }
    if degraded {
        return Phase::Degraded;
    }
    if !running && counts.files_due == 0 && counts.age.last_sweep_completed_at.is_some() {
        return Phase::Current;
    }
    Phase::Indexing
}

/// Roots in which a look met a place it could not enter.
pub(crate) fn degraded_by(sight: &Sight) -> Vec<Degraded> {
    sight
        .roots
        .iter()
        .filter_map(|root| {
            let issue = root
                .found
                .issues
                .iter()
                .find(|issue| presence::hides_files(issue.code))?;
            Some((
                root.root.clone(),
                format!("{}: {}", issue.path.display(), issue.detail),
            ))
        })
        .collect()
}

/// One reason for each root; what a look met comes before what the catalogue remembers.
fn degraded(met: Vec<Degraded>, rows: &[FileRow]) -> Vec<Degraded> {
    let mut unverifiable: BTreeMap<&PathBuf, u64> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.presence == Presence::Unverifiable) {
        *unverifiable.entry(&row.root).or_default() += 1;
    }
    let mut roots = met;
    for (root, count) in unverifiable {
        if !roots.iter().any(|(met, _)| met == root) {
            roots.push((
                root.clone(),
                format!("{count} transcripts could not be looked for"),
            ));
        }
    }
    roots
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookback_model::Timestamp;
    use lookback_model::ports::IndexAge;

    /// The phase table of contract A.9.
    #[test]
    fn phases() {
        let fresh = CatalogueCounts::default();
        let cut = CatalogueCounts {
            age: IndexAge {
                last_reconcile_at: Some(Timestamp(1)),
                ..IndexAge::default()
            },
            ..fresh
        };
        let swept = CatalogueCounts {
            age: IndexAge {
                last_sweep_completed_at: Some(Timestamp(1)),
                ..cut.age
            },
            ..cut
        };
        let due = CatalogueCounts {
            files_due: 1,
            ..swept
        };
        for (counts, degraded, running, wanted) in [
            (fresh, false, false, Phase::Idle),
            (fresh, false, true, Phase::Indexing),
            (cut, false, false, Phase::Indexing),
            (swept, false, false, Phase::Current),
            (swept, false, true, Phase::Indexing),
            (swept, true, false, Phase::Degraded),
            (due, false, false, Phase::Indexing),
            (due, true, true, Phase::Degraded),
        ] {
            assert_eq!(
                phase(&counts, degraded, running),
                wanted,
                "{counts:?} {degraded} {running}"
            );
        }
    }

    #[test]
    fn an_empty_file_is_no_loss() {
        let mut account = ReadAccount::default();
        assert!(is_loss(&account), "a failure of no known kind");
        account.note(0, IssueCode::EmptyFile, "");
        assert!(!is_loss(&account));
        account.note(0, IssueCode::PermissionDenied, "");
        assert!(is_loss(&account));
    }
}
