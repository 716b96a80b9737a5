//! From records to events: which record says what, where it stands on the surface, and what must be
//! remembered so that a transcript read in parts gives what reading it whole gives.

use super::content::{hash_of, media, reply_block, result_content, take_apart};
use super::prompts::Prompts;
use super::record::{Attachment, Block, Content, Record, Text};
use super::window::Window;
use super::words;
use crate::log::{Draft, LogState, Placement, SessionLog};
use crate::mend::Taken;
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use lookback_model::facts::TitleRank;
use lookback_model::session::SessionKind;
use lookback_model::source::{EventSink, SinkClosed};
use lookback_model::{Timestamp, copies};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// The agent's name in all contracts.
pub(super) const AGENT: &str = "claude";

/// Types of records that hold no part of the conversation.
pub(super) const BOOKKEEPING: &[&str] = &[
    "progress",
    "file-history-snapshot",
    "file-history-delta",
    "last-prompt",
    "permission-mode",
    "mode",
    "queue-operation",
    "api-request",
    "api-request-shape",
    "api-request-blob",
    "cost-state",
    "tools-used",
    "pr-link",
    "bridge-session",
    "content-replacement",
    "worktree-state",
];

/// What a conversation must know to go on, besides its log.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct State {
    /// The log's own state.
    pub log: LogState,
    /// Which records there were, and where each stands.
    window: Window,
    /// Latest time of a record.
    latest: Option<Timestamp>,
    /// Whose words the lines are.
    pub lines_of: LinesOf,
    /// Prompts on the surface, which tell a rewind.
    prompts: Prompts,
    /// The last typed text, as a hash, and when it was typed.
    last_prompt: Option<(u64, Option<Timestamp>)>,
    /// Texts that were steered in since, as hashes.
    steered: Vec<u64>,
    /// Summaries of conversations whose last record was not met yet: its id as a hash, and the text.
    summaries: Vec<(u64, String)>,
    /// A record of a program's run, or of a person's, was met.
    by_program: bool,
    by_person: bool,
    /// The first other session that the lines name as theirs.
    other_session: Option<String>,
    /// The file's last line was taken without its line feed.
    pub unterminated: bool,
    /// No record has a time yet, so that the file's own had to do.
    pub time_of_file: bool,
}

/// Whose conversation the lines of a file are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LinesOf {
    /// Not decided: there was no line of a conversation yet.
    #[default]
    Nobody,
    /// The session's own; lines of sidechains stand beside it.
    Session,
    /// A subagent's: every line is of a sidechain.
    Subagent,
}

/// Why reading cannot go on.
#[derive(Debug)]
pub(super) enum Halt {
    /// The receiver wants nothing more.
    Closed(SinkClosed),
    /// What is remembered does not suffice; the whole file must be read.
    Stale,
}

impl From<SinkClosed> for Halt {
    fn from(closed: SinkClosed) -> Self {
        Self::Closed(closed)
    }
}

/// Summaries that wait for their conversation's last record.
const SUMMARIES_KEPT: usize = 16;

/// A conversation being read.
pub(super) struct Conversation<'s> {
    pub log: SessionLog<'s>,
    pub state: State,
    /// The session's id, which is the file's name.
    id: String,
    /// The file's name says that it is a subagent's, so that no line can gainsay it.
    named_subagent: bool,
}

/// What the events of one record have in common.
struct Origin<'r> {
    uuid: Option<&'r str>,
    time: Option<Timestamp>,
    /// The line is of a sidechain inside another session's file.
    aside: bool,
    /// Where the record before it in the chain stands.
    parent: Option<u64>,
    /// The event that later records of the chain hang from.
    anchor: Option<u64>,
    /// Events so far.
    events: usize,
}

