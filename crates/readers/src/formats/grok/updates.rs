//! What Grok sends to the terminal: words in pieces, which belong together without anything between them.

use super::AGENT;
use super::summary::{look_around, session_of};
use crate::blocks::{Block, Blocks, arguments, message};
use crate::journal::{Records, Stop, Took};
use crate::lenient::{Number, Object, Words, readable};
use crate::log::SessionLog;
use crate::telling::{Chain, Telling};
use lookback_model::event::{ContentBlock, EventData, ToolResult};
use lookback_model::{SourceFile, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Updates that hold no part of the conversation.
const BOOKKEEPING: &[&str] = &[
    "plan",
    "hook_execution",
    "retry_state",
    "task_backgrounded",
    "task_completed",
    "session_recap",
    "turn_completed",
    "available_commands_update",
    "current_mode_update",
    "usage_update",
];

/// A session as far as it was read.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Conversation {
    chain: Chain,
    /// Words that may go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<Pending>,
    /// Whose words were told when the last read ended, so that they cannot go on any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    told: Option<Key>,
    /// Answers and prompts so far: what is said between two of them is one reply.
    step: u64,
}

/// Whose words they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Speaker {
    Person,
    Agent,
    Thought,
}

/// What pieces that belong together have in common: who speaks, and to which prompt.
type Key = (Speaker, String);

#[derive(Debug, Serialize, Deserialize)]
struct Pending {
    key: Key,
    text: String,
    media: Vec<ContentBlock>,
    time: Option<Timestamp>,
}

/// A line.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Line<'a> {
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Object<Params<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Params<'a> {
    #[serde(borrow)]
    update: Object<Update<'a>>,
    #[serde(borrow, rename = "_meta")]
    meta: Object<Meta<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Meta<'a> {
    agent_timestamp_ms: Number,
    #[serde(borrow)]
    prompt_id: Words<'a>,
    prompt_index: Number,
    #[serde(borrow)]
    model_id: Words<'a>,
    #[serde(borrow, rename = "x.ai/tool")]
    tool: Object<Tool<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tool<'a> {
    #[serde(borrow)]
    name: Words<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Update<'a> {
    #[serde(borrow)]
    session_update: Words<'a>,
    #[serde(borrow)]
    content: Blocks<'a>,
    #[serde(borrow)]
    tool_call_id: Words<'a>,
    #[serde(borrow)]
    title: Words<'a>,
    #[serde(borrow)]
    status: Words<'a>,
    #[serde(borrow)]
    raw_input: Option<&'a RawValue>,
    #[serde(borrow)]
    raw_output: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Object<Meta<'a>>,
}

impl Records for Conversation {
    type Record<'a> = Line<'a>;

    fn session_id(&mut self, line: &Line<'_>, file: &SourceFile) -> Option<String> {
        line.params.0.as_ref().and_then(|_| session_of(file))
    }

    fn look_around(&mut self, file: &SourceFile, log: &mut SessionLog<'_>) {
        look_around(file, log);
    }

    fn take(&mut self, line: Line<'_>, log: &mut SessionLog<'_>) -> Result<Took, Stop> {
        let Some(Params { update, meta }) = line.params.0 else {
            return Ok(Took::Unknown("line without parameters".to_owned()));
        };
        let Some(update) = update.0 else {
            return Ok(Took::Unknown("no update".to_owned()));
        };
        let exact = meta.0.as_ref().and_then(|meta| meta.agent_timestamp_ms.0);
        let exact = exact.and_then(|time| Timestamp::from_number(time as f64));
        let rough = || Timestamp::parse(line.timestamp?.get().trim_matches('"'));
        let time = exact.or_else(rough);
        if let Some(time) = time {
            log.saw_time(time);
        }
        let prompt = meta.0.as_ref().map_or("", |meta| meta.prompt_id.get());
        let own = update.meta.0.as_ref();
        if let Some(model) = own
            .map(|own| own.model_id.get())
            .filter(|model| !model.is_empty())
        {
            log.facts().model = Some(model.to_owned());
        }
        let kind = update.session_update.get();
        let key = match kind {
            "user_message_chunk" => {
                let index = own.and_then(|own| own.prompt_index.0);
                (
                    Speaker::Person,
                    index.map_or_else(String::new, |index| index.to_string()),
                )
            }
            "agent_message_chunk" => (Speaker::Agent, prompt.to_owned()),
            "agent_thought_chunk" => (Speaker::Thought, prompt.to_owned()),
            "tool_call" | "tool_call_update" => return self.tool(&update, time, log),
            kind if BOOKKEEPING.contains(&kind) => return Ok(Took::Bookkeeping),
            "" => return Ok(Took::Unknown("(none)".to_owned())),
            other => return Ok(Took::Unknown(other.to_owned())),
        };
        self.piece(key, &update.content, time, log)?;
        Ok(Took::Record)
    }

