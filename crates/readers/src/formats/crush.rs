//! Crush: a SQLite database in each project's folder, and a register of the projects.

mod database;

use crate::sqlite;
use crate::values::{list, text};
use crate::walk::{Class, Walk};
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const AGENT: &str = "crush";

/// Transcripts of Crush.
pub struct Crush;

impl SessionSource for Crush {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let folders = data_folders(environment);
        let mut roots: Vec<PathBuf> = Vec::new();
        for folder in &folders {
            for root in registered(&folder.join("projects.json")) {
                if !roots.contains(&root) {
                    roots.push(root);
                }
            }
        }
        // Without projects there is at least the place where they would be registered.
        if roots.is_empty() {
            roots = folders;
        }
        roots
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let before = found.files.len();
        Walk {
            agent: AGENT,
            root,
            depth: 0,
            classify: &|path| match path == Path::new("crush.db") {
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

    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        if facts.kind == SessionKind::Subagent {
            return None;
        }
        let arguments = ["crush", "--session", &session.id].map(str::to_owned).to_vec();
        Some(ResumeCommand {
            arguments,
            directory: facts.cwd.clone(),
        })
    }
}

/// Where the register may be.
fn data_folders(environment: &Environment) -> Vec<PathBuf> {
    if let Some(folder) = environment.variable("CRUSH_GLOBAL_DATA") {
        return vec![PathBuf::from(folder)];
    }
    let data = environment.variable("XDG_DATA_HOME").map(PathBuf::from);
    let local = environment.variable("LOCALAPPDATA").map(PathBuf::from);
    let home = &environment.home;
    let own = [
        home.join(".local").join("share"),
        home.join("AppData").join("Local"),
    ];
    let folders = data.into_iter().chain(local).chain(own);
    folders.map(|folder| folder.join("crush")).collect()
}

/// The data folders of all registered projects. The register has been a list, a map by path, and an object that
/// holds the list.
fn registered(register: &Path) -> Vec<PathBuf> {
    let Ok(bytes) = fs::read(register) else {
        return Vec::new();
    };
    let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let projects = value.get("projects").unwrap_or(&value);
    let folder = |path: Option<&str>, project: &Value| {
        let path = text(project, &["path"]).or(path)?;
        let data = text(project, &["data_dir"]).unwrap_or(".crush");
        Some(Path::new(path).join(data))
    };
    match projects {
        Value::Object(projects) => projects
            .iter()
            .filter_map(|(path, project)| folder(Some(path), project))
            .collect(),
        other => list(other, &[])
            .iter()
            .filter_map(|project| folder(project.as_str(), project))
            .collect(),
    }
}