impl<'s> Conversation<'s> {
    /// Begins a conversation, or goes on with one.
    pub(super) fn begin(
        sink: &'s mut dyn EventSink,
        id: &str,
        named_subagent: bool,
        state: Option<State>,
    ) -> Result<Self, SinkClosed> {
        let resumed = state.is_some();
        let mut state = state.unwrap_or_default();
        if named_subagent {
            state.lines_of = LinesOf::Subagent;
        }
        let log = SessionLog::begin(sink, id, resumed.then(|| std::mem::take(&mut state.log)))?;
        Ok(Self {
            log,
            state,
            id: id.to_owned(),
            named_subagent,
        })
    }

    /// Ends this read; gives the state to go on with.
    pub(super) fn finish(mut self) -> Result<State, SinkClosed> {
        let kind = match self.state.lines_of {
            LinesOf::Subagent => SessionKind::Subagent,
            _ if self.state.by_program && !self.state.by_person => SessionKind::Headless,
            _ => SessionKind::Main,
        };
        let facts = self.log.facts();
        facts.kind = kind;
        if kind == SessionKind::Subagent && facts.parent.is_none() {
            facts.parent.clone_from(&self.state.other_session);
        }
        self.state.prompts.forget_old();
        self.state.log = self.log.finish()?;
        Ok(self.state)
    }

    /// Whether a record is the first line of a conversation and of a sidechain, so that the rest of the
    /// file must say whose conversation it is.
    pub(super) fn asks_whose_lines(&self, record: &Record<'_>) -> bool {
        self.state.lines_of == LinesOf::Nobody && record.sidechain.0 && is_conversation(record)
    }

    /// Takes a record.
    pub(super) fn take(&mut self, record: &Record<'_>, unknown: &mut Option<String>) -> Result<Taken, Halt> {
        let kind = &*record.kind.0;
        if self.take_title(record) {
            return Ok(Taken::Record);
        }
        let known =
            matches!(kind, "user" | "assistant" | "attachment" | "system") || BOOKKEEPING.contains(&kind);
        if !known {
            *unknown = Some(if kind.is_empty() {
                "(none)".to_owned()
            } else {
                kind.to_owned()
            });
        }
        self.take_facts(record);
        let Some(uuid) = record.uuid.get() else {
            let taken = self.take_conversation(record, None)?;
            return Ok(taken.0);
        };
        let hash = xxh3_64(uuid.as_bytes());
        if self.state.window.contains(hash) {
            return Ok(Taken::Bookkeeping);
        }
        self.refuse_what_was_forgotten(record)?;
        let (taken, anchor) = self.take_conversation(record, self.anchor_of(&record.parent))?;
        self.state.window.add(hash, anchor);
        self.state.latest = self.state.latest.max(record.time.0);
        self.take_summary_of(hash);
        Ok(taken)
    }

    /// Where the record of an id stands; `None` when it is not known or nothing of it is an event.
    fn anchor_of(&self, uuid: &Text<'_>) -> Option<u64> {
        self.state.window.anchor(xxh3_64(uuid.get()?.as_bytes()))
    }

    /// A record that may be a repetition, or hang from one that is no longer remembered, can only be
    /// judged by the whole file.
    fn refuse_what_was_forgotten(&self, record: &Record<'_>) -> Result<(), Halt> {
        if !self.state.window.forgot() {
            return Ok(());
        }
        let late = record.time.0.is_some() && record.time.0 >= self.state.latest;
        let parent = record.parent.get().map(|parent| xxh3_64(parent.as_bytes()));
        if late && parent.is_none_or(|parent| self.state.window.contains(parent)) {
            return Ok(());
        }
        Err(Halt::Stale)
    }

