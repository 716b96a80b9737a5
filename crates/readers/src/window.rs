//! Which records a file holds, by hashes of their ids, and where each stands in the log.
//!
//! One read knows all records it met. Between two reads only the last ones are remembered, which is
//! where the records that follow hang from. Of the others only the latest time is known: what is newer
//! cannot be one of them.

use crate::packed;
use lookback_model::Timestamp;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::{HashMap, VecDeque};
use xxhash_rust::xxh3::xxh3_64;

/// Records in a block; blocks are forgotten as a whole.
const BLOCK: usize = 32;
/// Blocks remembered between two reads.
const BLOCKS_KEPT: usize = 8;

/// The hash of a record's id.
pub(crate) fn hash_of_id(id: &str) -> u64 {
    packed::shortened(xxh3_64(id.as_bytes()))
}

/// Which event the records that follow a record hang from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// None: nothing of its chain is an event.
    #[default]
    Start,
    /// This one.
    Event(u64),
    /// One that an earlier read knew.
    Forgotten,
}

/// Records by the hash of their id.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Remembered", into = "Remembered")]
pub(crate) struct Window {
    known: HashMap<u64, Anchor>,
    /// The last of them, oldest first.
    recent: VecDeque<Block>,
    /// What was forgotten before this read.
    forgotten: Option<Forgotten>,
    /// What will be forgotten by the next.
    surplus: Option<Forgotten>,
}

/// Records of which only this is known.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Forgotten {
    /// The latest time of any of them.
    until: Option<Timestamp>,
}

#[derive(Clone, Debug, Default)]
struct Block {
    records: Vec<u64>,
    /// The latest time of any of them.
    until: Option<Timestamp>,
}

impl Window {
    /// Whether there were records that this read does not know.
    pub(crate) fn forgot(&self) -> bool {
        self.forgotten.is_some()
    }

    /// Whether a record of this time, which is not known, may have been forgotten.
    pub(crate) fn may_have_held(&self, time: Option<Timestamp>) -> bool {
        self.forgotten
            .is_some_and(|forgotten| time.is_none() || time <= forgotten.until)
    }

    /// Whether the record is known.
    pub(crate) fn contains(&self, record: u64) -> bool {
        self.known.contains_key(&record)
    }

    /// What the records that follow this one hang from.
    pub(crate) fn anchor(&self, record: u64) -> Anchor {
        let unknown = if self.forgot() {
            Anchor::Forgotten
        } else {
            Anchor::Start
        };
        self.known.get(&record).copied().unwrap_or(unknown)
    }

    /// Adds a record.
    pub(crate) fn add(&mut self, record: u64, anchor: Anchor, time: Option<Timestamp>) {
        self.known.insert(record, anchor);
        if self
            .recent
            .back()
            .is_none_or(|block| block.records.len() == BLOCK)
        {
            self.recent.push_back(Block::default());
        }
        if let Some(block) = self.recent.back_mut() {
            block.records.push(record);
            block.until = block.until.max(time);
        }
        if self.recent.len() > BLOCKS_KEPT
            && let Some(block) = self.recent.pop_front()
        {
            let known = self.surplus.or(self.forgotten).and_then(|surplus| surplus.until);
            self.surplus = Some(Forgotten {
                until: known.max(block.until),
            });
        }
    }
}

/// A window as it is kept between two reads.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Remembered {
    blocks: Vec<RememberedBlock>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forgotten: Option<Forgotten>,
}

#[derive(Serialize, Deserialize)]
struct RememberedBlock {
    records: String,
    anchors: Vec<Step>,
    until: Option<Timestamp>,
}

/// An anchor, as the distance from the last event before it in the block.
#[derive(Clone, Copy)]
enum Step {
    Start,
    By(i64),
    Forgotten,
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Start => serializer.serialize_unit(),
            Self::By(distance) => serializer.serialize_i64(distance),
            Self::Forgotten => serializer.serialize_bool(false),
        }
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        if value.is_null() {
            return Ok(Self::Start);
        }
        if value.is_boolean() {
            return Ok(Self::Forgotten);
        }
        let distance = value.as_i64().map(Self::By);
        distance.ok_or_else(|| D::Error::custom("neither a distance nor its absence"))
    }
}

