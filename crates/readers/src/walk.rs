//! Finding files under a root: every one once, whatever links, pipes and locked folders lie on the way.
//!
//! A file's identity is its device and inode, so that two routes to it give one file. Links to folders are
//! followed from the root and its direct children only, which is where people put them; a loop is entered
//! once.

use lookback_model::source::{Discovery, DiscoveryIssue, FileRole, FileStamp, IssueCode, SourceFile};
use std::collections::{BTreeMap, HashSet};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

/// What to look for under a root.
pub struct Walk<'a> {
    /// Agent whose files they are.
    pub agent: &'a str,
    /// Folder to look under.
    pub root: &'a Path,
    /// Folders below it that are entered: 0 looks at the root's own files only.
    pub depth: usize,
    /// What a file is, by its path relative to the root.
    pub classify: &'a (dyn Fn(&Path) -> Class + Sync),
    /// Whether a folder is entered, by its path relative to the root.
    pub enter: &'a (dyn Fn(&Path) -> bool + Sync),
}

/// What a file is to its agent's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Something to read.
    File(FileRole),
    /// Something like a transcript that is not read, and why not.
    Aside(&'static str),
    /// Something else.
    Other,
}

/// From this many folders on, a walk is shared out: looking at files waits for the kernel, and half of the
/// time of a search on an unchanged corpus is this.
const FOLDERS_FOR_THREADS: usize = 16;
/// Threads that share a walk.
const THREADS: usize = 3;

/// A folder to list.
struct Folder {
    /// Relative to the root.
    relative: PathBuf,
    /// How far below the root.
    depth: usize,
    /// Whether a link led here.
    linked: bool,
}

/// What some folders held.
#[derive(Default)]
struct Part {
    /// Files, and whether a link led to them.
    files: Vec<(bool, SourceFile)>,
    issues: Vec<DiscoveryIssue>,
    aside: BTreeMap<&'static str, u64>,
    folders: Vec<Folder>,
    /// Folders that links led to.
    links: HashSet<PathBuf>,
}

impl Part {
    /// Counts a file that is not read though a person might think it is.
    fn set_aside(&mut self, class: Class, path: &Path) {
        let reason = match class {
            Class::Aside(reason) => reason,
            _ if path.extension().is_some_and(|extension| extension == "jsonl") => OTHER_LINES,
            _ => return,
        };
        *self.aside.entry(reason).or_default() += 1;
    }
}

/// Why a file of lines that no format knows is not read.
const OTHER_LINES: &str = "no transcript by its place or name";

impl Walk<'_> {
    /// Walks, adding to `found`. A root that does not exist has no files and is no issue.
    pub fn run(&self, found: &mut Discovery) {
        let mut top = Part::default();
        self.list(
            &Folder {
                relative: PathBuf::new(),
                depth: 0,
                linked: false,
            },
            &mut top,
        );
        let folders = std::mem::take(&mut top.folders);
        let mut parts = vec![top];
        if folders.len() < FOLDERS_FOR_THREADS {
            parts.push(self.below(folders));
        } else {
            parts.extend(self.below_in_threads(folders));
        }
        let mut files = Vec::new();
        for part in parts {
            files.extend(part.files);
            found.issues.extend(part.issues);
            for (reason, count) in part.aside {
                *found.ignored.entry(reason).or_default() += count;
            }
        }
        // Real files before links, so that a file keeps the path it has without them.
        files.sort_by(|a, b| (a.0, a.1.path.as_os_str()).cmp(&(b.0, b.1.path.as_os_str())));
        let mut seen = HashSet::with_capacity(files.len());
        let is_new = |stamp: &FileStamp, seen: &mut HashSet<_>| {
            stamp.inode == 0 || seen.insert((stamp.device, stamp.inode))
        };
        found.files.extend(
            files
                .into_iter()
                .map(|(_, file)| file)
                .filter(|file| is_new(&file.stamp, &mut seen)),
        );
    }

    /// What lies in and below some folders.
    fn below(&self, folders: Vec<Folder>) -> Part {
        let mut part = Part {
            folders,
            ..Part::default()
        };
        while let Some(folder) = part.folders.pop() {
            self.list(&folder, &mut part);
        }
        part
    }

    fn below_in_threads(&self, folders: Vec<Folder>) -> Vec<Part> {
        let mut shares: Vec<Vec<Folder>> = std::iter::repeat_with(Vec::new).take(THREADS).collect();
        for (share, folder) in (0..THREADS).cycle().zip(folders) {
            if let Some(share) = shares.get_mut(share) {
                share.push(folder);
            }
        }
        thread::scope(|scope| {
            let walks: Vec<_> = shares
                .into_iter()
                .map(|share| scope.spawn(|| self.below(share)))
                .collect();
            // A thread that failed has lost its part, which is as if those folders could not be listed.
            walks
                .into_iter()
                .map(|walk| walk.join().unwrap_or_else(|_| self.lost()))
                .collect()
        })
    }

    fn lost(&self) -> Part {
        let issue = DiscoveryIssue {
            path: self.root.to_owned(),
            code: IssueCode::IoError,
            detail: "some folders could not be looked at".to_owned(),
        };
        Part {
            issues: vec![issue],
            ..Part::default()
        }
    }

    /// Adds what lies in one folder.
    fn list(&self, folder: &Folder, part: &mut Part) {
        let path = self.root.join(&folder.relative);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if folder.depth == 0 && error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => {
                part.issues.push(issue(&path, &error));
                return;
            }
        };
        for entry in entries.flatten() {
            self.entry(&entry, folder, part);
        }
    }

    fn entry(&self, entry: &fs::DirEntry, folder: &Folder, part: &mut Part) {
        let relative = folder.relative.join(entry.file_name());
        let Ok(kind) = entry.file_type() else {
            return;
        };
        if kind.is_dir() {
            if folder.depth < self.depth && (self.enter)(&relative) {
                part.folders.push(Folder {
                    relative,
                    depth: folder.depth + 1,
                    linked: folder.linked,
                });
            }
            return;
        }
        let class = (self.classify)(&relative);
        if !kind.is_symlink() && !matches!(class, Class::File(_)) {
            part.set_aside(class, &relative);
            return;
        }
        let path = self.root.join(&relative);
        // Of what is no link the entry itself knows, without another walk along the whole path.
        let metadata = if kind.is_symlink() {
            fs::metadata(&path)
        } else {
            entry.metadata()
        };
        let metadata = match metadata {
            Ok(metadata) => metadata,
            Err(error) if kind.is_symlink() && error.kind() == io::ErrorKind::NotFound => {
                let detail = "the link leads nowhere".to_owned();
                part.issues.push(DiscoveryIssue {
                    path,
                    code: IssueCode::DanglingLink,
                    detail,
                });
                return;
            }
            Err(error) => {
                part.issues.push(issue(&path, &error));
                return;
            }
        };
        if metadata.is_dir() {
            let direct_child = folder.depth == 0 && self.depth > 0;
            if direct_child && (self.enter)(&relative) && leads_outside(&path, self.root, &mut part.links) {
                part.folders.push(Folder {
                    relative,
                    depth: 1,
                    linked: true,
                });
            }
            return;
        }
        let Class::File(role) = class else {
            part.set_aside(class, &relative);
            return;
        };
        if !metadata.is_file() {
            let detail = "a pipe, socket or device".to_owned();
            part.issues.push(DiscoveryIssue {
                path,
                code: IssueCode::NotAFile,
                detail,
            });
            return;
        }
        let (agent, root, stamp) = (self.agent.to_owned(), self.root.to_owned(), stamp(&metadata));
        let linked = folder.linked || kind.is_symlink();
        part.files.push((
            linked,
            SourceFile {
                agent,
                root,
                path,
                role,
                stamp,
            },
        ));
    }
}

