//! Building a session's log while reading: numbers events, folds the surface, counts and collects facts.
//!
//! Everything it knows is in [`LogState`], which a reader keeps in its cursor, so that reading a file in
//! any number of parts gives the log that reading it whole gives.

use crate::packed;
use lookback_model::event::{ContentBlock, Event, EventData, Message, SurfaceOp};
use lookback_model::facts::TitleRank;
use lookback_model::session::{SessionHeader, SessionKind};
use lookback_model::source::{EventSink, ReadSession, SinkClosed};
use lookback_model::{SessionFacts, Surface, Timestamp, recall, text};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// What a log must know to go on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LogState {
    next_seq: u64,
    last_time: Option<Timestamp>,
    /// The surface, as runs of ascending neighbours.
    surface: Vec<(u64, u64)>,
    /// Shadowed seqs, as ascending runs.
    shadowed: Vec<(u64, u64)>,
    /// The last replies.
    replies: Replies,
    /// Leading events that were copied from another session.
    seed_length: u64,
    /// Calls that asked the history and are not answered yet.
    recalls: Vec<String>,
    facts: SessionFacts,
}

/// Records of one reply lie near one another; this many ids are remembered.
const REPLIES_REMEMBERED: usize = 64;

/// A call is answered before so many others ask the history.
const RECALLS_REMEMBERED: usize = 16;

/// Hashes of the ids of replies, and whether each had words yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Replies(Vec<(u64, bool)>);

impl From<Replies> for String {
    fn from(replies: Replies) -> Self {
        packed::write(replies.0.iter().map(|&(hash, spoke)| hash | u64::from(spoke)))
    }
}

impl TryFrom<String> for Replies {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let hashes = packed::read(&text).ok_or("no hashes of replies")?;
        Ok(Self(
            hashes
                .into_iter()
                .map(|hash| (hash & !1, hash & 1 == 1))
                .collect(),
        ))
    }
}

/// An event before it has a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// Type and payload.
    pub data: EventData,
    /// When it happened; without one it takes the time of the event before it.
    pub time: Option<Timestamp>,
    /// What it does to the surface.
    pub placement: Placement,
    /// The agent's id of the record.
    pub native_id: Option<String>,
    /// See [`lookback_model::copies`]; 0 for none.
    pub copy_key: u64,
    /// The agent's id of the reply this is a part of; replies with one id count once.
    pub reply_id: Option<String>,
}

impl Draft {
    /// A draft that is appended to the surface when its type allows it.
    pub fn new(data: EventData, time: Option<Timestamp>) -> Self {
        let placement = if data.surface_eligible() {
            Placement::Append
        } else {
            Placement::LogOnly
        };
        Self {
            data,
            time,
            placement,
            native_id: None,
            copy_key: 0,
            reply_id: None,
        }
    }
}

/// What an event does to the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Joins it at the end.
    Append,
    /// Stays off it.
    LogOnly,
    /// Takes the place of everything after this event, which must be on the surface.
    ReplaceAfter(u64),
    /// Takes the place of the whole surface.
    ReplaceAll,
    /// Takes the place of one event, which must be on the surface.
    ReplaceOne(u64),
    /// Takes the place of everything from the first to the second, both of which must be on the surface in
    /// this order.
    ReplaceRange(u64, u64),
}

/// A session's log under construction.
pub struct SessionLog<'s> {
    sink: &'s mut dyn EventSink,
    id: String,
    surface: Surface,
    state: LogState,
}

impl<'s> SessionLog<'s> {
    /// Begins a session, or goes on with one whose state was kept.
    ///
    /// # Errors
    /// [`SinkClosed`] when the sink wants nothing.
    pub fn begin(sink: &'s mut dyn EventSink, id: &str, state: Option<LogState>) -> Result<Self, SinkClosed> {
        sink.begin(id, state.is_some())?;
        let state = state.unwrap_or_default();
        let current = state.surface.iter().flat_map(|&(from, to)| from..=to).collect();
        Ok(Self {
            sink,
            id: id.to_owned(),
            surface: Surface::resume(current),
            state,
        })
    }

