//! Every format against its folder of cases: `corpus/<agent>/<case>/home` is a home folder,
//! `expected.json` beside it says what reading it must give. A new case is a new folder; run with
//! `LOOKBACK_UPDATE_EXPECTED=1` to write its `expected.json`, then read it before you believe it. While you
//! work on a format, `LOOKBACK_CORPUS=agent` leaves out all others.
//!
//! Properties: the expected events, facts and losses; and for each line-based file of each case that
//! reading it in two parts, cut at any byte, gives what reading it whole gives.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use lookback_model::{Environment, SessionSource};
use lookback_readers::registry::SOURCES;
use lookback_testkit::reading;
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

#[test]
fn cases_read_as_expected() {
    let mut wrong = Vec::new();
    for (source, case) in
        sources().flat_map(|source| cases(source).into_iter().map(move |case| (source, case)))
    {
        let seen =
            serde_json::to_string_pretty(&reading::describe(source, &case.join("home"))).unwrap() + "\n";
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
            let found = reading::discover(source, &Environment::at_home(case.join("home")));
            for file in found.files {
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
