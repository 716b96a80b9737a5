//! A thread of Amp: its messages, and what its document says about it.

use super::AGENT;
use crate::blocks::{Block, Blocks, message};
use crate::journal::{Stop, no_session};
use crate::lenient::{List, Number, Object, Words, readable};
use crate::log::SessionLog;
use crate::percent::path_of_address;
use crate::rewritten;
use crate::telling::Telling;
use lookback_model::event::{ContentBlock, EventData, ToolResult};
use lookback_model::facts::TitleRank;
use lookback_model::session::SessionKind;
use lookback_model::source::{
    EventSink, IssueCode, ReadAccount, ReadCursor, ReadError, ReadOutcome, SourceFile,
};
use lookback_model::{SessionFacts, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Thread<'a> {
    #[serde(borrow)]
    id: Words<'a>,
    created: Number,
    #[serde(borrow)]
    title: Words<'a>,
    #[serde(borrow)]
    env: Object<Environment<'a>>,
    #[serde(borrow)]
    messages: Option<List<Said<'a>>>,
    #[serde(borrow)]
    relationships: List<Relationship<'a>>,
    #[serde(borrow, rename = "parentThreadID")]
    parent: Words<'a>,
    #[serde(borrow, rename = "mainThreadID")]
    main: Words<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Environment<'a> {
    #[serde(borrow)]
    initial: Object<Initial<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Initial<'a> {
    #[serde(borrow)]
    trees: List<Tree<'a>>,
    #[serde(borrow)]
    platform: Object<Platform<'a>>,
    #[serde(borrow)]
    tags: Blocks<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tree<'a> {
    #[serde(borrow)]
    uri: Words<'a>,
    #[serde(borrow)]
    repository: Object<Repository<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Repository<'a> {
    #[serde(borrow)]
    r#ref: Words<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Platform<'a> {
    #[serde(borrow)]
    client_version: Words<'a>,
}

/// Another thread, and what it is to this one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Relationship<'a> {
    #[serde(borrow, rename = "threadID")]
    thread: Words<'a>,
    #[serde(borrow)]
    role: Words<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Said<'a> {
    #[serde(borrow)]
    role: Words<'a>,
    #[serde(borrow)]
    content: Blocks<'a>,
    meta: Object<Meta>,
    #[serde(borrow)]
    usage: Object<Usage<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Meta {
    sent_at: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Usage<'a> {
    #[serde(borrow)]
    model: Words<'a>,
    #[serde(borrow)]
    timestamp: Words<'a>,
}

/// What a call came to.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Run<'a> {
    #[serde(borrow)]
    status: Words<'a>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    reason: Words<'a>,
}

/// Reads a thread.
pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    let (bytes, mut account) = rewritten::read(file, cursor)?;
    let text = rewritten::text(&bytes, &mut account);
    let thread: Thread<'_> = rewritten::parse(file, &text)?;
    let Some(messages) = &thread.messages else {
        return Err(no_session(file, IssueCode::NoSessionHeader, "it has no messages"));
    };
    let stem = file.path.file_stem().unwrap_or_default().to_string_lossy();
    let id = match thread.id.get().trim() {
        "" => &*stem,
        id => id,
    };
    let mut log = SessionLog::begin(sink, id, None)?;
    let created = thread
        .created
        .0
        .and_then(|time| Timestamp::from_number(time as f64));
    let start = created.unwrap_or_else(|| file.stamp.modified());
    log.saw_time(start);
    take_facts(&thread, log.facts());
    let mut time = start;
    for said in messages.get() {
        account.lines += 1;
        time = said.time().unwrap_or(time);
        tell(said, time, &mut log, &mut account).map_err(|stop| stop.error(file))?;
    }
    let facts = log.facts();
    facts.hidden = facts.message_count() == 0;
    log.finish()?;
    Ok(rewritten::outcome(account))
}