    /// Titles that stand on records of their own.
    fn take_title(&mut self, record: &Record<'_>) -> bool {
        let rank = match &*record.kind.0 {
            "custom-title" => TitleRank::Custom,
            "agent-name" => TitleRank::Name,
            "ai-title" => TitleRank::Given,
            "summary" => TitleRank::Summary,
            _ => return false,
        };
        let title = &*record.title.0;
        if rank != TitleRank::Summary {
            self.log.facts().offer_title(title, rank);
            return true;
        }
        // Until 2.0 a summary of another conversation of the project could stand here.
        let Some(leaf) = record.leaf.get().map(|leaf| xxh3_64(leaf.as_bytes())) else {
            return true;
        };
        if self.state.window.contains(leaf) {
            self.log.facts().offer_title(title, rank);
        } else {
            if self.state.summaries.len() == SUMMARIES_KEPT {
                self.state.summaries.remove(0);
            }
            self.state.summaries.push((leaf, title.to_owned()));
        }
        true
    }

    /// The record of this id was met: is there a summary that ends with it?
    fn take_summary_of(&mut self, uuid: u64) {
        if let Some(at) = self.state.summaries.iter().rposition(|(leaf, _)| *leaf == uuid) {
            let (_, title) = self.state.summaries.remove(at);
            self.log.facts().offer_title(&title, TitleRank::Summary);
        }
    }

    /// What a record says about the session, whether or not it is part of the conversation.
    fn take_facts(&mut self, record: &Record<'_>) {
        if record.sidechain.0 && self.state.lines_of == LinesOf::Session {
            return;
        }
        let facts = self.log.facts();
        if facts.cwd.is_none() {
            facts.cwd = record.cwd.get().map(str::to_owned);
        }
        replace(
            &mut facts.branch,
            record.branch.get().filter(|&branch| branch != "HEAD"),
        );
        replace(&mut facts.agent_version, record.version.get());
        if record.kind.get() == Some("assistant") {
            replace(
                &mut facts.model,
                record.message.model.get().filter(|&model| model != "<synthetic>"),
            );
        }
        if facts.agent_type.is_none() && self.state.lines_of == LinesOf::Subagent {
            facts.agent_type = record.attribution_agent.get().map(str::to_owned);
        }
        if let Some(origin) = record
            .forked_from
            .session_id
            .get()
            .filter(|&origin| origin != self.id)
        {
            facts.forked_from = Some(origin.to_owned());
        }
        if is_conversation(record) {
            if self.state.other_session.is_none() {
                let other = record.session_id.get().filter(|&session| session != self.id);
                self.state.other_session = other.map(str::to_owned);
            }
            let program = record
                .entrypoint
                .get()
                .is_some_and(|name| name.starts_with("sdk"))
                || record.prompt_source.get() == Some("sdk");
            self.state.by_program |= program;
            // A reply says nothing about who asked when it does not name its entrypoint.
            self.state.by_person |= !program && (record.entrypoint.get().is_some() || is_prompt(record));
        }
    }

    /// Takes a record as part of the conversation; gives the event later records of its chain hang from.
    fn take_conversation(
        &mut self,
        record: &Record<'_>,
        parent: Option<u64>,
    ) -> Result<(Taken, Option<u64>), Halt> {
        let kind = &*record.kind.0;
        let conversation = is_conversation(record);
        if conversation {
            self.settle_whose_lines(record)?;
        }
        let aside = record.sidechain.0 && self.state.lines_of == LinesOf::Session;
        let mut origin = Origin {
            uuid: record.uuid.get(),
            time: record.time.0,
            aside,
            parent,
            anchor: parent,
            events: 0,
        };
        match kind {
            "user" => self.user(record, &mut origin)?,
            "assistant" => self.assistant(record, &mut origin)?,
            "attachment" => self.attachment(&record.attachment, &mut origin)?,
            "system" => self.system(record, &mut origin)?,
            _ => {}
        }
        if conversation {
            self.note_copies(record);
        }
        let taken = if origin.events > 0 || conversation {
            Taken::Record
        } else {
            Taken::Bookkeeping
        };
        Ok((taken, origin.anchor))
    }

