//! Amp: a thread is one JSON document, `threads/T-<id>.json`, rewritten whole on every change. Since spring 2026
//! threads live on Amp's servers, so that only older ones lie on a disk.

mod thread;

use super::pi::command;
use crate::walk::{Class, Walk};
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::path::{Path, PathBuf};

const AGENT: &str = "amp";
/// Editors in which the extension kept threads of its own.
const EDITORS: [&str; 5] = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];
/// Where it kept them, below the editor's folder.
const STORAGE: &str = "User/globalStorage/sourcegraph.amp/threads3";

/// Transcripts of Amp.
#[derive(Clone, Copy, Debug, Default)]
pub struct Amp;

impl SessionSource for Amp {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let home = &environment.home;
        let variable = |name: &str| environment.variable(name).map(PathBuf::from);
        let data = variable("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local").join("share"));
        let mut roots = vec![data.join(AGENT).join("threads")];
        roots.extend(variable("LOCALAPPDATA").map(|folder| folder.join(AGENT).join("threads")));
        let mut settings = vec![
            variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
            home.join("Library").join("Application Support"),
        ];
        settings.extend(variable("APPDATA"));
        for folder in settings {
            roots.extend(EDITORS.iter().map(|editor| folder.join(editor).join(STORAGE)));
        }
        roots
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        Walk {
            agent: AGENT,
            root,
            depth: 0,
            classify: &|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if name.starts_with("T-") && name.ends_with(".json") {
                    Class::File(FileRole::Transcript)
                } else {
                    Class::Other
                }
            },
            enter: &|_| false,
        }
        .run(found);
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        thread::read(file, cursor, sink)
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
        Some(command(&["amp", "threads", "continue", &session.id], facts))
    }
}
