//! How well sessions are found: questions whose answers are known, asked of the program that people run.
//!
//! The set of our own holds coding sessions, which are written into a home folder as their agents would
//! leave them; sets from elsewhere bring home folders with them. Writes Markdown to stdout, so that the
//! figures of two builds can be laid side by side.

mod asking;
mod coding;
mod figures;
mod outside;
mod session;
mod transcripts;

use crate::command::{built, root};
use anyhow::{Context, Result, bail};
use asking::{Answer, ask_all};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Where sets from elsewhere are looked for when none is named, seen from the root of the workspace. They
/// lie beside the checkout, since not all of them may be passed on.
const OUTSIDE: &str = "../shared/relevance";
/// So many of the first hits are written beside a question that was missed.
const HITS_OF_A_MISS: usize = 5;

/// What a measurement is asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Sets from elsewhere; none named means those that lie beside the checkout.
    sets: Vec<PathBuf>,
    /// Where questions are written that were not answered by the first hit.
    misses: Option<PathBuf>,
}

impl Options {
    /// Reads `[--set DIR]... [--misses FILE]`.
    pub(crate) fn parse(words: &[&str]) -> Result<Self> {
        let mut options = Self::default();
        for pair in words.chunks(2) {
            match pair {
                ["--set", folder] => options.sets.push(PathBuf::from(folder)),
                ["--misses", file] if options.misses.is_none() => options.misses = Some(PathBuf::from(file)),
                other => bail!("relevance does not know `{}`", other.join(" ")),
            }
        }
        Ok(options)
    }
}

/// A question and the sessions that answer it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Question {
    ask: String,
    /// What kind of question it is: figures are told for each.
    kind: String,
    /// Ids of the sessions, any of which will do.
    gold: Vec<String>,
}

/// A home folder and what is asked about its sessions.
struct Home {
    /// Tells homes of one set apart; empty where there is only one.
    name: String,
    folder: PathBuf,
    questions: Vec<Question>,
    /// How many sessions must come out of it, where that is known.
    sessions: Option<usize>,
}

/// Homes whose figures are added up.
struct Set {
    name: String,
    homes: Vec<Home>,
    /// What people call the sessions, by id. A session that is not here goes by its id.
    names: BTreeMap<String, String>,
}

/// Asks everything and prints a table for each set.
pub(crate) fn run(options: &Options) -> Result<()> {
    let root = root()?;
    let made_up = tempfile::tempdir()?;
    let mut sets = vec![coding::set(&root.join(coding::FOLDER), made_up.path())?];
    for folder in outside_folders(options, &root.join(OUTSIDE))? {
        sets.push(outside::set(&folder)?);
    }
    let program = built(&["--release", "--locked", "--package", "lookback-cli"])?;
    let mut misses = String::new();
    for set in &sets {
        let answers = ask_set(&program, set)?;
        println!("{}", figures::table(&set.name, &answers));
        for answer in answers.iter().filter(|answer| answer.rank != Some(1)) {
            misses.push_str(&format!("{}\n", miss(set, answer)));
        }
    }
    if let Some(file) = &options.misses {
        fs::write(file, misses).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

fn outside_folders(options: &Options, beside: &Path) -> Result<Vec<PathBuf>> {
    if !options.sets.is_empty() {
        return Ok(options.sets.clone());
    }
    if !beside.is_dir() {
        return Ok(Vec::new());
    }
    let mut folders = Vec::new();
    for entry in fs::read_dir(beside)? {
        let path = entry?.path();
        if outside::is_set(&path) {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

fn ask_set(program: &Path, set: &Set) -> Result<Vec<Answer>> {
    let mut answers = Vec::new();
    for home in &set.homes {
        let place = format!("{}/{}", set.name, home.name);
        let place = place.trim_end_matches('/');
        eprintln!("{place}: {} questions …", home.questions.len());
        answers.extend(ask_all(program, home).with_context(|| format!("cannot measure {place}"))?);
    }
    Ok(answers)
}

/// One line of JSON about a question that the first hit did not answer.
fn miss(set: &Set, answer: &Answer) -> serde_json::Value {
    let name = |id: &String| set.names.get(id).unwrap_or(id).clone();
    let gold: Vec<String> = answer.question.gold.iter().map(name).collect();
    let first: Vec<String> = answer.hits.iter().take(HITS_OF_A_MISS).map(name).collect();
    json!({
        "set": set.name, "home": answer.home, "kind": answer.question.kind, "question": answer.question.ask,
        "rank": answer.rank, "gold": gold, "first": first,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_sets_and_one_file_of_misses() {
        let options = Options::parse(&["--set", "/a", "--misses", "m.jsonl", "--set", "b"]).unwrap();
        let sets = vec![PathBuf::from("/a"), PathBuf::from("b")];
        let misses = Some(PathBuf::from("m.jsonl"));
        assert_eq!(options, Options { sets, misses });
        assert_eq!(Options::parse(&[]).unwrap(), Options::default());
        for wrong in [
            &["--set"][..],
            &["--sets", "/a"],
            &["/a"],
            &["--misses", "a", "--misses", "b"],
        ] {
            assert!(Options::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    /// Property: sets that are named replace those that lie beside the checkout.
    #[test]
    fn sets_beside_the_checkout_are_found_unless_others_are_named() {
        let beside = tempfile::tempdir().unwrap();
        for set in ["b", "a"] {
            fs::create_dir_all(beside.path().join(set).join("0")).unwrap();
            fs::write(beside.path().join(set).join("0/questions.jsonl"), "").unwrap();
        }
        fs::create_dir(beside.path().join("notes")).unwrap();
        fs::write(beside.path().join("notes.txt"), "").unwrap();
        let found = |options: &Options, folder: &Path| outside_folders(options, folder).unwrap();
        let both = vec![beside.path().join("a"), beside.path().join("b")];
        assert_eq!(found(&Options::default(), beside.path()), both);
        assert!(found(&Options::default(), &beside.path().join("c")).is_empty());
        let named = Options::parse(&["--set", "/c"]).unwrap();
        assert_eq!(found(&named, beside.path()), vec![PathBuf::from("/c")]);
    }

    #[test]
    fn a_miss_names_sessions_as_people_do() {
        let set = Set {
            name: "s".to_owned(),
            homes: Vec::new(),
            names: BTreeMap::from([("id-1".to_owned(), "slug-1".to_owned())]),
        };
        let answer = Answer {
            home: "0".to_owned(),
            question: Question {
                ask: "q".to_owned(),
                kind: "typo".to_owned(),
                gold: vec!["id-1".to_owned()],
            },
            hits: ["id-2", "id-3", "id-4", "id-5", "id-6", "id-1"]
                .map(str::to_owned)
                .to_vec(),
            rank: Some(6),
            milliseconds: 1.0,
        };
        let expected = json!({
            "set": "s", "home": "0", "kind": "typo", "question": "q", "rank": 6, "gold": ["slug-1"],
            "first": ["id-2", "id-3", "id-4", "id-5", "id-6"],
        });
        assert_eq!(miss(&set, &answer), expected);
    }
}
