//! Events: what happened in a session, one entry of its append-only log each (contract B, B.2).

use crate::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// One entry of a session's log. Event `i` of a log has `seq` `i`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Position in the log, from 0 without gaps.
    pub seq: u64,
    /// When it happened.
    pub time: Timestamp,
    /// Type and payload; in JSON the two fields `type` and `data`.
    #[serde(flatten)]
    pub data: EventData,
    /// What the event does to the surface. Only surface-eligible types carry one; a type that may and
    /// does not is log-only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface_op: Option<SurfaceOp>,
    /// Earlier events this one was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_event_seqs: Option<Vec<u64>>,
    /// The agent's own id of the record, where it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_id: Option<String>,
    /// Equal for an event and for its copy in a resumed, forked or backgrounded session, see
    /// [`crate::copies`]. 0 when the event can have no copy. Derived, so not part of the log.
    #[serde(skip)]
    pub copy_key: u64,
}

impl Event {
    /// The type's name, such as `user/message`.
    pub fn type_name(&self) -> &str {
        self.data.type_name()
    }

    /// Whether it entered the surface: its type may, and it says how.
    pub fn has_marker(&self) -> bool {
        self.surface_op.is_some() && self.data.surface_eligible()
    }
}

/// What a surface-eligible event does to the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub enum SurfaceOp {
    /// Adds the event at the end.
    Append,
    /// Puts the event in the place of the inclusive slice from `start` to `end`, both on the surface,
    /// `start` not after `end` by position.
    Replace {
        /// First event of the slice.
        start: u64,
        /// Last event of the slice.
        end: u64,
    },
}

/// Type and payload of an event. The vocabulary is open: a type not listed is [`EventData::Other`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", content = "data")]
pub enum EventData {
    /// A turn began.
    #[serde(rename = "turn/start")]
    TurnStart(Value),
    /// A turn ended.
    #[serde(rename = "turn/end")]
    TurnEnd(TurnEnd),
    /// A step of a turn began.
    #[serde(rename = "step/start")]
    StepStart(Value),
    /// A step of a turn ended.
    #[serde(rename = "step/end")]
    StepEnd(Value),
    /// What the person said.
    #[serde(rename = "user/message")]
    UserMessage(Message),
    /// What the agent said, its reasoning and its tool calls.
    #[serde(rename = "assistant/message")]
    AssistantMessage(Message),
    /// What a tool answered.
    #[serde(rename = "tool/result")]
    ToolResult(ToolResult),
    /// Context put in by the agent's program: instructions, reminders, summaries. Not a prompt.
    #[serde(rename = "context/message")]
    ContextMessage(Message),
    /// A message given while the agent was at work.
    #[serde(rename = "steering/message")]
    SteeringMessage(Message),
    /// A prompt that was refused.
    #[serde(rename = "prompt/blocked")]
    PromptBlocked(BlockedPrompt),
    /// A tool call as its own record.
    #[serde(rename = "tool/call")]
    ToolCall(ToolCall),
    /// The whole list of things to do; the last one holds.
    #[serde(rename = "todo/write")]
    TodoWrite(TodoList),
    /// A piece of a streamed answer.
    #[serde(rename = "assistant/chunk")]
    AssistantChunk(Value),
    /// The envelope of a request.
    #[serde(rename = "request/header")]
    RequestHeader(Value),
    /// A change to it.
    #[serde(rename = "request/header-delta")]
    RequestHeaderDelta(Value),
    /// A type of another owner.
    #[serde(untagged)]
    Other(OtherEvent),
}

impl EventData {
    /// The type's name, such as `user/message`.
    pub fn type_name(&self) -> &str {
        match self {
            Self::Other(other) => &other.r#type,
            known => known.known_type().unwrap_or_default(),
        }
    }

    /// The same to keep, at no cost where the type is listed here.
    pub fn owned_type_name(&self) -> Cow<'static, str> {
        match self {
            Self::Other(other) => owned_type_name(&other.r#type),
            known => Cow::Borrowed(known.known_type().unwrap_or_default()),
        }
    }

