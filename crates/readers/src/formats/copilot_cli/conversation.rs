//! What Copilot CLI's events mean.
//!
//! Half of the lines are those of hooks, which repeat what others say. A subagent speaks in the file of the
//! session it works for: what it says stays off the surface, for the session's model is not sent it.

use super::{AGENT, EVENTS, WORKSPACE, workspace_value};
use crate::beside;
use crate::blocks::{Blocks, arguments, message};
use crate::journal::{Records, Stop, Took};
use crate::lenient::{Flag, List, Object, Words};
use crate::log::{Placement, SessionLog};
use crate::telling::Telling;
use lookback_model::event::{ContentBlock, EventData, Message, ToolCall, ToolResult, TurnEnd, TurnEndReason};
use lookback_model::{SourceFile, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Events that hold no part of the conversation: all of a kind, where a name ends in a dot.
const BOOKKEEPING: &[&str] = &[
    "hook.",
    "permission.",
    "subagent.",
    "skill.",
    "assistant.turn_start",
    "assistant.turn_end",
    "system.message",
    "system.notification",
    "session.compaction_start",
    "session.info",
    "session.mode_changed",
    "session.permissions_changed",
    "session.plan_changed",
    "session.shutdown",
    "session.truncation",
    "session.usage_checkpoint",
    "session.usage_record",
    "session.workspace_file_changed",
];
/// Calls that are remembered until they begin.
const CALLS_REMEMBERED: usize = 64;

/// A session as far as it was read.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Conversation {
    /// Calls that a reply named and that did not begin yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<String>,
    /// The file that tells of the session's place where no event does.
    #[serde(skip)]
    workspace: Option<String>,
}

/// A line.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Words<'a>,
    #[serde(borrow)]
    id: Words<'a>,
    #[serde(borrow)]
    timestamp: Words<'a>,
    /// The subagent that an event is of.
    #[serde(borrow)]
    agent_id: Words<'a>,
    #[serde(borrow)]
    data: Object<Data<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Data<'a> {
    #[serde(borrow)]
    session_id: Words<'a>,
    #[serde(borrow)]
    copilot_version: Words<'a>,
    #[serde(borrow)]
    selected_model: Words<'a>,
    #[serde(borrow)]
    new_model: Words<'a>,
    #[serde(borrow)]
    context: Object<Context<'a>>,
    #[serde(borrow)]
    content: Words<'a>,
    /// Who made a prompt, when it was not the person.
    #[serde(borrow)]
    source: Words<'a>,
    /// The same as the line's subagent, in older versions.
    #[serde(borrow)]
    parent_tool_call_id: Words<'a>,
    #[serde(borrow)]
    model: Words<'a>,
    #[serde(borrow)]
    reasoning_text: Words<'a>,
    #[serde(borrow)]
    tool_requests: List<Request<'a>>,
    #[serde(borrow)]
    tool_call_id: Words<'a>,
    #[serde(borrow)]
    tool_name: Words<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    success: Flag,
    #[serde(borrow)]
    result: Object<Answer<'a>>,
    #[serde(borrow)]
    error: Object<Failure<'a>>,
    #[serde(borrow)]
    summary_content: Words<'a>,
    #[serde(borrow)]
    summary: Words<'a>,
    #[serde(borrow)]
    title: Words<'a>,
    #[serde(borrow)]
    reason: Words<'a>,
    #[serde(borrow)]
    message: Words<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Context<'a> {
    #[serde(borrow)]
    cwd: Words<'a>,
    #[serde(borrow)]
    branch: Words<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Request<'a> {
    #[serde(borrow)]
    tool_call_id: Words<'a>,
    #[serde(borrow)]
    name: Words<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Answer<'a> {
    #[serde(borrow)]
    content: Blocks<'a>,
    #[serde(borrow)]
    contents: Blocks<'a>,
    #[serde(borrow)]
    detailed_content: Words<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Failure<'a> {
    #[serde(borrow)]
    message: Words<'a>,
}

impl Records for Conversation {
    type Record<'a> = Line<'a>;

