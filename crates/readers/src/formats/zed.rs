//! Zed's own agent: a SQLite database of threads, each a compressed document that is rewritten with every turn.
//! Other agents that run in Zed keep stores of their own.

mod database;
mod thread;

use crate::sqlite;
use crate::walk::{Class, Walk};
use lookback_model::source::{
    Discovery, EventSink, FileRole, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::path::{Path, PathBuf};

const AGENT: &str = "zed";

/// Threads of Zed's agent.
pub struct Zed;

impl SessionSource for Zed {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let home = &environment.home;
        let variable = |name| environment.variable(name).map(PathBuf::from);
        let local = variable("LOCALAPPDATA").unwrap_or_else(|| home.join("AppData").join("Local"));
        let support = home.join("Library").join("Application Support");
        let data = [variable("FLATPAK_XDG_DATA_HOME"), variable("XDG_DATA_HOME")];
        let data = data.into_iter().flatten();
        let linux = data
            .chain([home.join(".local").join("share")])
            .map(|data| data.join("zed"));
        let others = [support, local].map(|base| base.join("Zed"));
        let roots = linux.chain(others);
        roots.map(|root| root.join("threads")).collect()
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let before = found.files.len();
        Walk {
            agent: AGENT,
            root,
            depth: 0,
            classify: &|path| match path == Path::new("threads.db") {
                true => Class::File(FileRole::Transcript),
                false => Class::Other,
            },
            enter: &|_| false,
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

    /// Threads are opened in the editor only.
    fn resume(&self, _: &SessionHeader, _: &SessionFacts) -> Option<ResumeCommand> {
        None
    }
}
