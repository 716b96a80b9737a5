//! Which copy of a session stands: candidates of all files, of which the fullest is listed.

use lookback_model::hit::{Presence, SessionRow};
use lookback_model::ports::{Catalogue, FileRow, SessionFilter, StoreError};
use lookback_model::session_query::PersistedSession;
use lookback_model::source::{FileRole, ReadSession, SourceFile};
use lookback_model::{SessionFacts, SessionHeader, Timestamp};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsString;
use std::path::PathBuf;

/// What the catalogue said at one generation.
pub(super) struct Catalogued {
    pub(super) generation: u64,
    /// Transcripts by path.
    pub(super) files: HashMap<OsString, FileRow>,
    /// Sessions, each by its fullest copy.
    pub(super) leaders: Vec<Leader>,
}

impl Catalogued {
    pub(super) fn ask(catalogue: &dyn Catalogue, generation: u64) -> Result<Self, StoreError> {
        let all = SessionFilter {
            hidden: true,
            ..SessionFilter::default()
        };
        let files = catalogue.files()?.into_iter();
        Ok(Self {
            generation,
            files: files
                .filter(|row| row.role == FileRole::Transcript)
                .map(|row| (row.path.clone().into_os_string(), row))
                .collect(),
            leaders: catalogue.sessions(&all)?.iter().map(Leader::of).collect(),
        })
    }
}

/// A session of the catalogue, as far as a listing needs it.
pub(super) struct Leader {
    header: SessionHeader,
    fullness: Fullness,
    pub(super) path: PathBuf,
    pub(super) copies: u64,
}

impl Leader {
    pub(super) fn of(row: &SessionRow) -> Self {
        Self {
            header: row.header.clone(),
            fullness: Fullness::of(&row.facts, row.presence == Presence::Present),
            path: row.path.clone(),
            copies: row.copies,
        }
    }

    /// It in the file that it is in.
    pub(super) fn in_file(&self, file: &SourceFile) -> Candidate {
        Candidate {
            header: self.header.clone(),
            fullness: self.fullness,
            file: file.clone(),
        }
    }
}

/// How much a copy holds, by the catalogue's rule: turns, last activity, whether it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fullness(u64, Option<Timestamp>, bool);

impl Fullness {
    pub(super) fn of(facts: &SessionFacts, is_present: bool) -> Self {
        Self(facts.turns, facts.updated_at, is_present)
    }
}

/// A copy of a session that may be the one to list.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) header: SessionHeader,
    fullness: Fullness,
    pub(super) file: SourceFile,
}

impl Candidate {
    /// A session of a file that was read just now.
    pub(super) fn read(file: &SourceFile, session: &ReadSession) -> Self {
        Self {
            header: session.header.clone(),
            fullness: Fullness::of(&session.facts, true),
            file: file.clone(),
        }
    }

    /// Smaller stands before larger. Of equally full copies the first by path does.
    fn rank(&self) -> (Reverse<Fullness>, &PathBuf, &str) {
        (Reverse(self.fullness), &self.file.path, &self.file.agent)
    }
}

/// The best candidate of each session so far.
#[derive(Default)]
pub(super) struct Listing {
    best: HashMap<String, Candidate>,
}

impl Listing {
    pub(super) fn add(&mut self, candidate: Candidate) {
        match self.best.entry(candidate.header.id.clone()) {
            Entry::Vacant(slot) => drop(slot.insert(candidate)),
            Entry::Occupied(mut slot) => {
                if candidate.rank() < slot.get().rank() {
                    slot.insert(candidate);
                }
            }
        }
    }

    /// The sessions in order of id, and what they were made from.
    pub(super) fn finish(self) -> (Vec<PersistedSession>, HashMap<String, Candidate>) {
        let listed = |candidate: &Candidate| PersistedSession {
            header: candidate.header.clone(),
            agent: candidate.file.agent.clone(),
            revision: Some(candidate.file.stamp.revision()),
        };
        let mut sessions: Vec<_> = self.best.values().map(listed).collect();
        sessions.sort_by(|left, right| left.header.id.cmp(&right.header.id));
        (sessions, self.best)
    }
}
