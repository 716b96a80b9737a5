//! What Qwen Code's records mean.
//!
//! Most lines are telemetry and snapshots. All of them hang in one chain, so that each is remembered. Parts of
//! one message may be written as several records of one id.

use super::AGENT;
use crate::formats::gemini::calls::calls;
use crate::formats::gemini::message::{Said, Speaker};
use crate::formats::gemini::record::{self, Content};
use crate::journal::{Records, Stop, Took};
use crate::lenient::{List, Object, Words};
use crate::log::{Placement, SessionLog};
use crate::telling::Telling;
use crate::tree::{Follows, Tree};
use lookback_model::event::{ContentBlock, EventData, Message};
use lookback_model::facts::TitleRank;
use lookback_model::{SourceFile, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Kinds of system records that hold no part of the conversation.
const BOOKKEEPING: &[&str] = &[
    "ui_telemetry",
    "attribution_snapshot",
    "file_history_snapshot",
    "at_command",
    "rewind",
    "branch_checkpoint",
];
/// Beginnings of more such kinds.
const BOOKKEEPING_PREFIXES: &[&str] = &["goal_", "session_artifact_", "managed_session_"];

/// A session as far as it was read.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Conversation {
    tree: Tree,
    /// The last message, as hashes of its id and its words.
    last: Option<(String, u64)>,
}

/// A line.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Record<'a> {
    #[serde(borrow)]
    uuid: Words<'a>,
    #[serde(borrow)]
    parent_uuid: Follows<'a>,
    #[serde(borrow)]
    session_id: Words<'a>,
    #[serde(borrow)]
    timestamp: Words<'a>,
    #[serde(borrow)]
    r#type: Words<'a>,
    #[serde(borrow)]
    subtype: Words<'a>,
    #[serde(borrow)]
    cwd: Words<'a>,
    #[serde(borrow)]
    version: Words<'a>,
    #[serde(borrow)]
    git_branch: Words<'a>,
    #[serde(borrow)]
    model: Words<'a>,
    #[serde(borrow)]
    message: Object<Body<'a>>,
    #[serde(borrow)]
    system_payload: Object<Payload<'a>>,
    #[serde(borrow)]
    tool_call_result: Object<CallResult<'a>>,
    #[serde(borrow)]
    forked_from: Object<Origin<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Body<'a> {
    #[serde(borrow)]
    parts: Content<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Payload<'a> {
    /// A prompt as it was typed.
    #[serde(borrow)]
    display_text: Content<'a>,
    #[serde(borrow)]
    custom_title: Words<'a>,
    #[serde(borrow)]
    raw_command: Words<'a>,
    #[serde(borrow)]
    phase: Words<'a>,
    #[serde(borrow)]
    model: Words<'a>,
    #[serde(borrow)]
    parent_session_id: Words<'a>,
    /// What the model is sent instead of everything before.
    #[serde(borrow)]
    compressed_history: List<Body<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CallResult<'a> {
    #[serde(borrow)]
    status: Words<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Origin<'a> {
    #[serde(borrow)]
    session_id: Words<'a>,
}

impl Records for Conversation {
    type Record<'a> = Record<'a>;

    fn session_id(&mut self, record: &Record<'_>, file: &SourceFile) -> Option<String> {
        let is_one = !record.session_id.get().is_empty() || !record.uuid.get().is_empty();
        is_one.then(|| {
            file.path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        })
    }

    fn look_around(&mut self, file: &SourceFile, log: &mut SessionLog<'_>) {
        let folder = file.path.parent();
        log.facts().archived = folder.is_some_and(|folder| folder.ends_with("archive"));
    }

    fn take(&mut self, mut record: Record<'_>, log: &mut SessionLog<'_>) -> Result<Took, Stop> {
        take_facts(&record, log);
        let time = Timestamp::parse(record.timestamp.get());
        let follows = std::mem::take(&mut record.parent_uuid);
        let id = record
            .uuid
            .0
            .as_deref()
            .filter(|id| !id.is_empty())
            .map(str::to_owned);
        let (is_known, placement) = match &id {
            Some(id) if self.tree.knows(id, &follows, time)? => (true, Placement::Append),
            _ => (false, self.tree.place(&follows, log.surface())?),
        };
        let before = log.surface().current().last().copied();
        let is_copy = record.forked_from.0.is_some();
        let mut telling = Telling::new(AGENT, log, time);
        (telling.id, telling.placement) = (id, placement);
        let took = match record.r#type.get() {
            "user" | "assistant" | "tool_result" => self.message(record, is_known, &mut telling)?,
            "system" => system(&record, &mut telling)?,
            "" => Took::Unknown("(none)".to_owned()),
            other => Took::Unknown(other.to_owned()),
        };
        let id = telling.id.take();
        if is_copy && telling.events > 0 {
            log.seed_ends_here();
        }
        if let Some(id) = id
            && !is_known
        {
            let surface = log.surface();
            let told = surface.current().last().copied() != before;
            self.tree.add(&id, &follows, time, (told, surface));
        }
        Ok(took)
    }
}

