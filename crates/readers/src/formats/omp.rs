//! Oh My Pi, which descends from Pi. It keeps a title in the first bytes of a session's file, where it is
//! changed in place, and the sessions of subagents in a folder beside their session's file.

use super::pi::conversation::Conversation;
use super::pi::{AGENT_DIR, command, discover, expand};
use crate::journal;
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, IssueCode, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::fs;
use std::path::{Path, PathBuf};

const AGENT: &str = "omp";

/// Transcripts of Oh My Pi.
#[derive(Clone, Copy, Debug, Default)]
pub struct OhMyPi;

impl SessionSource for OhMyPi {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let home = environment.home.join(".omp");
        let mut roots = vec![home.join("agent").join("sessions")];
        roots.extend(profiles(&home, Path::new("agent/sessions")));
        if let Some(data) = environment.variable("XDG_DATA_HOME") {
            let data = Path::new(data).join(AGENT);
            roots.push(data.join("sessions"));
            roots.extend(profiles(&data, Path::new("sessions")));
        }
        // Pi heeds the variable as well, and whose folder it names only the folder's name tells.
        let moved = environment
            .variable(AGENT_DIR)
            .map(|path| expand(path, &environment.home));
        let own = moved.filter(|path| {
            let mut parts = path.components().map(|part| part.as_os_str().to_string_lossy());
            parts.any(|part| part.trim_start_matches('.') == AGENT)
        });
        roots.extend(own.map(|path| path.join("sessions")));
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
        let outcome = journal::read::<Conversation>(file, cursor, sink);
        let depth = file
            .path
            .strip_prefix(&file.root)
            .map_or(0, |below| below.components().count());
        match outcome {
            // What tools have put out lies in the folders of sessions, too.
            Err(ReadError::NoSession {
                path,
                code: IssueCode::NoSessionHeader,
                detail,
            }) if depth > 2 => Err(ReadError::NoSession {
                path,
                code: IssueCode::NotARecord,
                detail,
            }),
            other => other,
        }
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
        Some(command(&["omp", "--resume", &session.id], facts))
    }
}

/// The sessions of each profile.
fn profiles(folder: &Path, below: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("profiles"));
    let mut found: Vec<PathBuf> = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join(below))
        .collect();
    found.sort();
    found
}
