//! The oldest form of Copilot CLI's sessions: one document with the messages as the model was sent them.

use super::AGENT;
use crate::chat::ChatMessage;
use crate::journal::Stop;
use crate::lenient::{List, Words};
use crate::log::SessionLog;
use crate::rewritten;
use crate::telling::Telling;
use lookback_model::Timestamp;
use lookback_model::event::EventData;
use lookback_model::source::{EventSink, ReadAccount, ReadCursor, ReadError, ReadOutcome, SourceFile};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct History<'a> {
    #[serde(borrow)]
    session_id: Words<'a>,
    #[serde(borrow)]
    start_time: Words<'a>,
    #[serde(borrow)]
    chat_messages: List<ChatMessage<'a>>,
}

/// Reads a document.
pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    let (bytes, mut account) = rewritten::read(file, cursor)?;
    let text = rewritten::text(&bytes, &mut account);
    let history: History<'_> = rewritten::parse(file, &text)?;
    let name = file.path.file_stem().unwrap_or_default().to_string_lossy();
    let in_name = || {
        let name = name.strip_prefix("session_").unwrap_or(&name);
        name.split_once('_').map_or(name, |(id, _)| id)
    };
    let id = match history.session_id.get().trim() {
        "" => in_name(),
        id => id,
    };
    tell(file, id, &history, &mut account, sink)?;
    Ok(rewritten::outcome(account))
}

fn tell(
    file: &SourceFile,
    id: &str,
    history: &History<'_>,
    account: &mut ReadAccount,
    sink: &mut dyn EventSink,
) -> Result<(), ReadError> {
    let mut log = SessionLog::begin(sink, id, None)?;
    let start = Timestamp::parse(history.start_time.get());
    log.saw_time(start.unwrap_or_else(|| file.stamp.modified()));
    for (at, said) in history.chat_messages.get().iter().enumerate() {
        let event = match said.role.get() {
            "user" => said.content.message().map(EventData::UserMessage),
            "assistant" => said.reply().map(EventData::AssistantMessage),
            "tool" => Some(EventData::ToolResult(said.answer())),
            "system" => None,
            other => {
                account.note_unknown(other);
                None
            }
        };
        account.lines += 1;
        let Some(event) = event else {
            account.bookkeeping += 1;
            continue;
        };
        account.records += 1;
        let mut telling = Telling::new(AGENT, &mut log, start);
        telling.part = format!("{id}/{at}");
        telling.event(event).map_err(|stop: Stop| stop.error(file))?;
    }
    log.finish()?;
    Ok(())
}