fn take_facts(thread: &Thread<'_>, facts: &mut SessionFacts) {
    facts.offer_title(thread.title.get(), TitleRank::Given);
    let said = |words: &Words<'_>| {
        words
            .0
            .as_deref()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let parents = thread
        .relationships
        .get()
        .iter()
        .filter(|other| other.role.get() == "parent");
    facts.forked_from = parents.map(|other| &other.thread).find_map(said);
    if let Some(parent) = said(&thread.parent).or_else(|| said(&thread.main)) {
        facts.kind = SessionKind::Subagent;
        facts.parent = Some(parent);
    }
    let Some(initial) = thread.env.0.as_ref().and_then(|env| env.initial.0.as_ref()) else {
        return;
    };
    facts.agent_version = initial
        .platform
        .0
        .as_ref()
        .and_then(|platform| said(&platform.client_version));
    let tags = initial.tags.0.iter().map(|tag| tag.text.get());
    facts.model = tags
        .filter_map(|tag| tag.strip_prefix("model:"))
        .map(str::to_owned)
        .next();
    let Some(tree) = initial.trees.get().first() else {
        return;
    };
    facts.cwd = path_of_address(tree.uri.get());
    let name = tree
        .repository
        .0
        .as_ref()
        .map_or("", |repository| repository.r#ref.get());
    let branch = name.strip_prefix("refs/heads/").unwrap_or(name);
    facts.branch = (!branch.is_empty()).then(|| branch.to_owned());
}

impl Said<'_> {
    fn time(&self) -> Option<Timestamp> {
        let sent = self.meta.0.as_ref().and_then(|meta| meta.sent_at.0);
        let sent = sent.and_then(|time| Timestamp::from_number(time as f64));
        sent.or_else(|| Timestamp::parse(self.usage.0.as_ref()?.timestamp.get()))
    }
}

fn tell(
    said: &Said<'_>,
    time: Timestamp,
    log: &mut SessionLog<'_>,
    account: &mut ReadAccount,
) -> Result<(), Stop> {
    let role = said.role.get();
    let mut telling = Telling::new(AGENT, log, Some(time));
    match role {
        "user" => {
            for block in said.content.0.iter().filter(|block| block.is_answer()) {
                telling.event(EventData::ToolResult(answer(block)))?;
            }
            if let Some(words) = said.content.message() {
                telling.event(EventData::UserMessage(words))?;
            }
        }
        "assistant" => {
            if let Some(usage) = said
                .usage
                .0
                .as_ref()
                .filter(|usage| !usage.model.get().is_empty())
            {
                telling.log.facts().model = Some(usage.model.get().to_owned());
            }
            let reply = said.content.message().unwrap_or_default();
            telling.event(EventData::AssistantMessage(reply))?;
        }
        other => {
            if other != "info" {
                account.note_unknown(other);
            }
            if let Some(words) = said.content.message() {
                telling.aside(EventData::ContextMessage(words.from_source("info")))?;
            }
        }
    }
    if telling.events > 0 {
        account.records += 1;
    } else {
        account.bookkeeping += 1;
    }
    Ok(())
}

fn answer(block: &Block<'_>) -> ToolResult {
    let run = block
        .run
        .and_then(|raw| serde_json::from_str::<Object<Run<'_>>>(raw.get()).ok());
    let run = run.and_then(|run| run.0).unwrap_or_default();
    let mut content = run.result.map_or_else(Vec::new, result);
    let failure = run.error.map_or_else(Vec::new, result);
    if content.is_empty() {
        content = failure;
    }
    if content.is_empty() && !run.reason.get().trim().is_empty() {
        content.push(ContentBlock::text(run.reason.get()));
    }
    ToolResult {
        call_id: block.call_id().to_owned(),
        content,
        is_error: matches!(run.status.get(), "error" | "cancelled" | "rejected-by-user"),
        ..ToolResult::default()
    }
}

/// What a tool gave: words, blocks, or an object that holds them under a name of its own.
fn result(raw: &RawValue) -> Vec<ContentBlock> {
    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Named<'a> {
        #[serde(borrow)]
        output: Blocks<'a>,
        #[serde(borrow)]
        content: Blocks<'a>,
        #[serde(borrow)]
        diff: Blocks<'a>,
        #[serde(borrow)]
        message: Blocks<'a>,
    }
    let named = serde_json::from_str::<Object<Named<'_>>>(raw.get())
        .ok()
        .and_then(|named| named.0);
    if let Some(named) = named {
        let all = [named.output, named.content, named.diff, named.message];
        let found = all
            .iter()
            .map(Blocks::content)
            .find(|content| !content.is_empty());
        let whole = || {
            readable(raw)
                .map(|text| vec![ContentBlock::text(text)])
                .unwrap_or_default()
        };
        return found.unwrap_or_else(whole);
    }
    let blocks: Blocks<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
    message(blocks.content()).map_or_else(Vec::new, |message| message.content)
}
