//! Qwen Code, which descends from Gemini CLI and keeps its sessions otherwise.
//!
//! A session is an append-only file of records, `projects/<folder>/chats/<id>.jsonl`, each of which names the
//! one it follows and carries a message in the shape of Gemini's; see [`conversation`]. Versions before 0.3
//! wrote Gemini's documents, `tmp/<hash>/chats/session-*.json`, and nothing has moved them.

mod conversation;

use super::gemini::document;
use crate::walk::{Class, Walk};
use crate::{beside, journal};
use conversation::Conversation;
use lookback_model::source::{
    Discovery, EventSink, FileRole, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use serde::Deserialize;
use std::path::{Path, PathBuf};

const AGENT: &str = "qwen";
/// Folder of the sessions of today's versions.
const PROJECTS: &str = "projects";
/// Names of old documents begin so.
const DOCUMENT_PREFIX: &str = "session-";

/// Transcripts of Qwen Code.
#[derive(Clone, Copy, Debug, Default)]
pub struct Qwen;

impl SessionSource for Qwen {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let home = environment
            .variable("QWEN_HOME")
            .map_or_else(|| environment.home.join(".qwen"), PathBuf::from);
        let mut folders = Vec::new();
        // What was kept in the home before it was moved is still there.
        folders.extend(environment.variable("QWEN_RUNTIME_DIR").map(PathBuf::from));
        folders.extend(configured(&home, &environment.home));
        folders.push(home);
        folders.dedup();
        folders
            .iter()
            .flat_map(|folder| [folder.join(PROJECTS), folder.join("tmp")])
            .collect()
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let is_new = root.file_name().is_some_and(|name| name == PROJECTS);
        Walk {
            agent: AGENT,
            root,
            depth: 3,
            classify: &|path| if is_new { class(path) } else { old_class(path) },
            enter: &|path| {
                let mut folders = path.components().map(|part| part.as_os_str()).skip(1);
                let is_chats = folders.next().is_none_or(|second| second == "chats");
                is_chats && folders.next().is_none_or(|third| third == "archive")
                    || path.components().any(|part| part.as_os_str() == "subagents")
            },
        }
        .run(found);
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
        journal::read::<Conversation>(file, cursor, sink)
    }

    fn raw_words(&self, _: &SourceFile) -> RawWords {
        RawWords {
            is_json: true,
            added: &[],
        }
    }

    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        // The program looks a session up in the project's folder, and reads none of the old documents.
        if session.id.starts_with(DOCUMENT_PREFIX) || facts.cwd.is_none() {
            return None;
        }
        let arguments = ["qwen", "--resume", &session.id].map(str::to_owned).to_vec();
        Some(ResumeCommand {
            arguments,
            directory: facts.cwd.clone(),
        })
    }
}

/// `<project>/chats/<id>.jsonl` and `<project>/chats/archive/<id>.jsonl`.
fn class(path: &Path) -> Class {
    let is_lines = path.extension().is_some_and(|extension| extension == "jsonl");
    if !is_lines {
        return Class::Other;
    }
    let parts: Vec<_> = path.components().map(|part| part.as_os_str()).collect();
    if parts.iter().any(|part| *part == "subagents") {
        return Class::Aside("a subagent's record, whose answer the session holds");
    }
    match parts.as_slice() {
        [_, chats, _] if *chats == "chats" => Class::File(FileRole::Transcript),
        [_, chats, archive, _] if *chats == "chats" && *archive == "archive" => {
            Class::File(FileRole::Transcript)
        }
        _ => Class::Other,
    }
}

/// `<hash>/chats/session-*.json`.
fn old_class(path: &Path) -> Class {
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    let in_chats = path.parent().is_some_and(|folder| folder.ends_with("chats"));
    let is_named = path
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with(DOCUMENT_PREFIX));
    if is_json && in_chats && is_named {
        return Class::File(FileRole::Transcript);
    }
    Class::Other
}

/// The folder that the settings name for what the program writes. One that is relative is another in every
/// project, and is not looked for.
fn configured(qwen_home: &Path, home: &Path) -> Option<PathBuf> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Settings {
        advanced: Advanced,
    }
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Advanced {
        runtime_output_dir: Option<String>,
    }
    let settings: Settings = beside::json(&qwen_home.join("settings.json"))?;
    let folder = settings.advanced.runtime_output_dir?;
    let folder = match folder.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => PathBuf::from(folder),
    };
    folder.is_absolute().then_some(folder)
}
