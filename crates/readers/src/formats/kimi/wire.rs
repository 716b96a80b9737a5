//! What `kimi-cli` sends to the terminal: the parts of replies one by one, in which the arguments of a call may
//! come in pieces.

use super::AGENT;
use super::context::is_injected;
use super::place::{look_around, session_of};
use crate::blocks::{Block, Blocks, message};
use crate::chat;
use crate::journal::{Records, Stop, Took};
use crate::lenient::{Flag, Object, Words};
use crate::log::SessionLog;
use crate::telling::{Chain, Telling};
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use lookback_model::{SourceFile, Timestamp};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Messages that hold no part of the conversation.
const BOOKKEEPING: &[&str] = &[
    "StatusUpdate",
    "ApprovalRequest",
    "ApprovalResponse",
    "ApprovalRequestResolved",
    "CompactionEnd",
    "StepInterrupted",
    "TurnEnd",
    "Notification",
    "ToolCallRequest",
    "QuestionRequest",
    "PlanDisplay",
    "MCPLoadingBegin",
    "MCPLoadingEnd",
    "HookTriggered",
    "HookResolved",
    "BtwBegin",
    "BtwEnd",
];

/// A session as far as it was read.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Conversation {
    chain: Chain,
    /// Steps so far: what is said in one is one reply.
    step: u64,
    /// A call whose arguments are not complete yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<PendingCall>,
    /// Such a call was told when the last read ended, so that it cannot be completed any more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    call_is_told: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct PendingCall {
    block: ContentBlock,
    time: Option<Timestamp>,
}

/// A line.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Words<'a>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Object<Sent<'a>>,
}

/// A message to the terminal.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Sent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Words<'a>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Payload<'a> {
    #[serde(borrow)]
    user_input: Blocks<'a>,
    #[serde(borrow)]
    arguments_part: Words<'a>,
    #[serde(borrow)]
    tool_call_id: Words<'a>,
    #[serde(borrow)]
    return_value: Object<Answer<'a>>,
    /// The same in older versions.
    #[serde(borrow)]
    result: Object<Answer<'a>>,
    /// What a subagent sent.
    #[serde(borrow)]
    event: Object<Sent<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer<'a> {
    is_error: Flag,
    #[serde(borrow)]
    output: Blocks<'a>,
    #[serde(borrow)]
    message: Words<'a>,
}

impl Records for Conversation {
    type Record<'a> = Line<'a>;

    fn session_id(&mut self, line: &Line<'_>, file: &SourceFile) -> Option<String> {
        let is_one = line.kind.get() == "metadata" || line.message.0.is_some();
        is_one.then(|| session_of(file))
    }

    fn look_around(&mut self, file: &SourceFile, log: &mut SessionLog<'_>) {
        look_around(file, log);
    }

    fn take(&mut self, line: Line<'_>, log: &mut SessionLog<'_>) -> Result<Took, Stop> {
        let Some(sent) = line.message.0 else {
            return Ok(match line.kind.get() {
                "metadata" => Took::Bookkeeping,
                "" => Took::Unknown("(none)".to_owned()),
                other => Took::Unknown(other.to_owned()),
            });
        };
        let time = line
            .timestamp
            .and_then(|raw| Timestamp::parse(raw.get().trim_matches('"')));
        if let Some(time) = time {
            log.saw_time(time);
        }
        let kind = sent.kind.get();
        if BOOKKEEPING.contains(&kind) {
            return Ok(Took::Bookkeeping);
        }
        if kind == "ToolCallPart" {
            return self.part_of_call(&sent, log);
        }
        // Whatever else happens, happens after the call, and completes it.
        self.tell_call(log)?;
        self.call_is_told = false;
        if kind == "SubagentEvent" {
            return subagent(&sent, &mut Telling::new(AGENT, log, time));
        }
        self.message(&sent, time, log)
    }

    fn pause(&mut self, log: &mut SessionLog<'_>) -> Result<(), Stop> {
        if self.call.is_some() {
            self.tell_call(log)?;
            self.call_is_told = true;
        }
        Ok(())
    }
}

impl Conversation {
    fn message(
        &mut self,
        sent: &Sent<'_>,
        time: Option<Timestamp>,
        log: &mut SessionLog<'_>,
    ) -> Result<Took, Stop> {
        let payload = payload(sent);
        let data = match sent.kind.get() {
            "TurnBegin" => prompt(&payload, EventData::UserMessage),
            "SteerInput" => prompt(&payload, EventData::SteeringMessage),
            "StepBegin" => {
                self.step += 1;
                return Ok(Took::Bookkeeping);
            }
            "CompactionBegin" => {
                log.facts().compactions += 1;
                return Ok(Took::Bookkeeping);
            }
            "ContentPart" => {
                if let Some(block) = part(sent) {
                    self.tell_block(block, time, log)?;
                }
                return Ok(Took::Record);
            }
            "ToolCall" => {
                let block = call(sent);
                let is_complete = is_complete(&block);
                self.call = Some(PendingCall { block, time });
                if is_complete {
                    self.tell_call(log)?;
                }
                return Ok(Took::Record);
            }
            "ToolResult" => Some(EventData::ToolResult(answer(&payload))),
            "" => return Ok(Took::Unknown("message without a type".to_owned())),
            other => return Ok(Took::Unknown(other.to_owned())),
        };
        if let Some(data) = data {
            Telling::new(AGENT, log, time).chained(data, &mut self.chain)?;
        }
        Ok(Took::Record)
    }