    fn session_id(&mut self, line: &Line<'_>, file: &SourceFile) -> Option<String> {
        let data = line.data.0.as_ref()?;
        if line.kind.get() == "session.start" && !data.session_id.get().trim().is_empty() {
            return Some(data.session_id.get().to_owned());
        }
        // The first line is damaged.
        if !line.kind.get().contains('.') {
            return None;
        }
        let name = file.path.file_name()?.to_str()?;
        let place = if name == EVENTS {
            file.path.parent()?.file_name()?.to_str()?
        } else {
            file.path.file_stem()?.to_str()?
        };
        Some(place.to_owned())
    }

    fn look_around(&mut self, file: &SourceFile, _: &mut SessionLog<'_>) {
        self.workspace = beside::text(&file.path.with_file_name(WORKSPACE));
    }

    fn take(&mut self, line: Line<'_>, log: &mut SessionLog<'_>) -> Result<Took, Stop> {
        let kind = line.kind.get();
        let is_kept = BOOKKEEPING.iter().any(|known| match known.strip_suffix('.') {
            Some(family) => kind
                .strip_prefix(family)
                .is_some_and(|rest| rest.starts_with('.')),
            None => kind == *known,
        });
        let time = Timestamp::parse(line.timestamp.get());
        if let Some(time) = time {
            log.saw_time(time);
        }
        if is_kept {
            return Ok(Took::Bookkeeping);
        }
        let Some(data) = &line.data.0 else {
            return Ok(Took::Unknown(format!("{kind} without data")));
        };
        let is_aside = [&line.agent_id, &data.parent_tool_call_id]
            .iter()
            .any(|words| !words.get().is_empty());
        let mut telling = Telling::new(AGENT, log, time);
        telling.id = line
            .id
            .0
            .as_deref()
            .filter(|id| !id.is_empty())
            .map(str::to_owned);
        self.event(kind, data, is_aside, &mut telling)
    }

    fn pause(&mut self, log: &mut SessionLog<'_>) -> Result<(), Stop> {
        // Every start of the program leaves a session, whether or not anything is asked of it.
        let facts = log.facts();
        facts.hidden = facts.message_count() == 0;
        if let Some(text) = &self.workspace {
            facts.cwd = facts.cwd.take().or_else(|| workspace_value(text, "cwd"));
            facts.branch = facts.branch.take().or_else(|| workspace_value(text, "branch"));
        }
        Ok(())
    }
}

impl Conversation {
    fn event(
        &mut self,
        kind: &str,
        data: &Data<'_>,
        is_aside: bool,
        telling: &mut Telling<'_, '_>,
    ) -> Result<Took, Stop> {
        let event = match kind {
            "session.start" | "session.resume" | "session.context_changed" => {
                take_context(data, telling.log);
                return Ok(Took::Bookkeeping);
            }
            "session.model_change" => {
                if !is_aside && !data.new_model.get().is_empty() {
                    telling.log.facts().model = Some(data.new_model.get().to_owned());
                }
                return Ok(Took::Bookkeeping);
            }
            "session.title_changed" => {
                let rank = lookback_model::facts::TitleRank::Given;
                telling.log.facts().offer_title(data.title.get(), rank);
                return Ok(Took::Record);
            }
            "user.message" => prompt(data, is_aside),
            "assistant.message" => Some(self.reply(data, is_aside, telling.log)),
            "tool.execution_start" | "tool.user_requested" => self.call(data),
            "tool.execution_complete" => Some(EventData::ToolResult(answer(data))),
            "session.compaction_complete" => return compaction(data, telling),
            "session.task_complete" => {
                let summary = Message::text(data.summary.get()).from_source("task-complete");
                telling.aside(EventData::ContextMessage(summary))?;
                return Ok(Took::Record);
            }
            "abort" => Some(turn_end("aborted", data)),
            "session.error" => Some(turn_end("error", data)),
            other => return Ok(Took::Unknown(other.to_owned())),
        };
        match event {
            None => return Ok(Took::Bookkeeping),
            Some(event) if is_aside => telling.aside(event)?,
            Some(event) => telling.event(event)?,
        };
        Ok(Took::Record)
    }

