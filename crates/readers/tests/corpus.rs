//! Every format against its folder of cases: `corpus/<agent>/<case>/home` is a home folder,
//! `expected.json` beside it says what reading it must give. A new case is a new folder; run with
//! `LOOKBACK_UPDATE_EXPECTED=1` to write its `expected.json`, then read it before you believe it.
//!
//! A database is written down as the statements that made it, one to a line: `x.db.sql` becomes `x.db`, and `:log`
//! at the end of a file's first line leaves its content in the database's log. `@HOME@` stands for the home.
//!
//! Properties: the expected events, facts and losses; for each line-based file of each case that reading it in two
//! parts, cut at any byte, gives what reading it whole gives; for each database that reading it after each
//! statement of its making does; and that every log is one that a store of logs would take.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use lookback_model::session_query::validate_log;
use lookback_model::source::{ReadAccount, ReadCursor, ReadError, SourceFile};
use lookback_model::{Environment, SessionSource};
use lookback_readers::registry::SOURCES;
use lookback_testkit::reading::{self, Kept};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};

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
    for case in SOURCES
        .iter()
        .flat_map(|source| cases(*source).into_iter().map(move |case| (source, case)))
    {
        let (source, case) = case;
        let home = Home::of(&case);
        let seen = serde_json::to_string_pretty(&reading::describe(*source, &home.path)).unwrap() + "\n";
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
    for source in SOURCES {
        for case in cases(*source) {
            let home = Home::of(&case);
            let found = reading::discover(*source, &Environment::at_home(&home.path));
            for file in found.files {
                if home.databases.iter().any(|(database, _)| *database == file.path) {
                    continue;
                }
                let length = fs::metadata(&file.path).unwrap().len() as usize;
                // Every byte of small files, a spread of cuts of larger ones.
                let step = (length / 100).max(1);
                let folder = tempfile::tempdir().unwrap();
                for cut in (0..=length).step_by(step) {
                    if let Err(error) = reading::read_in_parts(*source, &file, cut, folder.path()) {
                        panic!("{}: {error}", file.path.display());
                    }
                }
            }
        }
    }
}

//! A database is written down as the statements that made it, one to a line: `x.db.sql` becomes `x.db`, and `:log`
//! at the end of a file's first line leaves its content in the database's log. `@HOME@` stands for the home.
//!
//! Properties: the expected events, facts and losses; for each line-based file of each case that reading it in two
//! parts, cut at any byte, gives what reading it whole gives; for each database that reading it after each
//! statement of its making does; and that every log is one that a store of logs would take.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use lookback_model::session_query::validate_log;
use lookback_model::source::{ReadAccount, ReadCursor, ReadError, SourceFile};
                }
            }
        }
    }
//! A database is written down as the statements that made it, one to a line: `x.db.sql` becomes `x.db`, and `:log`
//! at the end of a file's first line leaves its content in the database's log. `@HOME@` stands for the home.
//!
//! Properties: the expected events, facts and losses; for each line-based file of each case that reading it in two
//! parts, cut at any byte, gives what reading it whole gives; for each database that reading it after each
//! statement of its making does; and that every log is one that a store of logs would take.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use lookback_model::session_query::validate_log;
use lookback_model::source::{ReadAccount, ReadCursor, ReadError, SourceFile};
}
