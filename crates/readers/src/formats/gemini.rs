//! Gemini CLI: one JSON document per session up to version 0.38, an append-only log of messages since.

pub(in crate::formats) mod calls;
pub(in crate::formats) mod document;
mod journal;
pub(in crate::formats) mod message;
mod project;
pub(in crate::formats) mod record;
mod replay;

use crate::walk::{Class, Walk};
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, IssueCode, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand,
    SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

const AGENT: &str = "gemini";

/// Transcripts of Gemini CLI.
pub struct Gemini;

impl SessionSource for Gemini {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let home = environment
            .variable("GEMINI_CLI_HOME")
            .map_or_else(|| environment.home.clone(), PathBuf::from);
        vec![home.join(".gemini").join("tmp")]
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let before = found.files.len();
        Walk {
            agent: AGENT,
            root,
            depth: 3,
            classify: &|path| {
                if is_set_aside(path) {
                    Class::Aside("set aside by the agent as unreadable")
                } else if is_transcript(path) {
                    Class::File(FileRole::Transcript)
                } else {
                    Class::Other
                }
            },
            enter: &|path| {
                path.components()
                    .nth(1)
                    .is_none_or(|second| second.as_os_str() == "chats")
            },
        }
        .run(found);
        let all = found.files.len();
        let mut own = found.files.split_off(before);
        drop_migrated(&mut own);
        found.files.append(&mut own);
        let migrated = all - found.files.len();
        if migrated > 0 {
            let reason = "continued in a newer file of the same name";
            *found.ignored.entry(reason).or_default() += migrated as u64;
        }
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        if file.path.extension().is_some_and(|extension| extension == "json") {
            return document::read(file, cursor, sink);
        }
        match journal::read(file, cursor, sink) {
            // A document may lie under the newer name; the agent reads it there.
            Err(ReadError::NoSession {
                code: IssueCode::NoSessionHeader,
                ..
            }) if cursor.is_none() => document::read(file, None, sink),
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
        // The id of a session without a header is its file's name, which the agent does not know.
        if facts.kind == SessionKind::Subagent || session.id.starts_with(SESSION_PREFIX) {
            return None;
        }
        let arguments = ["gemini", "--resume", &session.id].map(str::to_owned).to_vec();
        Some(ResumeCommand {
            arguments,
            directory: facts.cwd.clone(),
        })
    }
}

/// Names of main sessions begin so.
const SESSION_PREFIX: &str = "session-";

/// `<project>/chats/session-*.json[l]` and `<project>/chats/<parent session>/<subagent>.json[l]`.
fn is_transcript(path: &Path) -> bool {
    let is_named = path
        .extension()
        .is_some_and(|extension| extension == "json" || extension == "jsonl");
    let mut folders = path.components().map(|component| component.as_os_str());
    let (Some(_), Some(chats), Some(third)) = (folders.next(), folders.next(), folders.next()) else {
        return false;
    };
    let is_nested = folders.next().is_some();
    is_named && chats == "chats" && (is_nested || third.to_string_lossy().starts_with(SESSION_PREFIX))
}

fn is_set_aside(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().contains(".jsonl.unreadable-"))
}

/// A document that was resumed by a newer program lives on in a journal beside it, of the same name. The
/// document goes, unless the journal was never properly begun.
fn drop_migrated(files: &mut Vec<SourceFile>) {
    let journals: HashSet<PathBuf> = files
        .iter()
        .map(|file| &file.path)
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .cloned()
        .collect();
    files.retain(|file| {
        let is_document = file.path.extension().is_some_and(|extension| extension == "json");
        let journal = file.path.with_extension("jsonl");
        !(is_document && journals.contains(&journal) && is_begun(&journal, file))
    });
}

/// Whether a journal holds more than its first line, and is not much shorter than the document it was made
/// from, which is indented.
fn is_begun(journal: &Path, document: &SourceFile) -> bool {
    let mut start = vec![0; 16 << 10];
    let Ok(mut file) = File::open(journal) else {
        return false;
    };
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let count = file.read(&mut start).unwrap_or(0);
    let start = start.get(..count).unwrap_or_default();
    let has_header = memchr::memchr(b'\n', start).is_some_and(|end| {
        let line = start.get(..end).unwrap_or_default();
        serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
            && memchr::memmem::find(line, b"\"sessionId\"").is_some()
    });
    has_header && length >= document.stamp.size / 4
}
