//! Factory's Droid: a session is a file of lines, `sessions/<folder>/<id>.jsonl`, whose first line is written
//! anew, and the whole file with it, when its title changes. The model stands in a file of settings beside it.

mod conversation;

use super::pi::command;
use crate::journal;
use crate::walk::{Class, Walk};
use conversation::Conversation;
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::path::{Path, PathBuf};

const AGENT: &str = "droid";
/// Sessions lie in a folder for each working directory, those of missions below it.
const DEPTH: usize = 3;

/// Transcripts of Droid.
#[derive(Clone, Copy, Debug, Default)]
pub struct Droid;

impl SessionSource for Droid {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let moved = environment.variable("FACTORY_DIR").map(PathBuf::from);
        let home = environment
            .variable("FACTORY_HOME_OVERRIDE")
            .map_or_else(|| environment.home.clone(), PathBuf::from);
        let folder = moved.unwrap_or_else(|| home.join(".factory"));
        vec![folder.join("sessions")]
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        Walk {
            agent: AGENT,
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
        Some(command(&["droid", "--resume", &session.id], facts))
    }
}