    /// How much of a tool's answer is wanted, see [`EventSink::tool_text_wanted`].
    pub fn tool_text_wanted(&self) -> usize {
        self.sink.tool_text_wanted()
    }

    /// Says which record comes next, see [`EventSink::record`].
    pub fn record(&mut self, bytes: &[u8]) {
        self.sink.record(bytes);
    }

    /// Whether the rest may be left unread, see [`EventSink::has_enough`].
    pub fn has_enough(&self) -> bool {
        self.sink.has_enough()
    }

    /// The session's changing facts.
    pub fn facts(&mut self) -> &mut SessionFacts {
        &mut self.state.facts
    }

    /// The surface as it is.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// The number of the next event.
    pub fn next_seq(&self) -> u64 {
        self.state.next_seq
    }

    /// Says that all events so far were copied from another session.
    pub fn seed_ends_here(&mut self) {
        self.state.seed_length = self.state.next_seq;
    }

    /// A record without an event has this time.
    pub fn saw_time(&mut self, time: Timestamp) {
        let facts = &mut self.state.facts;
        facts.created_at = Some(facts.created_at.map_or(time, |known| known.min(time)));
        facts.updated_at = Some(facts.updated_at.map_or(time, |known| known.max(time)));
    }

    /// Adds an event; gives its number.
    ///
    /// # Errors
    /// [`SinkClosed`] when the sink wants nothing more.
    pub fn append(&mut self, mut draft: Draft) -> Result<u64, SinkClosed> {
        self.follow_recall(&mut draft.data);
        let seq = self.state.next_seq;
        let surface_op = self.place(seq, &draft);
        self.count(&draft);
        if let Some(time) = draft.time {
            self.saw_time(time);
            self.state.last_time = Some(time);
        }
        let time = draft.time.or(self.state.last_time).unwrap_or_default();
        self.state.next_seq += 1;
        self.state.facts.events = self.state.next_seq;
        self.sink.event(Event {
            seq,
            time,
            data: draft.data,
            surface_op,
            source_event_seqs: None,
            native_id: draft.native_id,
            copy_key: draft.copy_key,
        })?;
        Ok(seq)
    }

    /// Turns a placement into a marker and applies it. A placement that cannot hold becomes an append,
    /// so that a strange file never loses an event.
    fn place(&mut self, seq: u64, draft: &Draft) -> Option<SurfaceOp> {
        if !draft.data.surface_eligible() {
            return None;
        }
        let current = self.surface.current();
        let slice = match draft.placement {
            Placement::LogOnly => return None,
            Placement::Append => None,
            Placement::ReplaceAll => current.first().copied().zip(current.last().copied()),
            Placement::ReplaceOne(one) => self.surface.position(one).map(|_| (one, one)),
            Placement::ReplaceRange(start, end) => {
                let places = self.surface.position(start).zip(self.surface.position(end));
                places.filter(|(from, to)| from <= to).map(|_| (start, end))
            }
            Placement::ReplaceAfter(anchor) => self
                .surface
                .position(anchor)
                .and_then(|at| current.get(at + 1).copied())
                .zip(current.last().copied()),
        };
        let op = slice.map_or(SurfaceOp::Append, |(start, end)| SurfaceOp::Replace {
            start,
            end,
        });
        if self.surface.apply_op(seq, op).is_err() {
            return None;
        }
        if let Some(replacement) = self.surface.take_replacement() {
            for seq in replacement.shadowed {
                add_to_runs(&mut self.state.shadowed, seq);
            }
        }
        Some(op)
    }

    /// Tells answers that quote other sessions from those of other tools, by the calls they answer.
    fn follow_recall(&mut self, data: &mut EventData) {
        match data {
            EventData::ToolCall(call) => self.note_call(&call.call_id, &call.name, &call.arguments),
            EventData::AssistantMessage(message) => {
                for block in &message.content {
                    if let ContentBlock::ToolCall { id, name, arguments } = block {
                        self.note_call(id, name, arguments);
                    }
                }
            }
            EventData::ToolResult(result) => {
                let recalls = &mut self.state.recalls;
                if let Some(at) = recalls.iter().position(|id| *id == result.call_id) {
                    recalls.remove(at);
                    result.is_recalled = true;
                }
            }
            _ => {}
        }
    }