    fn settle_whose_lines(&mut self, record: &Record<'_>) -> Result<(), Halt> {
        match (self.state.lines_of, record.sidechain.0) {
            (LinesOf::Nobody, _) => self.state.lines_of = LinesOf::Session,
            // Everything so far was taken for a subagent's own.
            (LinesOf::Subagent, false) if !self.named_subagent => return Err(Halt::Stale),
            _ => {}
        }
        Ok(())
    }

    /// Says where copied history ends.
    fn note_copies(&mut self, record: &Record<'_>) {
        if record
            .forked_from
            .session_id
            .get()
            .is_some_and(|origin| origin != self.id)
        {
            self.log.seed_ends_here();
            return;
        }
        // Since 2.1.332 a fork rewrites the session's id on every line, and only replies keep the id
        // of the session that asked for them.
        let asked_by = record.request_session_id.get();
        if let Some(asked_by) = asked_by.filter(|&by| by != self.id && record.session_id.get() != Some(by)) {
            self.log.facts().forked_from = Some(asked_by.to_owned());
            self.log.seed_ends_here();
        }
    }

    fn user(&mut self, record: &Record<'_>, origin: &mut Origin<'_>) -> Result<(), Halt> {
        if record.compact_summary.0 {
            return self.compaction(record, origin);
        }
        let mut spoken = Vec::new();
        let mut injected = Vec::new();
        let mut answered = false;
        match &record.message.content {
            Content::Text(text) => take_apart(text, &mut spoken, &mut injected),
            Content::Blocks(blocks) => {
                for block in blocks {
                    match &*block.kind.0 {
                        "text" => take_apart(&block.text.0, &mut spoken, &mut injected),
                        "image" | "document" => spoken.push(media(block)),
                        "tool_result" => {
                            answered = true;
                            self.tool_result(block, origin)?;
                        }
                        _ => {}
                    }
                }
            }
        }
        let program = program_source(record).or(answered.then_some("tool"));
        let own = !spoken.is_empty() && program.is_none() && !origin.aside;
        for (source, text) in injected {
            let placement = if own {
                Placement::LogOnly
            } else {
                Placement::Append
            };
            let message = Message::text(text).from_source(program.filter(|_| !own).unwrap_or(source));
            self.emit(EventData::ContextMessage(message), placement, origin)?;
        }
        if own {
            return self.prompt(spoken, origin);
        }
        if !spoken.is_empty() {
            let source = program.unwrap_or("subagent");
            let message = Message {
                content: spoken,
                ..Message::default()
            }
            .from_source(source);
            self.emit(EventData::ContextMessage(message), Placement::Append, origin)?;
        }
        Ok(())
    }

    fn compaction(&mut self, record: &Record<'_>, origin: &mut Origin<'_>) -> Result<(), Halt> {
        let mut spoken = Vec::new();
        match &record.message.content {
            Content::Text(text) => spoken.push(ContentBlock::text(&**text)),
            Content::Blocks(blocks) => {
                spoken.extend(
                    blocks
                        .iter()
                        .filter_map(|block| block.text.get())
                        .map(ContentBlock::text),
                );
            }
        }
        let message = Message {
            content: spoken,
            ..Message::default()
        }
        .from_source("compaction");
        self.emit(EventData::ContextMessage(message), Placement::ReplaceAll, origin)?;
        if !origin.aside {
            self.log.facts().compactions += 1;
            self.state.prompts.clear();
        }
        Ok(())
    }

    /// A prompt the person typed.
    fn prompt(&mut self, content: Vec<ContentBlock>, origin: &mut Origin<'_>) -> Result<(), Halt> {
        let said = hash_of(&content);
        let steered = std::mem::take(&mut self.state.steered);
        self.state.last_prompt = Some((said, origin.time));
        if steered.contains(&said) {
            // Given while the agent was at work, and written again when its turn came.
            return Ok(());
        }
        let placement = self.place_prompt(origin);
        let message = Message {
            content,
            ..Message::default()
        };
        let seq = self.emit(EventData::UserMessage(message), placement, origin)?;
        self.state.prompts.add(seq);
        Ok(())
    }

