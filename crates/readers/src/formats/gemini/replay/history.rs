//! A whole new list of messages in the place of the old one.
use super::{Counts, Remembered, Replay, Stop};
use crate::formats::gemini::calls::{call_key, calls};
use crate::formats::gemini::message::{Said, Speaker};
use crate::formats::gemini::record::Record;
use crate::log::{Draft, Placement};
use lookback_model::Timestamp;
use lookback_model::event::{ContentBlock, EventData, Message};
use lookback_model::source::SinkClosed;
use std::collections::HashSet;
use xxhash_rust::xxh3::xxh3_64;

/// A message of the new list.
struct Item<'r, 'a> {
    record: &'r Record<'a>,
    said: Said,
    /// Where it stood in the old list.
    place: Option<usize>,
}

impl Item<'_, '_> {
    /// Whether it would give events that have to stand somewhere.
    fn is_new(&self) -> bool {
        self.place.is_none() && !(self.said.is_empty() && calls(self.record).is_empty())
    }
}

impl Replay<'_> {
    /// Replaces all messages. Those that were there stay as they are; a run of old ones that is gone is
    /// replaced by one event that holds the words of the new ones in their place.
    pub(in crate::formats::gemini) fn replace(&mut self, records: &[Record<'_>]) -> Result<(), Stop> {
        if self.forgotten_until.is_some() {
            return Err(Stop::Stale);
        }
        let items = self.items(records);
        if self.can_patch(&items) {
            self.patch(items)?
        } else {
            self.rebuild(items)?
        }
        self.find_places();
        Ok(())
    }

    fn items<'r, 'a>(&self, records: &'r [Record<'a>]) -> Vec<Item<'r, 'a>> {
        let called = records.iter().flat_map(|record| record.tool_calls.get());
        let called: HashSet<u64> = called.map(|call| call_key(call.id.get())).collect();
        let mut seen = HashSet::new();
        let mut items = Vec::new();
        for record in records {
            let said = Said::of(record, &called);
            let key = (
                xxh3_64(record.id.get().as_bytes()),
                said.speaker == Speaker::Agent,
            );
            if record.own_id().is_some() && !seen.insert(key) {
                continue;
            }
            let place = record.own_id().and_then(|_| self.places.get(&key)).copied();
            items.push(Item { record, said, place });
        }
        items
    }

    /// Whether the new list comes from the old one by replacing runs and adding at the end.
    fn can_patch(&self, items: &[Item<'_, '_>]) -> bool {
        let surface = self.log.surface();
        let heads = self.messages.iter().filter_map(|message| message.head);
        let positions: Vec<_> = heads.map(|head| surface.position(head)).collect();
        let ascends = positions.is_sorted() && positions.iter().all(Option::is_some);
        let mut next = 0;
        let mut inserts = false;
        for item in items {
            let Some(place) = item.place else {
                inserts |= item.is_new();
                continue;
            };
            if place < next || inserts && self.dropped(next, place).is_none() {
                return false;
            }
            (next, inserts) = (place + 1, false);
        }
        ascends
    }

    /// The first surface event of the old messages from `from` to before `to`.
    fn dropped(&self, from: usize, to: usize) -> Option<u64> {
        self.messages
            .get(from..to)?
            .iter()
            .find_map(|message| message.head)
    }

    fn patch(&mut self, items: Vec<Item<'_, '_>>) -> Result<(), SinkClosed> {
        let mut kept: Vec<Remembered> = Vec::new();
        let mut waiting: Vec<Item<'_, '_>> = Vec::new();
        let mut next = 0;
        let mut compacts = false;
        for item in items {
            let Some(place) = item.place else {
                waiting.push(item);
                continue;
            };
            if let Some(first) = self.dropped(next, place) {
                let last = self.before(place);
                compacts = true;
                self.stand_in(
                    &waiting,
                    Placement::ReplaceRange(first, last.unwrap_or(first)),
                    &mut kept,
                )?;
            }
            waiting.clear();
            next = place + 1;
            let Some(mut message) = self.messages.get(place).cloned() else {
                continue;
            };
            self.renew(&mut message, item.record, item.said)?;
            if let Some(old) = self.messages.get_mut(place) {
                old.head = message.head;
            }
            kept.push(message);
        }
        if let Some(first) = self.dropped(next, self.messages.len()) {
            let last = self.log.surface().current().last().copied().unwrap_or(first);
            let reply = waiting
                .first()
                .filter(|item| item.said.is_summary)
                .and(waiting.get(1));
            let summary = usize::from(waiting.first().is_some_and(|item| item.said.is_summary));
            let summary =
                summary + usize::from(reply.is_some_and(|item| item.said.speaker == Speaker::Agent));
            let rest = waiting.split_off(summary);
            compacts = true;
            self.stand_in(&waiting, Placement::ReplaceRange(first, last), &mut kept)?;
            waiting = rest;
        }
        for item in waiting {
            kept.push(self.tell(item.record, item.said, Placement::Append)?);
        }
        self.log.facts().compactions += u64::from(compacts);
        self.messages = kept;
        Ok(())
    }

    /// The surface event that stands before the first one of old messages from `place` on.
    fn before(&self, place: usize) -> Option<u64> {
        let surface = self.log.surface();
        let Some(head) = self.dropped(place, self.messages.len()) else {
            return surface.current().last().copied();
        };
        let at = surface.position(head)?.checked_sub(1)?;
        surface.current().get(at).copied()
    }

    /// One event with the words of `items`, in the place of old messages.
    fn stand_in(
        &mut self,
        items: &[Item<'_, '_>],
        placement: Placement,
        kept: &mut Vec<Remembered>,
    ) -> Result<(), SinkClosed> {
        let content: Vec<ContentBlock> = items.iter().flat_map(|item| item.said.words()).collect();
        let message = Message {
            content,
            ..Message::default()
        }
        .from_source("compaction");
        let time = items
            .first()
            .and_then(|item| Timestamp::parse(item.record.timestamp.get()));
        let mut draft = Draft::new(EventData::ContextMessage(message), time);
        draft.placement = placement;
        if let Some(first) = items.first() {
            self.identify(&mut draft, first.record, false, "");
        }
        let seq = self.log.append(draft)?;
        kept.extend(items.iter().enumerate().map(|(at, item)| Remembered {
            id: xxh3_64(item.record.id.get().as_bytes()),
            is_agent: item.said.speaker == Speaker::Agent,
            hash: item.said.hash,
            time: Timestamp::parse(item.record.timestamp.get()).unwrap_or_default(),
            head: (at == 0).then_some(seq),
            told: true,
            ..Remembered::default()
        }));
        Ok(())
    }

    /// Empties the surface and tells all messages again; those that were there are not counted again.
    fn rebuild(&mut self, items: Vec<Item<'_, '_>>) -> Result<(), SinkClosed> {
        let message = Message::default().from_source("compaction");
        let mut draft = Draft::new(EventData::ContextMessage(message), None);
        draft.placement = Placement::ReplaceAll;
        self.log.append(draft)?;
        self.log.facts().compactions += 1;
        let mut kept = Vec::new();
        for item in items {
            let counts = Counts::of(self.log.facts());
            let mut message = self.tell(item.record, item.said, Placement::Append)?;
            if let Some(old) = item.place.and_then(|place| self.messages.get(place)) {
                message.counts = old.counts;
                counts.store(self.log.facts());
            }
            kept.push(message);
        }
        self.messages = kept;
        Ok(())
    }
}