    /// A further piece of a call's arguments.
    fn part_of_call(&mut self, sent: &Sent<'_>, log: &mut SessionLog<'_>) -> Result<Took, Stop> {
        if self.call_is_told {
            return Err(Stop::Stale);
        }
        let Some(pending) = &mut self.call else {
            return Ok(Took::Bookkeeping);
        };
        if let ContentBlock::ToolCall { arguments, .. } = &mut pending.block {
            arguments.push_str(payload(sent).arguments_part.get());
        }
        if is_complete(&pending.block) {
            self.tell_call(log)?;
        }
        Ok(Took::Record)
    }

    fn tell_call(&mut self, log: &mut SessionLog<'_>) -> Result<(), Stop> {
        match self.call.take() {
            Some(call) => self.tell_block(call.block, call.time, log),
            None => Ok(()),
        }
    }

    /// Tells a part of the step's reply.
    fn tell_block(
        &mut self,
        block: ContentBlock,
        time: Option<Timestamp>,
        log: &mut SessionLog<'_>,
    ) -> Result<(), Stop> {
        let message = message(vec![block]).unwrap_or_default();
        let mut telling = Telling::new(AGENT, log, time);
        telling.reply = Some(format!("step-{}", self.step));
        telling.chained(EventData::AssistantMessage(message), &mut self.chain)?;
        Ok(())
    }
}

/// What a subagent says is not sent to the session's model.
fn subagent(sent: &Sent<'_>, telling: &mut Telling<'_, '_>) -> Result<Took, Stop> {
    let Some(event) = payload(sent).event.0 else {
        return Ok(Took::Bookkeeping);
    };
    let reply = |block| {
        let message = message(vec![block]).unwrap_or_default();
        EventData::ContextMessage(message.from_source("subagent"))
    };
    let data = match event.kind.get() {
        "ContentPart" => part(&event).map(reply),
        "ToolCall" => Some(reply(call(&event))),
        "ToolResult" => {
            let message = Message {
                content: answer(&payload(&event)).content,
                ..Message::default()
            };
            Some(EventData::ContextMessage(message.from_source("subagent")))
        }
        _ => None,
    };
    match data {
        Some(data) => telling.aside(data).map(|_| Took::Record),
        None => Ok(Took::Bookkeeping),
    }
}

fn payload<'a>(sent: &Sent<'a>) -> Payload<'a> {
    let payload: Option<Object<Payload<'a>>> =
        sent.payload.and_then(|raw| serde_json::from_str(raw.get()).ok());
    payload.and_then(|payload| payload.0).unwrap_or_default()
}

fn prompt(payload: &Payload<'_>, data: fn(Message) -> EventData) -> Option<EventData> {
    let content = payload.user_input.content();
    let is_own = content.iter().any(|block| !is_injected(block));
    let message = message(content)?;
    Some(if is_own {
        data(message)
    } else {
        EventData::ContextMessage(message.from_source("reminder"))
    })
}

fn part(sent: &Sent<'_>) -> Option<ContentBlock> {
    let block: Object<Block<'_>> = serde_json::from_str(sent.payload?.get()).ok()?;
    block.0?.content()
}

fn call(sent: &Sent<'_>) -> ContentBlock {
    let call = sent
        .payload
        .and_then(|raw| serde_json::from_str::<Object<chat::Call<'_>>>(raw.get()).ok());
    call.and_then(|call| call.0).unwrap_or_default().block()
}

fn is_complete(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::ToolCall { arguments, .. } if serde_json::from_str::<IgnoredAny>(arguments).is_ok())
}

fn answer(payload: &Payload<'_>) -> ToolResult {
    let mut result = ToolResult {
        call_id: payload.tool_call_id.get().to_owned(),
        ..ToolResult::default()
    };
    if let Some(answer) = payload.return_value.0.as_ref().or(payload.result.0.as_ref()) {
        result.content = answer.output.content();
        result.is_error = answer.is_error.0;
        let message = answer.message.get();
        if result.content.is_empty() && !message.trim().is_empty() {
            result.content.push(ContentBlock::text(message));
        }
    }
    result
}
