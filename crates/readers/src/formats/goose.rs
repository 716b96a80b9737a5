//! Goose: one SQLite database since version 1.10, a file of lines for each session before.

mod database;
mod journal;
mod message;

use crate::sqlite;
use crate::walk::{Class, Walk};
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::path::{Path, PathBuf};

const AGENT: &str = "goose";

/// Transcripts of Goose.
pub struct Goose;

impl SessionSource for Goose {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        if let Some(root) = environment.variable("GOOSE_PATH_ROOT") {
            return vec![PathBuf::from(root).join("data")];
        }
        let home = &environment.home;
        let data = environment.variable("XDG_DATA_HOME").map(PathBuf::from);
        let own = home.join(".local").join("share");
        let mut roots: Vec<PathBuf> = data.into_iter().chain([own]).collect();
        roots.iter_mut().for_each(|root| root.push("goose"));
        // The desktop program keeps its own on macOS, and both programs theirs on Windows.
        let roaming = environment
            .variable("APPDATA")
            .map_or_else(|| home.join("AppData").join("Roaming"), PathBuf::from);
        for base in [home.join("Library").join("Application Support"), roaming] {
            roots.push(base.join("Block").join("goose").join("data"));
        }
        roots
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let before = found.files.len();
        Walk {
            agent: AGENT,
            root,
            depth: 1,
            classify: &|path| {
                let is_lines = path.extension().is_some_and(|extension| extension == "jsonl");
                let is_in_sessions = path.parent() == Some(Path::new("sessions"));
                match is_in_sessions && (is_lines || path.ends_with("sessions.db")) {
                    true => Class::File(FileRole::Transcript),
                    false => Class::Other,
                }
            },
            enter: &|path| path == Path::new("sessions"),
        }
        .run(found);
        for file in found.files.get_mut(before..).unwrap_or_default() {
            if is_database(&file.path) {
                sqlite::cover_logs(std::slice::from_mut(file));
            }
        }
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        if is_database(&file.path) {
            return database::read(file, cursor, sink);
        }
        journal::read(file, cursor, sink)
    }

    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        if facts.kind == SessionKind::Subagent {
            return None;
        }
        let arguments = ["goose", "session", "--resume", "--session-id", &session.id];
        Some(ResumeCommand {
            arguments: arguments.map(str::to_owned).to_vec(),
            directory: facts.cwd.clone(),
        })
    }
}

fn is_database(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "db")
}
