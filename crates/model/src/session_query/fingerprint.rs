//! Fingerprints: what a session's documents were made from, as one hash (contract B, B.9).
//!
//! Equal fingerprints mean equal documents: header and events are hashed whole, and of the extractors those
//! versions which could have had a part in the text. So a provider that holds a session's documents by the
//! same fingerprint need not be given them again, and an extractor that a session does not use may change.

use super::canonical;
use crate::{Event, SessionHeader};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// The versions of all extractors, core ones included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractorVersions {
    /// By event type.
    pub events: BTreeMap<String, String>,
    /// By type of content block.
    pub blocks: BTreeMap<String, String>,
}

/// SHA-256, in lower-case hex, over the canonical JSON of a header, a whole log and the versions of the
/// extractors that the log's text depends on.
///
/// # Errors
/// When header or event cannot be written as JSON, which no checked log is.
pub fn fingerprint<'a>(
    header: &SessionHeader,
    events: impl IntoIterator<Item = &'a Event>,
    versions: &ExtractorVersions,
) -> Result<String, serde_json::Error> {
    let mut hash = Sha256::new();
    let mut written = Vec::new();
    let mut used = Used::default();
    // One event at a time, in the order of the keys: the log may be long.
    hash.update(br#"{"events":["#);
    for (place, event) in events.into_iter().enumerate() {
        written.clear();
        if place > 0 {
            written.push(b',');
        }
        let value = serde_json::to_value(event)?;
        used.note(event.type_name(), &value, versions);
        canonical::write(&value, &mut written);
        hash.update(&written);
    }
    hash.update(br#"],"extractors":"#);
    update(&mut hash, &mut written, &used)?;
    hash.update(br#","header":"#);
    update(&mut hash, &mut written, header)?;
    hash.update(b"}");
    Ok(hex(&hash.finalize()))
}

fn update(hash: &mut Sha256, written: &mut Vec<u8>, value: &impl Serialize) -> Result<(), serde_json::Error> {
    written.clear();
    canonical::write(&serde_json::to_value(value)?, written);
    hash.update(written);
    Ok(())
}

/// Extractors that a log has work for, as `type@version`.
#[derive(Default, Serialize)]
struct Used {
    blocks: BTreeSet<String>,
    events: BTreeSet<String>,
}

impl Used {
    fn note(&mut self, type_name: &str, event: &Value, versions: &ExtractorVersions) {
        let Some(version) = versions.events.get(type_name) else {
            return;
        };
        let named = format!("{type_name}@{version}");
        self.events.insert(named);
        if let Some(data) = event.get("data") {
            self.note_blocks(data, versions);
        }
    }

    /// Looks for blocks at any depth: where an extractor finds them is its own affair.
    fn note_blocks(&mut self, value: &Value, versions: &ExtractorVersions) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.note_blocks(item, versions)),
            Value::Object(fields) => {
                let block_type = fields.get("type").and_then(Value::as_str);
                if let Some((name, version)) = block_type.and_then(|name| versions.blocks.get_key_value(name))
                {
                    self.blocks.insert(format!("{name}@{version}"));
                }
                fields
                    .values()
                    .for_each(|value| self.note_blocks(value, versions));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;
    use crate::event::{EventData, OtherEvent};
    use serde_json::json;

    fn event(seq: u64, name: &str, data: Value) -> Event {
        serde_json::from_value(json!({"seq": seq, "time": 5, "type": name, "data": data})).unwrap()
    }

    fn versions(events: &[(&str, &str)], blocks: &[(&str, &str)]) -> ExtractorVersions {
        let owned = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter();
            pairs
                .map(|&(name, version)| (name.to_owned(), version.to_owned()))
                .collect()
        };
        ExtractorVersions {
            events: owned(events),
            blocks: owned(blocks),
        }
    }

    fn of(events: &[Event], versions: &ExtractorVersions) -> String {
        fingerprint(&SessionHeader::new("s", Timestamp(5)), events, versions).unwrap()
    }

    /// Property: the hash is the SHA-256 of this very text.
    #[test]
    fn it_is_the_hash_of_canonical_json() {
        let events = [event(0, "a/b", json!({"y": [{"type": "box"}], "x": 1}))];
        let versions = versions(&[("a/b", "2"), ("unused", "9")], &[("box", "3"), ("unused", "9")]);
        let text = concat!(
            r#"{"events":[{"data":{"x":1,"y":[{"type":"box"}]},"seq":0,"time":5,"type":"a/b"}],"#,
            r#""extractors":{"blocks":["box@3"],"events":["a/b@2"]},"#,
            r#""header":{"createdAt":5,"id":"s","version":0}}"#
        );
        let whole = hex(&Sha256::digest(text.as_bytes()));
        assert_eq!(of(&events, &versions), whole);
        assert_eq!(hex(&Sha256::digest(b"")).get(..16), Some("e3b0c44298fc1c14"));
    }

    /// Property: only versions that the log has work for show in the hash, blocks only inside events that have
    /// an extractor.
    #[test]
    fn versions_count_where_they_are_used() {
        let deep = json!({"content": [{"type": "list", "items": [{"type": "box"}]}]});
        let events = [event(0, "a/b", deep)];
        let base = of(&events, &versions(&[("a/b", "1")], &[("box", "1")]));
        assert_ne!(of(&events, &versions(&[("a/b", "2")], &[("box", "1")])), base);
        assert_ne!(of(&events, &versions(&[("a/b", "1")], &[("box", "2")])), base);
        assert_eq!(
            of(
                &events,
                &versions(&[("a/b", "1"), ("c", "1")], &[("box", "1"), ("d", "1")])
            ),
            base
        );
        let without = of(&events, &versions(&[], &[]));
        assert_eq!(of(&events, &versions(&[], &[("box", "1")])), without);
    }

    /// Property: any change of an event, of a type without extractor too, and of the header changes the hash.
    #[test]
    fn everything_in_a_log_counts() {
        let none = ExtractorVersions::default();
        let base = [event(0, "a", json!({"x": 1})), event(1, "b", json!(null))];
        let mut changed = vec![base[..1].to_vec(), vec![base[1].clone(), base[0].clone()]];
        for change in [
            |event: &mut Event| event.time = Timestamp(6),
            |event: &mut Event| event.native_id = Some("n".to_owned()),
            |event: &mut Event| event.source_event_seqs = Some(vec![]),
            |event: &mut Event| {
                let other = OtherEvent {
                    r#type: "a".to_owned(),
                    data: json!({"x": 2}),
                };
                event.data = EventData::Other(other);
            },
        ] {
            let mut events = base.to_vec();
            change(&mut events[0]);
            changed.push(events);
        }
        let mut hashes: BTreeSet<String> = changed.iter().map(|events| of(events, &none)).collect();
        hashes.insert(of(&base, &none));
        let other_header = SessionHeader::new("t", Timestamp(5));
        hashes.insert(fingerprint(&other_header, &base, &none).unwrap());
        assert_eq!(hashes.len(), changed.len() + 2);
    }
}
