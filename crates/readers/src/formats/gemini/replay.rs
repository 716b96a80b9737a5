//! Replaying messages into a log: a message may be written again as it grows, taken back by a rewind, or
//! replaced together with all others by a compressed history.
//!
//! The log only grows, so a message that is written again gives what is new about it, and what is taken
//! back is shadowed. A session's messages are remembered by the hashes of their ids; a cursor keeps the last
//! [`REMEMBERED`] of them, and what reaches further back asks for the file to be read from its start.

mod history;

use super::calls::{Call, calls};
use super::message::{Said, Speaker, told_directory};
use super::record::Record;
use crate::log::{Draft, LogState, Placement, SessionLog};
use lookback_model::copies::key_of_id;
use lookback_model::event::{EventData, Message, ToolResult};
use lookback_model::source::SinkClosed;
use lookback_model::{SessionFacts, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

/// Messages that a cursor remembers.
const REMEMBERED: usize = 128;

/// What a replay must know to go on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ReplayState {
    log: LogState,
    messages: Vec<Remembered>,
    /// Time of the latest message that is remembered no more; `None` when all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    forgotten_until: Option<Timestamp>,
}

/// A message that was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Remembered {
    /// Hash of its id.
    id: u64,
    is_agent: bool,
    /// Hash of its words.
    hash: u64,
    time: Timestamp,
    /// The surface event that stands first for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<u64>,
    /// Whether its words were told.
    #[serde(skip_serializing_if = "is_default")]
    told: bool,
    /// Tool calls that were told.
    #[serde(skip_serializing_if = "is_default")]
    calls: usize,
    /// Those without an answer yet.
    #[serde(skip_serializing_if = "is_default")]
    unanswered: Vec<usize>,
    #[serde(skip_serializing_if = "is_default")]
    counts: Counts,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What a message added to the session's counts, to be taken off when it is rewound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Counts {
    prompts: u64,
    replies: u64,
    calls: u64,
    results: u64,
    turns: u64,
}

impl Counts {
    fn of(facts: &SessionFacts) -> Self {
        Self {
            prompts: facts.prompts,
            replies: facts.replies,
            calls: facts.tool_calls,
            results: facts.tool_results,
            turns: facts.turns,
        }
    }

    fn zip(self, other: Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            prompts: with(self.prompts, other.prompts),
            replies: with(self.replies, other.replies),
            calls: with(self.calls, other.calls),
            results: with(self.results, other.results),
            turns: with(self.turns, other.turns),
        }
    }

    fn store(self, facts: &mut SessionFacts) {
        facts.prompts = self.prompts;
        facts.replies = self.replies;
        facts.tool_calls = self.calls;
        facts.tool_results = self.results;
        facts.turns = self.turns;
    }
}

/// Why a replay ended before its file.
#[derive(Debug)]
pub(super) enum Stop {
    /// The receiver wants nothing more.
    Closed(SinkClosed),
    /// A record reaches back to what is remembered no more.
    Stale,
}

impl From<SinkClosed> for Stop {
    fn from(closed: SinkClosed) -> Self {
        Self::Closed(closed)
    }
}

/// A session's messages as they are replayed.
pub(super) struct Replay<'s> {
    agent: String,
    pub(super) log: SessionLog<'s>,
    messages: Vec<Remembered>,
    /// Where in `messages` a message stands, by id and speaker.
    places: HashMap<(u64, bool), usize>,
    forgotten_until: Option<Timestamp>,
}

impl<'s> Replay<'s> {
    /// A replay that begins or goes on; `log` begins a log or goes on with it.
    pub(super) fn begin(
        agent: &str,
        state: Option<ReplayState>,
        log: impl FnOnce(Option<LogState>) -> Result<SessionLog<'s>, SinkClosed>,
    ) -> Result<Self, SinkClosed> {
        let (log_state, messages, forgotten_until) = match state {
            Some(state) => (Some(state.log), state.messages, state.forgotten_until),
            None => (None, Vec::new(), None),
        };
        let mut replay = Self {
            agent: agent.to_owned(),
            log: log(log_state)?,
            messages,
            places: HashMap::new(),
            forgotten_until,
        };
        replay.find_places();
        Ok(replay)
    }

    /// Ends for now; gives the state to go on with.
    pub(super) fn finish(mut self) -> Result<ReplayState, SinkClosed> {
        let excess = self.messages.len().saturating_sub(REMEMBERED);
        for message in self.messages.drain(..excess) {
            self.forgotten_until = self.forgotten_until.max(Some(message.time));
        }
        let log = self.log.finish()?;
        Ok(ReplayState {
            log,
            messages: self.messages,
            forgotten_until: self.forgotten_until,
        })
    }

    fn find_places(&mut self) {
        let places = self.messages.iter().enumerate().rev();
        self.places = places
            .map(|(at, message)| ((message.id, message.is_agent), at))
            .collect();
    }

