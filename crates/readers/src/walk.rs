//! Finding files under a root: every one once, whatever links, pipes and locked folders lie on the way.
//!
//! A file's identity is its device and inode, so that two routes to it give one file. Links to folders are
//! followed from the root and its direct children only, which is where people put them; a loop is entered
//! once.

use lookback_model::source::{Discovery, DiscoveryIssue, FileRole, FileStamp, IssueCode, SourceFile};
use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// What to look for under a root.
pub struct Walk<'a> {
    /// Agent whose files they are.
    pub agent: &'a str,
    /// Folder to look under.
    pub root: &'a Path,
    /// Folders below it that are entered: 0 looks at the root's own files only.
    pub depth: usize,
    /// What a file is, by its path relative to the root; `None` passes it by.
    pub classify: &'a dyn Fn(&Path) -> Option<FileRole>,
    /// Whether a folder is entered, by its path relative to the root.
    pub enter: &'a dyn Fn(&Path) -> bool,
}

impl Walk<'_> {
    /// Walks, adding to `found`. A root that does not exist has no files and is no issue.
    pub fn run(&self, found: &mut Discovery) {
        let mut seen = Seen::default();
        let mut folders = vec![(PathBuf::new(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            let path = self.root.join(&folder);
            let entries = match fs::read_dir(&path) {
                Ok(entries) => entries,
                Err(error) if depth == 0 && error.kind() == io::ErrorKind::NotFound => return,
                Err(error) => {
                    found.issues.push(issue(&path, &error));
                    continue;
                }
            };
            let is_link = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let (mut links, files): (Vec<_>, Vec<_>) = entries.flatten().partition(is_link);
            links.sort_by_key(fs::DirEntry::file_name);
            // Real files before links, so that a file keeps the path it has without them.
            for entry in files.iter().chain(&links) {
                self.entry(entry, &folder, depth, &mut seen, &mut folders, found);
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the walk's whole state; a struct would only rename it")]
    fn entry(
        &self,
        entry: &fs::DirEntry,
        folder: &Path,
        depth: usize,
        seen: &mut Seen,
        folders: &mut Vec<(PathBuf, usize)>,
        found: &mut Discovery,
    ) {
        let relative = folder.join(entry.file_name());
        let path = self.root.join(&relative);
        let Ok(kind) = entry.file_type() else {
            return;
        };
        if kind.is_dir() {
            if depth < self.depth && (self.enter)(&relative) {
                folders.push((relative, depth + 1));
            }
            return;
        }
        let role = (self.classify)(&relative);
        if !kind.is_symlink() && role.is_none() {
            return;
        }
        // Of what is no link the entry itself knows, without another walk along the whole path.
        let metadata = if kind.is_symlink() { fs::metadata(&path) } else { entry.metadata() };
        let metadata = match metadata {
            Ok(metadata) => metadata,
            Err(error) if kind.is_symlink() && error.kind() == io::ErrorKind::NotFound => {
                found.issues.push(DiscoveryIssue {
                    path,
                    code: IssueCode::DanglingLink,
                    detail: "the link leads nowhere".to_owned(),
                });
                return;
            }
            Err(error) => {
                found.issues.push(issue(&path, &error));
                return;
            }
        };
        if metadata.is_dir() {
            let direct_child = depth == 0 && self.depth > 0;
            if direct_child && (self.enter)(&relative) && seen.enter_link(&path, self.root) {
                folders.push((relative, depth + 1));
            }
            return;
        }
        let Some(role) = role else {
            return;
        };
        if !metadata.is_file() {
            found.issues.push(DiscoveryIssue {
                path,
                code: IssueCode::NotAFile,
                detail: "a pipe, socket or device".to_owned(),
            });
            return;
        }
        let stamp = stamp(&metadata);
        if seen.is_new(&stamp) {
            let (agent, root) = (self.agent.to_owned(), self.root.to_owned());
            found.files.push(SourceFile { agent, root, path, role, stamp });
        }
    }
}

#[derive(Default)]
struct Seen {
    files: HashSet<(u64, u64)>,
    links: HashSet<PathBuf>,
}

impl Seen {
    fn is_new(&mut self, stamp: &FileStamp) -> bool {
        stamp.inode == 0 || self.files.insert((stamp.device, stamp.inode))
    }

    /// Whether a linked folder leads somewhere that is not walked anyway.
    fn enter_link(&mut self, link: &Path, root: &Path) -> bool {
        let (Ok(target), Ok(root)) = (fs::canonicalize(link), fs::canonicalize(root)) else {
            return false;
        };
        !target.starts_with(&root) && !root.starts_with(&target) && self.links.insert(target)
    }
}

/// The outer marks of a file.
pub fn stamp(metadata: &Metadata) -> FileStamp {
    let modified = metadata.modified().ok();
    let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let modified_ns = since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0);
    let (device, inode) = identity(metadata);
    FileStamp { size: metadata.len(), modified_ns, device, inode }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

fn issue(path: &Path, error: &io::Error) -> DiscoveryIssue {
    let code = match error.kind() {
        io::ErrorKind::PermissionDenied => IssueCode::PermissionDenied,
        _ => IssueCode::IoError,
    };
    DiscoveryIssue { path: path.to_owned(), code, detail: error.to_string() }
}

#[cfg(all(test, unix))]
mod tests {
    //! Property: every file is found once, and nothing that lies in the way stops the walk.
    use super::*;
    use std::os::unix::fs::symlink;

    fn found(root: &Path) -> (Vec<String>, Vec<IssueCode>) {
        let mut discovery = Discovery::default();
        Walk {
            agent: "test",
            root,
            depth: 4,
            classify: &|path| (path.extension()? == "jsonl").then_some(FileRole::Transcript),
            enter: &|_| true,
        }
        .run(&mut discovery);
        let name = |file: &SourceFile| file.path.strip_prefix(root).unwrap_or(&file.path).display().to_string();
        let mut names: Vec<_> = discovery.files.iter().map(name).collect();
        names.sort();
        (names, discovery.issues.iter().map(|issue| issue.code).collect())
    }

    #[test]
    fn links_loops_and_pipes() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("root");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir_all(outer.path().join("elsewhere")).unwrap();
        fs::write(root.join("a/b/one.jsonl"), "").unwrap();
        fs::write(outer.path().join("elsewhere/two.jsonl"), "").unwrap();
        symlink(outer.path().join("elsewhere"), root.join("linked")).unwrap();
        symlink(outer.path().join("elsewhere"), root.join("linked-again")).unwrap();
        symlink(&root, root.join("a/loop")).unwrap();
        symlink(&root, root.join("loop")).unwrap();
        symlink(root.join("a/b/one.jsonl"), root.join("same.jsonl")).unwrap();
        symlink(root.join("nowhere"), root.join("dangling.jsonl")).unwrap();
        std::os::unix::net::UnixListener::bind(root.join("socket.jsonl")).unwrap();
        let (names, issues) = found(&root);
        assert_eq!(names.len(), 2, "{names:?}");
        assert!(names.contains(&"linked/two.jsonl".to_owned()));
        assert_eq!(issues, [IssueCode::NotAFile, IssueCode::DanglingLink]);
    }

    #[test]
    fn a_missing_root_is_no_issue() {
        assert_eq!(found(Path::new("/nonexistent/root")), (Vec::new(), Vec::new()));
    }
}
