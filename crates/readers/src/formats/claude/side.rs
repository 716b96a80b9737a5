//! Small files beside transcripts: titles of sessions, and what a subagent is.

use super::conversation::{AGENT, Conversation};
use super::record::Text;
use crate::lines;
use lookback_model::facts::TitleRank;
use lookback_model::source::{
    EventSink, IssueCode, Position, ReadAccount, ReadCursor, ReadError, ReadOutcome, SideTitle, SourceFile,
};
use serde::Deserialize;
use std::path::Path;

/// A record of a title: `custom-title.json`, or `local_*.json` of Claude Desktop.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Titled<'a> {
    #[serde(borrow, default)]
    custom_title: Text<'a>,
    #[serde(borrow, default)]
    title: Text<'a>,
    #[serde(borrow, default)]
    cli_session_id: Text<'a>,
}

/// Reads a file of a title.
pub(super) fn read_title(file: &SourceFile, sink: &mut dyn EventSink) -> Result<ReadOutcome, ReadError> {
    let (bytes, _) =
        lines::document(lines::open(&file.path)?).map_err(|error| lines::io_error(&file.path, error))?;
    let mut account = ReadAccount {
        bytes: bytes.len() as u64,
        lines: 1,
        ..ReadAccount::default()
    };
    match serde_json::from_slice::<Titled<'_>>(&bytes) {
        Ok(titled) => {
            account.bookkeeping = 1;
            if let Some(title) = side_title(&titled, &file.path) {
                sink.title(title);
            }
        }
        Err(error) if error.is_eof() => account.note(1, IssueCode::PartialTail, error.to_string()),
        Err(error) => {
            account.lost = 1;
            account.note(1, IssueCode::NotJson, error.to_string());
        }
    }
    Ok(ReadOutcome {
        cursor: ReadCursor {
            position: Position::Whole,
            state: String::new(),
        },
        account,
    })
}

fn side_title(titled: &Titled<'_>, path: &Path) -> Option<SideTitle> {
    let (session_id, title) = match titled.cli_session_id.get() {
        Some(id) => (id.to_owned(), &titled.title),
        // The title of a session lies in the folder of its name.
        None if path.file_name()? == "custom-title.json" => (
            path.parent()?.file_name()?.to_str()?.to_owned(),
            &titled.custom_title,
        ),
        None => return None,
    };
    Some(SideTitle {
        agent: AGENT.to_owned(),
        session_id,
        title: title.0.clone().into_owned(),
    })
}

/// `agent-<id>.meta.json` of a subagent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Described<'a> {
    #[serde(borrow, default)]
    agent_type: Text<'a>,
    #[serde(borrow, default)]
    description: Text<'a>,
}

/// Takes what is written beside a subagent's transcript. Nothing may lie there, and what cannot be read
/// is not missed: the transcript is the session.
pub(super) fn take_description(transcript: &Path, conversation: &mut Conversation<'_>) {
    let Ok(file) = lines::open(&transcript.with_extension("meta.json")) else {
        return;
    };
    let Ok((bytes, _)) = lines::document(file) else {
        return;
    };
    let Ok(described) = serde_json::from_slice::<Described<'_>>(&bytes) else {
        return;
    };
    let facts = conversation.log.facts();
    if let Some(agent_type) = described.agent_type.get() {
        facts.agent_type = Some(agent_type.to_owned());
    }
    if facts
        .title
        .as_ref()
        .is_none_or(|title| title.rank < TitleRank::Given)
    {
        facts.offer_title(&described.description.0, TitleRank::Given);
    }
}
