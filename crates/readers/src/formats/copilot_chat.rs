//! GitHub Copilot Chat in Visual Studio Code and its relatives: one document a session, since 2026 one log of
//! changes to it, and beside it or instead of it a log of events that the extension writes.

mod replay;
mod request;
mod session;
mod transcript;

use crate::vscode;
use crate::walk::{Class, Walk};
use lookback_model::source::{
    Discovery, EventSink, FileRole, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Reads Copilot Chat's sessions.
pub struct CopilotChat;

const AGENT: &str = "copilot-chat";
const TRANSCRIPTS: &str = "transcripts";

impl SessionSource for CopilotChat {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        vscode::user_folders(environment)
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let mut seen = Discovery::default();
        Walk {
            agent: AGENT,
            root,
            depth: 4,
            classify: &|path| {
                if is_session(path) {
                    Class::File(FileRole::Transcript)
                } else {
                    Class::Other
                }
            },
            enter: &may_hold_sessions,
        }
        .run(&mut seen);
        // Other extensions keep lines of their own in the same folders.
        seen.ignored.clear();
        let all = seen.files.len();
        drop_copies(&mut seen.files);
        if all > seen.files.len() {
            let reason = "the same session stands in a newer file";
            seen.ignored.insert(reason, (all - seen.files.len()) as u64);
        }
        found.files.append(&mut seen.files);
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
        session::read(file, cursor, sink)
    }

    fn raw_words(&self, _: &SourceFile) -> RawWords {
        RawWords {
            is_json: true,
            added: &[],
        }
    }

    fn resume(&self, _: &SessionHeader, _: &SessionFacts) -> Option<ResumeCommand> {
        // Sessions are gone on with in the editor only.
        None
    }
}

fn names(path: &Path) -> Vec<&str> {
    path.iter()
        .map(|name| name.to_str().unwrap_or_default())
        .collect()
}

/// `workspaceStorage/<hash>/chatSessions/`, the extension's folder beside it, and sessions of windows without a
/// folder, also of profiles.
fn may_hold_sessions(relative: &Path) -> bool {
    let names = names(relative);
    let names = match names.as_slice() {
        ["profiles"] | ["profiles", _] => return true,
        ["profiles", _, rest @ ..] => rest,
        all => all,
    };
    match names {
        ["workspaceStorage" | "globalStorage"] | ["workspaceStorage", _] => true,
        ["workspaceStorage", _, "chatSessions"] => true,
        ["workspaceStorage", _, extension] => is_extension(extension),
        ["workspaceStorage", _, extension, TRANSCRIPTS] => is_extension(extension),
        [
            "globalStorage",
            "emptyWindowChatSessions" | "transferredChatSessions",
        ] => true,
        _ => false,
    }
}

fn is_extension(name: &str) -> bool {
    name.eq_ignore_ascii_case("github.copilot-chat")
}

fn is_session(relative: &Path) -> bool {
    let extension = relative.extension().and_then(OsStr::to_str);
    let folder = relative
        .parent()
        .and_then(Path::file_name)
        .and_then(OsStr::to_str);
    match folder {
        Some(TRANSCRIPTS) => extension == Some("jsonl"),
        Some("chatSessions" | "emptyWindowChatSessions" | "transferredChatSessions") => {
            matches!(extension, Some("json" | "jsonl"))
        }
        _ => false,
    }
}

fn is_transcript(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.ends_with(TRANSCRIPTS))
}

/// Leaves one file of each session: the log of changes before the document that it was begun from, and either
/// before the extension's log, which holds less.
fn drop_copies(files: &mut Vec<SourceFile>) {
    let logs: HashSet<PathBuf> = files
        .iter()
        .filter(|file| file.stamp.size > 0 && file.path.extension() == Some(OsStr::new("jsonl")))
        .map(|file| file.path.clone())
        .collect();
    files.retain(|file| {
        let is_document = file.path.extension() == Some(OsStr::new("json"));
        !(is_document && logs.contains(&file.path.with_extension("jsonl")))
    });
    let chats: HashSet<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
    files.retain(|file| {
        if !is_transcript(&file.path) {
            return true;
        }
        let Some(name) = file.path.file_name() else {
            return true;
        };
        let workspace = file.path.ancestors().nth(3).unwrap_or(&file.path);
        let log = workspace.join("chatSessions").join(name);
        let document = log.with_extension("json");
        ![log, document]
            .iter()
            .any(|chat| chats.contains(chat) && has_requests(chat))
    });
}

/// Whether anything was asked in a chat. Opening the panel is enough to leave one.
fn has_requests(chat: &Path) -> bool {
    let mut start = vec![0; 64 << 10];
    let count = File::open(chat).and_then(|mut file| file.read(&mut start));
    let start = start.get(..count.unwrap_or(0)).unwrap_or_default();
    memchr::memmem::find(start, b"\"requestId\"").is_some()
}
