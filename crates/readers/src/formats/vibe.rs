//! Mistral's Vibe: up to 2.2 a session is a folder with `messages.jsonl`, see [`messages`], and in the first
//! versions one document, see [`first`]. Since then it is a folder of snapshots with a journal of what came
//! after, see [`store`], of which `CURRENT` names the latest. `meta.json` tells of a session in both.

mod first;
mod messages;
mod meta;
mod store;

use super::pi::command;
use crate::walk::{Class, Walk};
use crate::{beside, journal};
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::path::{Path, PathBuf};

const AGENT: &str = "vibe";
/// Folder of the newer sessions, below that of the older ones.
const UNIFIED: &str = "unified";
/// Names the latest snapshot of a newer session.
const CURRENT: &str = "CURRENT";
const META: &str = "meta.json";

/// Transcripts of Vibe.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vibe;

impl SessionSource for Vibe {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let home = environment.variable("VIBE_HOME").map(PathBuf::from);
        let home = home.unwrap_or_else(|| environment.home.join(".vibe"));
        let mut roots = vec![home.join("logs").join("session")];
        roots.extend(configured(&home, &environment.home));
        roots.dedup();
        roots
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let before = found.files.len();
        Walk {
            agent: AGENT,
            root,
            depth: 3,
            classify: &class,
            enter: &|path| {
                let parts: Vec<_> = path.components().map(|part| part.as_os_str()).collect();
                match parts.as_slice() {
                    [_] => true,
                    [first, _] if *first == UNIFIED => true,
                    [_, second, ..] => *second == "agents",
                    [] => false,
                }
            },
        }
        .run(found);
        for file in found.files.iter_mut().skip(before) {
            if file.path.ends_with(CURRENT) {
                store::stamp(file);
            }
        }
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        match file.path.file_name().and_then(|name| name.to_str()) {
            Some(META) => beside::read_title(file, sink, meta::title),
            Some(CURRENT) => store::read(file, cursor, sink),
            Some(name) if name.ends_with(".json") => first::read(file, cursor, sink),
            _ => journal::read::<messages::Conversation>(file, cursor, sink),
        }
    }

    fn raw_words(&self, file: &SourceFile) -> RawWords {
        RawWords {
            // The words of a newer session stand in other files than the one that names them.
            is_json: !file.path.ends_with(CURRENT),
            added: &[],
        }
    }

    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        if facts.kind == SessionKind::Subagent {
            return None;
        }
        Some(command(&["vibe", "--resume", &session.id], facts))
    }
}

fn class(path: &Path) -> Class {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let parts: Vec<_> = path.components().map(|part| part.as_os_str()).collect();
    match (parts.as_slice(), &*name) {
        ([first, _, _], CURRENT) if *first == UNIFIED => Class::File(FileRole::Transcript),
        ([_, _] | [_, _, _] | [_, _, _, _], "messages.jsonl") => Class::File(FileRole::Transcript),
        ([_, _] | [_, _, _] | [_, _, _, _], META) => Class::File(FileRole::Side),
        ([_], name) if name.starts_with("session_") && name.ends_with(".json") => {
            Class::File(FileRole::Transcript)
        }
        _ => Class::Other,
    }
}

/// The folder that the settings name for sessions.
fn configured(vibe: &Path, home: &Path) -> Option<PathBuf> {
    let text = beside::text(&vibe.join("config.toml"))?;
    let mut lines = text
        .lines()
        .skip_while(|line| line.trim() != "[session_logging]")
        .skip(1);
    let mut section = lines
        .by_ref()
        .take_while(|line| !line.trim_start().starts_with('['));
    let value = section.find_map(|line| line.trim().strip_prefix("save_dir")?.trim().strip_prefix('='))?;
    let folder = super::pi::expand(value.trim().trim_matches(['"', '\'']), home);
    folder.is_absolute().then_some(folder)
}
