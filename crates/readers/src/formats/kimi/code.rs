//! What `kimi-code` records of an agent: messages that join the context, and the parts of replies one by one.
//!
//! Newer versions record every message a second time, as `agent.message.appended`; that is passed over, and so
//! is the first record of a prompt, which the context repeats.

use super::AGENT;
use super::context::is_injected;
use super::place::{folder, state_of};
use crate::blocks::{Block, Blocks, arguments, message};
use crate::journal::{Records, Stop, Took};
use crate::lenient::{Flag, List, Number, Object, Words};
use crate::log::{Placement, SessionLog};
use crate::telling::Telling;
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use lookback_model::session::SessionKind;
use lookback_model::{SourceFile, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The session's own agent.
const MAIN: &str = "main";
/// Records that hold no part of the conversation: all of a kind, where a name ends in a dot.
const BOOKKEEPING: &[&str] = &[
    "agent.",
    "interaction.",
    "llm.tools_snapshot",
    "permission.",
    "plugin.",
    "prompt.",
    "runtime.",
    "token_counting.",
    "tools.",
    "turn.",
    "usage.",
];
/// Prompts that can be taken back without reading the file anew.
const PROMPTS_REMEMBERED: usize = 64;

/// A session as far as it was read.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Conversation {
    /// The last prompts.
    prompts: Vec<u64>,
    /// There were more of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    forgot: bool,
}

/// A line.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Words<'a>,
    time: Number,
    #[serde(rename = "created_at")]
    created_at: Number,
    #[serde(borrow)]
    message: Object<Said<'a>>,
    #[serde(borrow)]
    event: Object<Event<'a>>,
    #[serde(borrow)]
    cwd: Words<'a>,
    #[serde(borrow)]
    model: Words<'a>,
    #[serde(borrow)]
    summary: Words<'a>,
    count: Number,
    /// The session that was forked.
    #[serde(borrow)]
    source_session_id: Words<'a>,
    #[serde(borrow)]
    parent_session_id: Words<'a>,
}

/// A message of the context.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Said<'a> {
    #[serde(borrow)]
    role: Words<'a>,
    #[serde(borrow)]
    id: Words<'a>,
    #[serde(borrow)]
    content: Blocks<'a>,
    #[serde(borrow)]
    tool_calls: List<Call<'a>>,
    #[serde(borrow)]
    tool_call_id: Words<'a>,
    #[serde(borrow)]
    origin: Object<Origin<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Call<'a> {
    #[serde(borrow)]
    id: Words<'a>,
    #[serde(borrow)]
    name: Words<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Origin<'a> {
    #[serde(borrow)]
    kind: Words<'a>,
}

/// A step of the agent's work.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Words<'a>,
    #[serde(borrow)]
    uuid: Words<'a>,
    #[serde(borrow)]
    step_uuid: Words<'a>,
    /// The call that is answered.
    #[serde(borrow)]
    parent_uuid: Words<'a>,
    #[serde(borrow)]
    part: Object<Block<'a>>,
    #[serde(borrow)]
    tool_call_id: Words<'a>,
    #[serde(borrow)]
    name: Words<'a>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Object<Answer<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Answer<'a> {
    #[serde(borrow)]
    output: Blocks<'a>,
    is_error: Flag,
}

impl Records for Conversation {
    type Record<'a> = Line<'a>;

    /// A subagent has no id of its own beyond its session.
    fn session_id(&mut self, line: &Line<'_>, file: &SourceFile) -> Option<String> {
        if line.kind.get().is_empty() {
            return None;
        }
        let (agent, session) = (folder(file, 1)?, folder(file, 3)?);
        Some(if agent == MAIN {
            session.to_owned()
        } else {
            format!("{session}/{agent}")
        })
    }