    fn pause(&mut self, log: &mut SessionLog<'_>) -> Result<(), Stop> {
        if let Some(key) = self.pending.as_ref().map(|pending| pending.key.clone()) {
            self.tell_pending(log)?;
            self.told = Some(key);
        }
        Ok(())
    }
}

impl Conversation {
    /// A piece of somebody's words.
    fn piece(
        &mut self,
        key: Key,
        content: &Blocks<'_>,
        time: Option<Timestamp>,
        log: &mut SessionLog<'_>,
    ) -> Result<(), Stop> {
        if self.told.as_ref() == Some(&key) {
            return Err(Stop::Stale);
        }
        if self.pending.as_ref().is_none_or(|pending| pending.key != key) {
            self.tell_pending(log)?;
            self.pending = Some(Pending {
                key,
                text: String::new(),
                media: Vec::new(),
                time,
            });
        }
        let Some(pending) = &mut self.pending else {
            return Ok(());
        };
        for block in &content.0 {
            pending.text.push_str(block.text.get());
            let block = block.content();
            pending
                .media
                .extend(block.filter(|block| matches!(block, ContentBlock::Media { .. })));
        }
        Ok(())
    }

    fn tell_pending(&mut self, log: &mut SessionLog<'_>) -> Result<(), Stop> {
        self.told = None;
        let Some(pending) = self.pending.take() else {
            return Ok(());
        };
        let mut content = pending.media;
        if !pending.text.trim().is_empty() {
            let text = pending.text;
            content.insert(
                0,
                match pending.key.0 {
                    Speaker::Thought => ContentBlock::Reasoning { text },
                    _ => ContentBlock::Text { text },
                },
            );
        }
        let Some(message) = message(content) else {
            return Ok(());
        };
        if pending.key.0 == Speaker::Person {
            self.step += 1;
            return self.tell(EventData::UserMessage(message), pending.time, log);
        }
        self.tell(EventData::AssistantMessage(message), pending.time, log)
    }

    fn tell(
        &mut self,
        data: EventData,
        time: Option<Timestamp>,
        log: &mut SessionLog<'_>,
    ) -> Result<(), Stop> {
        let mut telling = Telling::new(AGENT, log, time);
        telling.reply = Some(format!("step-{}", self.step));
        telling.chained(data, &mut self.chain)?;
        Ok(())
    }

    /// A call, or what became of one.
    fn tool(
        &mut self,
        update: &Update<'_>,
        time: Option<Timestamp>,
        log: &mut SessionLog<'_>,
    ) -> Result<Took, Stop> {
        let is_call = update.session_update.get() == "tool_call";
        let has_ended = matches!(update.status.get(), "completed" | "failed");
        if !is_call && !has_ended {
            return Ok(Took::Bookkeeping);
        }
        self.tell_pending(log)?;
        if is_call {
            let call = message(vec![call(update)]).unwrap_or_default();
            self.tell(EventData::AssistantMessage(call), time, log)?;
        }
        if has_ended {
            let answer = ToolResult {
                call_id: update.tool_call_id.get().to_owned(),
                content: answer(update),
                is_error: update.status.get() == "failed",
                ..ToolResult::default()
            };
            self.tell(EventData::ToolResult(answer), time, log)?;
            self.step += 1;
        }
        Ok(Took::Record)
    }
}

fn call(update: &Update<'_>) -> ContentBlock {
    let title = update.title.get();
    let named = update.meta.0.as_ref().and_then(|meta| meta.tool.0.as_ref());
    let named = named.map_or("", |tool| tool.name.get());
    let input = arguments(update.raw_input);
    ContentBlock::ToolCall {
        id: update.tool_call_id.get().to_owned(),
        name: if named.is_empty() { title } else { named }.to_owned(),
        arguments: if input.is_empty() && !named.is_empty() {
            title.to_owned()
        } else {
            input
        },
    }
}

/// What a tool answered: what the terminal was shown, else what it gave.
fn answer(update: &Update<'_>) -> Vec<ContentBlock> {
    let inner = |block: &Block<'_>| match block.kind.get() {
        "content" => block.content.content(),
        _ => block.content().into_iter().collect(),
    };
    let content: Vec<_> = update.content.0.iter().flat_map(inner).collect();
    if !content.is_empty() {
        return content;
    }
    let whole = update.raw_output.and_then(|raw| readable(raw).ok());
    whole
        .filter(|text| !text.trim().is_empty())
        .map(ContentBlock::text)
        .into_iter()
        .collect()
}
