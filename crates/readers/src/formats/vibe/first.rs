//! The first sessions: one document with what newer ones have in two files.

use super::AGENT;
use super::messages::event;
use super::meta::Meta;
use crate::chat::ChatMessage;
use crate::journal::no_session;
use crate::lenient::List;
use crate::log::SessionLog;
use crate::rewritten;
use crate::telling::{Chain, Telling};
use lookback_model::source::{EventSink, IssueCode, ReadCursor, ReadError, ReadOutcome, SourceFile};
use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Session<'a> {
    metadata: Meta,
    #[serde(borrow)]
    messages: Option<List<ChatMessage<'a>>>,
}

/// Reads a document.
pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    let (bytes, mut account) = rewritten::read(file, cursor)?;
    let text = rewritten::text(&bytes, &mut account);
    let session: Session<'_> = rewritten::parse(file, &text)?;
    let Some(messages) = session.messages else {
        return Err(no_session(file, IssueCode::NoSessionHeader, "it has no messages"));
    };
    let stem = || {
        file.path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let id = session.metadata.session_id.clone().unwrap_or_else(stem);
    let mut log = SessionLog::begin(sink, &id, None)?;
    let time = session.metadata.start().unwrap_or_else(|| file.stamp.modified());
    log.saw_time(time);
    session.metadata.tell(&mut log);
    let mut chain = Chain::default();
    for said in messages.get() {
        account.lines += 1;
        let Some(data) = event(said, false) else {
            account.bookkeeping += 1;
            continue;
        };
        account.records += 1;
        let mut telling = Telling::new(AGENT, &mut log, Some(time));
        telling
            .chained(data, &mut chain)
            .map_err(|stop| stop.error(file))?;
    }
    log.finish()?;
    Ok(rewritten::outcome(account))
}