    fn note_call(&mut self, id: &str, name: &str, arguments: &str) {
        if !recall::asks_history(name, arguments) {
            return;
        }
        self.state.facts.recalls += 1;
        let recalls = &mut self.state.recalls;
        if recalls.len() == RECALLS_REMEMBERED {
            recalls.remove(0);
        }
        recalls.push(id.to_owned());
    }

    /// Counts a prompt. Only for one that is in the log as something else: prompts that are appended
    /// are counted already.
    pub fn count_prompt(&mut self, message: &Message) {
        let facts = &mut self.state.facts;
        facts.prompts += 1;
        facts.turns += u64::from(text::speaks(message));
        for block in &message.content {
            if let ContentBlock::Text { text } = block {
                facts.offer_title(text, TitleRank::Prompt);
            }
        }
    }

    fn count(&mut self, draft: &Draft) {
        match &draft.data {
            EventData::UserMessage(message) | EventData::SteeringMessage(message) => {
                self.count_prompt(message);
            }
            EventData::AssistantMessage(message) => {
                if self.state.facts.first_copy_key == 0 {
                    self.state.facts.first_copy_key = draft.copy_key;
                }
                let calls = message
                    .content
                    .iter()
                    .filter(|block| matches!(block, ContentBlock::ToolCall { .. }));
                self.state.facts.tool_calls += calls.count() as u64;
                self.count_reply(draft.reply_id.as_deref(), text::speaks(message));
            }
            EventData::ToolCall(_) => self.state.facts.tool_calls += 1,
            EventData::ToolResult(_) => self.state.facts.tool_results += 1,
            _ => {}
        }
    }

    fn count_reply(&mut self, id: Option<&str>, speaks: bool) {
        // The lowest bit is where it is kept whether the reply had words.
        let hash = id.map(|id| packed::shortened(xxh3_64(id.as_bytes())) & !1);
        let known = self
            .state
            .replies
            .0
            .iter_mut()
            .rev()
            .find(|reply| Some(reply.0) == hash);
        let facts = &mut self.state.facts;
        if let Some((_, spoke)) = known {
            facts.turns += u64::from(speaks && !*spoke);
            *spoke |= speaks;
            return;
        }
        facts.replies += 1;
        facts.turns += u64::from(speaks);
        if let Some(hash) = hash {
            let replies = &mut self.state.replies.0;
            if replies.len() == REPLIES_REMEMBERED {
                replies.remove(0);
            }
            replies.push((hash, speaks));
        }
    }

    /// Hands on what the session is now; gives the state to go on with.
    ///
    /// # Errors
    /// [`SinkClosed`] when the sink wants nothing more.
    pub fn finish(mut self) -> Result<LogState, SinkClosed> {
        self.state.surface.clear();
        for &seq in self.surface.current() {
            match self.state.surface.last_mut() {
                Some((_, to)) if *to + 1 == seq => *to = seq,
                _ => self.state.surface.push((seq, seq)),
            }
        }
        let facts = self.state.facts.clone();
        let mut header = SessionHeader::new(self.id, facts.created_at.unwrap_or_default());
        header.cwd.clone_from(&facts.cwd);
        header.parent_session = facts.parent.clone().or_else(|| facts.forked_from.clone());
        header.seed_length = (self.state.seed_length > 0).then_some(self.state.seed_length);
        if facts.kind == SessionKind::Subagent {
            header.origin = Some("subagent".to_owned());
            header.delegation_depth = Some(1);
        }
        self.sink.end(ReadSession {
            header,
            facts,
            shadowed: self.state.shadowed.clone(),
        })?;
        Ok(self.state)
    }
}

/// Adds a number to a set kept as ascending inclusive runs.
fn add_to_runs(runs: &mut Vec<(u64, u64)>, number: u64) {
    let at = runs.partition_point(|&(from, _)| from <= number);
    if let Some(before) = at.checked_sub(1).and_then(|before| runs.get_mut(before)) {
        if number <= before.1 {
            return;
        }
        if number == before.1 + 1 {
            before.1 = number;
            let joined = runs.get(at).filter(|after| after.0 == number + 1).copied();
            if let Some((_, to)) = joined {
                runs.remove(at);
                if let Some(before) = runs.get_mut(at - 1) {
                    before.1 = to;
                }
            }
            return;
        }
    }
    match runs.get_mut(at) {
        Some(after) if after.0 == number + 1 => after.0 = number,
        _ => runs.insert(at, (number, number)),
    }
}

