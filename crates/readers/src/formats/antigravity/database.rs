//! Steps from a conversation's database, for want of a transcript. Its messages have no published schema; what is
//! known of them may be another thing in the next version, so a step that says nothing is passed over.

use super::protobuf::{bytes, fields, number, text, texts};
use super::{beside, protobuf, step};
use crate::document;
use crate::log::{Draft, SessionLog};
use crate::sqlite::{Fields, Store};
use lookback_model::Timestamp;
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use lookback_model::source::{
    EventSink, IssueCode, ReadAccount, ReadCursor, ReadError, ReadOutcome, SourceFile,
};
use std::path::Path;

/// Numbers of the fields of a step.
mod number_of {
    pub(super) const METADATA: u64 = 5;
    pub(super) const USER_INPUT: u64 = 19;
    pub(super) const PLANNER: u64 = 20;
}

/// Types of steps.
mod step_type {
    pub(super) const USER_INPUT: i64 = 14;
    pub(super) const PLANNER: i64 = 15;
    pub(super) const CHECKPOINT: i64 = 23;
    pub(super) const EPHEMERAL: i64 = 90;
    pub(super) const HISTORY: i64 = 98;
    pub(super) const SYSTEM: i64 = 101;
}

/// Fields that all steps have; what else there is belongs to the kind of the step.
const COMMON: u64 = 5;

/// Reads a conversation.
pub(super) fn read(
    file: &SourceFile,
    id: &str,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    document::refuse(file, cursor)?;
    let store = Store::open(&file.path)?;
    let steps = steps(&file.path, &store)?;
    let mut account = ReadAccount::default();
    let mut log = SessionLog::begin(sink, id, None)?;
    beside::take(&file.root, id, log.facts());
    for step in &steps {
        account.lines += 1;
        account.bytes += step.payload.len() as u64;
        let Some(said) = said(step, &mut log) else {
            account.bookkeeping += 1;
            continue;
        };
        account.records += 1;
        log.append(Draft::new(said, time(&step.payload)))?;
    }
    if log.facts().created_at.is_none() {
        log.saw_time(file.stamp.modified());
    }
    store.check()?;
    log.finish()?;
    Ok(document::outcome(account))
}

struct Step {
    kind: i64,
    payload: Vec<u8>,
}

/// No payload of a step is read that is longer.
const LONGEST: i64 = 64 << 20;

fn steps(path: &Path, store: &Store) -> Result<Vec<Step>, ReadError> {
    if store.columns("steps")?.is_empty() {
        return Err(document::no_session(
            path,
            IssueCode::NoSessionHeader,
            "it has no steps",
        ));
    }
    let columns = store.select("steps", &["step_type", "step_payload"])?;
    let sql = format!("SELECT {columns} FROM steps WHERE length(step_payload) < {LONGEST} ORDER BY idx");
    let read = || -> rusqlite::Result<Vec<Step>> {
        let mut statement = store.connection().prepare(&sql)?;
        let rows = statement.query_map([], |row| {
            let fields = Fields(row);
            Ok(Step {
                kind: fields.integer("step_type").unwrap_or(0),
                payload: fields.bytes("step_payload").to_vec(),
            })
        })?;
        rows.collect()
    };
    read().map_err(|error| store.error(error))
}

/// Seconds since the epoch, in the metadata.
fn time(payload: &[u8]) -> Option<Timestamp> {
    let created = bytes(bytes(payload, number_of::METADATA)?, 1)?;
    Timestamp::from_number(number(created, 1)? as f64)
}

fn said(step: &Step, log: &mut SessionLog<'_>) -> Option<EventData> {
    let payload = step.payload.as_slice();
    match step.kind {
        step_type::USER_INPUT => {
            let input = bytes(payload, number_of::USER_INPUT)?;
            let item = bytes(input, 3).and_then(|item| text(item, 1));
            let words = step::request(text(input, 2).or(item)?);
            (!words.is_empty()).then(|| EventData::UserMessage(Message::text(words)))
        }
        step_type::PLANNER => reply(bytes(payload, number_of::PLANNER)?),
        step_type::CHECKPOINT => {
            log.facts().compactions += 1;
            None
        }
        step_type::EPHEMERAL | step_type::HISTORY | step_type::SYSTEM => None,
        _ => {
            let mut found = Vec::new();
            for field in fields(payload).filter(|field| field.number > COMMON) {
                if let protobuf::Value::Bytes(bytes) = field.value {
                    texts(bytes, &mut found);
                }
            }
            (!found.is_empty()).then(|| {
                EventData::ToolResult(ToolResult {
                    content: vec![ContentBlock::text(found.join("\n"))],
                    ..ToolResult::default()
                })
            })
        }
    }
}

fn reply(planner: &[u8]) -> Option<EventData> {
    let mut message = Message::default();
    let thoughts = text(planner, 3).map(str::to_owned);
    message
        .content
        .extend(thoughts.map(|text| ContentBlock::Reasoning { text }));
    let words = text(planner, 1).or_else(|| text(planner, 8));
    message.content.extend(words.map(ContentBlock::text));
    let calls = fields(planner).filter(|field| field.number == 7);
    for call in calls {
        let protobuf::Value::Bytes(call) = call.value else {
            continue;
        };
        message.content.push(ContentBlock::ToolCall {
            id: text(call, 1).unwrap_or_default().to_owned(),
            name: text(call, 2).unwrap_or_default().to_owned(),
            arguments: text(call, 3).unwrap_or_default().to_owned(),
        });
    }
    (!message.content.is_empty()).then_some(EventData::AssistantMessage(message))
}
