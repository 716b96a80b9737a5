//! Cursor: the editor's conversations in its database, the chats of the command `cursor-agent` in a database
//! each, and transcripts that both write, which hold less and are read where there is nothing else.

mod chat;
mod composer;
mod places;
mod prompt;
mod transcript;

use crate::rows;
use crate::sqlite;
use crate::vscode;
use crate::walk::{Class, Walk};
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::path::{Path, PathBuf};

/// Reads Cursor's conversations.
pub struct Cursor;

const AGENT: &str = "cursor";
/// The editor's database.
const STATE: &str = "state.vscdb";
/// The database of a chat.
const STORE: &str = "store.db";
const TRANSCRIPTS: &str = "agent-transcripts";

impl SessionSource for Cursor {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let own = environment.home.join(".cursor");
        let user = vscode::user_folder(environment, "Cursor");
        vec![
            user.join("globalStorage"),
            own.join("chats"),
            own.join("projects"),
        ]
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let mut seen = Discovery::default();
        Walk {
            agent: AGENT,
            root,
            depth: 4,
            classify: &classify,
            enter: &may_hold_sessions,
        }
        .run(&mut seen);
        for mut file in seen.files {
            if !is_transcript(&file.path) {
                sqlite::cover_logs(std::slice::from_mut(&mut file));
            }
            found.files.push(file);
        }
        found.issues.append(&mut seen.issues);
        for (reason, count) in seen.ignored {
            *found.ignored.entry(reason).or_default() += count;
        }
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        if is_transcript(&file.path) {
            return transcript::read(file, cursor, sink);
        }
        if file.path.ends_with(STORE) {
            return chat::read(file, cursor, sink);
        }
        rows::read(&composer::Composers::of(&file.path), file, cursor, sink)
    }

    fn raw_words(&self, file: &SourceFile) -> RawWords {
        RawWords {
            is_json: is_transcript(&file.path),
            added: &[],
        }
    }

    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        // Conversations of the editor are gone on with there, and of a transcript alone nothing is.
        if facts.kind == SessionKind::Subagent || facts.agent_version.as_deref() != Some(COMMAND) {
            return None;
        }
        Some(ResumeCommand {
            arguments: [COMMAND, "--resume", &session.id].map(str::to_owned).to_vec(),
            directory: facts.cwd.clone(),
        })
    }
}

/// The command, and what marks its chats: no store says which version wrote it.
const COMMAND: &str = "cursor-agent";

fn names(path: &Path) -> Vec<&str> {
    path.iter()
        .map(|name| name.to_str().unwrap_or_default())
        .collect()
}

/// `state.vscdb`; `<folder's hash>/<chat>/store.db`; `<project>/agent-transcripts/<id>.jsonl`, also in a folder of
/// its own with its subagents.
fn classify(relative: &Path) -> Class {
    let is_lines = |name: &str| name.ends_with(".jsonl");
    match names(relative).as_slice() {
        [STATE] | [_, _, STORE] => Class::File(FileRole::Transcript),
        [_, TRANSCRIPTS, name] | [_, TRANSCRIPTS, _, name] | [_, TRANSCRIPTS, _, "subagents", name]
            if is_lines(name) =>
        {
            Class::File(FileRole::Transcript)
        }
        [_, TRANSCRIPTS, name] if name.ends_with(".txt") => {
            Class::Aside("a transcript of an older form, which holds no times and no ids")
        }
        _ => Class::Other,
    }
}

fn may_hold_sessions(relative: &Path) -> bool {
    match names(relative).as_slice() {
        [_] => true,
        // A chat's folder, or the transcripts of a project.
        [hash, _] if is_hash(hash) => true,
        [_, TRANSCRIPTS] | [_, TRANSCRIPTS, _] | [_, TRANSCRIPTS, _, "subagents"] => true,
        _ => false,
    }
}

fn is_hash(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl")
}