#[cfg(test)]
mod tests {
    //! Properties: runs hold exactly what was added; a log built in two parts equals one built at once.
    use super::*;
    use lookback_model::event::Message;
    use lookback_model::source::SideTitle;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[derive(Default)]
    struct Kept(Vec<Event>, Option<ReadSession>);

    impl EventSink for Kept {
        fn begin(&mut self, _: &str, _: bool) -> Result<(), SinkClosed> {
            Ok(())
        }
        fn event(&mut self, event: Event) -> Result<(), SinkClosed> {
            self.0.push(event);
            Ok(())
        }
        fn end(&mut self, session: ReadSession) -> Result<(), SinkClosed> {
            self.1 = Some(session);
            Ok(())
        }
        fn title(&mut self, _: SideTitle) {}
    }

    fn draft(kind: u8, at: u64) -> Draft {
        let mut draft = match kind % 3 {
            0 => Draft::new(
                EventData::UserMessage(Message::text("ask")),
                Some(Timestamp(at as i64)),
            ),
            1 => Draft::new(EventData::AssistantMessage(Message::text("answer")), None),
            _ => Draft::new(EventData::ContextMessage(Message::text("summary")), None),
        };
        draft.reply_id = Some(format!("m{}", at % 5));
        draft.placement = match kind / 3 {
            0 => Placement::ReplaceAfter(at % 7),
            1 => Placement::ReplaceAll,
            2 => Placement::LogOnly,
            3 => Placement::ReplaceOne(at % 5),
            4 => Placement::ReplaceRange(at % 4, at % 9),
            _ => Placement::Append,
        };
        draft
    }

    proptest! {
        #[test]
        fn runs_are_a_set(numbers in prop::collection::vec(0u64..40, 0..60)) {
            let mut runs = Vec::new();
            numbers.iter().for_each(|&number| add_to_runs(&mut runs, number));
            let held: Vec<u64> = runs.iter().flat_map(|&(from, to)| from..=to).collect();
            let wanted: Vec<u64> = numbers.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
            prop_assert_eq!(held, wanted);
            prop_assert!(runs.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
        }

        #[test]
        fn in_parts_or_at_once(kinds in prop::collection::vec(0u8..30, 0..40), cut in 0usize..40) {
            let mut whole = Kept::default();
            let mut log = SessionLog::begin(&mut whole, "s", None).unwrap();
            for (at, &kind) in kinds.iter().enumerate() {
                log.append(draft(kind, at as u64)).unwrap();
            }
            let whole_state = log.finish().unwrap();

            let mut parts = Kept::default();
            let cut = cut.min(kinds.len());
            let mut log = SessionLog::begin(&mut parts, "s", None).unwrap();
            for (at, &kind) in kinds.iter().enumerate().take(cut) {
                log.append(draft(kind, at as u64)).unwrap();
            }
            let state = serde_json::to_string(&log.finish().unwrap()).unwrap();
            let mut log = SessionLog::begin(&mut parts, "s", Some(serde_json::from_str(&state).unwrap())).unwrap();
            for (at, &kind) in kinds.iter().enumerate().skip(cut) {
                log.append(draft(kind, at as u64)).unwrap();
            }
            let parts_state = log.finish().unwrap();
            prop_assert_eq!(&whole.0, &parts.0);
            prop_assert_eq!(&whole.1, &parts.1);
            prop_assert_eq!(whole_state, parts_state);
            let surface = Surface::of(&whole.0).unwrap();
            let shadowed: BTreeSet<u64> = surface.replacements().iter().flat_map(|r| r.shadowed.clone()).collect();
            let said: BTreeSet<u64> = whole.1.unwrap().shadowed.iter().flat_map(|&(a, b)| a..=b).collect();
            prop_assert_eq!(said, shadowed);
        }
    }
}