    /// A message that is new, or is written again.
    pub(super) fn message(&mut self, record: &Record<'_>) -> Result<(), Stop> {
        let said = Said::of(record, &HashSet::new());
        let id = xxh3_64(record.id.get().as_bytes());
        let key = (id, said.speaker == Speaker::Agent);
        if record.own_id().is_some()
            && let Some(&at) = self.places.get(&key)
        {
            return self.again(at, record, said);
        }
        let time = Timestamp::parse(record.timestamp.get());
        if self
            .forgotten_until
            .is_some_and(|until| time.is_none_or(|time| time <= until))
        {
            return Err(Stop::Stale);
        }
        let message = self.tell(record, said, Placement::Append)?;
        if record.own_id().is_some() {
            self.places.insert(key, self.messages.len());
        }
        self.messages.push(message);
        Ok(())
    }

    /// Tells a message for the first time.
    fn tell(
        &mut self,
        record: &Record<'_>,
        said: Said,
        placement: Placement,
    ) -> Result<Remembered, SinkClosed> {
        let before = Counts::of(self.log.facts());
        let mut message = Remembered {
            id: xxh3_64(record.id.get().as_bytes()),
            is_agent: said.speaker == Speaker::Agent,
            hash: said.hash,
            time: Timestamp::parse(record.timestamp.get()).unwrap_or_default(),
            ..Remembered::default()
        };
        let calls = calls(record);
        self.tell_words(record, said, &calls, placement, &mut message)?;
        self.tell_calls(record, &calls, &mut message)?;
        message.counts = Counts::of(self.log.facts()).zip(before, u64::saturating_sub);
        if !record.model.get().is_empty() {
            self.log.facts().model = Some(record.model.get().to_owned());
        }
        Ok(message)
    }

