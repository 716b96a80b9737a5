//! Hermes Agent: a SQLite database for each profile.

mod database;
mod message;

use crate::sqlite;
use crate::walk::{Class, Walk};
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::path::{Component, Path, PathBuf};

const AGENT: &str = "hermes";

/// Transcripts of Hermes Agent.
pub struct Hermes;

impl SessionSource for Hermes {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let own = environment.home.join(".hermes");
        vec![environment.variable("HERMES_HOME").map_or(own, PathBuf::from)]
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let before = found.files.len();
        Walk {
            agent: AGENT,
            root,
            depth: 2,
            classify: &|path| match path.ends_with("state.db") {
                true => Class::File(FileRole::Transcript),
                false => Class::Other,
            },
            enter: &|path| path.components().next() == Some(Component::Normal("profiles".as_ref())),
        }
        .run(found);
        sqlite::cover_logs(found.files.get_mut(before..).unwrap_or_default());
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        database::read(file, cursor, sink)
    }

    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        if facts.kind == SessionKind::Subagent {
            return None;
        }
        let arguments = ["hermes", "--resume", &session.id].map(str::to_owned).to_vec();
        Some(ResumeCommand {
            arguments,
            directory: facts.cwd.clone(),
        })
    }
}