impl From<Window> for Remembered {
    fn from(window: Window) -> Self {
        let blocks = window.recent.iter().map(|block| {
            let mut last = 0;
            let anchors = block.records.iter().map(|&record| match window.anchor(record) {
                Anchor::Start => Step::Start,
                Anchor::Forgotten => Step::Forgotten,
                Anchor::Event(seq) => {
                    Step::By(seq.wrapping_sub(std::mem::replace(&mut last, seq)).cast_signed())
                }
            });
            RememberedBlock {
                anchors: anchors.collect(),
                records: packed::write(block.records.iter().copied()),
                until: block.until,
            }
        });
        Self {
            blocks: blocks.collect(),
            forgotten: window.surplus.or(window.forgotten),
        }
    }
}

impl TryFrom<Remembered> for Window {
    type Error = &'static str;

    fn try_from(kept: Remembered) -> Result<Self, Self::Error> {
        let mut window = Self {
            forgotten: kept.forgotten,
            ..Self::default()
        };
        for block in kept.blocks {
            let records = packed::read(&block.records).ok_or("no hashes of records")?;
            let mut last = 0_u64;
            for (&record, step) in records.iter().zip(block.anchors) {
                let anchor = match step {
                    Step::Start => Anchor::Start,
                    Step::Forgotten => Anchor::Forgotten,
                    Step::By(distance) => {
                        last = last.wrapping_add_signed(distance);
                        Anchor::Event(last)
                    }
                };
                window.known.insert(record, anchor);
            }
            window.recent.push_back(Block {
                records,
                until: block.until,
            });
        }
        Ok(window)
    }
}

#[cfg(test)]
mod tests {
    //! Properties: what is kept does not grow, says what it left out, and comes back as it was.
    use super::*;

    fn kept(window: &Window) -> (String, Window) {
        let json = serde_json::to_string(window).unwrap();
        let window = serde_json::from_str(&json).unwrap();
        (json, window)
    }

    #[test]
    fn only_the_last_are_kept() {
        let mut window = Window::default();
        for record in 0..300 {
            window.add(
                record,
                Anchor::Event(record * 2),
                Some(Timestamp(record.cast_signed())),
            );
        }
        assert!(window.contains(0) && !window.forgot() && !window.may_have_held(Some(Timestamp(0))));
        let (json, window) = kept(&window);
        // Two whole blocks are gone.
        assert!(window.forgot() && !window.contains(63) && window.contains(64));
        assert!(window.may_have_held(Some(Timestamp(63))) && window.may_have_held(None));
        assert!(!window.may_have_held(Some(Timestamp(64))));
        assert_eq!(
            (window.anchor(63), window.anchor(299)),
            (Anchor::Forgotten, Anchor::Event(598))
        );
        assert_eq!(serde_json::to_string(&window).unwrap(), json);
        assert!(json.len() < 3_000, "{} bytes", json.len());
    }

    #[test]
    fn anchors_come_back() {
        let mut window = Window::default();
        let anchors = [
            Anchor::Event(7),
            Anchor::Start,
            Anchor::Event(3),
            Anchor::Forgotten,
            Anchor::Event(9),
        ];
        for (record, anchor) in anchors.into_iter().enumerate() {
            window.add(record as u64, anchor, None);
        }
        let (_, window) = kept(&window);
        for (record, anchor) in anchors.into_iter().enumerate() {
            assert_eq!(window.anchor(record as u64), anchor);
        }
        assert_eq!(window.anchor(99), Anchor::Start);
        assert!(
            serde_json::from_str::<Window>(r#"{"blocks":[{"records":"?","anchors":[],"until":null}]}"#)
                .is_err()
        );
    }
}