    /// Tells a message's words, with its tool calls when it is the agent's, and what was added to it.
    fn tell_words(
        &mut self,
        record: &Record<'_>,
        said: Said,
        calls: &[Call<'_>],
        placement: Placement,
        message: &mut Remembered,
    ) -> Result<(), SinkClosed> {
        let time = Timestamp::parse(record.timestamp.get());
        let mut main = said.main;
        if said.speaker == Speaker::Agent && !(main.is_none() && calls.is_empty()) {
            main = Some(with_calls(main, calls));
            message.calls = calls.len();
            message.unanswered = (0..calls.len()).collect();
        }
        message.told = main.is_some();
        if let Some(data) = main {
            if let Some(directory) = told_directory(&data)
                && self.log.facts().cwd.is_none()
            {
                self.log.facts().cwd = Some(directory.to_owned());
            }
            let mut draft = Draft::new(data, time);
            draft.placement = if said.sent { placement } else { Placement::LogOnly };
            // A message with other words under the same id is no copy of the first.
            let suffix = if matches!(placement, Placement::ReplaceOne(_)) {
                format!("#{}", said.hash)
            } else {
                String::new()
            };
            self.identify(&mut draft, record, message.is_agent, &suffix);
            let seq = self.log.append(draft)?;
            message.head = said.sent.then_some(seq);
        }
        for (at, added) in said.added.into_iter().enumerate() {
            let mut draft = Draft::new(EventData::ContextMessage(added), time);
            if placement != Placement::Append {
                draft.placement = Placement::LogOnly;
            }
            self.identify(&mut draft, record, message.is_agent, &format!("#added-{at}"));
            let seq = self.log.append(draft)?;
            message.head = message.head.or(Some(seq));
        }
        for (at, answer) in said.answers.into_iter().enumerate() {
            self.answer(record, answer, time, &format!("#answer-{at}"), message)?;
        }
        Ok(())
    }

    /// Tells calls that are new as events of their own, and answers that are new.
    fn tell_calls(
        &mut self,
        record: &Record<'_>,
        calls: &[Call<'_>],
        message: &mut Remembered,
    ) -> Result<(), SinkClosed> {
        let time = Timestamp::parse(record.timestamp.get());
        for (at, call) in calls.iter().enumerate().skip(message.calls) {
            let mut draft = Draft::new(call.event(), call.time().or(time));
            self.identify(&mut draft, record, message.is_agent, &format!("#call-{at}"));
            self.log.append(draft)?;
            message.unanswered.push(at);
        }
        message.calls = message.calls.max(calls.len());
        let waiting = std::mem::take(&mut message.unanswered);
        for at in waiting {
            match calls.get(at) {
                Some(call) if call.is_answered() => {
                    self.answer(
                        record,
                        call.answer(),
                        call.time().or(time),
                        &format!("#result-{at}"),
                        message,
                    )?;
                }
                _ => message.unanswered.push(at),
            }
        }
        Ok(())
    }

    fn answer(
        &mut self,
        record: &Record<'_>,
        answer: ToolResult,
        time: Option<Timestamp>,
        suffix: &str,
        message: &mut Remembered,
    ) -> Result<(), SinkClosed> {
        let mut draft = Draft::new(EventData::ToolResult(answer), time);
        self.identify(&mut draft, record, message.is_agent, suffix);
        let seq = self.log.append(draft)?;
        message.head = message.head.or(Some(seq));
        Ok(())
    }

    fn identify(&self, draft: &mut Draft, record: &Record<'_>, is_agent: bool, suffix: &str) {
        let Some(id) = record.own_id() else {
            return;
        };
        // Migrated sessions give one id to a prompt and its reply.
        let speaker = if is_agent { "/gemini" } else { "" };
        draft.copy_key = key_of_id(&self.agent, &format!("{id}{speaker}{suffix}"));
        draft.native_id = Some(id.to_owned());
    }

    /// A message that is written again: what is new about it.
    fn again(&mut self, at: usize, record: &Record<'_>, said: Said) -> Result<(), Stop> {
        let Some(mut message) = self.messages.get(at).cloned() else {
            return Ok(());
        };
        self.renew(&mut message, record, said)?;
        if let Some(place) = self.messages.get_mut(at) {
            *place = message;
        }
        Ok(())
    }

    fn renew(&mut self, message: &mut Remembered, record: &Record<'_>, said: Said) -> Result<(), SinkClosed> {
        let before = Counts::of(self.log.facts());
        let calls = calls(record);
        let says_nothing = said.main.is_none();
        let is_same = message.hash == said.hash && (message.told || says_nothing && calls.is_empty());
        if is_same || message.told && says_nothing {
            self.tell_calls(record, &calls, message)?;
        } else if let (true, Some(head)) = (message.told, message.head) {
            let answered: Vec<usize> = (0..message.calls)
                .filter(|at| !message.unanswered.contains(at))
                .collect();
            self.uncount_words(message);
            message.hash = said.hash;
            self.tell_words(record, said, &calls, Placement::ReplaceOne(head), message)?;
            message.unanswered.retain(|at| !answered.contains(at));
            self.tell_calls(record, &calls, message)?;
        } else {
            message.hash = said.hash;
            let placement = if message.told {
                Placement::LogOnly
            } else {
                Placement::Append
            };
            self.tell_words(record, said, &calls, placement, message)?;
            self.tell_calls(record, &calls, message)?;
        }
        let after = Counts::of(self.log.facts());
        // Words that were told anew were taken off first, so the difference may be less than nothing.
        message.counts = message
            .counts
            .zip(after, u64::saturating_add)
            .zip(before, u64::saturating_sub);
        Ok(())
    }

    /// Takes words that are told anew off the counts of the session.
    fn uncount_words(&mut self, message: &Remembered) {
        let words = Counts {
            results: 0,
            ..message.counts
        };
        let left = Counts::of(self.log.facts()).zip(words, u64::saturating_sub);
        left.store(self.log.facts());
    }

    /// Takes back a message and all after it; an id that never was takes back all.
    pub(super) fn rewind(&mut self, id: &str) -> Result<(), Stop> {
        let id = xxh3_64(id.as_bytes());
        let target = self.messages.iter().position(|message| message.id == id);
        if target.is_none() && self.forgotten_until.is_some() {
            return Err(Stop::Stale);
        }
        let from = target.unwrap_or(0);
        let current = self.log.surface();
        let heads = self.messages.iter().skip(from).filter_map(|message| message.head);
        let first = heads.filter_map(|head| current.position(head)).min();
        let placement = match first {
            None => Placement::LogOnly,
            Some(at) => match at.checked_sub(1).and_then(|at| current.current().get(at)) {
                Some(&anchor) if target.is_some() => Placement::ReplaceAfter(anchor),
                _ => Placement::ReplaceAll,
            },
        };
        let rewound = self
            .messages
            .drain(from..)
            .fold(Counts::default(), |sum, message| {
                sum.zip(message.counts, u64::saturating_add)
            });
        self.find_places();
        let left = Counts::of(self.log.facts()).zip(rewound, u64::saturating_sub);
        let facts = self.log.facts();
        left.store(facts);
        facts.rewinds += 1;
        if facts.prompts == 0 {
            facts.first_copy_key = 0;
            let from_prompt =
                |title: &lookback_model::facts::Title| title.rank == lookback_model::facts::TitleRank::Prompt;
            if facts.title.as_ref().is_some_and(from_prompt) {
                facts.title = None;
            }
        }
        let mut draft = Draft::new(
            EventData::ContextMessage(Message::default().from_source("rollback")),
            None,
        );
        draft.placement = placement;
        self.log.append(draft)?;
        Ok(())
    }
}

/// A reply's words with its tool calls.
fn with_calls(main: Option<EventData>, calls: &[Call<'_>]) -> EventData {
    let mut message = match main {
        Some(EventData::AssistantMessage(message)) => message,
        _ => Message::default(),
    };
    message.content.extend(calls.iter().map(Call::block));
    EventData::AssistantMessage(message)
}
