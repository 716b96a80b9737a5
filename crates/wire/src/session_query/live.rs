//! `attachLive`, `appendLive`, `detachLive`: a program that runs sessions tells of them as they happen.
//!
//! They are beyond the contract, which lets a program in the same process hand its sessions over itself.
//! Events are those of the contract: a type of the vocabulary must have its payload's shape, for else its
//! words would silently not be found; a type of another owner is kept as it is.

use super::Operation;
use super::fields::Fields;
use super::reads::SessionRequest;
use super::refusal::Refusal;
use lookback_model::event::{EventData, OtherEvent, SurfaceOp};
use lookback_model::{Event, SessionHeader, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A session that is running, and what has happened in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttachLiveRequest {
    /// Its immutable header.
    pub header: SessionHeader,
    /// Its log so far: event `i` has seq `i`. Absent means none yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
}

/// What is known of the session now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AttachLiveResult {
    /// Its id.
    pub session_id: String,
    /// How many events its log has.
    pub length: u64,
}

/// What has happened since.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AppendLiveRequest {
    /// The session.
    pub session_id: String,
    /// The events; all of them are appended, or none.
    pub events: Vec<AppendedEvent>,
}

/// An event to be appended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AppendedEvent {
    /// Its position in the log. Absent means the next one; when it is given it must be that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// When it happened.
    pub time: Timestamp,
    /// Type and payload.
    #[serde(flatten)]
    pub data: EventData,
    /// What it does to the surface; only of a type that may stand there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface_op: Option<SurfaceOp>,
    /// Earlier events it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_event_seqs: Option<Vec<u64>>,
    /// The program's own id of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_id: Option<String>,
}

/// Where the events were appended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppendLiveResult {
    /// Their seqs, in the order they were given.
    pub seqs: Vec<u64>,
}

/// The session is no longer running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DetachLiveResult {
    /// Its id.
    pub session_id: String,
}

/// A session has begun to run, or is gone on with.
#[derive(Clone, Copy, Debug)]
pub struct AttachLive;

impl Operation for AttachLive {
    const NAME: &'static str = "sessionQuery.attachLive";
    type Request = AttachLiveRequest;
    type Answer = AttachLiveResult;

    fn request(fields: &mut Fields) -> Result<Self::Request, Refusal> {
        let header = fields.typed("header")?;
        let given = events(fields.take("events"))?.into_iter().enumerate();
        let whole = |(at, event): (usize, AppendedEvent)| match event.seq {
            Some(seq) => Ok(event.with_seq(seq)),
            None => Err(Refusal::parameter(format!("events[{at}].seq"), "is missing")),
        };
        let events = given.map(whole).collect::<Result<_, _>>()?;
        Ok(AttachLiveRequest { header, events })
    }
}

/// Events have happened in a running session.
#[derive(Clone, Copy, Debug)]
pub struct AppendLive;

impl Operation for AppendLive {
    const NAME: &'static str = "sessionQuery.appendLive";
    type Request = AppendLiveRequest;
    type Answer = AppendLiveResult;

    fn request(fields: &mut Fields) -> Result<Self::Request, Refusal> {
        Ok(AppendLiveRequest {
            session_id: fields.text("sessionId")?,
            events: events(Some(fields.required("events")?))?,
        })
    }
}

/// A session no longer runs.
#[derive(Clone, Copy, Debug)]
pub struct DetachLive;

impl Operation for DetachLive {
    const NAME: &'static str = "sessionQuery.detachLive";
    type Request = SessionRequest;
    type Answer = DetachLiveResult;

    fn request(fields: &mut Fields) -> Result<Self::Request, Refusal> {
        SessionRequest::take(fields)
    }
}

impl AppendedEvent {
    fn with_seq(self, seq: u64) -> Event {
        Event {
            seq,
            time: self.time,
            data: self.data,
            surface_op: self.surface_op,
            source_event_seqs: self.source_event_seqs,
            native_id: self.native_id,
            copy_key: 0,
        }
    }
}

fn events(value: Option<Value>) -> Result<Vec<AppendedEvent>, Refusal> {
    let events = match value {
        None => return Ok(Vec::new()),
        Some(Value::Array(events)) => events.into_iter().enumerate(),
        Some(_) => return Err(Refusal::parameter("events", "must be a list")),
    };
    events
        .map(|(at, event)| event_of(&format!("events[{at}]"), event))
        .collect()
}

fn event_of(place: &str, value: Value) -> Result<AppendedEvent, Refusal> {
    let mut fields = Fields::within(place, value)?;
    let type_name = fields.text("type")?;
    let data = fields.required("data")?;
    let event = AppendedEvent {
        seq: fields.optional("seq")?,
        time: fields.typed("time")?,
        data: payload(&type_name, data)
            .map_err(|error| fields.refuse("data", &format!("is not the payload of {type_name}: {error}")))?,
        surface_op: fields.optional("surfaceOp")?,
        source_event_seqs: fields.optional("sourceEventSeqs")?,
        native_id: fields.optional_text("nativeId")?,
    };
    fields.end()?;
    Ok(event)
}

/// The payload of a type. The model's own reading takes a payload of another shape for another owner's.
fn payload(type_name: &str, data: Value) -> Result<EventData, serde_json::Error> {
    use serde_json::from_value as read;
    Ok(match type_name {
        "turn/start" => EventData::TurnStart(data),
        "turn/end" => EventData::TurnEnd(read(data)?),
        "step/start" => EventData::StepStart(data),
        "step/end" => EventData::StepEnd(data),
        "user/message" => EventData::UserMessage(read(data)?),
        "assistant/message" => EventData::AssistantMessage(read(data)?),
        "tool/result" => EventData::ToolResult(read(data)?),
        "context/message" => EventData::ContextMessage(read(data)?),
        "steering/message" => EventData::SteeringMessage(read(data)?),
        "prompt/blocked" => EventData::PromptBlocked(read(data)?),
        "tool/call" => EventData::ToolCall(read(data)?),
        "todo/write" => EventData::TodoWrite(read(data)?),
        "assistant/chunk" => EventData::AssistantChunk(data),
        "request/header" => EventData::RequestHeader(data),
        "request/header-delta" => EventData::RequestHeaderDelta(data),
        other => EventData::Other(OtherEvent {
            r#type: other.to_owned(),
            data,
        }),
    })
}
