//! Kimi: the older `kimi-cli` and its successor `kimi-code`, which keeps sessions otherwise.
//!
//! `kimi-cli` has a folder for each session, `sessions/<hash of the folder>/<id>/`, with what the terminal was
//! sent in `wire.jsonl`, see [`wire`], and what the model is sent in `context.jsonl`, see [`context`], which is
//! read only where the other says nothing. `kimi-code` has `sessions/<folder>/<id>/agents/<agent>/wire.jsonl`,
//! see [`code`].

mod code;
mod context;
mod place;
mod wire;

use super::pi::command;
use crate::walk::{Class, Walk};
use crate::{beside, journal};
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SideTitle,
    SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use place::{Form, form};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

const AGENT: &str = "kimi";
/// `<folder>/<session>/agents/<agent>/wire.jsonl`
const DEPTH: usize = 4;
/// The runtime of the desktop program on macOS.
const DESKTOP: &str = "Library/Application Support/kimi-desktop/daimon-share/daimon/runtime/kimi-code/home";
/// A shorter file holds nothing but its first line.
const BEGUN: u64 = 160;

/// Transcripts of Kimi.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kimi;

impl SessionSource for Kimi {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let folder = |name: &str, usual: &str| {
            let moved = environment.variable(name).map(PathBuf::from);
            moved.unwrap_or_else(|| environment.home.join(usual))
        };
        let homes = [
            folder("KIMI_SHARE_DIR", ".kimi"),
            folder("KIMI_CODE_HOME", ".kimi-code"),
            environment.home.join(DESKTOP),
        ];
        homes.map(|home| home.join("sessions")).to_vec()
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let before = found.files.len();
        Walk {
            agent: AGENT,
            root,
            depth: DEPTH,
            classify: &class,
            enter: &|path| match path.components().nth(2) {
                Some(third) => third.as_os_str() == "agents" || third.as_os_str() == "subagents",
                None => true,
            },
        }
        .run(found);
        let mut own = found.files.split_off(before);
        drop_repetitions(&mut own);
        found.files.append(&mut own);
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        match form(&file.path) {
            Form::State => beside::read_title(file, sink, |text| title(text, &file.path)),
            Form::Agent => journal::read::<code::Conversation>(file, cursor, sink),
            Form::Wire => journal::read::<wire::Conversation>(file, cursor, sink),
            Form::Context => journal::read::<context::Conversation>(file, cursor, sink),
        }
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
        Some(command(&["kimi", "-r", &session.id], facts))
    }
}

fn class(path: &Path) -> Class {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let parts: Vec<_> = path.components().map(|part| part.as_os_str()).collect();
    match (parts.as_slice(), &*name) {
        ([_, _, folder, ..], "wire.jsonl" | "context.jsonl") if *folder == "subagents" => {
            Class::Aside("a subagent's record, which its session's repeats")
        }
        ([_, _, folder, _, _], "wire.jsonl") if *folder == "agents" => Class::File(FileRole::Transcript),
        ([_, _, _], "wire.jsonl" | "context.jsonl") => Class::File(FileRole::Transcript),
        ([_, _, _], "state.json") => Class::File(FileRole::Side),
        ([_, _, _], name) if name.starts_with("context_") && name.ends_with(".jsonl") => {
            Class::Aside("an older state of a session's context")
        }
        ([_, _], name) if name.ends_with(".jsonl") => Class::File(FileRole::Transcript),
        _ => Class::Other,
    }
}

/// Of the two files that hold one session, one is read.
fn drop_repetitions(files: &mut Vec<SourceFile>) {
    let is = |file: &SourceFile, name: &str| file.path.file_name().is_some_and(|own| own == name);
    let folders = |name: &str, begun: u64| -> HashSet<PathBuf> {
        let named = files
            .iter()
            .filter(|file| is(file, name) && file.stamp.size >= begun);
        named
            .filter_map(|file| Some(file.path.parent()?.to_owned()))
            .collect()
    };
    let (wires, contexts) = (folders("wire.jsonl", BEGUN), folders("context.jsonl", 1));
    files.retain(|file| {
        let Some(folder) = file.path.parent() else {
            return true;
        };
        if is(file, "context.jsonl") {
            return !wires.contains(folder);
        }
        !is(file, "wire.jsonl") || wires.contains(folder) || !contexts.contains(folder)
    });
}

/// The title that a session's state names.
fn title(text: &str, path: &Path) -> Option<SideTitle> {
    let state: place::State = serde_json::from_str(text).ok()?;
    let title = [state.custom_title, state.title].into_iter().flatten();
    let title = title.into_iter().find(|title| !title.trim().is_empty())?;
    Some(SideTitle {
        agent: AGENT.to_owned(),
        session_id: path.parent()?.file_name()?.to_str()?.to_owned(),
        title,
    })
}
