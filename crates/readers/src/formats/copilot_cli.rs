//! GitHub's Copilot CLI: a session is a log of events, `session-state/<id>/events.jsonl`, or in older versions
//! `session-state/<id>.jsonl`, and in the oldest a document, `history-session-state/session_*.json`. Its name
//! stands in `workspace.yaml` beside the log.

mod conversation;
mod history;

use super::pi::command;
use crate::walk::{Class, Walk};
use crate::{beside, journal};
use conversation::Conversation;
use lookback_model::source::{
    Discovery, EventSink, FileRole, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SideTitle,
    SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::path::{Path, PathBuf};

const AGENT: &str = "copilot-cli";
const EVENTS: &str = "events.jsonl";
const WORKSPACE: &str = "workspace.yaml";

/// Transcripts of Copilot CLI.
#[derive(Clone, Copy, Debug, Default)]
pub struct CopilotCli;

impl SessionSource for CopilotCli {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let mut homes = Vec::new();
        let home = environment.variable("COPILOT_HOME").map(PathBuf::from);
        homes.push(home.unwrap_or_else(|| environment.home.join(".copilot")));
        for name in ["XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            let folder = environment
                .variable(name)
                .map(|path| Path::new(path).join(".copilot"));
            homes.extend(folder.filter(|folder| !homes.contains(folder)));
        }
        homes
            .iter()
            .flat_map(|home| [home.join("session-state"), home.join("history-session-state")])
            .collect()
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        Walk {
            agent: AGENT,
            root,
            depth: 1,
            classify: &class,
            enter: &|_| true,
        }
        .run(found);
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        match file.path.extension().and_then(|extension| extension.to_str()) {
            Some("yaml") => beside::read_title(file, sink, |text| title(text, &file.path)),
            Some("json") => history::read(file, cursor, sink),
            _ => journal::read::<Conversation>(file, cursor, sink),
        }
    }

    fn raw_words(&self, _: &SourceFile) -> RawWords {
        RawWords {
            is_json: true,
            added: &[],
        }
    }

    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        Some(command(&["copilot", &format!("--resume={}", session.id)], facts))
    }
}

fn class(path: &Path) -> Class {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_nested = path.components().nth(1).is_some();
    match (is_nested, &*name) {
        (true, EVENTS) => Class::File(FileRole::Transcript),
        (true, WORKSPACE) => Class::File(FileRole::Side),
        (false, name) if name.ends_with(".jsonl") => Class::File(FileRole::Transcript),
        (false, name) if name.starts_with("session_") && name.ends_with(".json") => {
            Class::File(FileRole::Transcript)
        }
        _ => Class::Other,
    }
}

/// The title that the file of a session's folder names.
fn title(text: &str, path: &Path) -> Option<SideTitle> {
    let title = workspace_value(text, "name").or_else(|| workspace_value(text, "summary"))?;
    let folder = path.parent()?.file_name()?.to_str()?;
    Some(SideTitle {
        agent: AGENT.to_owned(),
        session_id: folder.to_owned(),
        title,
    })
}

/// A value of such a file: a plain or quoted word, or the lines of a block below its key.
fn workspace_value(text: &str, key: &str) -> Option<String> {
    let mut lines = text.lines();
    let value = lines
        .by_ref()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?
        .trim();
    if value.starts_with(['|', '>']) {
        let block = lines.take_while(|line| line.starts_with(' ') || line.trim().is_empty());
        let joined = block.map(str::trim).collect::<Vec<_>>().join(" ");
        return (!joined.trim().is_empty()).then_some(joined);
    }
    let value = match value.strip_prefix('"') {
        Some(_) => serde_json::from_str(value).unwrap_or_else(|_| value.trim_matches('"').to_owned()),
        None => match value.strip_prefix('\'') {
            Some(quoted) => quoted.trim_end_matches('\'').replace("''", "'"),
            None => value.to_owned(),
        },
    };
    (!value.is_empty() && value != "null" && value != "~").then_some(value)
}

#[cfg(test)]
mod tests {
    //! Property: a value is found however it is written.
    use super::workspace_value;

    #[test]
    fn values_in_all_their_forms() {
        let text = "id: 1\nname: Flat: rye\nquoted: \"a \\\"b\\\"\"\nsingle: 'it''s'\nblock: |-\n  one\n  two\nempty:\nnone: null\nlast: x\n";
        for (key, value) in [
            ("name", Some("Flat: rye")),
            ("quoted", Some("a \"b\"")),
            ("single", Some("it's")),
            ("block", Some("one two")),
            ("empty", None),
            ("none", None),
            ("last", Some("x")),
            ("missing", None),
        ] {
            assert_eq!(workspace_value(text, key).as_deref(), value, "{key}");
        }
    }
}
