//! Properties: a file counts as missing only when a folder proves it; an empty or vanished root gets one
//! pass of grace; nothing is told of what cannot be looked at.
use super::*;
use crate::discover::RootSight;
use lookback_model::ports::FileState;
use lookback_model::source::{Discovery, DiscoveryIssue, FileStamp, SourceFile};

#[test]
fn the_table_of_presence() {
    use Absence::{Proven, RootEmpty, There, Unknown};
    use Presence::{Missing, Present, Unverifiable};
    for (before, absence, after) in [
        (Present, There, Present),
        (Present, Proven, Missing),
        (Present, RootEmpty, Unverifiable),
        (Present, Unknown, Unverifiable),
        (Unverifiable, There, Present),
        (Unverifiable, Proven, Missing),
        (Unverifiable, RootEmpty, Missing),
        (Unverifiable, Unknown, Unverifiable),
        (Missing, Proven, Missing),
        (Missing, RootEmpty, Missing),
        (Missing, Unknown, Missing),
    ] {
        assert_eq!(judge(before, absence), after, "{before:?} {absence:?}");
    }
}

/// A root with the folder `kept` and a transcript that is still found in it.
struct Place {
    outer: tempfile::TempDir,
    sight: Sight,
}

impl Place {
    fn new() -> Self {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("root");
        fs::create_dir_all(root.join("kept")).unwrap();
        fs::write(root.join("kept/here"), "").unwrap();
        let roots = vec![RootSight {
            agent: "a",
            root,
            found: Discovery::default(),
            files: 0,
            bytes: 0,
        }];
        let mut place = Self {
            outer,
            sight: Sight {
                files: Vec::new(),
                roots,
            },
        };
        let here = place.row("kept/here");
        place.sight.files.push(SourceFile {
            agent: here.agent,
            root: here.root,
            path: here.path,
            role: here.role,
            stamp: here.stamp,
        });
        place
    }

    fn root(&self) -> PathBuf {
        self.outer.path().join("root")
    }

    fn row(&self, path: &str) -> FileRow {
        FileRow {
            id: FileId(1),
            agent: "a".into(),
            root: self.root(),
            path: self.root().join(path),
            role: FileRole::Transcript,
            stamp: FileStamp::default(),
            state: FileState::Current,
            presence: Presence::Present,
        }
    }

    fn issue(&mut self, path: &str, code: IssueCode) {
        let path = self.root().join(path);
        self.sight.roots[0].found.issues.push(DiscoveryIssue {
            path,
            code,
            detail: String::new(),
        });
    }

    fn absence(&self, path: &str) -> Absence {
        Search::new(&self.sight).absence(&self.row(path))
    }
}

#[test]
fn a_folder_on_the_way_proves_it() {
    let place = Place::new();
    assert_eq!(place.absence("kept/gone"), Absence::Proven);
    assert_eq!(place.absence("gone/with/all/its/folders"), Absence::Proven);
    assert_eq!(place.absence("kept/here"), Absence::There);
}

#[test]
fn what_cannot_be_looked_at_proves_nothing() {
    let mut place = Place::new();
    place.issue("kept", IssueCode::PermissionDenied);
    place.issue("", IssueCode::DanglingLink);
    assert_eq!(place.absence("kept/gone"), Absence::Unknown);
    assert_eq!(place.absence("kept/here"), Absence::Unknown);
    assert_eq!(place.absence("other/gone"), Absence::Proven);
    place.issue("", IssueCode::IoError);
    assert_eq!(place.absence("other/gone"), Absence::Unknown);
}

#[test]
fn a_file_outside_its_root_proves_nothing() {
    let place = Place::new();
    let stray = FileRow {
        path: place.outer.path().join("elsewhere/gone"),
        ..place.row("x")
    };
    assert_eq!(Search::new(&place.sight).absence(&stray), Absence::Unknown);
}

#[cfg(unix)]
#[test]
fn a_dangling_link_proves_nothing() {
    let place = Place::new();
    std::os::unix::fs::symlink("/nonexistent/volume", place.root().join("kept/linked")).unwrap();
    assert_eq!(place.absence("kept/linked"), Absence::Unknown);
}

#[test]
fn a_root_without_files_or_gone_itself_gets_grace() {
    let mut place = Place::new();
    place.sight.files.clear();
    assert_eq!(place.absence("kept/gone"), Absence::RootEmpty);
    fs::remove_dir_all(place.root()).unwrap();
    assert_eq!(place.absence("kept/gone"), Absence::RootEmpty);
    let first = changes(&[place.row("kept/gone")], &place.sight);
    assert_eq!(first, [(FileId(1), Presence::Unverifiable)]);
    let waiting = FileRow {
        presence: Presence::Unverifiable,
        ..place.row("kept/gone")
    };
    assert_eq!(
        changes(&[waiting], &place.sight),
        [(FileId(1), Presence::Missing)]
    );
}

#[test]
fn side_files_and_what_is_missing_already_are_left_alone() {
    let place = Place::new();
    let side = FileRow {
        role: FileRole::Side,
        ..place.row("kept/titles")
    };
    let missing = FileRow {
        presence: Presence::Missing,
        ..place.row("kept/gone")
    };
    assert_eq!(changes(&[side, missing], &place.sight), []);
}

/// Property: a row that stands for no file is never missed.
#[test]
fn what_was_fed_is_not_looked_for() {
    let place = Place::new();
    let fed = FileRow {
        role: FileRole::Fed,
        root: PathBuf::new(),
        path: "session-query:s".into(),
        ..place.row("kept/gone")
    };
    let gone = place.row("kept/gone");
    assert_eq!(changes(std::slice::from_ref(&fed), &place.sight), []);
    assert_eq!(
        changes(&[fed, gone], &place.sight),
        [(FileId(1), Presence::Missing)]
    );
}
