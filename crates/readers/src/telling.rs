//! Telling the events of one record: the first goes where the record stands in the conversation, the others
//! behind it, and all carry the record's id.

use crate::journal::Stop;
use crate::log::{Draft, Placement, SessionLog};
use lookback_model::Timestamp;
use lookback_model::copies::{chained_key, key_of_id};
use lookback_model::event::{ContentBlock, EventData};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

/// A record whose events are being told.
pub(crate) struct Telling<'l, 's> {
    /// Agent whose record it is.
    pub agent: &'l str,
    pub log: &'l mut SessionLog<'s>,
    /// The agent's id of the record.
    pub id: Option<String>,
    /// What tells the record from others of its id.
    pub part: String,
    /// The agent's id of the reply that the record is a part of.
    pub reply: Option<String>,
    /// When it was written.
    pub time: Option<Timestamp>,
    /// Where the next event goes.
    pub placement: Placement,
    /// Events so far.
    pub events: usize,
}

impl<'l, 's> Telling<'l, 's> {
    /// A record that goes to the end of the conversation.
    pub(crate) fn new(agent: &'l str, log: &'l mut SessionLog<'s>, time: Option<Timestamp>) -> Self {
        Self {
            agent,
            log,
            id: None,
            part: String::new(),
            reply: None,
            time,
            placement: Placement::Append,
            events: 0,
        }
    }

    /// Tells an event of the conversation; gives its number.
    pub(crate) fn event(&mut self, data: EventData) -> Result<u64, Stop> {
        let placement = std::mem::replace(&mut self.placement, Placement::Append);
        self.log.facts().rewinds += u64::from(placement != Placement::Append);
        let placement = if data.surface_eligible() {
            placement
        } else {
            Placement::LogOnly
        };
        self.place(data, placement)
    }

    /// Tells an event of a record without an id, which is known by what was told before it.
    pub(crate) fn chained(&mut self, data: EventData, chain: &mut Chain) -> Result<u64, Stop> {
        let hash = hash_of(content_of(&data));
        chain.0 = chained_key(chain.0, data.type_name(), &format!("{hash:x}"));
        let placement = std::mem::replace(&mut self.placement, Placement::Append);
        let mut draft = self.draft(data, placement);
        draft.copy_key = chain.0;
        self.append(draft)
    }

    /// Tells an event that the model is not sent.
    pub(crate) fn aside(&mut self, data: EventData) -> Result<u64, Stop> {
        self.place(data, Placement::LogOnly)
    }

    /// Tells an event at a place of its own.
    pub(crate) fn place(&mut self, data: EventData, placement: Placement) -> Result<u64, Stop> {
        let draft = self.draft(data, placement);
        self.append(draft)
    }

    /// An event of the record, for who has more to say about it.
    pub(crate) fn draft(&mut self, data: EventData, placement: Placement) -> Draft {
        let mut draft = Draft::new(data, self.time);
        draft.placement = placement;
        draft.reply_id.clone_from(&self.reply);
        if let Some(id) = &self.id {
            let key = match self.events {
                0 => format!("{id}{}", self.part),
                later => format!("{id}{}/{later}", self.part),
            };
            draft.copy_key = key_of_id(self.agent, &key);
            draft.native_id = Some(id.clone());
        }
        self.events += 1;
        draft
    }

    /// Tells an event that [`Self::draft`] made.
    pub(crate) fn append(&mut self, draft: Draft) -> Result<u64, Stop> {
        Ok(self.log.append(draft)?)
    }
}

/// A key that goes on from the one of the event before; 0 before the first.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Chain(u64);

impl Chain {
    /// Whether there was no event yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.0 == 0
    }
}

/// The content of an event of the conversation.
pub(crate) fn content_of(data: &EventData) -> &[ContentBlock] {
    match data {
        EventData::UserMessage(message)
        | EventData::SteeringMessage(message)
        | EventData::AssistantMessage(message)
        | EventData::ContextMessage(message) => &message.content,
        EventData::ToolResult(result) => &result.content,
        _ => &[],
    }
}

/// Hash of the words of content, in which equal content agrees.
pub(crate) fn hash_of(content: &[ContentBlock]) -> u64 {
    let mut hash = Xxh3::new();
    add(content, &mut hash);
    hash.digest()
}

fn add(content: &[ContentBlock], hash: &mut Xxh3) {
    for block in content {
        match block {
            ContentBlock::Text { text } | ContentBlock::Reasoning { text } => hash.update(text.as_bytes()),
            ContentBlock::ToolCall { id, name, arguments } => {
                for text in [id, name, arguments] {
                    hash.update(text.as_bytes());
                }
            }
            ContentBlock::ToolResult { content, .. } => add(content, hash),
            ContentBlock::Media { media_type, bytes } => {
                hash.update(media_type.as_bytes());
                hash.update(&bytes.to_le_bytes());
            }
            ContentBlock::Other(_) => {}
        }
        hash.update(&[0]);
    }
}
