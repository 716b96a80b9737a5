//! Pi, and what it shares with its descendants Oh My Pi and OpenClaw: a session is an append-only file of
//! entries, see [`conversation`], in a folder for each working directory.

pub(in crate::formats) mod conversation;
mod record;

use crate::walk::{Class, Walk};
use crate::{beside, journal};
use conversation::Conversation;
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use serde::Deserialize;
use std::path::{Path, PathBuf};

const AGENT: &str = "pi";
/// Names the folder of the program's settings and sessions; Oh My Pi heeds it as well.
pub(in crate::formats) const AGENT_DIR: &str = "PI_CODING_AGENT_DIR";
/// Folders below the sessions' folder that are looked into: one for each working directory, and those in which
/// extensions keep the sessions they delegate to.
pub(in crate::formats) const DEPTH: usize = 4;

/// Transcripts of Pi.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pi;

impl SessionSource for Pi {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let home = &environment.home;
        let moved = environment.variable(AGENT_DIR).map(|path| expand(path, home));
        let folder = moved.unwrap_or_else(|| home.join(".pi").join("agent"));
        let mut roots = Vec::new();
        let sessions = environment.variable("PI_CODING_AGENT_SESSION_DIR");
        roots.extend(sessions.map(|path| expand(path, home)));
        roots.extend(configured(&folder, home));
        roots.push(folder.join("sessions"));
        roots.dedup();
        roots
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        discover(AGENT, root, found);
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        journal::read::<Conversation>(file, cursor, sink)
    }

    fn raw_words(&self, _: &SourceFile) -> RawWords {
        RawWords {
            is_json: true,
            added: &[],
        }
    }

    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        if facts.kind == SessionKind::Subagent {
            return None;
        }
        Some(command(&["pi", "--session", &session.id], facts))
    }
}

/// Finds every file of lines.
pub(in crate::formats) fn discover(agent: &str, root: &Path, found: &mut Discovery) {
    Walk {
        agent,
        root,
        depth: DEPTH,
        classify: &|path| match path.extension() {
            Some(extension) if extension == "jsonl" => Class::File(FileRole::Transcript),
            _ => Class::Other,
        },
        enter: &|_| true,
    }
    .run(found);
}

/// A command that is run where the session was.
pub(in crate::formats) fn command(arguments: &[&str], facts: &SessionFacts) -> ResumeCommand {
    ResumeCommand {
        arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
        directory: facts.cwd.clone(),
    }
}

/// A path in which `~` stands for the home folder.
pub(in crate::formats) fn expand(path: &str, home: &Path) -> PathBuf {
    match path.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(below) if below.starts_with(['/', '\\']) => home.join(below.trim_start_matches(['/', '\\'])),
        _ => PathBuf::from(path),
    }
}

/// The folder of sessions that the settings name.
fn configured(folder: &Path, home: &Path) -> Option<PathBuf> {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Settings {
        session_dir: Option<String>,
    }
    let settings: Settings = beside::json(&folder.join("settings.json"))?;
    let folder = expand(&settings.session_dir?, home);
    folder.is_absolute().then_some(folder)
}
