//! From records to events: the conversation of one rollout as far as it was read.

use super::copies::Recent;
use super::header::Meta;
use super::injected::{take_apart, working_directory};
use super::record::{Entry, Origin, Record};
use super::tools::{Call, Output};
use crate::log::{Draft, LogState, Placement, SessionLog};
use crate::mend::Taken;
use lookback_model::Timestamp;
use lookback_model::copies::chained_key;
use lookback_model::event::{ContentBlock, EventData, Message, ToolCall, ToolResult, TurnEnd, TurnEndReason};
use lookback_model::facts::TitleRank;
use lookback_model::session::SessionKind;
use lookback_model::source::{EventSink, SinkClosed};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What must be known to go on reading.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct State {
    pub(super) session: String,
    pub(super) log: LogState,
    /// Time of the last record that had one.
    time: Option<Timestamp>,
    header_seen: bool,
    /// The session begins with a copy of another's history, whose end was not seen yet.
    in_seed: bool,
    started: Option<Timestamp>,
    /// Records below this ordinal are another session's.
    own_history_from: u64,
    /// Copy key of what was said last.
    chain: u64,
    prompts: Recent<8>,
    replies: Recent<16>,
    reasoning: Recent<32>,
    notices: Recent<8>,
    /// A command that runs in the background ends many calls later.
    calls: Recent<96>,
    outputs: Recent<16>,
    /// Numbers of the last prompts, for rollbacks.
    turns: Vec<u64>,
    /// Replies with words so far.
    reply: u64,
    /// Nothing had a time yet, so that the session is as old as its file's name or the file itself.
    is_untimed: bool,
    /// The last line read had no line feed.
    pub(super) is_open_ended: bool,
}

/// A rollback goes back at most this many prompts.
const TURNS_REMEMBERED: usize = 64;

/// A session being read.
pub(super) struct Conversation<'s> {
    log: SessionLog<'s>,
    state: State,
    closed: Option<SinkClosed>,
    /// Types this reader does not know, met in the current line.
    pub(super) unknown: Vec<String>,
}

impl<'s> Conversation<'s> {
    /// Begins a session; `since` is the time of records that have none and follow none.
    pub(super) fn begin(
        sink: &'s mut dyn EventSink,
        session: &str,
        since: Timestamp,
    ) -> Result<Self, SinkClosed> {
        let log = SessionLog::begin(sink, session, None)?;
        let state = State {
            session: session.to_owned(),
            time: Some(since),
            ..State::default()
        };
        Ok(Self {
            log,
            state,
            closed: None,
            unknown: Vec::new(),
        })
    }

    /// Goes on with a session.
    pub(super) fn resume(sink: &'s mut dyn EventSink, mut state: State) -> Result<Self, SinkClosed> {
        let mut log = SessionLog::begin(sink, &state.session, Some(std::mem::take(&mut state.log)))?;
        if std::mem::take(&mut state.is_untimed) {
            let facts = log.facts();
            (facts.created_at, facts.updated_at) = (None, None);
        }
        Ok(Self {
            log,
            state,
            closed: None,
            unknown: Vec::new(),
        })
    }

    pub(super) fn set_archived(&mut self, archived: bool) {
        self.log.facts().archived = archived;
    }

    pub(super) fn tool_text_wanted(&self) -> usize {
        self.log.tool_text_wanted()
    }

    pub(super) fn record(&mut self, bytes: &[u8]) {
        self.log.record(bytes);
    }

    pub(super) fn has_enough(&self) -> bool {
        self.log.has_enough()
    }

    /// Whether the last line read before had no line feed.
    pub(super) fn is_open_ended(&self) -> bool {
        self.state.is_open_ended
    }

    /// Whether the receiver stopped the reading.
    pub(super) fn closed(&self) -> Option<SinkClosed> {
        self.closed
    }

    /// Hands on the session as it is; gives what is needed to go on.
    pub(super) fn finish(mut self) -> Result<State, SinkClosed> {
        if self.log.facts().created_at.is_none() {
            self.state.is_untimed = true;
            self.log.saw_time(self.state.time.unwrap_or_default());
        }
        self.state.log = self.log.finish()?;
        Ok(self.state)
    }

