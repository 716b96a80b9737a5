//! Properties: what a writer at work has not put into its database yet is seen; reading changes nothing on
//! the disk, whatever lies beside the database; a writer is never kept waiting; what cannot be read is told.
use super::*;
use lookback_model::source::FileRole;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::SystemTime;

/// Where the writer process is to write, and how it is to go.
const WRITER_AT: &str = "LOOKBACK_TEST_WRITER_AT";

/// Another process that has a database open. It is this program, asked for one test.
struct Writer(Child);

impl Writer {
    fn start(path: &Path, script: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "sqlite::tests::as_the_writer",
                "--ignored",
                "--nocapture",
            ])
            .env(WRITER_AT, path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        writeln!(child.stdin.as_mut().unwrap(), "{script}").unwrap();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().ends_with("ready")));
        Self(child)
    }

    /// Ends it without closing its database.
    fn crash(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "run by the others, as another process"]
fn as_the_writer() {
    let Some(path) = std::env::var_os(WRITER_AT) else {
        return;
    };
    let mut input = std::io::stdin().lines();
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(&input.next().unwrap().unwrap()).unwrap();
    println!("ready");
    assert!(input.next().is_none(), "it is killed before");
}

const WAL: &str = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x); \
                   INSERT INTO t VALUES ('first'), ('second');";
const PLAIN: &str = "CREATE TABLE t (x); INSERT INTO t VALUES ('first'), ('second');";

fn make(path: &Path, script: &str) {
    Connection::open(path).unwrap().execute_batch(script).unwrap();
}

fn rows(store: &Store) -> i64 {
    let count = store
        .connection()
        .query_row("SELECT count(*) FROM t", [], |row| row.get(0));
    count.unwrap()
}

/// What lies in a folder: names, contents and times.
fn listing(folder: &Path) -> Vec<(OsString, Vec<u8>, SystemTime)> {
    let mut listing: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let modified = entry.metadata().unwrap().modified().unwrap();
            (entry.file_name(), fs::read(entry.path()).unwrap(), modified)
        })
        .collect();
    listing.sort();
    listing
}

/// Opens, counts and closes; nothing may have changed by it.
fn read_without_trace(path: &Path) -> (Access, i64) {
    let folder = path.parent().unwrap();
    let before = listing(folder);
    let store = Store::open(path).unwrap();
    let seen = (store.access, rows(&store));
    store.check().unwrap();
    drop(store);
    assert_eq!(listing(folder), before);
    seen
}

#[test]
fn a_writer_at_work_is_seen_and_not_kept_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a b%?#.db");
    let _writer = Writer::start(&path, WAL);
    assert!(
        fs::metadata(&path).unwrap().len() <= 4_096,
        "all of it is in the log"
    );
    assert_eq!(read_without_trace(&path), (Access::Beside, 2));
    let store = Store::open(&path).unwrap();
    // A second writer adds, and puts what it can of the log into the database.
    let second = Writer::start(
        &path,
        "INSERT INTO t VALUES ('third'); PRAGMA wal_checkpoint(PASSIVE);",
    );
    assert_eq!(rows(&store), 2, "the moment is held");
    store.check().unwrap();
    drop((store, second));
    assert_eq!(read_without_trace(&path), (Access::Beside, 3));
}

#[test]
fn what_a_crash_left_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("crashed.db");
    Writer::start(&path, WAL).crash();
    assert_eq!(read_without_trace(&path), (Access::Beside, 2));
    fs::remove_file(folder.path().join("crashed.db-shm")).unwrap();
    assert_eq!(read_without_trace(&path), (Access::OwnIndex, 2));
}

#[test]
fn a_database_that_was_closed_is_read_as_it_is() {
    for script in [WAL, PLAIN] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("closed.db");
        make(&path, script);
        assert_eq!(read_without_trace(&path), (Access::Still, 2));
    }
}

#[test]
fn a_writer_without_a_log_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plain.db");
    make(&path, PLAIN);
    let store = Store::open(&path).unwrap();
    make(&path, "INSERT INTO t VALUES ('third');");
    assert!(matches!(store.check(), Err(ReadError::Changed { .. })));
    drop(store);
    assert_eq!(read_without_trace(&path), (Access::Still, 3));
}

#[test]
fn a_locked_database_is_told_as_busy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("locked.db");
    make(&path, PLAIN);
    let lock = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; INSERT INTO t VALUES ('half');";
    let writer = Writer::start(&path, lock);
    let before = listing(folder.path());
    match Store::open(&path).err() {
        Some(ReadError::Io { source, .. }) => assert_eq!(source.kind(), io::ErrorKind::WouldBlock),
        other => panic!("{other:?}"),
    }
    assert_eq!(listing(folder.path()), before);
    drop(writer);
}

fn refusal(path: &Path) -> IssueCode {
    match Store::open(path).err() {
        Some(ReadError::NoSession { code, .. }) => code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_no_database_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    fs::write(&path, b"").unwrap();
    assert_eq!(refusal(&path), IssueCode::EmptyFile);
    fs::write(
        &path,
        b"no database at all, and longer than a header of one ".repeat(90),
    )
    .unwrap();
    assert_eq!(refusal(&path), IssueCode::DamagedDatabase);
    assert!(matches!(
        Store::open(&folder.path().join("absent.db")),
        Err(ReadError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound
    ));
    assert_eq!(listing(folder.path()).len(), 1, "nothing was made");
}

#[test]
fn a_stamp_covers_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stamped.db");
    let _writer = Writer::start(&path, WAL);
    let file = |path: &Path| {
        let stamp = walk::stamp(&fs::metadata(path).unwrap());
        let (agent, root, path) = (String::new(), PathBuf::new(), path.to_owned());
        let role = FileRole::Transcript;
        let mut files = [SourceFile {
            agent,
            root,
            path,
            role,
            stamp,
        }];
        cover_logs(&mut files);
        files[0].stamp
    };
    let before = file(&path);
    let alone = walk::stamp(&fs::metadata(&path).unwrap());
    let second = Writer::start(&path, "INSERT INTO t VALUES ('third');");
    assert_eq!(walk::stamp(&fs::metadata(&path).unwrap()), alone);
    let after = file(&path);
    assert_ne!(after, before);
    assert!(after.same_file(&before) && after.size > before.size);
    drop(second);
}

#[test]
fn values_of_any_type_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("types.db");
    make(
        &path,
        "CREATE TABLE t (a, b, c); \
         INSERT INTO t VALUES (17, '1.5', CAST(x'61FF62' AS TEXT)), ('x', NULL, 1e300), (0, '', x'00');",
    );
    let store = Store::open(&path).unwrap();
    let columns = store.select("t", &["a", "b", "c", "newer"]).unwrap();
    let mut statement = store
        .connection()
        .prepare(&format!("SELECT {columns} FROM t"))
        .unwrap();
    let mut rows = statement.query([]).unwrap();
    let mut seen = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let fields = Fields(row);
        let text = |name| fields.text(name).map(Cow::into_owned);
        assert_eq!(text("newer"), None);
        seen.push((text("a"), fields.number("b"), text("c"), fields.is_set("a")));
    }
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(seen[0], (text("17"), Some(1.5), text("a\u{FFFD}b"), true));
    assert_eq!((&seen[1].0, seen[1].1, seen[1].3), (&text("x"), None, false));
    assert_eq!((&seen[2].0, seen[2].1, seen[2].3), (&text("0"), None, false));
}
