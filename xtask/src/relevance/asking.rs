//! Asking: one fresh index for a home, then each question as a search process of its own, as people and
//! scripts start it.

use super::{Home, Question};
use crate::command::{lookback, stdout_of};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::Path;
use std::time::Instant;

/// How many hits are asked for; a session beyond them was not found.
const LIMIT: &str = "20";

/// What came of a question.
pub(super) struct Answer {
    /// Name of the home it was asked about.
    pub(super) home: String,
    pub(super) question: Question,
    /// Ids of the sessions that were found, best first.
    pub(super) hits: Vec<String>,
    /// Place of the first right session, counted from 1; `None` when there is none.
    pub(super) rank: Option<usize>,
    /// How long the process took.
    pub(super) milliseconds: f64,
}

/// Indexes a home and asks all its questions.
pub(super) fn ask_all(program: &Path, home: &Home) -> Result<Vec<Answer>> {
    let data = tempfile::tempdir()?;
    let run = |words: &[&str]| stdout_of(lookback(program, &home.folder, data.path()).args(words));
    check_index(&run(&["index", "--json"])?, home.sessions)?;
    let mut answers = Vec::new();
    for question in &home.questions {
        let start = Instant::now();
        let words = [
            "search",
            "--json",
            "--limit",
            LIMIT,
            "--freshness",
            "indexed",
            "--",
        ];
        let response = run(&[&words[..], &[question.ask.as_str()]].concat())?;
        let milliseconds = start.elapsed().as_secs_f64() * 1_000.0;
        let hits = hits(&response).with_context(|| format!("asked `{}`", question.ask))?;
        answers.push(Answer {
            home: home.name.clone(),
            question: question.clone(),
            rank: rank(&hits, &question.gold),
            hits,
            milliseconds,
        });
    }
    Ok(answers)
}

/// Whether the index holds what it should: a transcript that was not read would pass for a bad answer.
fn check_index(report: &str, sessions: Option<usize>) -> Result<()> {
    let report: Value = serde_json::from_str(report).context("the report on the index is no JSON")?;
    let count = |key: &str| report.get(key).and_then(Value::as_u64);
    let read = count("sessionsRead").context("the report on the index tells no sessions")?;
    if read == 0 {
        bail!("no session was found");
    }
    let lost = count("filesFailed").unwrap_or(0) + count("linesLost").unwrap_or(0);
    match sessions {
        Some(expected) if u64::try_from(expected)? != read || lost > 0 => {
            bail!("{read} of {expected} sessions were read, and {lost} files or lines could not be")
        }
        _ => Ok(()),
    }
}

/// Ids of the sessions in a response, in order and each once. What a subagent said counts for the session
/// that it worked for.
fn hits(response: &str) -> Result<Vec<String>> {
    let response: Value = serde_json::from_str(response).context("the response to a search is no JSON")?;
    let hits = response
        .get("hits")
        .and_then(Value::as_array)
        .context("the response to a search has no hits")?;
    let mut ids: Vec<String> = Vec::new();
    for hit in hits {
        let text = |key: &str| hit.get(key).and_then(Value::as_str);
        let parent = text("parentSessionId").filter(|_| text("kind") == Some("subagent"));
        let id = parent
            .or_else(|| text("sessionId"))
            .context("a hit has no session")?;
        if !ids.iter().any(|known| known == id) {
            ids.push(id.to_owned());
        }
    }
    Ok(ids)
}

fn rank(hits: &[String], gold: &[String]) -> Option<usize> {
    hits.iter().position(|hit| gold.contains(hit)).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    /// Property: the best placed of several right sessions counts.
    #[test]
    fn the_rank_is_that_of_the_first_right_session() {
        let found = owned(&["a", "b", "c"]);
        assert_eq!(rank(&found, &owned(&["a"])), Some(1));
        assert_eq!(rank(&found, &owned(&["c", "x", "b"])), Some(2));
        assert_eq!(rank(&found, &owned(&["x"])), None);
        assert_eq!(rank(&found, &[]), None);
        assert_eq!(rank(&[], &owned(&["a"])), None);
    }

    #[test]
    fn a_subagent_counts_for_its_parent_and_no_session_twice() {
        let response = concat!(
            r#"{"kind":"results","hits":[{"sessionId":"s1","kind":"subagent","parentSessionId":"p"},"#,
            r#"{"sessionId":"a","kind":"main","parentSessionId":"q"},{"sessionId":"p"},"#,
            r#"{"sessionId":"s2","kind":"subagent","parentSessionId":null}]}"#,
        );
        assert_eq!(hits(response).unwrap(), ["p", "a", "s2"]);
    }

    /// Property: an answer that is no page of hits is an error, never a miss.
    #[test]
    fn nonsense_is_no_answer() {
        assert!(hits("").is_err());
        assert!(hits(r#"{"kind":"unavailable"}"#).is_err());
        assert!(hits(r#"{"hits":[{}]}"#).is_err());
        assert!(hits(r#"{"hits":[]}"#).unwrap().is_empty());
    }

    #[test]
    fn an_index_that_lacks_sessions_is_not_measured() {
        let report = r#"{"sessionsRead":2,"filesFailed":0,"linesLost":1}"#;
        assert!(check_index(report, None).is_ok());
        assert!(check_index(report, Some(2)).is_err());
        assert!(check_index(r#"{"sessionsRead":2}"#, Some(2)).is_ok());
        assert!(check_index(r#"{"sessionsRead":2}"#, Some(3)).is_err());
        assert!(check_index(r#"{"sessionsRead":0}"#, None).is_err());
        assert!(check_index("{}", None).is_err());
    }
}
