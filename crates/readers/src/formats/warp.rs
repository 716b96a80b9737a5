//! Warp's agent: conversations in the terminal's own SQLite database, each of tasks that are protocol buffers.

mod database;
mod protobuf;
mod task;

use crate::sqlite;
use crate::walk::{Class, Walk};
use lookback_model::source::{
    Discovery, EventSink, FileRole, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::path::{Path, PathBuf};

const AGENT: &str = "warp";

/// Conversations of Warp's agent.
pub struct Warp;

impl SessionSource for Warp {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let home = &environment.home;
        let variable = |name| environment.variable(name).map(PathBuf::from);
        let state = variable("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local").join("state"));
        let local = variable("LOCALAPPDATA").unwrap_or_else(|| home.join("AppData").join("Local"));
        let support = Path::new("Library").join("Application Support");
        let group = home
            .join("Library")
            .join("Group Containers")
            .join("2BBY89MBSN.dev.warp");
        let mut roots: Vec<PathBuf> = variable("WARP_DB_PATH").into_iter().collect();
        for channel in ["dev.warp.Warp-Stable", "dev.warp.Warp-Preview"] {
            roots.push(group.join(&support).join(channel));
            roots.push(home.join(&support).join(channel));
        }
        roots.extend(["warp-terminal", "warp-terminal-preview"].map(|name| state.join(name)));
        roots.push(local.join("warp").join("Warp").join("data"));
        roots
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let before = found.files.len();
        if root.is_file() {
            sqlite::add_file(AGENT, root, found);
        } else {
            Walk {
                agent: AGENT,
                root,
                depth: 0,
                classify: &|path| match path == Path::new("warp.sqlite") {
                    true => Class::File(FileRole::Transcript),
                    false => Class::Other,
                },
                enter: &|_| false,
            }
            .run(found);
        }
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

    /// Conversations are opened in the terminal only.
    fn resume(&self, _: &SessionHeader, _: &SessionFacts) -> Option<ResumeCommand> {
        None
    }
}