    fn look_around(&mut self, file: &SourceFile, log: &mut SessionLog<'_>) {
        let state = state_of(file).unwrap_or_default();
        if let Some(time) = state.created() {
            log.saw_time(time);
        }
        let facts = log.facts();
        facts.archived = state.archived;
        facts.cwd = facts.cwd.take().or(state.cwd).or(state.work_dir);
        let (Some(agent), Some(session)) = (folder(file, 1), folder(file, 3)) else {
            return;
        };
        if agent != MAIN {
            let parent = state.agents.get(agent).and_then(|state| state.parent.as_deref());
            facts.kind = SessionKind::Subagent;
            facts.parent = Some(match parent {
                None | Some(MAIN) => session.to_owned(),
                Some(parent) => format!("{session}/{parent}"),
            });
        }
    }

    fn take(&mut self, line: Line<'_>, log: &mut SessionLog<'_>) -> Result<Took, Stop> {
        let time = line.time.0.or(line.created_at.0);
        let time = time.and_then(|time| Timestamp::from_number(time as f64));
        if let Some(time) = time {
            log.saw_time(time);
        }
        let telling = Telling::new(AGENT, log, time);
        match line.kind.get() {
            "context.append_message" => match line.message.0 {
                Some(said) => self.said(&said, telling),
                None => Ok(Took::Unknown("message without a body".to_owned())),
            },
            "context.append_loop_event" => match line.event.0 {
                Some(event) => worked(&event, telling),
                None => Ok(Took::Unknown("event without a body".to_owned())),
            },
            "context.apply_compaction" => {
                self.compaction(&line, telling)?;
                Ok(Took::Record)
            }
            "context.undo" => self.undo(line.count.0.unwrap_or(1), telling),
            "context.clear" => self.clear(telling),
            "forked" => {
                let origin = [&line.source_session_id, &line.parent_session_id].map(|id| id.get());
                let origin = origin.into_iter().find(|id| !id.is_empty());
                log.facts().forked_from = origin.map(str::to_owned);
                log.seed_ends_here();
                Ok(Took::Bookkeeping)
            }
            kind => Ok(bookkeeping(kind, &line, log)),
        }
    }
}

fn bookkeeping(kind: &str, line: &Line<'_>, log: &mut SessionLog<'_>) -> Took {
    let is_known = BOOKKEEPING.iter().any(|known| match known.strip_suffix('.') {
        Some(family) => kind
            .strip_prefix(family)
            .is_some_and(|rest| rest.starts_with('.')),
        None => kind == *known,
    });
    let facts = log.facts();
    match kind {
        "llm.request" if !line.model.get().is_empty() => facts.model = Some(line.model.get().to_owned()),
        "config.update" | "profile.bind" if facts.cwd.is_none() && !line.cwd.get().is_empty() => {
            facts.cwd = Some(line.cwd.get().to_owned());
        }
        "metadata" | "llm.request" | "config.update" | "profile.bind" => {}
        _ if is_known => {}
        "" => return Took::Unknown("(none)".to_owned()),
        other => return Took::Unknown(other.to_owned()),
    }
    Took::Bookkeeping
}

impl Conversation {
    fn said(&mut self, said: &Said<'_>, mut telling: Telling<'_, '_>) -> Result<Took, Stop> {
        telling.id = said
            .id
            .0
            .as_deref()
            .filter(|id| !id.is_empty())
            .map(str::to_owned);
        let mut content = said.content.content();
        let data = match said.role.get() {
            "user" => {
                let origin = said.origin.0.as_ref().map_or("", |origin| origin.kind.get());
                let is_own = content.iter().any(|block| !is_injected(block));
                let Some(message) = message(content) else {
                    return Ok(Took::Bookkeeping);
                };
                match origin {
                    "" | "user" if is_own => {
                        let seq = telling.event(EventData::UserMessage(message))?;
                        self.remember(seq);
                        return Ok(Took::Record);
                    }
                    "" | "user" => EventData::ContextMessage(message.from_source("reminder")),
                    origin => EventData::ContextMessage(message.from_source(origin)),
                }
            }
            "assistant" => {
                content.extend(said.tool_calls.get().iter().map(|call| ContentBlock::ToolCall {
                    id: call.id.get().to_owned(),
                    name: call.name.get().to_owned(),
                    arguments: arguments(call.arguments),
                }));
                EventData::AssistantMessage(message(content).unwrap_or_default())
            }
            "tool" => EventData::ToolResult(ToolResult {
                call_id: said.tool_call_id.get().to_owned(),
                content,
                ..ToolResult::default()
            }),
            other => return Ok(Took::Unknown(format!("message/{other}"))),
        };
        telling.event(data)?;
        Ok(Took::Record)
    }

