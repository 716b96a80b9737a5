//! Google Antigravity, the editor and the command `agy`: steps of a conversation as lines of JSON, in a folder
//! for what the agent knows of it. Where there are none, the database is read that holds the same steps.

mod beside;
mod database;
mod messages;
mod protobuf;
mod step;
mod transcript;

use crate::document::no_session;
use crate::sqlite;
use crate::walk::{Class, Walk};
use lookback_model::source::{
    Discovery, EventSink, FileRole, IssueCode, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand,
    SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// Reads Antigravity's conversations.
pub struct Antigravity;

const AGENT: &str = "antigravity";
/// Every step in full.
const FULL: &str = "transcript_full.jsonl";
/// Every step, long ones cut.
const SHORT: &str = "transcript.jsonl";

impl SessionSource for Antigravity {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let products = ["antigravity", "antigravity-cli", "antigravity-ide"];
        let shared = environment.home.join(".gemini");
        products.map(|product| shared.join(product)).to_vec()
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let mut seen = Discovery::default();
        Walk {
            agent: AGENT,
            root,
            depth: 4,
            classify: &classify,
            enter: &may_hold_steps,
        }
        .run(&mut seen);
        let mut conversations: BTreeMap<PathBuf, Vec<SourceFile>> = BTreeMap::new();
        let mut databases = Vec::new();
        for file in seen.files {
            if file.path.extension().is_some_and(|extension| extension == "db") {
                databases.push(file);
            } else {
                let folder = file.path.parent().unwrap_or(root).to_owned();
                conversations.entry(folder).or_default().push(file);
            }
        }
        let chosen: Vec<SourceFile> = conversations
            .values()
            .filter_map(|files| longest(files))
            .collect();
        let told: HashSet<String> = chosen
            .iter()
            .filter(|file| file.stamp.size > 0)
            .filter_map(|file| conversation_of(&file.path))
            .collect();
        databases.retain(|file| conversation_of(&file.path).is_none_or(|id| !told.contains(&id)));
        sqlite::cover_logs(&mut databases);
        let read_instead: HashSet<String> = databases
            .iter()
            .filter_map(|file| conversation_of(&file.path))
            .collect();
        // An empty transcript beside a database has nothing that the database has not.
        let transcripts = chosen.into_iter().filter(|file| {
            file.stamp.size > 0 || conversation_of(&file.path).is_none_or(|id| !read_instead.contains(&id))
        });
        found.files.extend(transcripts);
        found.files.append(&mut databases);
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
        let Some(id) = conversation_of(&file.path) else {
            return Err(no_session(
                &file.path,
                IssueCode::NoSessionHeader,
                "its place names no conversation",
            ));
        };
        if file.path.extension().is_some_and(|extension| extension == "db") {
            return database::read(file, &id, cursor, sink);
        }
        match transcript::read(file, &id, cursor, sink) {
            Err(ReadError::NoSession {
                code: IssueCode::EmptyFile,
                ..
            }) => messages::read(file, &id, cursor, sink),
            other => other,
        }
    }

    fn raw_words(&self, file: &SourceFile) -> RawWords {
        RawWords {
            // Cut steps are filled from another file, and of an empty transcript all is elsewhere.
            is_json: file.path.ends_with(FULL),
            added: &[],
        }
    }

    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        let conversation = format!("--conversation={}", session.id);
        Some(ResumeCommand {
            arguments: vec!["agy".to_owned(), conversation],
            directory: facts.cwd.clone(),
        })
    }
}

fn names(path: &Path) -> Vec<&str> {
    path.iter()
        .map(|name| name.to_str().unwrap_or_default())
        .collect()
}

fn classify(relative: &Path) -> Class {
    match names(relative).as_slice() {
        ["brain", _, ".system_generated", "logs", FULL | SHORT] => Class::File(FileRole::Transcript),
        ["conversations", name] if name.ends_with(".db") => Class::File(FileRole::Transcript),
        ["conversations" | "implicit", name] if name.ends_with(".pb") => {
            Class::Aside("encrypted by the agent")
        }
        ["history.jsonl"] => Class::Aside("log of prompts, which transcripts repeat"),
        _ => Class::Other,
    }
}

fn may_hold_steps(relative: &Path) -> bool {
    matches!(
        names(relative).as_slice(),
        ["brain" | "conversations" | "implicit"]
            | ["brain", _]
            | ["brain", _, ".system_generated"]
            | ["brain", _, ".system_generated", "logs"]
    )
}

/// Of a conversation's transcripts the one with more in it: the full one, unless it lacks the past.
fn longest(files: &[SourceFile]) -> Option<SourceFile> {
    let named = |name: &str| files.iter().find(|file| file.path.ends_with(name));
    let chosen = match (named(FULL), named(SHORT)) {
        (Some(full), Some(short)) if full.stamp.size < short.stamp.size => short,
        (Some(full), _) => full,
        (None, short) => short?,
    };
    Some(chosen.clone())
}

/// The conversation that a file belongs to: the folder's name below `brain`, or that of the database.
fn conversation_of(path: &Path) -> Option<String> {
    let name = match path.extension().and_then(|extension| extension.to_str()) {
        Some("db") => path.file_stem()?,
        _ => path.ancestors().nth(3)?.file_name()?,
    };
    Some(name.to_string_lossy().into_owned())
}
