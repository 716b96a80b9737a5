//! The two stores of lines: messages in envelopes by their kind, and events with a payload by its type. Beside each
//! lies a file that describes the session.

use super::turns::{Turns, answer, message};
use super::{any_text, description};
use crate::log::SessionLog;
use crate::mend::Taken;
use crate::values::{arguments, list, media, push_text, text, time};
use crate::whole;
use lookback_model::event::{ContentBlock, EventData, Message, ToolCall};
use lookback_model::facts::TitleRank;
use lookback_model::session::SessionKind;
use lookback_model::source::{EventSink, ReadCursor, ReadError, ReadOutcome, SinkClosed, SourceFile};
use serde_json::Value;
use std::fs;

pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    let described = fs::read(description(&file.path))
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
        .unwrap_or_default();
    let own_folder = file.path.ends_with("messages.jsonl");
    let name = if own_folder {
        file.path.parent().and_then(|folder| folder.file_name())
    } else {
        file.path.file_stem()
    };
    let name = name.unwrap_or_default().to_string_lossy();
    let id = any_text(&described, &["session_id", "id"]).unwrap_or(&name);
    let mut log = SessionLog::begin(sink, id, None)?;
    describe(&mut log, &described);
    let mut turns = Turns::new(&mut log, id);
    let account = whole::read_lines(file, cursor, &mut |record, unknown| match record.get("payload") {
        Some(payload) => event(&mut turns, &record, payload, unknown),
        None => envelope(&mut turns, &record, unknown),
    })?;
    if log.facts().created_at.is_none() {
        log.saw_time(file.stamp.modified());
    }
    log.finish()?;
    Ok(whole::outcome(account))
}

fn describe(log: &mut SessionLog<'_>, described: &Value) {
    let owned = |path: &[&str]| text(described, path).map(str::to_owned);
    let first = list(described, &["workspacePaths"])
        .first()
        .and_then(Value::as_str);
    let facts = log.facts();
    if let Some(title) = text(described, &["title"]) {
        facts.offer_title(title, TitleRank::Given);
    }
    facts.cwd = owned(&["cwd"]).or_else(|| first.map(str::to_owned));
    let model = owned(&["session_state", "rts_model_state", "model_info", "model_id"]);
    facts.model = model.or_else(|| owned(&["modelId"]));
    facts.agent_type = owned(&["session_state", "agent_name"]);
    facts.parent = owned(&["parent_session_id"]);
    if text(described, &["session_created_reason"]) == Some("subagent") || facts.parent.is_some() {
        facts.kind = SessionKind::Subagent;
    }
    for name in ["created_at", "updated_at", "createdAt", "updatedAt"] {
        if let Some(time) = time(described, &[name]) {
            log.saw_time(time);
        }
    }
}

/// `{"kind": …, "data": …}`.
fn envelope(
    turns: &mut Turns<'_, '_>,
    record: &Value,
    unknown: &mut Vec<String>,
) -> Result<Taken, SinkClosed> {
    let data = record.get("data").unwrap_or(&Value::Null);
    let time = time(data, &["meta", "timestamp"]);
    let id = text(data, &["message_id"]);
    match text(record, &["kind"]).unwrap_or_default() {
        "Prompt" => turns.append(EventData::UserMessage(blocks(data)), time, id)?,
        "AssistantMessage" => turns.append(EventData::AssistantMessage(blocks(data)), time, id)?,
        "ToolResults" => {
            for block in list(data, &["content"]) {
                let result = block.get("data").unwrap_or(&Value::Null);
                let call = text(result, &["toolUseId"]).unwrap_or_default();
                let items = list(result, &["content"]).iter();
                let items = items.filter_map(|item| item.get("data"));
                let answer = answer(call, items, text(result, &["status"]));
                turns.append(EventData::ToolResult(answer), time, id)?;
            }
        }
        "Compaction" => {
            let summary = any_text(data, &["summary", "content", "text"]).unwrap_or_default();
            turns.log.facts().compactions += 1;
            turns.replace_all(Message::text(summary).from_source("compaction"), time)?;
        }
        "Clear" => {
            turns.log.facts().rewinds += 1;
            turns.replace_all(Message::default().from_source("rollback"), time)?;
        }
        other => {
            unknown.push(other.to_owned());
            return Ok(Taken::Bookkeeping);
        }
    }
    Ok(Taken::Record)
}

fn blocks(data: &Value) -> Message {
    let mut content = Vec::new();
    for block in list(data, &["content"]) {
        let data = block.get("data").unwrap_or(&Value::Null);
        match text(block, &["kind"]).unwrap_or_default() {
            "text" => push_text(&mut content, data.as_str().unwrap_or_default()),
            "thinking" => content.push(ContentBlock::Reasoning {
                text: text(data, &["text"]).unwrap_or_default().to_owned(),
            }),
            "toolUse" => content.push(ContentBlock::ToolCall {
                id: text(data, &["toolUseId"]).unwrap_or_default().to_owned(),
                name: text(data, &["name"]).unwrap_or_default().to_owned(),
                arguments: arguments(data.get("input")),
            }),
            "image" => content.push(media(text(data, &["format"]).unwrap_or_default(), "")),
            _ => {}
        }
    }
    message(content)
}

/// `{"id": …, "timestamp": …, "payload": {"type": …}}`.
fn event(
    turns: &mut Turns<'_, '_>,
    record: &Value,
    payload: &Value,
    unknown: &mut Vec<String>,
) -> Result<Taken, SinkClosed> {
    let time = time(record, &["timestamp"]);
    let id = text(record, &["id"]);
    let kind = text(payload, &["type"]).unwrap_or_default();
    let words = any_text(payload, &["content", "text", "output", "result"]);
    let said = || {
        let mut content = Vec::new();
        push_text(&mut content, words.unwrap_or_default());
        let images = list(payload, &["images"]).iter();
        content.extend(images.map(|image| media(text(image, &["format"]).unwrap_or_default(), "")));
        content
    };
    let data = match kind {
        "usage_summary" => return Ok(Taken::Bookkeeping),
        "user" => EventData::UserMessage(message(said())),
        kind if kind.starts_with("assistant") && words.is_some() => {
            EventData::AssistantMessage(message(said()))
        }
        kind if kind.starts_with("tool") => tool(payload, words),
        other => {
            unknown.push(other.to_owned());
            return Ok(Taken::Bookkeeping);
        }
    };
    turns.append(data, time, id)?;
    Ok(Taken::Record)
}

/// A call, or its answer when there are words.
fn tool(payload: &Value, words: Option<&str>) -> EventData {
    let call = any_text(payload, &["toolUseId", "toolCallId", "callId", "id"]).unwrap_or_default();
    match words {
        Some(words) => {
            let status = text(payload, &["status"]).filter(|status| *status == "error");
            let words = Value::String(words.to_owned());
            EventData::ToolResult(answer(call, [&words].into_iter(), status))
        }
        None => EventData::ToolCall(ToolCall {
            call_id: call.to_owned(),
            name: any_text(payload, &["toolName", "name"])
                .unwrap_or_default()
                .to_owned(),
            arguments: arguments(payload.get("input").or_else(|| payload.get("args"))),
            ..ToolCall::default()
        }),
    }
}
