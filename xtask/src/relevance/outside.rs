//! Sets from elsewhere: `SET/N/` holds a home folder with transcripts, `home/`, and `questions.jsonl`, whose
//! lines are `{"question", "category", "gold": [session id, …]}`. Each N is a world of its own and gets an
//! index of its own.

use super::{Home, Question, Set};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The file that makes a folder one of a set.
const QUESTIONS: &str = "questions.jsonl";

/// Whether a folder holds a set, and not something that lies beside sets.
pub(super) fn is_set(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    entries
        .flatten()
        .any(|entry| entry.path().join(QUESTIONS).is_file())
}

/// Reads the set that lies under `folder`.
pub(super) fn set(folder: &Path) -> Result<Set> {
    let mut homes = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let entry = entry?;
        let file = entry.path().join(QUESTIONS);
        if file.is_file() {
            let text = fs::read_to_string(&file)?;
            homes.push(Home {
                name: entry.file_name().to_string_lossy().into_owned(),
                folder: entry.path().join("home"),
                questions: questions(&text).with_context(|| format!("cannot use {}", file.display()))?,
                sessions: None,
            });
        }
    }
    if homes.is_empty() {
        bail!("no folder in {} holds {QUESTIONS}", folder.display());
    }
    homes.sort_by(|left, right| left.name.cmp(&right.name));
    let name = folder.file_name().unwrap_or(folder.as_os_str());
    Ok(Set {
        name: name.to_string_lossy().into_owned(),
        homes,
        names: BTreeMap::new(),
    })
}

fn questions(text: &str) -> Result<Vec<Question>> {
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| question(line).with_context(|| format!("line {}", index + 1)))
        .collect()
}

fn question(line: &str) -> Result<Question> {
    let record: Value = serde_json::from_str(line)?;
    let ask = record
        .get("question")
        .and_then(Value::as_str)
        .context("no question")?;
    let gold = record
        .get("gold")
        .and_then(Value::as_array)
        .context("no gold sessions")?;
    let gold: Option<Vec<String>> = gold.iter().map(|id| Some(id.as_str()?.to_owned())).collect();
    // Some sets number their categories, some name them.
    let kind = match record.get("category") {
        None | Some(Value::Null) => "–".to_owned(),
        Some(Value::String(name)) => name.clone(),
        Some(other) => other.to_string(),
    };
    Ok(Question {
        ask: ask.to_owned(),
        kind,
        gold: gold.context("a gold session is no text")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_are_read_in_order_and_other_folders_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        for home in ["2", "1", "notes"] {
            fs::create_dir_all(folder.path().join(home).join("home")).unwrap();
        }
        let line = "{\"question\":\"q\",\"category\":3,\"gold\":[\"a\",\"b\"]}\n\n";
        for home in ["2", "1"] {
            fs::write(folder.path().join(home).join(QUESTIONS), line).unwrap();
        }
        let set = set(folder.path()).unwrap();
        let homes: Vec<&str> = set.homes.iter().map(|home| home.name.as_str()).collect();
        assert_eq!(homes, ["1", "2"]);
        let expected = Question {
            ask: "q".to_owned(),
            kind: "3".to_owned(),
            gold: vec!["a".to_owned(), "b".to_owned()],
        };
        assert_eq!(set.homes[0].questions, [expected]);
    }

    #[test]
    fn what_is_no_set_is_refused() {
        assert!(set(tempfile::tempdir().unwrap().path()).is_err());
        for wrong in [
            "{",
            "{\"gold\":[]}",
            "{\"question\":\"q\"}",
            "{\"question\":\"q\",\"gold\":[1]}",
        ] {
            assert!(questions(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_category_may_be_a_name_or_be_missing() {
        let kind = |line: &str| question(line).unwrap().kind;
        assert_eq!(
            kind("{\"question\":\"q\",\"gold\":[],\"category\":\"time\"}"),
            "time"
        );
        assert_eq!(kind("{\"question\":\"q\",\"gold\":[]}"), "–");
    }
}