    /// A prompt that hangs from before another prompt of the surface begins a new branch.
    fn place_prompt(&mut self, origin: &Origin<'_>) -> Placement {
        match origin
            .parent
            .filter(|&anchor| self.state.prompts.any_after(anchor))
        {
            Some(anchor) => self.rewind(anchor),
            None => Placement::Append,
        }
    }

    /// A second reply to one prompt takes the place of the first and all that came of it.
    fn place_reply(&mut self, reply: u64, origin: &Origin<'_>) -> Placement {
        match origin.parent.filter(|_| !origin.aside) {
            Some(prompt) if self.state.prompts.answered_anew(prompt, reply) => self.rewind(prompt),
            _ => Placement::Append,
        }
    }

    /// Goes back to just after `anchor`, when it is on the surface.
    fn rewind(&mut self, anchor: u64) -> Placement {
        if self.log.surface().position(anchor).is_none() {
            return Placement::Append;
        }
        self.state.prompts.go_back(anchor);
        self.log.facts().rewinds += 1;
        Placement::ReplaceAfter(anchor)
    }

    fn tool_result(&mut self, block: &Block<'_>, origin: &mut Origin<'_>) -> Result<(), Halt> {
        let (content, reminders) = result_content(&block.content);
        let result = ToolResult {
            call_id: block.call.0.clone().into_owned(),
            content,
            is_error: block.is_error.0,
            ..ToolResult::default()
        };
        self.emit(EventData::ToolResult(result), Placement::Append, origin)?;
        for (source, text) in reminders {
            let message = Message::text(text).from_source(source);
            self.emit(EventData::ContextMessage(message), Placement::LogOnly, origin)?;
        }
        Ok(())
    }

    fn assistant(&mut self, record: &Record<'_>, origin: &mut Origin<'_>) -> Result<(), Halt> {
        let body = &record.message;
        let content = match &body.content {
            Content::Text(text) => vec![ContentBlock::text(&**text)],
            Content::Blocks(blocks) => blocks.iter().filter_map(reply_block).collect(),
        };
        let message = Message {
            content,
            ..Message::default()
        };
        if record.api_error.0 {
            let message = message.from_source("error");
            self.emit(EventData::ContextMessage(message), Placement::LogOnly, origin)?;
            return Ok(());
        }
        let reply = body.id.get().or(origin.uuid).unwrap_or_default();
        // The program itself may answer first, and the model after it.
        let placement = match body.model.get() {
            Some("<synthetic>") => Placement::Append,
            _ => self.place_reply(xxh3_64(reply.as_bytes()), origin),
        };
        let mut draft = draft(EventData::AssistantMessage(message), placement, origin);
        draft.reply_id = body.id.get().map(str::to_owned);
        self.append(draft, origin)?;
        Ok(())
    }

    fn attachment(&mut self, attachment: &Attachment<'_>, origin: &mut Origin<'_>) -> Result<(), Halt> {
        if attachment.kind.get() != Some("queued_command") {
            return Ok(());
        }
        let mut spoken = Vec::new();
        let mut injected = Vec::new();
        match &attachment.prompt {
            Content::Text(text) => take_apart(text, &mut spoken, &mut injected),
            Content::Blocks(blocks) => {
                for block in blocks {
                    match &*block.kind.0 {
                        "text" => take_apart(&block.text.0, &mut spoken, &mut injected),
                        "image" | "document" => spoken.push(media(block)),
                        _ => {}
                    }
                }
            }
        }
        for (source, text) in injected {
            let message = Message::text(text).from_source(source);
            self.emit(EventData::ContextMessage(message), Placement::Append, origin)?;
        }
        if spoken.is_empty() {
            return Ok(());
        }
        let message = Message {
            content: spoken,
            ..Message::default()
        };
        let typed = attachment.mode.get().is_none_or(|mode| mode == "prompt");
        if !typed || origin.aside {
            let source = if typed { "subagent" } else { "queue" };
            self.emit(
                EventData::ContextMessage(message.from_source(source)),
                Placement::Append,
                origin,
            )?;
            return Ok(());
        }
        let said = hash_of(&message.content);
        let queued = attachment.time.0.or(origin.time);
        if self
            .state
            .last_prompt
            .is_some_and(|(last, time)| last == said && queued <= time)
        {
            return Ok(());
        }
        self.emit(EventData::SteeringMessage(message), Placement::Append, origin)?;
        self.state.steered.push(said);
        Ok(())
    }

