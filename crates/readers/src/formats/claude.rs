//! Claude Code, and the sessions Claude Desktop runs with it.
//!
//! A session is one append-only file of JSON lines, `projects/<folder>/<id>.jsonl`; its subagents have
//! files of their own below a folder of its name. A reply is written as one line for each of its blocks,
//! and each line names the one it follows, which is how rewinds show. A fork is a new file that begins
//! with copied lines.
//!
//! [`read`] reads files, [`places`] finds them, and [`side`] reads what lies beside them. [`record`] reads
//! lines, and [`conversation`] takes them: [`facts`] has what they say about the session, [`messages`] the
//! events they become, with their [`content`], and [`words`] tells the person's words from the program's.
//! [`window`](crate::window) and [`prompts`] remember where records stand, and [`queue`] what waits to be said.

mod content;
mod conversation;
mod facts;
mod messages;
mod places;
mod prompts;
mod queue;
mod read;
mod record;
mod side;
mod words;

use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::path::{Path, PathBuf};

/// Transcripts of Claude Code.
///
/// Sessions of Claude Desktop's private folders cannot be resumed; they are known by the agent type
/// `cowork`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claude;

impl SessionSource for Claude {
    fn agent(&self) -> &'static str {
        conversation::AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        places::roots(environment)
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        places::discover(root, found);
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        match file.role {
            FileRole::Side => side::read_title(file, sink),
            FileRole::Transcript | FileRole::Fed => read::read(file, cursor, sink),
        }
    }

    fn raw_words(&self, _: &SourceFile) -> RawWords {
        RawWords {
            is_json: true,
            added: &[],
        }
    }

    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        let private = facts.agent_type.as_deref() == Some(read::COWORK);
        if facts.kind == SessionKind::Subagent || private {
            return None;
        }
        let arguments = ["claude", "--resume", session.id.as_str()]
            .map(str::to_owned)
            .to_vec();
        // The program looks a session up in the folder it was begun in.
        Some(ResumeCommand {
            arguments,
            directory: facts.cwd.clone(),
        })
    }
}
