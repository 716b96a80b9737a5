//! Kiro's command line, which was Amazon Q's: a SQLite database at first and for runs without a person, a file of
//! lines for each session since 2026, and a folder for each since its third version.

mod database;
mod journal;
mod turns;

use crate::walk::{self, Class, Walk};
use crate::{sqlite, values};
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const AGENT: &str = "kiro";

/// Transcripts of Kiro and Amazon Q.
pub struct Kiro;

impl SessionSource for Kiro {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let home = &environment.home;
        let variable = |name| environment.variable(name).map(PathBuf::from);
        let own = variable("KIRO_HOME").unwrap_or_else(|| home.join(".kiro"));
        let local = variable("LOCALAPPDATA").unwrap_or_else(|| home.join("AppData").join("Local"));
        let data = [
            variable("XDG_DATA_HOME"),
            Some(home.join(".local").join("share")),
            Some(home.join("Library").join("Application Support")),
            Some(local),
        ];
        let mut roots = vec![own.join("sessions")];
        for base in data.into_iter().flatten() {
            roots.extend(["kiro-cli", "amazon-q"].map(|program| base.join(program)));
        }
        roots
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let before = found.files.len();
        Walk {
            agent: AGENT,
            root,
            depth: 2,
            classify: &|path| match is_transcript(path) {
                true => Class::File(FileRole::Transcript),
                false => Class::Other,
            },
            enter: &|path| root.ends_with("sessions") && !path.ends_with("snapshots"),
        }
        .run(found);
        for file in found.files.get_mut(before..).unwrap_or_default() {
            if is_database(&file.path) {
                sqlite::cover_logs(std::slice::from_mut(file));
            } else if let Ok(metadata) = fs::metadata(description(&file.path)) {
                let other = walk::stamp(&metadata);
                file.stamp.size = file.stamp.size.saturating_add(other.size);
                file.stamp.modified_ns = file.stamp.modified_ns.max(other.modified_ns);
            }
        }
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        if is_database(&file.path) {
            return database::read(file, cursor, sink);
        }
        journal::read(file, cursor, sink)
    }

    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        if facts.kind == SessionKind::Subagent {
            return None;
        }
        let arguments = ["kiro-cli", "chat", "--resume-id", &session.id];
        Some(ResumeCommand {
            arguments: arguments.map(str::to_owned).to_vec(),
            directory: facts.cwd.clone(),
        })
    }
}

/// `data.sqlite3`, `cli/SESSION.jsonl`, and `WORKSPACE/SESSION/messages.jsonl`.
fn is_transcript(path: &Path) -> bool {
    let parts: Vec<_> = path.iter().filter_map(|part| part.to_str()).collect();
    match parts.as_slice() {
        [name] => *name == "data.sqlite3",
        ["cli", name] => name.ends_with(".jsonl"),
        [_, session, "messages.jsonl"] => session.starts_with("sess_"),
        _ => false,
    }
}

fn is_database(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "sqlite3")
}

/// The file beside a file of lines that describes its session.
fn description(path: &Path) -> PathBuf {
    if path.ends_with("messages.jsonl") {
        return path.with_file_name("session.json");
    }
    path.with_extension("json")
}

/// A list of values by any of several names, none of which is promised.
fn any_text<'v>(value: &'v Value, names: &[&str]) -> Option<&'v str> {
    names.iter().find_map(|name| values::text(value, &[name]))
}