    fn system(&mut self, record: &Record<'_>, origin: &mut Origin<'_>) -> Result<(), Halt> {
        let text = &*record.content.0;
        let injected = match &*record.subtype.0 {
            "local_command" => words::of_user(text).injected,
            "away_summary" => vec![("away-summary", text.to_owned())],
            _ => Vec::new(),
        };
        for (source, text) in injected.into_iter().filter(|(_, text)| !text.is_empty()) {
            let message = Message::text(text).from_source(source);
            self.emit(EventData::ContextMessage(message), Placement::LogOnly, origin)?;
        }
        Ok(())
    }

    fn emit(&mut self, data: EventData, placement: Placement, origin: &mut Origin<'_>) -> Result<u64, Halt> {
        self.append(draft(data, placement, origin), origin)
    }

    /// Adds an event. What stands beside the session's own conversation leaves its facts as they are.
    fn append(&mut self, draft: Draft, origin: &mut Origin<'_>) -> Result<u64, Halt> {
        let on_surface = draft.placement != Placement::LogOnly;
        let before = origin.aside.then(|| self.log.facts().clone());
        let seq = self.log.append(draft)?;
        if let Some(before) = before {
            let facts = self.log.facts();
            let (events, created_at, updated_at) = (facts.events, facts.created_at, facts.updated_at);
            *facts = before;
            (facts.events, facts.created_at, facts.updated_at) = (events, created_at, updated_at);
        }
        origin.events += 1;
        if on_surface {
            origin.anchor = Some(seq);
        }
        Ok(seq)
    }
}

fn draft(data: EventData, placement: Placement, origin: &Origin<'_>) -> Draft {
    let mut draft = Draft::new(data, origin.time);
    draft.placement = if origin.aside {
        Placement::LogOnly
    } else {
        placement
    };
    if let Some(uuid) = origin.uuid {
        draft.native_id = Some(uuid.to_owned());
        let key = match origin.events {
            0 => Cow::Borrowed(uuid),
            later => Cow::Owned(format!("{uuid}/{later}")),
        };
        draft.copy_key = copies::key_of_id(AGENT, &key);
    }
    draft
}

/// Whether a record is a line of the conversation.
pub(super) fn is_conversation(record: &Record<'_>) -> bool {
    matches!(&*record.kind.0, "user" | "assistant")
}

/// Whether a record can be a typed prompt.
fn is_prompt(record: &Record<'_>) -> bool {
    record.kind.get() == Some("user") && program_source(record).is_none()
}

/// Why a user record is the program's as a whole, if it is.
fn program_source<'r>(record: &'r Record<'_>) -> Option<&'r str> {
    if record.meta.0 {
        return Some("meta");
    }
    if record.source_tool_use.get().is_some() {
        return Some("skill");
    }
    if record.row_source.get() == Some("harness") {
        return Some("harness");
    }
    record.origin.kind.get().filter(|&kind| kind != "human")
}

fn replace(held: &mut Option<String>, value: Option<&str>) {
    if let Some(value) = value.filter(|&value| held.as_deref() != Some(value)) {
        *held = Some(value.to_owned());
    }
}