    fn known_type(&self) -> Option<&'static str> {
        Some(match self {
            Self::TurnStart(_) => "turn/start",
            Self::TurnEnd(_) => "turn/end",
            Self::StepStart(_) => "step/start",
            Self::StepEnd(_) => "step/end",
            Self::UserMessage(_) => "user/message",
            Self::AssistantMessage(_) => "assistant/message",
            Self::ToolResult(_) => "tool/result",
            Self::ContextMessage(_) => "context/message",
            Self::SteeringMessage(_) => "steering/message",
            Self::PromptBlocked(_) => "prompt/blocked",
            Self::ToolCall(_) => "tool/call",
            Self::TodoWrite(_) => "todo/write",
            Self::AssistantChunk(_) => "assistant/chunk",
            Self::RequestHeader(_) => "request/header",
            Self::RequestHeaderDelta(_) => "request/header-delta",
            Self::Other(_) => return None,
        })
    }

    /// Whether events of this type may stand on the surface.
    pub fn surface_eligible(&self) -> bool {
        matches!(
            self,
            Self::UserMessage(_)
                | Self::AssistantMessage(_)
                | Self::ToolResult(_)
                | Self::ContextMessage(_)
                | Self::SteeringMessage(_)
        )
    }
}

/// The names of the types that are listed in [`EventData`]. The first five may stand on the surface.
pub const EVENT_TYPES: [&str; 15] = [
    "user/message",
    "assistant/message",
    "tool/result",
    "context/message",
    "steering/message",
    "turn/start",
    "turn/end",
    "step/start",
    "step/end",
    "prompt/blocked",
    "tool/call",
    "todo/write",
    "assistant/chunk",
    "request/header",
    "request/header-delta",
];

/// The name of a type to keep, at no cost where it is one of [`EVENT_TYPES`].
pub fn owned_type_name(name: &str) -> Cow<'static, str> {
    let known = EVENT_TYPES.iter().find(|known| **known == name);
    known.map_or_else(|| Cow::Owned(name.to_owned()), |known| Cow::Borrowed(*known))
}

/// Payload of user, assistant, context and steering messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Message {
    /// What was said, in order.
    pub content: Vec<ContentBlock>,
    /// Where it came from: `compaction`, `rollback`, `reminder`, `queue`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Value>,
    /// Turn number, where the agent counts turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// Step within the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// Token usage as the agent reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
}

impl Message {
    /// A message of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![ContentBlock::Text { text: text.into() }],
            ..Self::default()
        }
    }

    /// The same message with a named source.
    pub fn from_source(mut self, source: &str) -> Self {
        self.source = Some(Value::String(source.to_owned()));
        self
    }
}

/// Payload of `tool/result`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call it answers; empty where the agent gives none.
    #[serde(default)]
    pub call_id: String,
    /// What the tool answered.
    pub content: Vec<ContentBlock>,
    /// Whether the tool failed.
    #[serde(default)]
    pub is_error: bool,
    /// Whether it quotes other sessions, see [`crate::recall`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_recalled: bool,
    /// The failure, where it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    /// Turn number, where the agent counts turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// Step within the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// Opaque extra of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
}

/// A named tool failure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolError {
    /// Name of the failure.
    pub name: String,
    /// Its code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// Payload of `tool/call`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The agent's id of the call.
    #[serde(default)]
    pub call_id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments as the agent wrote them, unparsed.
    #[serde(default)]
    pub arguments: String,
    /// Turn number, where the agent counts turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// Step within the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
}

/// Payload of `prompt/blocked`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockedPrompt {
    /// The prompt.
    pub content: Vec<ContentBlock>,
    /// Where it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Value>,
    /// Why it was refused.
    #[serde(default)]
    pub reason: String,
}

/// Payload of `todo/write`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodoList {
    /// All things to do, done or not.
    pub todos: Vec<Todo>,
}

