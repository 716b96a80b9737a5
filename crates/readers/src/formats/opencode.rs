//! OpenCode: a tree of JSON files up to version 1.1, a SQLite database since. The move from one to the other
//! left sessions behind, so both are read.

mod conversation;
mod database;
mod tree;

use crate::sqlite;
use crate::walk::{Class, Walk};
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::path::{Path, PathBuf};

const AGENT: &str = "opencode";

/// Transcripts of OpenCode.
pub struct OpenCode;

impl SessionSource for OpenCode {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        // The same on every system: the agent follows the rules of XDG on macOS and Windows as well.
        let own = environment.home.join(".local").join("share");
        let moved = environment.variable("XDG_DATA_HOME").map(PathBuf::from);
        let mut roots: Vec<PathBuf> = moved.into_iter().chain([own]).collect();
        roots.iter_mut().for_each(|root| root.push("opencode"));
        roots.extend(environment.variable("OPENCODE_DB").map(PathBuf::from));
        roots
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let before = found.files.len();
        if is_database(root) && root.is_file() {
            sqlite::add_file(AGENT, root, found);
        } else {
            Walk {
                agent: AGENT,
                root,
                depth: 5,
                classify: &|path| match is_database(path) || tree::is_session(path) {
                    true => Class::File(FileRole::Transcript),
                    false => Class::Other,
                },
                enter: &|path| path == Path::new("storage") || tree::leads_to_sessions(path),
            }
            .run(found);
            tree::add_orphans(root, before, found);
        }
        let own = found.files.get_mut(before..).unwrap_or_default();
        for file in own {
            if is_database(&file.path) {
                sqlite::cover_logs(std::slice::from_mut(file));
            } else {
                tree::cover_messages(file);
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
        tree::read(file, cursor, sink)
    }

    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        if facts.kind == SessionKind::Subagent {
            return None;
        }
        let arguments = ["opencode", "-s", &session.id].map(str::to_owned).to_vec();
        Some(ResumeCommand {
            arguments,
            directory: facts.cwd.clone(),
        })
    }
}

/// `opencode.db`, or that of a release channel such as `opencode-stable.db`, or whatever a variable names.
fn is_database(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "db")
}
