//! Properties: only what may have changed is read; what moved is recognised and nothing else is; every
//! file that was found and every row is accounted for exactly once.
use super::*;
use lookback_model::source::FileRole;
use proptest::prelude::*;

fn stamp(size: u64, modified_ns: i64, inode: u64) -> FileStamp {
    FileStamp {
        size,
        modified_ns,
        device: 1,
        inode,
    }
}

fn file(path: &str, stamp: FileStamp) -> SourceFile {
    SourceFile {
        agent: "a".into(),
        root: "/r".into(),
        path: path.into(),
        role: FileRole::Transcript,
        stamp,
    }
}

fn row(id: i64, path: &str, stamp: FileStamp) -> FileRow {
    FileRow {
        id: FileId(id),
        agent: "a".into(),
        root: "/r".into(),
        path: path.into(),
        role: FileRole::Transcript,
        stamp,
        state: FileState::Current,
        presence: Presence::Present,
    }
}

fn compare_one(row: FileRow, file: SourceFile) -> Plan {
    compare(vec![row], &[file], false, &|_| false)
}

#[test]
fn the_table_of_known_files() {
    let old = stamp(10, 5, 7);
    let remounted = FileStamp { device: 9, ..old };
    use FileState::{Current, Due, Failed};
    // (state, marks now, the failure may have passed) -> read from the start / on / not at all
    for (state, now, passed, wanted) in [
        (Current, old, false, None),
        (Current, remounted, false, None),
        (Current, stamp(11, 6, 7), false, Some(false)),
        (Current, stamp(10, 6, 7), false, Some(false)),
        (Current, stamp(10, 5, 8), false, Some(false)),
        (Current, stamp(9, 5, 7), false, Some(false)),
        (Due, old, false, Some(true)),
        (Failed, old, false, None),
        (Failed, old, true, Some(true)),
        (Failed, stamp(11, 6, 7), false, Some(true)),
    ] {
        let known = FileRow {
            state,
            ..row(1, "/r/x", old)
        };
        let plan = compare(vec![known], &[file("/r/x", now)], false, &|_| passed);
        assert_eq!(
            plan.read.first().map(|task| task.whole),
            wanted,
            "{state:?} {now:?} {passed}"
        );
        assert_eq!(plan.unchanged + plan.failed, u64::from(wanted.is_none()));
        assert!(plan.restamp.is_empty() && plan.unseen.is_empty());
        assert!(
            plan.read
                .iter()
                .all(|task| task.id == Some(FileId(1)) && task.retry == passed)
        );
    }
}

#[test]
fn verify_reads_everything_from_the_start() {
    let old = stamp(10, 5, 7);
    let plan = compare(vec![row(1, "/r/x", old)], &[file("/r/x", old)], true, &|_| false);
    assert!(plan.read.len() == 1 && plan.read[0].whole);
}

#[test]
fn a_file_that_came_back_is_restamped_or_read_as_its_marks_say() {
    let old = stamp(10, 5, 7);
    for presence in [Presence::Missing, Presence::Unverifiable] {
        let gone = FileRow {
            presence,
            ..row(1, "/r/x", old)
        };
        let plan = compare_one(gone.clone(), file("/r/x", old));
        assert_eq!((plan.restamp.len(), plan.read.len()), (1, 0));
        let plan = compare_one(gone, file("/r/x", stamp(12, 6, 8)));
        assert_eq!((plan.restamp.len(), plan.read.len()), (0, 1));
    }
}

#[test]
fn only_what_surely_is_the_same_file_counts_as_moved() {
    let old = stamp(10, 5, 7);
    let no_inode = stamp(10, 5, 0);
    for (before, path, now, moved) in [
        (old, "/r/y", old, true),
        // A copy.
        (old, "/r/sub/x", stamp(10, 5, 8), false),
        // No inodes here: the name must agree.
        (no_inode, "/r/sub/x", no_inode, true),
        (no_inode, "/r/y", no_inode, false),
        // The volume was mounted anew.
        (old, "/r/sub/x", FileStamp { device: 9, ..old }, true),
        (old, "/r/y", FileStamp { device: 9, ..old }, false),
        // Empty files are all alike.
        (stamp(0, 5, 0), "/r/sub/x", stamp(0, 5, 0), false),
    ] {
        let plan = compare_one(row(1, "/r/x", before), file(path, now));
        assert_eq!(
            (plan.restamp.len(), plan.read.len()),
            if moved { (1, 0) } else { (0, 1) },
            "{path} {now:?}"
        );
        assert_eq!(plan.unseen.len(), usize::from(!moved));
    }
    let other_agent = SourceFile {
        agent: "b".into(),
        ..file("/r/y", old)
    };
    assert_eq!(compare_one(row(1, "/r/x", old), other_agent).restamp, []);
}

