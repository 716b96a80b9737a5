//! What Grok sends to the model: messages without times, of a type of their own or in the shape of the chat
//! interface.

use super::AGENT;
use super::summary::{look_around, session_of};
use crate::blocks::{Block, Blocks, arguments, message};
use crate::chat;
use crate::journal::{Records, Stop, Took};
use crate::lenient::{List, Object, Words};
use crate::log::SessionLog;
use crate::telling::{Chain, Telling};
use lookback_model::event::{ContentBlock, EventData, Message, ToolCall, ToolResult};
use lookback_model::{SourceFile, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Holds a prompt among what the program adds to it.
const QUERY: &str = "<user_query>";
const QUERY_END: &str = "</user_query>";

/// A session as far as it was read.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Conversation {
    chain: Chain,
    /// Reasoning that belongs to the reply after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasoning: Vec<ContentBlock>,
    /// When the session began, which stands for the times of its messages.
    #[serde(skip)]
    time: Option<Timestamp>,
}

/// A line.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Words<'a>,
    #[serde(borrow)]
    role: Words<'a>,
    #[serde(borrow)]
    content: Blocks<'a>,
    #[serde(borrow)]
    reasoning_content: Words<'a>,
    #[serde(borrow)]
    summary: List<Block<'a>>,
    /// Why the program wrote a message of the person.
    #[serde(borrow)]
    synthetic_reason: Words<'a>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: Words<'a>,
    #[serde(borrow)]
    model_id: Words<'a>,
    /// A call that the model's side answers.
    #[serde(borrow, rename = "kind")]
    call: Object<OtherCall<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OtherCall<'a> {
    #[serde(borrow)]
    id: Words<'a>,
    #[serde(borrow)]
    tool_type: Words<'a>,
    #[serde(borrow)]
    action: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FlatCall<'a> {
    #[serde(borrow)]
    id: Words<'a>,
    #[serde(borrow)]
    name: Words<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl Records for Conversation {
    type Record<'a> = Line<'a>;

    fn session_id(&mut self, line: &Line<'_>, file: &SourceFile) -> Option<String> {
        let is_one = !line.kind.get().is_empty() || !line.role.get().is_empty();
        is_one.then(|| session_of(file)).flatten()
    }

    fn look_around(&mut self, file: &SourceFile, log: &mut SessionLog<'_>) {
        let began = look_around(file, log);
        self.time = Some(began.unwrap_or_else(|| file.stamp.modified()));
    }

    fn take(&mut self, line: Line<'_>, log: &mut SessionLog<'_>) -> Result<Took, Stop> {
        if !line.model_id.get().is_empty() {
            log.facts().model = Some(line.model_id.get().to_owned());
        }
        let kind = match line.kind.get() {
            "" => line.role.get(),
            kind => kind,
        };
        let events = match kind {
            "user" => prompt(&line),
            "assistant" => vec![EventData::AssistantMessage(self.reply(&line))],
            "reasoning" => {
                let texts = line.summary.get().iter().map(|block| block.text.get().to_owned());
                self.reasoning
                    .extend(texts.map(|text| ContentBlock::Reasoning { text }));
                return Ok(Took::Record);
            }
            "tool_result" | "tool" => vec![EventData::ToolResult(ToolResult {
                call_id: line.tool_call_id.get().to_owned(),
                content: line.content.content(),
                ..ToolResult::default()
            })],
            "backend_tool_call" => line.call.0.iter().map(other_call).collect(),
            "system" => return Ok(Took::Bookkeeping),
            "" => return Ok(Took::Unknown("(none)".to_owned())),
            other => return Ok(Took::Unknown(other.to_owned())),
        };
        if events.is_empty() {
            return Ok(Took::Bookkeeping);
        }
        for data in events {
            Telling::new(AGENT, log, self.time).chained(data, &mut self.chain)?;
        }
        Ok(Took::Record)
    }
}

impl Conversation {
    fn reply(&mut self, line: &Line<'_>) -> Message {
        let mut content = std::mem::take(&mut self.reasoning);
        if !line.reasoning_content.get().trim().is_empty() {
            let text = line.reasoning_content.get().to_owned();
            content.push(ContentBlock::Reasoning { text });
        }
        content.extend(line.content.content());
        content.extend(calls(line.tool_calls));
        message(content).unwrap_or_default()
    }
}

/// Calls in either shape.
fn calls(raw: Option<&RawValue>) -> Vec<ContentBlock> {
    let Some(raw) = raw else {
        return Vec::new();
    };
    let nested: List<chat::Call<'_>> = serde_json::from_str(raw.get()).unwrap_or_default();
    let flat: List<FlatCall<'_>> = serde_json::from_str(raw.get()).unwrap_or_default();
    let calls = nested.get().iter().zip(flat.get());
    calls
        .map(|(nested, flat)| match flat.name.get() {
            "" => nested.block(),
            name => ContentBlock::ToolCall {
                id: flat.id.get().to_owned(),
                name: name.to_owned(),
                arguments: arguments(flat.arguments),
            },
        })
        .collect()
}

fn other_call(call: &OtherCall<'_>) -> EventData {
    EventData::ToolCall(ToolCall {
        call_id: call.id.get().to_owned(),
        name: call.tool_type.get().to_owned(),
        arguments: arguments(call.action),
        ..ToolCall::default()
    })
}

/// A prompt, and apart from it what the program put around it.
fn prompt(line: &Line<'_>) -> Vec<EventData> {
    let (mut own, mut added) = (Vec::new(), Vec::new());
    let reason = line.synthetic_reason.get();
    for block in line.content.content() {
        let ContentBlock::Text { text } = &block else {
            own.push(block);
            continue;
        };
        if let Some((before, rest)) = text.split_once(QUERY) {
            let (query, after) = rest.split_once(QUERY_END).unwrap_or((rest, ""));
            own.push(ContentBlock::text(query.trim()));
            let around = [before, after].into_iter().filter(|text| !text.trim().is_empty());
            added.extend(around.map(ContentBlock::text));
        } else if text.trim_start().starts_with("<user_info>") {
            added.push(block);
        } else {
            own.push(block);
        }
    }
    let own = message(own).map(|message| match reason {
        "" => EventData::UserMessage(message),
        "interjection" => EventData::SteeringMessage(message),
        reason => EventData::ContextMessage(message.from_source(reason)),
    });
    let added = message(added).map(|message| EventData::ContextMessage(message.from_source("injected")));
    own.into_iter().chain(added).collect()
}
