//! Writes sessions as transcripts into a home folder, each in its agent's own format: what is measured is
//! the whole way from a file to a hit.

mod claude;
mod codex;
mod gemini;

use super::session::{Agent, Session};
use anyhow::{Context, Result};
use gemini::Projects;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A transcript: where it lies in the home folder, and its lines.
struct Transcript {
    path: PathBuf,
    lines: Vec<Value>,
}

/// Writes the transcripts of all sessions into `home`.
pub(super) fn write(home: &Path, sessions: &[Session]) -> Result<()> {
    let mut projects = Projects::default();
    for session in sessions {
        let transcript = match session.agent {
            Agent::Claude => claude::transcript(session)?,
            Agent::Codex => codex::transcript(session)?,
            Agent::Gemini => gemini::transcript(session, projects.folder_of(&session.cwd))?,
        };
        let lines: String = transcript.lines.iter().map(|line| format!("{line}\n")).collect();
        write_file(&home.join(transcript.path), &lines)?;
    }
    write_file(&home.join(gemini::REGISTRY), &projects.registry().to_string())
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session in which everything happens once.
    pub(super) fn session(agent: &str) -> Session {
        let text = format!(
            "agent = \"{agent}\"\ncwd = \"/home/dev/my_app\"\nbranch = \"fix\"\n\
             started = \"2026-03-02T23:59:30Z\"\n\
             [[event]]\nuser = \"why\"\n[[event]]\nagent = \"because\"\n\
             [[event]]\ncall = \"look\"\ninput = {{ at = 7 }}\nresult = \"seven\"\n"
        );
        Session::parse("slug", &text).unwrap()
    }

    /// Property: sessions of one agent and one folder do not overwrite each other.
    #[test]
    fn each_session_has_a_file() {
        let home = tempfile::tempdir().unwrap();
        let mut sessions: Vec<Session> = ["claude", "codex", "gemini"].map(session).into();
        sessions.extend(["claude", "codex", "gemini"].map(session));
        for (number, session) in sessions.iter_mut().enumerate() {
            session.slug = format!("slug-{number}");
        }
        write(home.path(), &sessions).unwrap();
        let count = |folder: &str| fs::read_dir(home.path().join(folder)).unwrap().count();
        assert_eq!(count(".claude/projects/-home-dev-my-app"), 2);
        assert_eq!(count(".codex/sessions/2026/03/02"), 2);
        assert_eq!(count(".gemini/tmp/my-app/chats"), 2);
    }
}
