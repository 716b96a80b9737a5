//! The extension's own log of events, one a line.

use super::{AGENT, session};
use crate::document::{self, no_session, plain, text, words};
use crate::log::{Draft, SessionLog};
use crate::mend::Taken;
use crate::records;
use lookback_model::Timestamp;
use lookback_model::copies::key_of_id;
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use lookback_model::source::{
    EventSink, IssueCode, ReadCursor, ReadError, ReadOutcome, SinkClosed, SourceFile,
};
use serde_json::Value;

/// Reads a log.
pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    document::refuse(file, cursor)?;
    let stem = file.path.file_stem().unwrap_or_default().to_string_lossy();
    if file.stamp.size == 0 {
        return Err(no_session(&file.path, IssueCode::EmptyFile, "it is empty"));
    }
    let mut log = SessionLog::begin(sink, &stem, None)?;
    log.facts().cwd = session::workspace(file.path.parent().unwrap_or(&file.path));
    let account = records::read(file, &mut |event| tell(&mut log, event))?;
    if log.facts().created_at.is_none() {
        log.saw_time(file.stamp.modified());
    }
    log.finish()?;
    Ok(document::outcome(account))
}

fn tell(log: &mut SessionLog<'_>, event: &Value) -> Result<Taken, SinkClosed> {
    let data = event.get("data").unwrap_or(&Value::Null);
    let time = Timestamp::parse(text(event, "timestamp"));
    let said = match text(event, "type") {
        "session.start" => {
            let context = data.get("context").unwrap_or(&Value::Null);
            let facts = log.facts();
            if let Some(folder) = words(context, "cwd") {
                facts.cwd = Some(folder.to_owned());
            }
            facts.branch = words(context, "branch").map(str::to_owned);
            facts.agent_version = words(data, "copilotVersion").map(str::to_owned);
            if let Some(time) = time {
                log.saw_time(time);
            }
            return Ok(Taken::Record);
        }
        "user.message" => words(data, "content").map(|words| EventData::UserMessage(Message::text(words))),
        "assistant.message" => reply(data),
        "tool.execution_complete" => Some(EventData::ToolResult(result(data))),
        _ => None,
    };
    let Some(said) = said else {
        return Ok(Taken::Bookkeeping);
    };
    let mut draft = Draft::new(said, time);
    if let Some(id) = words(event, "id") {
        draft.native_id = Some(id.to_owned());
        draft.copy_key = key_of_id(AGENT, id);
    }
    draft.reply_id = words(data, "messageId").map(str::to_owned);
    log.append(draft)?;
    Ok(Taken::Record)
}

fn reply(data: &Value) -> Option<EventData> {
    let mut message = Message::default();
    let thoughts = words(data, "reasoningText").map(str::to_owned);
    message
        .content
        .extend(thoughts.map(|text| ContentBlock::Reasoning { text }));
    message
        .content
        .extend(words(data, "content").map(ContentBlock::text));
    for call in document::items(data, "toolRequests") {
        message.content.push(ContentBlock::ToolCall {
            id: text(call, "toolCallId").to_owned(),
            name: text(call, "name").to_owned(),
            arguments: call.get("arguments").map(plain).unwrap_or_default(),
        });
    }
    (!message.content.is_empty()).then_some(EventData::AssistantMessage(message))
}

fn result(data: &Value) -> ToolResult {
    let succeeded = data.get("success").and_then(Value::as_bool);
    let result = data.get("result").unwrap_or(&Value::Null);
    let error = data.get("error").unwrap_or(&Value::Null);
    let said = words(result, "content").or_else(|| words(error, "message"));
    ToolResult {
        call_id: text(data, "toolCallId").to_owned(),
        content: said.map(ContentBlock::text).into_iter().collect(),
        is_error: succeeded == Some(false),
        ..ToolResult::default()
    }
}