    /// Takes a record.
    pub(super) fn take(&mut self, record: Record<'_>) -> Taken {
        if self.closed.is_some() {
            return Taken::Bookkeeping;
        }
        match self.apply(record) {
            Ok(true) => Taken::Record,
            Ok(false) => Taken::Bookkeeping,
            Err(closed) => {
                self.closed = Some(closed);
                Taken::Bookkeeping
            }
        }
    }

    /// Whether the record gave an event or a fact.
    fn apply(&mut self, record: Record<'_>) -> Result<bool, SinkClosed> {
        if record
            .ordinal
            .is_some_and(|ordinal| ordinal < self.state.own_history_from)
        {
            return Ok(false);
        }
        self.state.time = record.time.or(self.state.time);
        match record.entry {
            Entry::Meta(meta) => return Ok(self.header(*meta)),
            Entry::Turn { id, cwd, model } => {
                if id.is_some_and(|id| self.is_own_turn(&id)) {
                    self.end_seed();
                }
                return Ok(self.surroundings(cwd.as_deref(), model.as_deref()));
            }
            Entry::Settings { thread } => {
                if thread.is_some_and(|thread| thread == self.state.session.as_str()) {
                    self.end_seed();
                }
                return Ok(false);
            }
            Entry::Renamed { thread, title } => {
                let is_other = thread.is_some_and(|thread| thread != self.state.session.as_str());
                if !is_other {
                    self.log.facts().offer_title(&title, TitleRank::Custom);
                }
                return Ok(!is_other);
            }
            Entry::User { origin, blocks } => return self.user(origin, blocks),
            Entry::Assistant { origin, blocks } => return self.assistant(origin, blocks),
            Entry::Reasoning { origin, parts } => return self.reasoning(origin, parts),
            Entry::Notice { source, blocks } => return self.notice(source, blocks),
            Entry::Call { key, call } => {
                let is_new = key.is_empty() || !self.state.calls.is_copy(&key, Origin::Item);
                return if is_new { self.call(call) } else { Ok(false) };
            }
            Entry::Output { id, output } => {
                let is_new = id.is_empty() || !self.state.outputs.is_copy(&id, Origin::Item);
                return if is_new {
                    self.output(id, output)
                } else {
                    Ok(false)
                };
            }
            Entry::Execution {
                origin,
                key,
                call,
                output,
            } => return self.execution(origin, &key, call, output),
            Entry::Compacted { summary } => self.compacted(summary)?,
            Entry::RolledBack { turns } => self.rolled_back(turns)?,
            Entry::Ended {
                kind,
                reason,
                message,
            } => {
                let reason = TurnEndReason {
                    kind: kind.to_owned(),
                    reason,
                    message,
                    code: None,
                };
                self.append(EventData::TurnEnd(TurnEnd { turn: None, reason }), 0)?;
            }
            Entry::Bookkeeping => return Ok(false),
            Entry::Unknown(name) => {
                self.unknown.push(name);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Only the first header is this session's: later ones repeat it, or belong to the session whose
    /// history was copied.
    fn header(&mut self, meta: Meta) -> bool {
        if std::mem::replace(&mut self.state.header_seen, true) {
            return false;
        }
        let started = meta.started.or(self.state.time);
        if let Some(started) = started {
            self.log.saw_time(started);
        }
        self.state.started = started;
        self.state.in_seed = meta.forked_from.is_some() || meta.is_subagent;
        self.state.own_history_from = meta.own_history_from.filter(|_| meta.is_subagent).unwrap_or(0);
        let is_guardian = meta.thread_source.as_deref() == Some("guardian_review")
            || meta.task.as_deref().is_some_and(|task| task.contains("guardian"));
        let is_headless = meta.originator.as_deref() == Some("codex_exec")
            || matches!(meta.source.as_deref(), Some("exec" | "mcp"));
        let root = meta.root.filter(|root| *root != self.state.session);
        let facts = self.log.facts();
        facts.cwd = meta.cwd.or(facts.cwd.take());
        facts.branch = meta.branch.or(facts.branch.take());
        facts.agent_version = meta.version;
        facts.forked_from = meta.forked_from;
        facts.hidden = is_guardian;
        if meta.is_subagent {
            facts.kind = SessionKind::Subagent;
            facts.parent = meta.parent.or(root);
            facts.agent_type = meta.role.or(meta.task);
        } else if is_headless {
            facts.kind = SessionKind::Headless;
        }
        true
    }

    fn surroundings(&mut self, cwd: Option<&str>, model: Option<&str>) -> bool {
        let facts = self.log.facts();
        if facts.cwd.is_none() {
            facts.cwd = cwd.filter(|cwd| !cwd.is_empty()).map(str::to_owned);
        }
        let Some(model) = model.filter(|model| !model.is_empty()) else {
            return false;
        };
        facts.model = Some(model.to_owned());
        true
    }

    fn end_seed(&mut self) {
        if std::mem::replace(&mut self.state.in_seed, false) {
            self.log.seed_ends_here();
        }
    }

    /// Ids of turns hold the time of their start; those of copied turns are older than this session.
    fn is_own_turn(&self, id: &str) -> bool {
        time_of_uuid(id)
            .zip(self.state.started)
            .is_some_and(|(turn, session)| turn >= session)
    }

    fn user(&mut self, origin: Origin, blocks: Vec<ContentBlock>) -> Result<bool, SinkClosed> {
        let parts = take_apart(blocks);
        let mut gave = false;
        for (source, text) in parts.injected {
            self.surroundings(working_directory(&text), None);
            if !self.state.notices.is_copy(&text, origin) {
                self.append(context(text, source), 0)?;
                gave = true;
            }
        }
        if parts.own.is_empty() {
            return Ok(gave);
        }
        let typed = words(&parts.own);
        if self.state.prompts.is_copy(&typed, origin) {
            return Ok(gave);
        }
        for text in parts.wrapping {
            self.append(context(text, "editor"), 0)?;
        }
        let key = self.advance_chain("user", &typed);
        let seq = self.append(EventData::UserMessage(message(parts.own)), key)?;
        if self.state.turns.len() == TURNS_REMEMBERED {
            self.state.turns.remove(0);
        }
        self.state.turns.push(seq);
        Ok(true)
    }

    fn assistant(&mut self, origin: Origin, blocks: Vec<ContentBlock>) -> Result<bool, SinkClosed> {
        let said = words(&blocks);
        if blocks.is_empty() || self.state.replies.is_copy(&said, origin) {
            return Ok(false);
        }
        let key = self.advance_chain("assistant", &said);
        self.reply(message(blocks), key)?;
        self.state.reply += 1;
        Ok(true)
    }

    fn reasoning(&mut self, origin: Origin, parts: Vec<String>) -> Result<bool, SinkClosed> {
        let recent = &mut self.state.reasoning;
        let new: Vec<_> = parts
            .into_iter()
            .filter(|part| !recent.is_copy(part, origin))
            .collect();
        if new.is_empty() {
            return Ok(false);
        }
        // Forks drop some reasoning, so it has a key of its own and the chain passes it by.
        let key = chained_key(self.state.chain, "reasoning", new.join("\n").trim());
        let blocks = new
            .into_iter()
            .map(|text| ContentBlock::Reasoning { text })
            .collect();
        self.reply(message(blocks), key)?;
        Ok(true)
    }

    /// Reasoning and the words that follow it are one reply.
    fn reply(&mut self, message: Message, key: u64) -> Result<(), SinkClosed> {
        let mut draft = Draft::new(EventData::AssistantMessage(message), self.state.time);
        draft.copy_key = key;
        draft.reply_id = Some(self.state.reply.to_string());
        self.log.append(draft).map(|_| ())
    }

    fn notice(&mut self, source: &str, blocks: Vec<ContentBlock>) -> Result<bool, SinkClosed> {
        if blocks.is_empty() {
            return Ok(false);
        }
        self.append(EventData::ContextMessage(message(blocks).from_source(source)), 0)?;
        Ok(true)
    }

    fn call(&mut self, call: Call) -> Result<bool, SinkClosed> {
        let key = self.advance_chain("call", &format!("{} {}", call.name, call.arguments));
        let Call {
            id: call_id,
            name,
            arguments,
        } = call;
        self.append(
            EventData::ToolCall(ToolCall {
                call_id,
                name,
                arguments,
                turn: None,
                step: None,
            }),
            key,
        )?;
        Ok(true)
    }

    fn output(&mut self, call_id: String, output: Output) -> Result<bool, SinkClosed> {
        let key = self.advance_chain("output", &words(&output.content));
        let Output { content, is_error } = output;
        self.append(
            EventData::ToolResult(ToolResult {
                call_id,
                content,
                is_error,
                ..ToolResult::default()
            }),
            key,
        )?;
        Ok(true)
    }

    fn execution(
        &mut self,
        origin: Origin,
        key: &str,
        call: Call,
        output: Option<Output>,
    ) -> Result<bool, SinkClosed> {
        if key.is_empty() || self.state.calls.is_copy(key, origin) {
            return Ok(false);
        }
        let id = call.id.clone();
        self.call(call)?;
        if let Some(output) = output {
            // The model's own answer, should it come after all, is then a copy.
            if !id.is_empty() {
                self.state.outputs.is_copy(&id, origin);
            }
            self.output(id, output)?;
        }
        Ok(true)
    }

    fn compacted(&mut self, summary: String) -> Result<(), SinkClosed> {
        let mut draft = Draft::new(context(summary, "compaction"), self.state.time);
        draft.placement = Placement::ReplaceAll;
        self.log.facts().compactions += 1;
        self.log.append(draft).map(|_| ())
    }

    /// Takes the last prompts, and all that followed the first of them, off the surface.
    fn rolled_back(&mut self, turns: u64) -> Result<(), SinkClosed> {
        let Some(back) = usize::try_from(turns).ok().filter(|&turns| turns > 0) else {
            return Ok(());
        };
        let kept = self.state.turns.len().saturating_sub(back);
        let first = self.state.turns.get(kept).copied();
        self.state.turns.truncate(kept);
        let surface = self.log.surface().current();
        let position = first.and_then(|first| self.log.surface().position(first));
        let placement = match position {
            Some(0) => Placement::ReplaceAll,
            Some(at) => surface
                .get(at - 1)
                .map_or(Placement::LogOnly, |&anchor| Placement::ReplaceAfter(anchor)),
            // The prompt went into a summary, which stays.
            None => match surface {
                [summary, _, ..] => Placement::ReplaceAfter(*summary),
                _ => Placement::LogOnly,
            },
        };
        let mut draft = Draft::new(
            EventData::ContextMessage(Message::default().from_source("rollback")),
            self.state.time,
        );
        draft.placement = placement;
        self.log.facts().rewinds += 1;
        self.log.append(draft).map(|_| ())
    }

    fn append(&mut self, data: EventData, copy_key: u64) -> Result<u64, SinkClosed> {
        let mut draft = Draft::new(data, self.state.time);
        draft.copy_key = copy_key;
        self.log.append(draft)
    }

    fn advance_chain(&mut self, role: &str, text: &str) -> u64 {
        self.state.chain = chained_key(self.state.chain, role, text.trim());
        self.state.chain
    }
}

fn message(content: Vec<ContentBlock>) -> Message {
    Message {
        content,
        ..Message::default()
    }
}

fn context(text: String, source: &str) -> EventData {
    let content = if text.is_empty() {
        Vec::new()
    } else {
        vec![ContentBlock::Text { text }]
    };
    EventData::ContextMessage(message(content).from_source(source))
}

fn words(blocks: &[ContentBlock]) -> Cow<'_, str> {
    if let [ContentBlock::Text { text }] = blocks {
        return Cow::Borrowed(text);
    }
    let texts = blocks.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    Cow::Owned(texts.collect::<Vec<_>>().join("\n"))
}

/// The time inside a UUID of version 7.
fn time_of_uuid(id: &str) -> Option<Timestamp> {
    if id.len() != 36 || id.as_bytes().get(14) != Some(&b'7') {
        return None;
    }
    let digits = format!("{}{}", id.get(..8)?, id.get(9..13)?);
    i64::from_str_radix(&digits, 16).ok().map(Timestamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_7_ids_tell_their_time() {
        assert_eq!(
            time_of_uuid("019df0a5-d400-7000-8000-000000000001"),
            Some(Timestamp(0x019d_f0a5_d400))
        );
        for id in [
            "turn-1",
            "019df0a5-d400-4000-8000-000000000001",
            "äääääääääääääääääääää",
            "",
        ] {
            assert_eq!(time_of_uuid(id), None, "{id}");
        }
    }
}
