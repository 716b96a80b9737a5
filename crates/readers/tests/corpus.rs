//! Every format against its folder of cases: `corpus/<agent>/<case>/home` is a home folder,
//! `expected.json` beside it says what reading it must give. A new case is a new folder; run with
//! `LOOKBACK_UPDATE_EXPECTED=1` to write its `expected.json`, then read it before you believe it. While you
//! work on a format, `LOOKBACK_CORPUS=agent` leaves out all others.
//!
//! A database is written down as the statements that made it, one to a line: `x.db.sql` becomes `x.db`, and `:log`
//! at the end of a file's first line leaves its content in the database's log. `@HOME@` stands for the home.
//!
//! Properties: the expected events, facts and losses; for each line-based file of each case that reading it in two
//! parts, cut at any byte, gives what reading it whole gives; for each database that reading it after each
//! statement of its making does; that a database with damage anywhere gives what is left, or says that it is
//! damaged; and that every log is one that a store of logs would take.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use lookback_model::session_query::validate_log;
use lookback_model::source::{ReadAccount, ReadCursor, ReadError, SourceFile};
use lookback_model::{Environment, SessionSource};
use lookback_readers::registry::SOURCES;
use lookback_testkit::reading::{self, Kept};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};

fn sources() -> impl Iterator<Item = &'static dyn SessionSource> {
    let only = std::env::var("LOOKBACK_CORPUS").unwrap_or_default();
    let all = SOURCES.iter().copied();
    all.filter(move |source| only.is_empty() || source.agent() == only)
}

fn cases(source: &dyn SessionSource) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpus")
        .join(source.agent());
    let mut cases: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{} has no cases: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    assert!(!cases.is_empty(), "{} has no cases", source.agent());
    cases
}

/// What stands for a home folder that is made anew each time.
const AT_HOME: &str = "@HOME@";

/// A case's home folder with its databases made.
struct Home {
    path: PathBuf,
    /// Databases with the statements that made them.
    databases: Vec<(PathBuf, String)>,
    /// Kept open, or else their logs would be put back.
    _open: Vec<Connection>,
    _folder: Option<tempfile::TempDir>,
}

impl Home {
    fn of(case: &Path) -> Self {
        let path = case.join("home");
        let mut scripts = Vec::new();
        scripts_under(&path, &mut scripts);
        let mut home = Self {
            path: path.clone(),
            databases: Vec::new(),
            _open: Vec::new(),
            _folder: None,
        };
        if scripts.is_empty() {
            return home;
        }
        let folder = tempfile::tempdir().unwrap();
        home.path = folder.path().join("home");
        copy(&path, &home.path, &home.path);
        for script in scripts {
            let made = home.path.join(script.strip_prefix(&path).unwrap());
            fs::remove_file(&made).unwrap();
            let statements = fs::read_to_string(&script).unwrap();
            let database = made.with_extension("");
            let connection = Connection::open(&database).unwrap();
            if statements.lines().next().unwrap().ends_with(":log") {
                connection
                    .execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
                    .unwrap();
                run(&connection, &statements);
                home._open.push(connection);
            } else {
                run(&connection, &statements);
            }
            home.databases.push((database, statements));
        }
        home._folder = Some(folder);
        home
    }
}

fn run(connection: &Connection, statements: &str) {
    connection
        .execute_batch(&format!("BEGIN;\n{statements}\nCOMMIT;"))
        .unwrap();
}

fn scripts_under(folder: &Path, scripts: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            scripts_under(&path, scripts);
        } else if path.extension().is_some_and(|extension| extension == "sql") {
            scripts.push(path);
        }
    }
    scripts.sort();
}

fn copy(from: &Path, to: &Path, home: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target, home);
        } else {
            match fs::read_to_string(entry.path()) {
                Ok(text) => fs::write(target, text.replace(AT_HOME, &home.display().to_string())).unwrap(),
                Err(_) => drop(fs::copy(entry.path(), target).unwrap()),
            }
        }
    }
}