    fn remember(&mut self, prompt: u64) {
        if self.prompts.len() == PROMPTS_REMEMBERED {
            self.prompts.remove(0);
            self.forgot = true;
        }
        self.prompts.push(prompt);
    }

    /// What was said so far is sent no more; its summary takes its place.
    fn compaction(&mut self, line: &Line<'_>, mut telling: Telling<'_, '_>) -> Result<(), Stop> {
        telling.log.facts().compactions += 1;
        let summary = Message::text(line.summary.get()).from_source("compaction");
        telling.place(EventData::ContextMessage(summary), Placement::ReplaceAll)?;
        (self.prompts, self.forgot) = (Vec::new(), false);
        Ok(())
    }

    /// Takes back the last prompts, and all that came of them.
    fn undo(&mut self, count: u64, telling: Telling<'_, '_>) -> Result<Took, Stop> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if count > self.prompts.len() && self.forgot {
            return Err(Stop::Stale);
        }
        let at = self.prompts.len().saturating_sub(count);
        let first = self.prompts.get(at).copied();
        self.prompts.truncate(at);
        let last = telling.log.surface().current().last().copied();
        match first.zip(last) {
            Some((first, last)) => take_back(Placement::ReplaceRange(first, last), telling),
            None => Ok(Took::Bookkeeping),
        }
    }

    fn clear(&mut self, telling: Telling<'_, '_>) -> Result<Took, Stop> {
        (self.prompts, self.forgot) = (Vec::new(), false);
        if telling.log.surface().current().is_empty() {
            return Ok(Took::Bookkeeping);
        }
        take_back(Placement::ReplaceAll, telling)
    }
}

fn take_back(placement: Placement, mut telling: Telling<'_, '_>) -> Result<Took, Stop> {
    telling.log.facts().rewinds += 1;
    let mark = Message::default().from_source("rollback");
    telling.place(EventData::ContextMessage(mark), placement)?;
    Ok(Took::Record)
}

/// A part of a reply, or what a tool answered.
fn worked(event: &Event<'_>, mut telling: Telling<'_, '_>) -> Result<Took, Stop> {
    telling.id = event
        .uuid
        .0
        .as_deref()
        .filter(|id| !id.is_empty())
        .map(str::to_owned);
    telling.reply = event.step_uuid.0.as_deref().map(str::to_owned);
    let data = match event.kind.get() {
        "content.part" => {
            let Some(block) = event.part.0.as_ref().and_then(Block::content) else {
                return Ok(Took::Bookkeeping);
            };
            EventData::AssistantMessage(message(vec![block]).unwrap_or_default())
        }
        "tool.call" => {
            let call = ContentBlock::ToolCall {
                id: event.tool_call_id.get().to_owned(),
                name: event.name.get().to_owned(),
                arguments: arguments(event.args),
            };
            EventData::AssistantMessage(message(vec![call]).unwrap_or_default())
        }
        "tool.result" => {
            telling.id = event.parent_uuid.0.as_deref().map(str::to_owned);
            telling.part = "/result".to_owned();
            let answer = event.result.0.as_ref();
            EventData::ToolResult(ToolResult {
                call_id: event.tool_call_id.get().to_owned(),
                content: answer.map_or_else(Vec::new, |answer| answer.output.content()),
                is_error: answer.is_some_and(|answer| answer.is_error.0),
                ..ToolResult::default()
            })
        }
        "step.begin" | "step.end" | "step.retry" | "llm.request" => return Ok(Took::Bookkeeping),
        other => return Ok(Took::Unknown(format!("event/{other}"))),
    };
    telling.event(data)?;
    Ok(Took::Record)
}
