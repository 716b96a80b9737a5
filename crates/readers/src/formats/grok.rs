//! Grok Build: a session is a folder, `sessions/<encoded folder>/<id>/`, with what the terminal was sent in
//! `updates.jsonl`, see [`updates`], and what the model is sent in `chat_history.jsonl`, see [`history`], which
//! is read only where the other is missing. `summary.json` tells of the session.

mod history;
mod summary;
mod updates;

use super::pi::command;
use crate::walk::{Class, Walk};
use crate::{beside, journal};
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

const AGENT: &str = "grok";
const UPDATES: &str = "updates.jsonl";
const HISTORY: &str = "chat_history.jsonl";
const SUMMARY: &str = "summary.json";

/// Transcripts of Grok Build.
#[derive(Clone, Copy, Debug, Default)]
pub struct Grok;

impl SessionSource for Grok {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let home = environment.variable("GROK_HOME").map(PathBuf::from);
        let home = home.unwrap_or_else(|| environment.home.join(".grok"));
        vec![home.join("sessions")]
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let before = found.files.len();
        Walk {
            agent: AGENT,
            root,
            depth: 2,
            classify: &class,
            enter: &|_| true,
        }
        .run(found);
        let mut own = found.files.split_off(before);
        let is = |file: &SourceFile, name: &str| file.path.file_name().is_some_and(|own| own == name);
        let shown: HashSet<PathBuf> = own
            .iter()
            .filter(|file| is(file, UPDATES) && file.stamp.size > 0)
            .filter_map(|file| Some(file.path.parent()?.to_owned()))
            .collect();
        own.retain(|file| {
            let is_repetition =
                is(file, HISTORY) && file.path.parent().is_some_and(|folder| shown.contains(folder));
            !is_repetition
        });
        found.files.append(&mut own);
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        match file.path.file_name().and_then(|name| name.to_str()) {
            Some(SUMMARY) => beside::read_title(file, sink, |text| summary::title(text, &file.path)),
            Some(HISTORY) => journal::read::<history::Conversation>(file, cursor, sink),
            _ => journal::read::<updates::Conversation>(file, cursor, sink),
        }
    }

    fn raw_words(&self, file: &SourceFile) -> RawWords {
        RawWords {
            // What the terminal was sent comes in pieces, in which no word need stand whole.
            is_json: !file.path.ends_with(UPDATES),
            added: &[],
        }
    }

    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        if facts.kind == SessionKind::Subagent {
            return None;
        }
        Some(command(&["grok", "--resume", &session.id], facts))
    }
}

fn class(path: &Path) -> Class {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match (path.components().count(), &*name) {
        (3, UPDATES | HISTORY) => Class::File(FileRole::Transcript),
        (3, SUMMARY) => Class::File(FileRole::Side),
        _ => Class::Other,
    }
}