#[test]
fn cases_read_as_expected() {
    let mut wrong = Vec::new();
    for (source, case) in
        sources().flat_map(|source| cases(source).into_iter().map(move |case| (source, case)))
    {
        let home = Home::of(&case);
        let seen = serde_json::to_string_pretty(&reading::describe(source, &home.path)).unwrap() + "\n";
        let seen = seen.replace(&home.path.display().to_string(), AT_HOME);
        let expected = case.join("expected.json");
        if std::env::var_os("LOOKBACK_UPDATE_EXPECTED").is_some() {
            fs::write(&expected, &seen).unwrap();
        }
        let wanted = fs::read_to_string(&expected).unwrap_or_default();
        if seen != wanted {
            let line = seen
                .lines()
                .zip(wanted.lines())
                .position(|(a, b)| a != b)
                .map_or(0, |at| at + 1);
            wrong.push(format!(
                "{}: differs from line {line} of expected.json on",
                case.display()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn cases_read_in_parts_as_whole() {
    for source in sources() {
        for case in cases(source) {
            let home = Home::of(&case);
            let found = reading::discover(source, &Environment::at_home(&home.path));
            for file in found.files {
                if home.databases.iter().any(|(database, _)| *database == file.path) {
                    continue;
                }
                let length = fs::metadata(&file.path).unwrap().len() as usize;
                // Every byte of small files, a spread of cuts of larger ones.
                let step = (length / 100).max(1);
                let folder = tempfile::tempdir().unwrap();
                for cut in (0..=length).step_by(step) {
                    if let Err(error) = reading::read_in_parts(source, &file, cut, folder.path()) {
                        panic!("{}: {error}", file.path.display());
                    }
                }
            }
        }
    }
}

#[test]
fn databases_read_while_they_grow_as_whole() {
    for source in sources() {
        for case in cases(source) {
            let home = Home::of(&case);
            let found = reading::discover(source, &Environment::at_home(&home.path));
            for (database, statements) in &home.databases {
                if let Some(file) = found.files.iter().find(|file| file.path == *database) {
                    reads_while_it_grows(source, file, statements);
                }
            }
        }
    }
}

fn reads_while_it_grows(source: &dyn SessionSource, file: &SourceFile, statements: &str) {
    let folder = tempfile::tempdir().unwrap();
    let copy = SourceFile {
        path: folder.path().join(file.path.file_name().unwrap()),
        ..file.clone()
    };
    let read = |cursor: Option<&ReadCursor>, kept: &mut Kept| {
        source.read(&reading::source_file(&copy), cursor, kept)
    };
    let (mut parts, mut cursor) = (Kept::default(), None);
    let mut account = ReadAccount::default();
    for statement in statements.lines().filter(|line| !line.starts_with("--")) {
        Connection::open(&copy.path)
            .unwrap()
            .execute_batch(statement)
            .unwrap();
        let outcome = match read(cursor.as_ref(), &mut parts) {
            Ok(outcome) => outcome,
            Err(ReadError::NoSession { .. }) if cursor.is_none() => continue,
            Err(error) => panic!("{}: {statement}: {error}", file.path.display()),
        };
        account.add(&outcome.account);
        // A session that was told anew takes the place of what was told of it before.
        let mut newest = std::collections::HashSet::new();
        parts.sessions.reverse();
        parts.sessions.retain(|session| newest.insert(session.id.clone()));
        cursor = Some(outcome.cursor);
    }
    let mut whole = Kept::default();
    let outcome = read(None, &mut whole);
    let Ok(outcome) = outcome else {
        return;
    };
    let is_held = |id: &str| whole.sessions.iter().any(|session| session.id == id);
    parts.sessions.retain(|session| is_held(&session.id));
    for kept in [&mut parts, &mut whole] {
        kept.sessions.sort_by(|a, b| a.id.cmp(&b.id));
    }
    for (part, whole) in parts.sessions.iter().zip(&whole.sessions) {
        assert_eq!(part, whole, "{}", file.path.display());
    }
    assert_eq!(parts.sessions.len(), whole.sessions.len());
    assert!(account.lines >= outcome.account.lines, "{}", file.path.display());
}

#[test]
fn damaged_databases_give_what_is_left() {
    for source in sources() {
        for case in cases(source) {
            let home = Home::of(&case);
            let found = reading::discover(source, &Environment::at_home(&home.path));
            for (database, statements) in &home.databases {
                let Some(file) = found.files.iter().find(|file| file.path == *database) else {
                    continue;
                };
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join(database.file_name().unwrap());
                run(&Connection::open(&path).unwrap(), statements);
                let copy = SourceFile { path, ..file.clone() };
                let whole = fs::read(&copy.path).unwrap();
                for (at, filling) in (0..whole.len())
                    .step_by(997)
                    .zip([0, 0xFF, b'7'].into_iter().cycle())
                {
                    let mut damaged = whole.clone();
                    let end = (at + 24).min(damaged.len());
                    damaged.get_mut(at..end).unwrap().fill(filling);
                    fs::write(&copy.path, &damaged).unwrap();
                    reads_what_is_left(source, &copy);
                }
            }
        }
    }
}

fn reads_what_is_left(source: &dyn SessionSource, file: &SourceFile) {
    let mut kept = Kept::default();
    match source.read(file, None, &mut kept) {
        Ok(outcome) => {
            let account = outcome.account;
            let sum = account.records + account.bookkeeping + account.blank + account.lost;
            assert_eq!(account.lines, sum, "{account:?}");
            for session in &kept.sessions {
                lookback_model::Surface::of(&session.events).unwrap();
                assert!(session.session.is_some());
            }
        }
        Err(ReadError::NoSession { .. } | ReadError::Io { .. }) => {}
        Err(error) => panic!("{}: {error}", file.path.display()),
    }
}

/// Property: the log of every session of every case keeps the rules that appended events keep.
#[test]
fn logs_keep_the_rules_of_logs() {
    let mut events = 0;
    for source in sources() {
        for case in cases(source) {
            let home = Home::of(&case);
            let found = reading::discover(source, &Environment::at_home(&home.path));
            for file in found.files {
                let mut kept = reading::Kept::default();
                // A file that cannot be read gives the events before the fault.
                let _ = source.read(&file, None, &mut kept);
                for session in kept.sessions {
                    if let Err(error) = validate_log(&session.events) {
                        panic!("{}: {error}", file.path.display());
                    }
                    events += session.events.len();
                }
            }
        }
    }
    assert!(events > 0);
}