    fn reply(&mut self, data: &Data<'_>, is_aside: bool, log: &mut SessionLog<'_>) -> EventData {
        if !is_aside && !data.model.get().is_empty() {
            log.facts().model = Some(data.model.get().to_owned());
        }
        let mut content = Vec::new();
        let (reasoning, words) = (data.reasoning_text.get(), data.content.get());
        if !reasoning.trim().is_empty() {
            let text = reasoning.to_owned();
            content.push(ContentBlock::Reasoning { text });
        }
        if !words.trim().is_empty() {
            content.push(ContentBlock::text(words));
        }
        for request in data.tool_requests.get() {
            let id = request.tool_call_id.get().to_owned();
            if self.calls.len() == CALLS_REMEMBERED {
                self.calls.remove(0);
            }
            self.calls.push(id.clone());
            content.push(ContentBlock::ToolCall {
                id,
                name: request.name.get().to_owned(),
                arguments: arguments(request.arguments),
            });
        }
        EventData::AssistantMessage(message(content).unwrap_or_default())
    }

    /// A call that no reply named.
    fn call(&mut self, data: &Data<'_>) -> Option<EventData> {
        let id = data.tool_call_id.get();
        if let Some(at) = self.calls.iter().position(|known| known == id) {
            self.calls.remove(at);
            return None;
        }
        // A call that a person asks for is told when it is asked for, and begins like others.
        self.calls.push(id.to_owned());
        if self.calls.len() > CALLS_REMEMBERED {
            self.calls.remove(0);
        }
        Some(EventData::ToolCall(ToolCall {
            call_id: id.to_owned(),
            name: data.tool_name.get().to_owned(),
            arguments: arguments(data.arguments),
            ..ToolCall::default()
        }))
    }
}

fn take_context(data: &Data<'_>, log: &mut SessionLog<'_>) {
    let said = |words: &Words<'_>| {
        words
            .0
            .as_deref()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let facts = log.facts();
    facts.agent_version = said(&data.copilot_version).or(facts.agent_version.take());
    facts.model = said(&data.selected_model).or(facts.model.take());
    if let Some(context) = &data.context.0 {
        facts.cwd = facts.cwd.take().or_else(|| said(&context.cwd));
        facts.branch = said(&context.branch).or(facts.branch.take());
    }
}

/// A prompt, which for a subagent its caller wrote.
fn prompt(data: &Data<'_>, is_aside: bool) -> Option<EventData> {
    let words = data.content.get();
    if words.trim().is_empty() {
        return None;
    }
    let message = Message::text(words);
    let source = data.source.get();
    if is_aside {
        return Some(EventData::ContextMessage(message.from_source("subagent")));
    }
    if source.is_empty() || source == "user" {
        return Some(EventData::UserMessage(message));
    }
    Some(EventData::ContextMessage(message.from_source(source)))
}

fn answer(data: &Data<'_>) -> ToolResult {
    let mut content = Vec::new();
    if let Some(result) = &data.result.0 {
        content = result.content.content();
        if content.is_empty() {
            content = result.contents.content();
        }
        if content.is_empty() && !result.detailed_content.get().trim().is_empty() {
            content.push(ContentBlock::text(result.detailed_content.get()));
        }
    }
    let failure = data.error.0.as_ref().map_or("", |error| error.message.get());
    if content.is_empty() && !failure.trim().is_empty() {
        content.push(ContentBlock::text(failure));
    }
    ToolResult {
        call_id: data.tool_call_id.get().to_owned(),
        content,
        is_error: !data.success.0,
        ..ToolResult::default()
    }
}

/// What was said so far is sent no more; its summary takes its place.
fn compaction(data: &Data<'_>, telling: &mut Telling<'_, '_>) -> Result<Took, Stop> {
    if data.summary_content.get().trim().is_empty() {
        return Ok(Took::Bookkeeping);
    }
    telling.log.facts().compactions += 1;
    let summary = Message::text(data.summary_content.get()).from_source("compaction");
    telling.place(EventData::ContextMessage(summary), Placement::ReplaceAll)?;
    Ok(Took::Record)
}

fn turn_end(kind: &str, data: &Data<'_>) -> EventData {
    let said = |words: &Words<'_>| {
        words
            .0
            .as_deref()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let reason = TurnEndReason {
        kind: kind.to_owned(),
        reason: said(&data.reason),
        message: said(&data.message),
        ..TurnEndReason::default()
    };
    EventData::TurnEnd(TurnEnd { turn: None, reason })
}
