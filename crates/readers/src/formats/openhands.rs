//! OpenHands, its command line and its SDK: a folder for each conversation, with one small file for each event
//! and one for the state of the whole.
//!
//! A conversation is known by its state file, which is the one that is always there; events are read from
//! where the last read ended, as files are only added.

mod conversation;
mod event;

use crate::walk::{self, Class, Walk};
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::fs;
use std::path::{Path, PathBuf};

/// Reads OpenHands' conversations.
pub struct OpenHands;

const AGENT: &str = "openhands";
const STATE: &str = "base_state.json";
const EVENTS: &str = "events";

impl SessionSource for OpenHands {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let moved = environment
            .variable("OPENHANDS_CONVERSATIONS_DIR")
            .map(PathBuf::from);
        let default = || environment.home.join(".openhands").join("conversations");
        vec![moved.unwrap_or_else(default)]
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let before = found.files.len();
        Walk {
            agent: AGENT,
            root,
            depth: 1,
            classify: &|path| match path.file_name() {
                Some(name) if name == STATE && path.iter().count() == 2 => Class::File(FileRole::Transcript),
                _ => Class::Other,
            },
            enter: &|_| true,
        }
        .run(found);
        for file in found.files.iter_mut().skip(before) {
            // A folder changes when a file is added to it; the state may be written later.
            if let Ok(events) = fs::metadata(file.path.with_file_name(EVENTS)) {
                let modified_ns = walk::stamp(&events).modified_ns;
                file.stamp.modified_ns = file.stamp.modified_ns.max(modified_ns);
            }
        }
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        conversation::read(file, cursor, sink)
    }

    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        if facts.kind == SessionKind::Subagent {
            return None;
        }
        Some(ResumeCommand {
            arguments: ["openhands", "--resume", &session.id].map(str::to_owned).to_vec(),
            directory: facts.cwd.clone(),
        })
    }
}