/// One thing to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Todo {
    /// What.
    pub content: String,
    /// `pending`, `in_progress` or `completed`.
    pub status: String,
}

/// Payload of `turn/end`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnEnd {
    /// Turn number, where the agent counts turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// Why it ended; open to extension.
    pub reason: TurnEndReason,
}

/// Why a turn ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnEndReason {
    /// `completed`, `aborted`, `error`, `disposed`, `max-tokens`, `rejected`, `interrupted` or another.
    pub kind: String,
    /// Of `aborted` and `rejected`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Of `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Of `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// An event of a type this crate does not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherEvent {
    /// The type's name.
    pub r#type: String,
    /// Its payload.
    #[serde(default)]
    pub data: Value,
}

/// A piece of a message. The vocabulary is open: a block not listed is [`ContentBlock::Other`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ContentBlock {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// The agent's reasoning.
    Reasoning {
        /// The words.
        text: String,
    },
    /// A call of a tool inside a message.
    ToolCall {
        /// The agent's id of the call.
        #[serde(default)]
        id: String,
        /// Name of the tool.
        name: String,
        /// Arguments as the agent wrote them, unparsed.
        #[serde(default)]
        arguments: String,
    },
    /// A tool's answer inside a message.
    ToolResult {
        /// The call it answers.
        #[serde(default)]
        id: String,
        /// The answer.
        content: Vec<ContentBlock>,
    },
    /// An image or document. Its bytes are never held, only what they were.
    Media {
        /// MIME type, empty when unknown.
        #[serde(default)]
        media_type: String,
        /// Length of the encoded data in the transcript, in bytes.
        #[serde(default)]
        bytes: u64,
    },
    /// A block of another owner.
    #[serde(untagged)]
    Other(#[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, Value>"))] Value),
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: an event written as JSON reads back equal, for known, unknown and nested shapes.
    #[test]
    fn events_survive_json() {
        for json in [
            r#"{"seq":0,"time":5,"type":"user/message","data":{"content":[{"type":"text","text":"hi"}]},"surfaceOp":{"op":"append"}}"#,
            r#"{"seq":1,"time":5,"type":"assistant/message","data":{"content":[{"type":"tool-call","id":"c","name":"Bash","arguments":"{}"}]},"surfaceOp":{"op":"replace","start":0,"end":0},"sourceEventSeqs":[0]}"#,
            r#"{"seq":2,"time":5,"type":"turn/end","data":{"reason":{"kind":"error","message":"m"}}}"#,
            r#"{"seq":3,"time":5,"type":"vendor/thing","data":{"a":[1,null]}}"#,
            r#"{"seq":4,"time":5,"type":"user/message","data":{"content":[{"a":1,"type":"vendor-block"}]},"nativeId":"n"}"#,
        ] {
            let event: Event = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&event).unwrap(), json);
        }
    }

    /// Property: the list of names is that of the types, and says which may stand on the surface.
    #[test]
    fn names_of_types_are_listed() {
        for (at, name) in EVENT_TYPES.into_iter().enumerate() {
            let known = [
                serde_json::json!({"content": []}),
                serde_json::json!({"reason": {"kind": "completed"}}),
                serde_json::json!({"name": "n"}),
                serde_json::json!({"todos": []}),
            ];
            let data = known.into_iter().find_map(|data| {
                let event = serde_json::json!({"type": name, "data": data});
                let data: EventData = serde_json::from_value(event).unwrap();
                (!matches!(data, EventData::Other(_))).then_some(data)
            });
            let data = data.expect(name);
            assert_eq!((data.type_name(), data.surface_eligible()), (name, at < 5));
            assert!(matches!(data.owned_type_name(), Cow::Borrowed(_)));
        }
        assert_eq!(owned_type_name("vendor/thing"), "vendor/thing");
    }

    #[test]
    fn a_replace_with_extra_fields_is_refused() {
        let json = r#"{"op":"replace","start":0,"end":0,"also":1}"#;
        assert!(serde_json::from_str::<SurfaceOp>(json).is_err());
    }
}
