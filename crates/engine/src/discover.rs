//! Listing every root of every source, several at once.

use lookback_model::source::{Discovery, DiscoveryIssue, IssueCode, SourceFile};
use lookback_model::{Environment, SessionSource};
use std::collections::HashSet;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Roots that are listed at once: listing waits for the disk more than it computes.
const THREADS: usize = 8;

/// One source's root, and what lies under it.
pub(crate) struct RootSight {
    pub(crate) agent: &'static str,
    pub(crate) root: PathBuf,
    /// What was met there; its files are in [`Sight::files`].
    pub(crate) found: Discovery,
    /// How many files it holds.
    pub(crate) files: u64,
    /// How long they are in all.
    pub(crate) bytes: u64,
}

/// What all roots hold.
pub(crate) struct Sight {
    /// Every file once, last changed first.
    pub(crate) files: Vec<SourceFile>,
    /// The roots in the order of the sources, each with all it holds.
    pub(crate) roots: Vec<RootSight>,
}

/// Looks at every root of `sources`.
pub(crate) fn look(sources: &[&'static dyn SessionSource], environment: &Environment) -> Sight {
    let mut roots = list(sources, environment);
    let mut seen = Seen::default();
    let mut files = Vec::new();
    for sight in &mut roots {
        let mut found = std::mem::take(&mut sight.found.files);
        sight.files = found.len() as u64;
        sight.bytes = found.iter().map(|file| file.stamp.size).sum();
        // Of several routes to one file the same must win each time.
        found.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
        files.extend(found.into_iter().filter(|file| seen.is_new(file)));
    }
    files.sort_by(|a, b| {
        b.stamp
            .modified_ns
            .cmp(&a.stamp.modified_ns)
            .then_with(|| a.path.as_os_str().cmp(b.path.as_os_str()))
    });
    Sight { files, roots }
}

/// Every root, with its files, in the order of the sources.
fn list(sources: &[&'static dyn SessionSource], environment: &Environment) -> Vec<RootSight> {
    let mut known = HashSet::new();
    let mut places = Vec::new();
    for &source in sources {
        for root in source.roots(environment) {
            if known.insert((source.agent(), root.clone())) {
                places.push((source, root));
            }
        }
    }
    let next = AtomicUsize::new(0);
    let listed = Mutex::new(Vec::with_capacity(places.len()));
    thread::scope(|scope| {
        for _ in 0..THREADS.min(places.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some((source, root)) = places.get(at) else {
                        return;
                    };
                    let sight = list_root(*source, root);
                    listed
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((at, sight));
                }
            });
        }
    });
    let mut listed = listed.into_inner().unwrap_or_else(PoisonError::into_inner);
    listed.sort_by_key(|&(at, _)| at);
    listed.into_iter().map(|(_, sight)| sight).collect()
}

fn list_root(source: &'static dyn SessionSource, root: &std::path::Path) -> RootSight {
    let mut found = Discovery::default();
    // A format that fails on one folder must not keep the others from being looked at.
    if catch_unwind(AssertUnwindSafe(|| source.discover(root, &mut found))).is_err() {
        found.issues.push(DiscoveryIssue {
            path: root.to_owned(),
            code: IssueCode::IoError,
            detail: "the reader failed while listing".to_owned(),
        });
    }
    RootSight {
        agent: source.agent(),
        root: root.to_owned(),
        found,
        files: 0,
        bytes: 0,
    }
}

/// Files that were seen, by path and by identity. Of two agents that lead to one file the first has it.
#[derive(Default)]
struct Seen {
    paths: HashSet<OsString>,
    identities: HashSet<(u64, u64)>,
}

impl Seen {
    fn is_new(&mut self, file: &SourceFile) -> bool {
        let stamp = &file.stamp;
        self.paths.insert(file.path.clone().into_os_string())
            && (stamp.inode == 0 || self.identities.insert((stamp.device, stamp.inode)))
    }
}

#[cfg(test)]
mod tests {
    //! Properties: a file that several roots lead to is found once, always by the same of them; a reader
    //! that fails on a root hides no other; the last changed file comes first.
    use super::*;
    use lookback_model::source::{
        EventSink, FileRole, FileStamp, ReadCursor, ReadError, ReadOutcome, ResumeCommand,
    };
    use lookback_model::{SessionFacts, SessionHeader};
    use std::path::Path;

    /// Finds the same three files under every root but the one called `bad`, on which it panics.
    struct Listing(&'static str);

    impl SessionSource for Listing {
        fn agent(&self) -> &'static str {
            self.0
        }
        fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
            ["b", "bad", "a", "b"]
                .map(|root| environment.home.join(root))
                .to_vec()
        }
        fn discover(&self, root: &Path, found: &mut Discovery) {
            assert!(!root.ends_with("bad"), "for the test");
            for (name, inode) in [("x", 1), ("y", 2), ("z", 1)] {
                let stamp = FileStamp {
                    modified_ns: inode,
                    inode: inode as u64,
                    ..FileStamp::default()
                };
                let (agent, root, path) = (self.0.to_owned(), root.to_owned(), root.join(name));
                found.files.push(SourceFile {
                    agent,
                    root,
                    path,
                    role: FileRole::Transcript,
                    stamp,
                });
            }
        }
        fn read(
            &self,
            _: &SourceFile,
            _: Option<&ReadCursor>,
            _: &mut dyn EventSink,
        ) -> Result<ReadOutcome, ReadError> {
            unreachable!("nothing is read here")
        }
        fn resume(&self, _: &SessionHeader, _: &SessionFacts) -> Option<ResumeCommand> {
            None
        }
    }

    #[test]
    fn each_file_is_found_once() {
        let sources: [&'static dyn SessionSource; 2] = [&Listing("one"), &Listing("two")];
        let sight = look(&sources, &Environment::at_home("/home"));
        let found: Vec<_> = sight
            .files
            .iter()
            .map(|file| (file.agent.as_str(), file.path.as_path()))
            .collect();
        assert_eq!(
            found,
            [("one", Path::new("/home/b/y")), ("one", Path::new("/home/b/x"))]
        );
        assert_eq!(
            sight.roots.iter().map(|root| root.files).collect::<Vec<_>>(),
            [3, 0, 3, 3, 0, 3]
        );
        let issues: Vec<_> = sight.roots.iter().map(|root| root.found.issues.len()).collect();
        assert_eq!(issues, [0, 1, 0, 0, 1, 0]);
    }
}
