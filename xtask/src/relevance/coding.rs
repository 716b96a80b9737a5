//! The set of our own: made-up coding sessions, one TOML file each, which are written into a home folder as
//! their agents would have left them.

use super::session::Session;
use super::{Home, Question, Set, transcripts};
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Where the files lie, seen from the root of the workspace.
pub(super) const FOLDER: &str = "relevance/coding";

/// Reads the set under `folder` and writes its transcripts into `home`.
pub(super) fn set(folder: &Path, home: &Path) -> Result<Set> {
    let sessions = read(folder)?;
    transcripts::write(home, &sessions)?;
    let names = sessions
        .iter()
        .map(|session| (session.id(), session.slug.clone()))
        .collect();
    Ok(Set {
        name: "coding".to_owned(),
        homes: vec![Home {
            name: String::new(),
            folder: home.to_path_buf(),
            questions: sessions.iter().flat_map(questions).collect(),
            sessions: Some(sessions.len()),
        }],
        names,
    })
}

fn questions(session: &Session) -> Vec<Question> {
    let own = || std::iter::once(session.id());
    let entries = session.questions.iter();
    entries
        .map(|entry| Question {
            ask: entry.ask.clone(),
            kind: entry.kind.to_string(),
            gold: own()
                .chain(entry.also.iter().map(|slug| Session::id_of(slug)))
                .collect(),
        })
        .collect()
}

/// Every session of the set, in order of name. All faults are told at once: whoever adds sessions has
/// several files open.
fn read(folder: &Path) -> Result<Vec<Session>> {
    let mut sessions = Vec::new();
    let mut faults = Vec::new();
    for (slug, text) in files(folder)? {
        match Session::parse(&slug, &text) {
            Ok(session) => sessions.push(session),
            Err(error) => faults.push(format!("{slug}.toml: {error:#}")),
        }
    }
    if faults.is_empty() {
        faults = unknown_sessions(&sessions);
    }
    if !faults.is_empty() {
        bail!("{} has faults:\n{}", folder.display(), faults.join("\n"));
    }
    Ok(sessions)
}

fn files(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        let Some(slug) = path.file_stem().and_then(|stem| stem.to_str()) else {
            continue;
        };
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            files.insert(slug.to_owned(), text);
        }
    }
    if files.is_empty() {
        bail!("there is no session in {}", folder.display());
    }
    Ok(files)
}

/// Answers in `also` that are no session of the set, or the very session that asks.
fn unknown_sessions(sessions: &[Session]) -> Vec<String> {
    let slugs: BTreeSet<&str> = sessions.iter().map(|session| session.slug.as_str()).collect();
    let mut faults = Vec::new();
    for session in sessions {
        for also in session.questions.iter().flat_map(|question| &question.also) {
            if *also == session.slug || !slugs.contains(also.as_str()) {
                faults.push(format!("{}.toml: `{also}` is no other session", session.slug));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::super::session::Agent;
    use super::*;

    const HEAD: &str = "agent = \"claude\"\ncwd = \"/w\"\nstarted = \"2026-03-02T09:14:00Z\"\n";

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (slug, rest) in files {
            fs::write(
                folder.path().join(format!("{slug}.toml")),
                format!("{HEAD}{rest}"),
            )
            .unwrap();
        }
        folder
    }

    /// Property: every file of the checked-in set can be read, which `read` refuses for unknown kinds and
    /// names and for events that are not of one sort; and there is enough of it for figures to mean
    /// something.
    #[test]
    fn the_checked_in_set_is_sound() {
        let sessions = read(&crate::command::root().unwrap().join(FOLDER)).unwrap();
        let questions: Vec<Question> = sessions.iter().flat_map(questions).collect();
        assert!(sessions.len() >= 60, "{} sessions", sessions.len());
        assert!(questions.len() >= 150, "{} questions", questions.len());
        for agent in [Agent::Claude, Agent::Codex, Agent::Gemini] {
            assert!(sessions.iter().any(|session| session.agent == agent), "{agent:?}");
        }
        for session in &sessions {
            assert!(session.cwd.starts_with('/'), "{}: {}", session.slug, session.cwd);
        }
        let asked: BTreeSet<&str> = questions.iter().map(|question| question.ask.trim()).collect();
        assert!(!asked.contains(""), "a question without words");
        assert_eq!(asked.len(), questions.len(), "a question is asked twice");
    }

    #[test]
    fn other_sessions_answer_as_well() {
        let files = folder(&[
            (
                "a",
                "[[event]]\nuser = \"u\"\n[[question]]\nask = \"q\"\nkind = \"code\"\nalso = [\"b\"]\n",
            ),
            ("b", "[[event]]\nuser = \"u\"\n"),
        ]);
        let sessions = read(files.path()).unwrap();
        let expected = Question {
            ask: "q".to_owned(),
            kind: "code".to_owned(),
            gold: vec![Session::id_of("a"), Session::id_of("b")],
        };
        assert_eq!(questions(&sessions[0]), [expected]);
        assert!(questions(&sessions[1]).is_empty());
    }

    #[test]
    fn every_fault_is_told_with_its_file() {
        let told = |files: &[(&str, &str)]| read(folder(files).path()).unwrap_err().to_string();
        let both = told(&[
            ("a", "[[event]]\n"),
            ("b", "x"),
            ("c", "[[event]]\nuser = \"u\"\n"),
        ]);
        assert!(both.contains("a.toml: ") && both.contains("b.toml: "), "{both}");
        assert!(!both.contains("c.toml"), "{both}");
        for also in ["a", "gone"] {
            let question = format!(
                "[[event]]\nuser = \"u\"\n[[question]]\nask = \"q\"\nkind = \"code\"\nalso = [\"{also}\"]\n"
            );
            let fault = told(&[("a", &question)]);
            assert!(
                fault.ends_with(&format!("a.toml: `{also}` is no other session")),
                "{fault}"
            );
        }
        assert!(told(&[]).contains("there is no session"));
    }
}