impl Conversation {
    fn message(
        &mut self,
        record: Record<'_>,
        is_known: bool,
        telling: &mut Telling<'_, '_>,
    ) -> Result<Took, Stop> {
        let failed = record
            .tool_call_result
            .0
            .is_some_and(|result| result.status.get() == "error");
        let subtype = record.subtype;
        let payload = record.system_payload.0.unwrap_or_default();
        let is_agent = record.r#type.get() == "assistant";
        // Gemini's record of the same message.
        let message = record::Record {
            r#type: Words(Some(if is_agent { "gemini" } else { "user" }.into())),
            content: record.message.0.unwrap_or_default().parts,
            display_content: payload.display_text,
            ..record::Record::default()
        };
        let said = Said::of(&message, &HashSet::new());
        let calls = if is_agent { calls(&message) } else { Vec::new() };
        if is_known {
            let again = Some((telling.id.clone().unwrap_or_default(), said.hash));
            if self.last == again && calls.is_empty() {
                return Ok(Took::Bookkeeping);
            }
            telling.part = format!("#{:x}", said.hash);
        }
        self.last = telling.id.clone().map(|id| (id, said.hash));
        let mut main = said.main;
        if said.speaker == Speaker::Agent && !calls.is_empty() {
            let mut reply = match main {
                Some(EventData::AssistantMessage(reply)) => reply,
                _ => Message::default(),
            };
            reply.content.extend(calls.iter().map(|call| call.block()));
            main = Some(EventData::AssistantMessage(reply));
        }
        if let Some(main) = main {
            telling.event(by_subtype(main, subtype.get()))?;
        }
        for added in said.added {
            telling.event(EventData::ContextMessage(added))?;
        }
        for mut answer in said.answers {
            answer.is_error |= failed;
            telling.event(EventData::ToolResult(answer))?;
        }
        Ok(Took::Record)
    }
}

/// A prompt that was given while the agent was at work, or that the program made itself.
fn by_subtype(main: EventData, subtype: &str) -> EventData {
    match (main, subtype) {
        (EventData::UserMessage(message), "mid_turn_user_message") => EventData::SteeringMessage(message),
        (EventData::UserMessage(message), "" | "realtime_message") => EventData::UserMessage(message),
        (EventData::UserMessage(message), source) => EventData::ContextMessage(message.from_source(source)),
        (other, _) => other,
    }
}

fn take_facts(record: &Record<'_>, log: &mut SessionLog<'_>) {
    let facts = log.facts();
    let said = |words: &Words<'_>| {
        words
            .0
            .as_deref()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    facts.cwd = facts.cwd.take().or_else(|| said(&record.cwd));
    facts.branch = said(&record.git_branch).or(facts.branch.take());
    facts.agent_version = said(&record.version).or(facts.agent_version.take());
    facts.model = said(&record.model).or(facts.model.take());
    if let Some(origin) = &record.forked_from.0 {
        facts.forked_from = facts.forked_from.take().or_else(|| said(&origin.session_id));
    }
    if let Some(time) = Timestamp::parse(record.timestamp.get()) {
        log.saw_time(time);
    }
}

fn system(record: &Record<'_>, telling: &mut Telling<'_, '_>) -> Result<Took, Stop> {
    let kind = record.subtype.get();
    let Some(payload) = &record.system_payload.0 else {
        return Ok(bookkeeping(kind));
    };
    match kind {
        // Titles that the program made are written like those that a person gave, and the last one holds.
        "custom_title" => telling
            .log
            .facts()
            .offer_title(payload.custom_title.get(), TitleRank::Custom),
        "session_model" if !payload.model.get().is_empty() => {
            telling.log.facts().model = Some(payload.model.get().to_owned());
        }
        "parent_session" if !payload.parent_session_id.get().is_empty() => {
            telling.log.facts().parent = Some(payload.parent_session_id.get().to_owned());
        }
        "slash_command" if payload.phase.get() != "result" && !payload.raw_command.get().is_empty() => {
            let command = Message::text(payload.raw_command.get()).from_source("command");
            telling.aside(EventData::ContextMessage(command))?;
        }
        "chat_compression" => compression(payload, telling)?,
        _ => return Ok(bookkeeping(kind)),
    }
    Ok(Took::Record)
}

fn bookkeeping(kind: &str) -> Took {
    let is_known = BOOKKEEPING.contains(&kind)
        || matches!(
            kind,
            "custom_title" | "session_model" | "parent_session" | "slash_command"
        )
        || BOOKKEEPING_PREFIXES.iter().any(|prefix| kind.starts_with(prefix));
    if is_known {
        return Took::Bookkeeping;
    }
    Took::Unknown(format!("system/{kind}"))
}

/// What was said so far is sent no more; its summary takes its place.
fn compression(payload: &Payload<'_>, telling: &mut Telling<'_, '_>) -> Result<(), Stop> {
    let history = payload.compressed_history.get();
    let parts = history.iter().flat_map(|body| &body.parts.0);
    let texts = parts.filter(|part| !part.thought.0).map(|part| part.text.get());
    let content = texts
        .filter(|text| !text.trim().is_empty())
        .map(ContentBlock::text)
        .collect();
    let message = Message {
        content,
        ..Message::default()
    };
    telling.log.facts().compactions += 1;
    telling.placement = Placement::Append;
    telling.place(
        EventData::ContextMessage(message.from_source("compaction")),
        Placement::ReplaceAll,
    )?;
    Ok(())
}
