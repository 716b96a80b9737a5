//! The older store: a file of lines for each session, the first of which describes it. It is written anew with
//! every message, so it is always read whole.

use super::database::is_placeholder;
use super::message::{Said, View};
use crate::log::SessionLog;
use crate::mend::Taken;
use crate::values::{text, time};
use crate::whole;
use lookback_model::facts::TitleRank;
use lookback_model::source::{EventSink, ReadCursor, ReadError, ReadOutcome, SinkClosed, SourceFile};
use serde_json::Value;

pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    let id = file.path.file_stem().unwrap_or_default().to_string_lossy();
    let mut log = SessionLog::begin(sink, &id, None)?;
    let mut view = View::default();
    let account = whole::read_lines(file, cursor, &mut |record, unknown| {
        take(&mut log, &mut view, &id, &record, unknown)
    })?;
    if log.facts().created_at.is_none() {
        log.saw_time(file.stamp.modified());
    }
    log.finish()?;
    Ok(whole::outcome(account))
}

fn take(
    log: &mut SessionLog<'_>,
    view: &mut View,
    session: &str,
    record: &Value,
    unknown: &mut Vec<String>,
) -> Result<Taken, SinkClosed> {
    let Some(role) = text(record, &["role"]) else {
        describe(log, record);
        return Ok(Taken::Bookkeeping);
    };
    let said = Said {
        session,
        role,
        time: time(record, &["created"]),
        content: record.get("content").unwrap_or(&Value::Null),
        metadata: record.get("metadata").unwrap_or(&Value::Null),
        id: text(record, &["id"]).map(str::to_owned),
    };
    let kinds = said.tell(log, view)?;
    unknown.extend(kinds.into_iter().map(str::to_owned));
    Ok(Taken::Record)
}

fn describe(log: &mut SessionLog<'_>, header: &Value) {
    let facts = log.facts();
    if let Some(title) = text(header, &["description"]).filter(|title| !is_placeholder(title)) {
        facts.offer_title(title, TitleRank::Given);
    }
    if let Some(folder) = text(header, &["working_dir"]) {
        facts.cwd = Some(folder.to_owned());
    }
    if let Some(created) = time(header, &["created_at"]) {
        log.saw_time(created);
    }
}
