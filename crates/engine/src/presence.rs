//! What is known of files that were not found. Only proof makes a file missing.
//!
//! Proof is a folder between the file and its root that lists and lacks the next name on the way. A folder
//! that cannot be listed proves nothing. Nor, for one pass, does a root that has no files at all any more:
//! that is what a volume that is not mounted looks like.

use crate::discover::Sight;
use lookback_model::hit::Presence;
use lookback_model::ports::{FileId, FileRow};
use lookback_model::source::{FileRole, IssueCode};
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// What looking for a file that discovery did not find has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    /// It is there after all; its root may not be looked at any more.
    There,
    /// A folder on the way lists and lacks it.
    Proven,
    /// The same, or the root is gone; and the root has no other file either.
    RootEmpty,
    /// Nothing.
    Unknown,
}

/// The presence of a file that was last known as `before`. That it was unverifiable already tells that
/// an empty root has had its pass of grace.
pub(crate) fn judge(before: Presence, absence: Absence) -> Presence {
    match (absence, before) {
        (_, Presence::Missing) | (Absence::Proven, _) => Presence::Missing,
        (Absence::RootEmpty, Presence::Unverifiable) => Presence::Missing,
        (Absence::There, _) => Presence::Present,
        (Absence::RootEmpty, Presence::Present) | (Absence::Unknown, _) => Presence::Unverifiable,
    }
}

/// The files among `unseen` whose presence is another than the catalogue says.
pub(crate) fn changes(unseen: &[FileRow], sight: &Sight) -> Vec<(FileId, Presence)> {
    let mut search = Search::new(sight);
    unseen
        .iter()
        // Side files hold no session. What is missing stays so until discovery finds it.
        .filter(|row| row.role == FileRole::Transcript && row.presence != Presence::Missing)
        .map(|row| (row, judge(row.presence, search.absence(row))))
        .filter(|(row, presence)| row.presence != *presence)
        .map(|(row, presence)| (row.id, presence))
        .collect()
}

/// The files among `unseen` of which nothing is known: a folder on the way to them could not be looked at.
pub(crate) fn unknown<'a>(unseen: impl Iterator<Item = &'a FileRow>, sight: &Sight) -> Vec<&'a FileRow> {
    let mut search = Search::new(sight);
    unseen
        .filter(|row| row.role == FileRole::Transcript && row.presence != Presence::Missing)
        .filter(|row| search.absence(row) == Absence::Unknown)
        .collect()
}

/// Whether an issue keeps files from being looked at.
pub(crate) fn hides_files(code: IssueCode) -> bool {
    matches!(code, IssueCode::PermissionDenied | IssueCode::IoError)
}

/// A folder's names.
enum Listing {
    Names(HashSet<OsString>),
    NotThere,
    Refused,
}

/// Looks for files; lists each folder once.
struct Search<'a> {
    hidden: HashSet<&'a Path>,
    with_files: HashSet<(&'a str, &'a Path)>,
    listings: HashMap<PathBuf, Listing>,
}

impl<'a> Search<'a> {
    fn new(sight: &'a Sight) -> Self {
        let issues = sight.roots.iter().flat_map(|root| &root.found.issues);
        Self {
            hidden: issues
                .filter(|issue| hides_files(issue.code))
                .map(|issue| issue.path.as_path())
                .collect(),
            with_files: sight
                .files
                .iter()
                .map(|file| (file.agent.as_str(), file.root.as_path()))
                .collect(),
            listings: HashMap::new(),
        }
    }

    fn absence(&mut self, row: &FileRow) -> Absence {
        if row.path.ancestors().any(|place| self.hidden.contains(place)) {
            return Absence::Unknown;
        }
        match fs::metadata(&row.path) {
            Ok(_) => return Absence::There,
            Err(error) if !is_not_there(&error) => return Absence::Unknown,
            Err(_) => {}
        }
        match self.prove(row) {
            Some(true)
                if !self
                    .with_files
                    .contains(&(row.agent.as_str(), row.root.as_path())) =>
            {
                Absence::RootEmpty
            }
            Some(true) => Absence::Proven,
            Some(false) => Absence::RootEmpty,
            None => Absence::Unknown,
        }
    }

    /// Whether a folder lacks the file (`true`), or the root itself is gone (`false`).
    fn prove(&mut self, row: &FileRow) -> Option<bool> {
        if !row.path.starts_with(&row.root) || row.path == row.root {
            return None;
        }
        let mut place = row.path.as_path();
        while place != row.root {
            let (folder, name) = (place.parent()?, place.file_name()?);
            match self.listing(folder) {
                Listing::Names(names) if lacks(names, name) => return Some(true),
                Listing::NotThere => place = folder,
                Listing::Names(_) | Listing::Refused => return None,
            }
        }
        Some(false)
    }

    fn listing(&mut self, folder: &Path) -> &Listing {
        self.listings
            .entry(folder.to_owned())
            .or_insert_with(|| list(folder))
    }
}

fn lacks(names: &HashSet<OsString>, name: &OsStr) -> bool {
    !names.contains(name)
}

fn list(folder: &Path) -> Listing {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if is_not_there(&error) => return Listing::NotThere,
        Err(_) => return Listing::Refused,
    };
    // A listing that breaks off proves nothing.
    match entries
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<io::Result<_>>()
    {
        Ok(names) => Listing::Names(names),
        Err(_) => Listing::Refused,
    }
}

fn is_not_there(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
#[path = "presence_tests.rs"]
mod tests;