/// Whether a linked folder leads somewhere that is not walked anyway, and that no link led to before.
fn leads_outside(link: &Path, root: &Path, links: &mut HashSet<PathBuf>) -> bool {
    let (Ok(target), Ok(root)) = (fs::canonicalize(link), fs::canonicalize(root)) else {
        return false;
    };
    !target.starts_with(&root) && !root.starts_with(&target) && links.insert(target)
}

/// A file that is read together with others: its marks change when any of theirs do.
pub fn with_beside(file: &SourceFile, beside: &[SourceFile]) -> SourceFile {
    let mut whole = file.clone();
    for other in beside.iter().filter(|other| other.path != file.path) {
        whole.stamp.size += other.stamp.size;
        whole.stamp.modified_ns = whole.stamp.modified_ns.max(other.stamp.modified_ns);
    }
    whole
}

/// The outer marks of a file.
pub fn stamp(metadata: &Metadata) -> FileStamp {
    let modified = metadata.modified().ok();
    let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let modified_ns = since
        .and_then(|since| i64::try_from(since.as_nanos()).ok())
        .unwrap_or(0);
    let (device, inode) = identity(metadata);
    FileStamp {
        size: metadata.len(),
        modified_ns,
        device,
        inode,
    }
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
    DiscoveryIssue {
        path: path.to_owned(),
        code,
        detail: error.to_string(),
    }
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
            classify: &|path| match path.extension() {
                Some(extension) if extension == "jsonl" => Class::File(FileRole::Transcript),
                _ => Class::Other,
            },
            enter: &|_| true,
        }
        .run(&mut discovery);
        let name = |file: &SourceFile| {
            file.path
                .strip_prefix(root)
                .unwrap_or(&file.path)
                .display()
                .to_string()
        };
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
        assert!(
            names.contains(&"a/b/one.jsonl".to_owned()),
            "not by a link: {names:?}"
        );
        assert!(names.iter().any(|name| name.ends_with("two.jsonl")));
        assert_eq!(issues.len(), 2);
        assert!(issues.contains(&IssueCode::NotAFile) && issues.contains(&IssueCode::DanglingLink));
    }

    #[test]
    fn many_folders_give_every_file_once() {
        let root = tempfile::tempdir().unwrap();
        for folder in 0..40 {
            fs::create_dir_all(root.path().join(format!("{folder:02}/deep"))).unwrap();
            fs::write(root.path().join(format!("{folder:02}/deep/x.jsonl")), "").unwrap();
        }
        let (names, issues) = found(root.path());
        let wanted: Vec<_> = (0..40)
            .map(|folder| format!("{folder:02}/deep/x.jsonl"))
            .collect();
        assert_eq!((names, issues), (wanted, Vec::new()));
    }

    #[test]
    fn a_missing_root_is_no_issue() {
        assert_eq!(found(Path::new("/nonexistent/root")), (Vec::new(), Vec::new()));
    }
}
