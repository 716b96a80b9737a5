//! A conversation being read: which records are part of it, and what must be remembered so that a
//! transcript read in parts gives what reading it whole gives.

use super::prompts::Prompts;
use super::queue::Queue;
use super::record::{Record, Text};
use crate::log::{Draft, LogState, Placement, SessionLog};
use crate::mend::Taken;
use crate::window::{Anchor, Window, hash_of_id};
use lookback_model::event::EventData;
use lookback_model::session::SessionKind;
use lookback_model::source::{EventSink, SinkClosed};
use lookback_model::{Timestamp, copies};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

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
    pub window: Window,
    /// Whose words the lines are.
    pub lines_of: LinesOf,
    /// Prompts on the surface, which tell a rewind.
    pub prompts: Prompts,
    /// What was typed while the agent was at work.
    #[serde(skip_serializing_if = "Queue::is_empty")]
    pub queue: Queue,
    /// Texts of the queue that are in the log since the last prompt, as hashes. Each counts as a prompt
    /// when a record brings it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unconfirmed: Vec<u64>,
    /// The last typed text, as a hash, and when it was typed.
    pub last_prompt: Option<(u64, Option<Timestamp>)>,
    /// Texts that were steered in since, as hashes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steered: Vec<u64>,
    /// Summaries of conversations whose last record was not met yet: its id as a hash, and the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<(u64, String)>,
    /// The first record, as a hash, that the next summary does not stand for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_from: Option<u64>,
    /// A record of a program's run, or of a person's, was met.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_program: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_person: bool,
    /// The first other session that the lines name as theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_session: Option<String>,
    /// The file's last line was taken without its line feed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unterminated: bool,
    /// No record has a time yet, so that the file's own had to do.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
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

/// A conversation being read.
pub(super) struct Conversation<'s> {
    pub log: SessionLog<'s>,
    pub state: State,
    /// The session's id, which is the file's name.
    pub id: String,
    /// The file's name says that it is a subagent's, so that no line can gainsay it.
    named_subagent: bool,
}

/// What the events of one record have in common.
pub(super) struct Origin<'r> {
    pub uuid: Option<&'r str>,
    pub time: Option<Timestamp>,
    /// The line is of a sidechain inside another session's file.
    pub aside: bool,
    /// What the record hangs from.
    pub parent: Anchor,
    /// What later records of the chain hang from.
    pub anchor: Anchor,
    /// Events so far.
    pub events: usize,
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
        if self.take_title(record)? {
            return Ok(Taken::Record);
        }
        let known = matches!(
            kind,
            "user" | "assistant" | "attachment" | "system" | "queue-operation"
        ) || BOOKKEEPING.contains(&kind);
        if !known {
            *unknown = Some(if kind.is_empty() {
                "(none)".to_owned()
            } else {
                kind.to_owned()
            });
        }
        self.refuse_a_line_of_a_session(record)?;
        self.take_facts(record);
        let Some(uuid) = record.uuid.get() else {
            let taken = self.take_conversation(record, Anchor::Start)?;
            return Ok(taken.0);
        };
        let hash = hash_of_id(uuid);
        if self.state.window.contains(hash) {
            return Ok(Taken::Bookkeeping);
        }
        self.refuse_what_was_forgotten(record)?;
        let (taken, anchor) = self.take_conversation(record, self.anchor_of(&record.parent))?;
        self.state.window.add(hash, anchor, record.time.0);
        self.take_summary_of(hash);
        Ok(taken)
    }

    /// What a record hangs from that names this one as the one before it.
    fn anchor_of(&self, parent: &Text<'_>) -> Anchor {
        let parent = parent.get().map(hash_of_id);
        parent.map_or(Anchor::Start, |parent| self.state.window.anchor(parent))
    }

    /// A record as old as the forgotten ones, which hangs from none that is known, may be one of them
    /// written again. Only the whole file tells.
    fn refuse_what_was_forgotten(&self, record: &Record<'_>) -> Result<(), Halt> {
        let window = &self.state.window;
        let hangs = record
            .parent
            .get()
            .is_some_and(|parent| window.contains(hash_of_id(parent)));
        if !hangs && window.may_have_held(record.time.0) {
            return Err(Halt::Stale);
        }
        Ok(())
    }

    /// Takes a record as part of the conversation; gives the event later records of its chain hang from.
    fn take_conversation(&mut self, record: &Record<'_>, parent: Anchor) -> Result<(Taken, Anchor), Halt> {
        let kind = &*record.kind.0;
        let conversation = is_conversation(record);
        if conversation {
            self.settle_whose_lines();
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
            "queue-operation" => self.queue_operation(record, &mut origin)?,
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

    fn settle_whose_lines(&mut self) {
        if self.state.lines_of == LinesOf::Nobody {
            self.state.lines_of = LinesOf::Session;
        }
    }

    /// A line of a session's own, even one that stood there before, says that what was taken for a
    /// subagent's is none.
    fn refuse_a_line_of_a_session(&self, record: &Record<'_>) -> Result<(), Halt> {
        let taken_for_subagent = self.state.lines_of == LinesOf::Subagent && !self.named_subagent;
        if taken_for_subagent && is_conversation(record) && !record.sidechain.0 {
            return Err(Halt::Stale);
        }
        Ok(())
    }

    pub(super) fn emit(
        &mut self,
        data: EventData,
        placement: Placement,
        origin: &mut Origin<'_>,
    ) -> Result<u64, Halt> {
        self.append(draft(data, placement, origin), origin)
    }

    /// Adds an event.
    pub(super) fn append(&mut self, draft: Draft, origin: &mut Origin<'_>) -> Result<u64, Halt> {
        let on_surface = draft.placement != Placement::LogOnly;
        let seq = if origin.aside {
            self.append_uncounted(draft)?
        } else {
            self.log.append(draft)?
        };
        origin.events += 1;
        if on_surface {
            origin.anchor = Anchor::Event(seq);
        }
        Ok(seq)
    }

    /// Adds an event that leaves the session's facts as they are.
    pub(super) fn append_uncounted(&mut self, draft: Draft) -> Result<u64, SinkClosed> {
        let before = self.log.facts().clone();
        let seq = self.log.append(draft)?;
        let facts = self.log.facts();
        let (events, created_at, updated_at) = (facts.events, facts.created_at, facts.updated_at);
        *facts = before;
        (facts.events, facts.created_at, facts.updated_at) = (events, created_at, updated_at);
        Ok(seq)
    }
}

/// An event of a record.
pub(super) fn draft(data: EventData, placement: Placement, origin: &Origin<'_>) -> Draft {
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
