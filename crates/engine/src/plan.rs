//! What a pass has to do: the files that were found, compared with what the catalogue knows. Opens nothing.

use lookback_model::hit::Presence;
use lookback_model::ports::{FileId, FileRow, FileState};
use lookback_model::source::{FileStamp, SourceFile};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) file: SourceFile,
    /// The catalogue's number, when it knows the file.
    pub(crate) id: Option<FileId>,
    /// From the start, wherever the last read ended.
    pub(crate) whole: bool,
    /// It failed before with these marks; failing again is no news.
    pub(crate) retry: bool,
    /// It was not found where the catalogue has it, but here and changed. Only when it can be read on from
    /// the cursor is it the same file; inodes are used again.
    pub(crate) moved: bool,
}

impl Task {
    /// The same file as one that the catalogue does not know.
    pub(crate) fn as_new(&self) -> Self {
        Self {
            id: None,
            whole: true,
            retry: false,
            moved: false,
            ..self.clone()
        }
    }
}

/// What a pass has to do.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Files to read, in the order in which they were found.
    pub(crate) read: Vec<Task>,
    /// Files that moved or came back, with the content that was read.
    pub(crate) restamp: Vec<(FileId, SourceFile)>,
    /// Files of the catalogue that were not found.
    pub(crate) unseen: Vec<FileRow>,
    /// Files of the catalogue that may be what is read as moved, and are gone if they are not.
    pub(crate) doubtful: Vec<FileRow>,
    /// Files that need nothing.
    pub(crate) unchanged: u64,
    /// Files that failed before and would again.
    pub(crate) failed: u64,
}

/// Compares. `verify` reads every file from the start; `passed` tells of a failed file with unchanged
/// marks whether what failed may have passed.
pub(crate) fn compare(
    rows: Vec<FileRow>,
    found: &[SourceFile],
    verify: bool,
    passed: &dyn Fn(&FileRow) -> bool,
) -> Plan {
    let mut plan = Plan::default();
    // Paths as plain bytes: comparing and hashing them by components is most of the work on an unchanged
    // corpus.
    let mut known: HashMap<OsString, FileRow> = rows
        .into_iter()
        .map(|row| (row.path.clone().into_os_string(), row))
        .collect();
    let matched: Vec<Option<FileRow>> = found
        .iter()
        .map(|file| {
            let path = file.path.as_os_str();
            let same_agent = known.get(path).is_some_and(|row| row.agent == file.agent);
            if same_agent { known.remove(path) } else { None }
        })
        .collect();
    let mut moved = Movable::new(known.into_values());
    for (file, row) in found.iter().zip(matched) {
        if let Some(row) = row.or_else(|| moved.take(file)) {
            plan.known_file(file, &row, verify, passed);
            continue;
        }
        let grown = if verify { None } else { moved.take_grown(file) };
        let (id, moved) = (grown.as_ref().map(|row| row.id), grown.is_some());
        plan.doubtful.extend(grown);
        plan.read.push(Task {
            file: file.clone(),
            id,
            whole: !moved,
            retry: false,
            moved,
        });
    }
    plan.unseen = moved.left();
    plan
}

impl Plan {
    fn known_file(
        &mut self,
        file: &SourceFile,
        row: &FileRow,
        verify: bool,
        passed: &dyn Fn(&FileRow) -> bool,
    ) {
        let at_home = file.path == row.path;
        let same = if at_home {
            unchanged(&row.stamp, &file.stamp)
        } else {
            true
        };
        let retry = row.state == FileState::Failed && same;
        let wanted = match row.state {
            FileState::Current => !same,
            FileState::Due => true,
            FileState::Failed => !same || passed(row),
        };
        if wanted || verify {
            let whole = verify || row.state != FileState::Current;
            self.read.push(Task {
                file: file.clone(),
                id: Some(row.id),
                whole,
                retry,
                moved: false,
            });
            return;
        }
        if !at_home || row.presence != Presence::Present {
            self.restamp.push((row.id, file.clone()));
        }
        match row.state {
            FileState::Failed => self.failed += 1,
            _ => self.unchanged += 1,
        }
    }
}

/// Whether nothing says that a file at its old place was touched. The device is left out: removable and
/// network volumes get another number each time they are mounted.
pub(crate) fn unchanged(before: &FileStamp, now: &FileStamp) -> bool {
    (before.size, before.modified_ns, before.inode) == (now.size, now.modified_ns, now.inode)
}

/// Rows that were not found where they were, by what they may be recognised by elsewhere.
struct Movable {
    rows: Vec<Option<FileRow>>,
    by_content: HashMap<(u64, i64), Vec<usize>>,
    by_identity: HashMap<(u64, u64), usize>,
}

impl Movable {
    fn new(rows: impl Iterator<Item = FileRow>) -> Self {
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|row| row.id);
        let mut by_content: HashMap<_, Vec<_>> = HashMap::new();
        let mut by_identity = HashMap::new();
        for (at, row) in rows.iter().enumerate() {
            by_content
                .entry((row.stamp.size, row.stamp.modified_ns))
                .or_default()
                .push(at);
            by_identity.insert((row.stamp.device, row.stamp.inode), at);
        }
        Self {
            rows: rows.into_iter().map(Some).collect(),
            by_content,
            by_identity,
        }
    }

    /// The row of a file that was moved to where `file` is now.
    fn take(&mut self, file: &SourceFile) -> Option<FileRow> {
        let places = self.by_content.get(&(file.stamp.size, file.stamp.modified_ns))?;
        let at = places.iter().copied().find(|&at| {
            self.rows
                .get(at)
                .is_some_and(|row| row.as_ref().is_some_and(|row| is_moved(row, file)))
        })?;
        self.rows.get_mut(at)?.take()
    }

    /// The row of a file that may have been moved to where `file` is now, and changed.
    fn take_grown(&mut self, file: &SourceFile) -> Option<FileRow> {
        let at = *self.by_identity.get(&(file.stamp.device, file.stamp.inode))?;
        self.rows.get_mut(at)?.take_if(|row| {
            (&row.agent, row.role) == (&file.agent, file.role)
                && row.stamp.same_file(&file.stamp)
                && row.state == FileState::Current
        })
    }

    fn left(self) -> Vec<FileRow> {
        self.rows.into_iter().flatten().collect()
    }
}

/// Whether `file` is what `row` names, at another place. Inodes are used again for other files, so that one
/// alone proves nothing: length and time must agree as well. Where the identity is unknown, or the volume
/// was mounted anew, the name must agree too.
fn is_moved(row: &FileRow, file: &SourceFile) -> bool {
    let (before, now) = (&row.stamp, &file.stamp);
    let same_content = now.size > 0 && (before.size, before.modified_ns) == (now.size, now.modified_ns);
    let same_name = || name(&row.path).is_some() && name(&row.path) == name(&file.path);
    let may_be_same = before.inode == now.inode || before.inode == 0 || now.inode == 0;
    (&row.agent, row.role) == (&file.agent, file.role)
        && same_content
        && (before.same_file(now) || (may_be_same && same_name()))
}

fn name(path: &Path) -> Option<&OsStr> {
    path.file_name()
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