/// Whether it is the moved file, only reading can tell: inodes are used again.
#[test]
fn a_changed_file_of_the_same_identity_is_read_on_at_its_new_place() {
    let plan = compare_one(row(1, "/r/x", stamp(10, 5, 7)), file("/r/y", stamp(11, 6, 7)));
    assert!(plan.unseen.is_empty());
    let task = &plan.read[0];
    assert_eq!((task.id, task.whole, task.moved), (Some(FileId(1)), false, true));
    for state in [FileState::Due, FileState::Failed] {
        let unread = FileRow {
            state,
            ..row(1, "/r/x", stamp(10, 5, 7))
        };
        let plan = compare_one(unread, file("/r/y", stamp(11, 6, 7)));
        assert_eq!((plan.read[0].id, plan.unseen.len()), (None, 1));
    }
}

#[test]
fn a_moved_file_that_had_failed_or_was_due_keeps_its_number() {
    let old = stamp(10, 5, 7);
    let due = FileRow {
        state: FileState::Due,
        ..row(1, "/r/x", old)
    };
    let plan = compare_one(due, file("/r/y", old));
    assert_eq!(
        plan.read
            .iter()
            .map(|task| (task.id, task.whole))
            .collect::<Vec<_>>(),
        [(Some(FileId(1)), true)]
    );
    let failed = FileRow {
        state: FileState::Failed,
        ..row(1, "/r/x", old)
    };
    let plan = compare_one(failed, file("/r/y", old));
    assert_eq!((plan.restamp.len(), plan.failed), (1, 1));
}

proptest! {
    #[test]
    fn everything_is_accounted_for_once(
        known in prop::collection::btree_map(0u8..8, (0u64..3, 0i64..2, 0u64..4), 0..8),
        now in prop::collection::btree_map(0u8..8, (0u64..3, 0i64..2, 0u64..4), 0..8),
        verify: bool,
    ) {
        let mark = |&(size, time, inode): &(u64, i64, u64)| stamp(size, time, inode);
        let rows: Vec<_> =
            known.iter().map(|(name, at)| row(i64::from(*name), &format!("/r/{name}"), mark(at))).collect();
        let found: Vec<_> = now.iter().map(|(name, at)| file(&format!("/r/{name}"), mark(at))).collect();
        let plan = compare(rows.clone(), &found, verify, &|_| false);
        prop_assert_eq!(plan.read.len() as u64 + plan.unchanged + plan.failed, found.len() as u64);
        let used = rows.len() - plan.unseen.len();
        let new = plan.read.iter().filter(|task| task.id.is_none()).count();
        prop_assert_eq!(used + new, found.len());
        let order: Vec<_> = plan.read.iter().map(|task| found.iter().position(|file| *file == task.file)).collect();
        prop_assert!(order.is_sorted());
        let again: Vec<_> = found.iter().enumerate().map(|(id, file)| row(id as i64, &file.path.display().to_string(), file.stamp)).collect();
        let settled = compare(again, &found, false, &|_| false);
        prop_assert_eq!((settled.unchanged, settled.restamp.len()), (found.len() as u64, 0));
    }
}

/// Property: a row that stands for no file is no file that moved, whatever is found.
#[test]
fn what_was_fed_is_no_file_that_moved() {
    let none = FileStamp::default();
    for now in [none, stamp(10, 5, 7), FileStamp { size: 3, ..none }] {
        let fed = FileRow {
            role: FileRole::Fed,
            ..row(1, "session-query:s", none)
        };
        let plan = compare_one(fed.clone(), file("/r/session-query:s", now));
        assert_eq!((plan.read.len(), plan.read[0].id), (1, None));
        assert_eq!((plan.unseen, plan.restamp.len()), (vec![fed], 0));
    }
}
