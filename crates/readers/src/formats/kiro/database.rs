//! The database: conversations as documents, by their folder alone at first, by folder and id since. Beside them
//! lie keys of accounts, which are not looked at.

use super::turns::{Turns, answer, message};
use crate::rows::{self, Listed, RowFormat, Stop, Telling};
use crate::sqlite::{Fields, Store};
use crate::values::{arguments, at, list, media, push_text, text, time};
use lookback_model::Timestamp;
use lookback_model::event::{ContentBlock, EventData, Message};
use lookback_model::source::{EventSink, ReadCursor, ReadError, ReadOutcome, SinkClosed, SourceFile};
use serde_json::Value;

pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    rows::read(&Database, file, cursor, sink)
}

struct Database;

/// The newer table and the older, and what a conversation's id is in each.
const TABLES: [(&str, &str); 2] = [
    ("conversations_v2", "conversation_id"),
    (
        "conversations",
        "coalesce(CASE WHEN json_valid(value) THEN json_extract(value, '$.conversation_id') END, key)",
    ),
];

impl RowFormat for Database {
    fn sessions(&self, store: &Store) -> Result<Vec<Listed>, ReadError> {
        let mut sessions: Vec<Listed> = Vec::new();
        for (table, id) in TABLES {
            if store.columns(table)?.is_empty() {
                continue;
            }
            let times = store.select(table, &["created_at", "updated_at"])?;
            // Older versions keep no times; the document itself says what changed.
            let rows = format!("SELECT {id} AS id, rowid AS row, {times}, value FROM {table}");
            let listed = conversations(store, table, &rows).map_err(|error| store.error(error))?;
            for session in listed {
                if !sessions.iter().any(|held| held.id == session.id) {
                    sessions.push(session);
                }
            }
        }
        Ok(sessions)
    }

    /// A conversation is one document, of which nothing is known to stay.
    fn mark_up_to(&self, _: &Store, _: &Listed, _: i64) -> rusqlite::Result<u64> {
        Ok(0)
    }

    fn tell(
        &self,
        store: &Store,
        session: &Listed,
        _: Option<i64>,
        telling: &mut Telling<'_>,
    ) -> Result<(), Stop> {
        let Some((table, rowid)) = session.key.split_once(' ') else {
            return Ok(());
        };
        let rowid: i64 = rowid.parse().map_err(|_| Stop::Anew)?;
        let times = store
            .select(table, &["created_at", "updated_at"])
            .map_err(|_| Stop::Anew)?;
        let value = rows::document_column("value");
        let query = format!("SELECT key, {times}, {value} FROM {table} WHERE rowid = ?1");
        let mut statement = store.connection().prepare_cached(&query)?;
        let mut rows = statement.query([rowid])?;
        let Some(row) = rows.next()? else {
            return Ok(());
        };
        let fields = Fields(row);
        telling.log.facts().cwd = fields.text("key").map(|key| key.into_owned());
        for name in ["created_at", "updated_at"] {
            if let Some(time) = fields.number(name).and_then(Timestamp::from_number) {
                telling.log.saw_time(time);
            }
        }
        if let Some(conversation) = telling.document(store, (table, "value"), row, rowid)? {
            tell(&mut Turns::new(&mut telling.log, &session.id), &conversation)?;
            telling.record(usize::try_from(fields.integer("length").unwrap_or(0)).unwrap_or(0));
        }
        Ok(())
    }
}

/// The conversations of a table; a key is the table and the row.
fn conversations(store: &Store, table: &str, query: &str) -> rusqlite::Result<Vec<Listed>> {
    let mut statement = store.connection().prepare(query)?;
    let mut rows = statement.query([])?;
    let mut listed = Vec::new();
    while let Some(row) = rows.next()? {
        let fields = Fields(row);
        if let (Some(id), Some(number)) = (fields.text("id"), fields.integer("row")) {
            listed.push(Listed {
                id: id.into_owned(),
                key: format!("{table} {number}"),
                mark: rows::mark(row)?,
            });
        }
    }
    Ok(listed)
}

fn tell(turns: &mut Turns<'_, '_>, conversation: &Value) -> Result<(), SinkClosed> {
    if let Some(model) = text(conversation, &["model_info", "model_id"]) {
        turns.log.facts().model = Some(model.to_owned());
    }
    let history = list(conversation, &["history"]);
    let begun = history
        .first()
        .and_then(|turn| time(turn, &["user", "timestamp"]));
    // What was said before a summary is no longer there.
    let summary = conversation.get("latest_summary").unwrap_or(&Value::Null);
    let summary = summary
        .as_str()
        .or_else(|| list(summary, &[]).first().and_then(Value::as_str));
    if let Some(summary) = summary {
        turns.log.facts().compactions += 1;
        turns.replace_all(Message::text(summary).from_source("compaction"), begun)?;
    }
    for turn in history {
        person(turns, turn.get("user").unwrap_or(&Value::Null))?;
        let metadata = turn.get("request_metadata").unwrap_or(&Value::Null);
        if let Some(model) = text(metadata, &["model_id"]) {
            turns.log.facts().model = Some(model.to_owned());
        }
        agent(turns, turn.get("assistant").unwrap_or(&Value::Null), metadata)?;
    }
    Ok(())
}

fn person(turns: &mut Turns<'_, '_>, user: &Value) -> Result<(), SinkClosed> {
    let time = time(user, &["timestamp"]);
    let content = user.get("content").unwrap_or(&Value::Null);
    for kind in ["ToolUseResults", "CancelledToolUses"] {
        for result in list(content, &[kind, "tool_use_results"]) {
            let call = text(result, &["tool_use_id"]).unwrap_or_default();
            let items = list(result, &["content"]);
            let items = items.iter().filter_map(|item| item.as_object()?.values().next());
            let result = answer(call, items, text(result, &["status"]));
            turns.append(EventData::ToolResult(result), time, None)?;
        }
    }
    let prompt =
        text(content, &["Prompt", "prompt"]).or_else(|| text(content, &["CancelledToolUses", "prompt"]));
    let mut said = Vec::new();
    push_text(&mut said, prompt.unwrap_or_default());
    for image in list(user, &["images"]) {
        said.push(media(text(image, &["format"]).unwrap_or_default(), ""));
    }
    if said.is_empty() {
        return Ok(());
    }
    turns.append(EventData::UserMessage(message(said)), time, None)
}

fn agent(turns: &mut Turns<'_, '_>, assistant: &Value, metadata: &Value) -> Result<(), SinkClosed> {
    // A turn that uses tools may say something as well.
    let body = at(assistant, &["ToolUse"]).or_else(|| at(assistant, &["Response"]));
    let Some(body) = body else {
        return Ok(());
    };
    let mut content = Vec::new();
    push_text(&mut content, text(body, &["content"]).unwrap_or_default());
    for call in list(body, &["tool_uses"]) {
        content.push(ContentBlock::ToolCall {
            id: text(call, &["id"]).unwrap_or_default().to_owned(),
            name: text(call, &["name"]).unwrap_or_default().to_owned(),
            arguments: arguments(call.get("args")),
        });
    }
    let time = time(metadata, &["stream_end_timestamp_ms"]);
    let id = text(body, &["message_id"]);
    turns.append(EventData::AssistantMessage(message(content)), time, id)
}
