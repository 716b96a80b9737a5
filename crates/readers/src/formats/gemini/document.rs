//! The older form: one JSON document a session, rewritten whole on every change.

use super::journal::{begin, take_metadata};
use super::record::Record;
use super::replay::Stop;
use crate::journal::no_session;
use crate::lenient::{Object, Words};
use crate::{mend, rewritten};
use lookback_model::source::{
    EventSink, IssueCode, ReadAccount, ReadCursor, ReadError, ReadOutcome, SourceFile,
};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// Reads a document. A cursor says nothing about what changed in it, so there is no going on from one.
pub(in crate::formats) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    let (bytes, account) = rewritten::read(file, cursor)?;
    let text = String::from_utf8_lossy(&bytes);
    let document = Document::parse(&text);
    let is_repaired = matches!(text, Cow::Owned(_));
    if document.error.as_ref().is_none_or(serde_json::Error::is_eof) {
        return tell(file, document, is_repaired, account, sink);
    }
    let mended = mend::mend(&text);
    tell(file, Document::parse(&mended), true, account, sink)
}

/// Hands on what a document holds.
fn tell(
    file: &SourceFile,
    document: Document<'_>,
    is_repaired: bool,
    mut account: ReadAccount,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    let Document {
        metadata,
        messages,
        error,
    } = document;
    let stem = file.path.file_stem().unwrap_or_default().to_string_lossy();
    let session_id = match metadata.session_id.get() {
        "" => stem.as_ref(),
        id => id,
    };
    if messages.is_empty() && (error.is_some() || metadata.session_id.get().is_empty()) {
        return Err(no_session(
            file,
            IssueCode::NoSessionHeader,
            "it ends before its first message",
        ));
    }
    if is_repaired {
        account.note(1, IssueCode::Repaired, "bad escapes or bytes were replaced");
    }
    let mut replay = begin(file, session_id, None, sink)?;
    take_metadata(&mut replay, &metadata);
    for (at, message) in messages.iter().enumerate() {
        account.lines += 1;
        let Some(message) = message else {
            account.lost += 1;
            account.note(at as u64 + 1, IssueCode::NotARecord, "not a message");
            continue;
        };
        account.records += 1;
        if let Some(kind) = message.unknown_type() {
            account.note_unknown(kind);
        }
        match replay.message(message) {
            Ok(()) => {}
            Err(Stop::Closed(closed)) => return Err(closed.into()),
            Err(Stop::Stale) => {
                return Err(ReadError::StaleCursor {
                    path: file.path.clone(),
                });
            }
        }
    }
    if let Some(error) = error {
        account.lines += 1;
        account.lost += 1;
        account.note(messages.len() as u64 + 1, IssueCode::NotJson, error.to_string());
    }
    if replay.log.facts().created_at.is_none() {
        replay.log.saw_time(file.stamp.modified());
    }
    replay.finish()?;
    Ok(rewritten::outcome(account))
}

/// A document as far as it could be parsed.
#[derive(Default)]
struct Document<'a> {
    metadata: Record<'a>,
    /// Its messages; `None` for what stands among them and is none.
    messages: Vec<Option<Record<'a>>>,
    /// Why the rest could not be parsed.
    error: Option<serde_json::Error>,
}

impl<'a> Document<'a> {
    fn parse(text: &'a str) -> Self {
        let mut document = Self::default();
        let mut input = serde_json::Deserializer::from_str(text);
        let parsed = Root(&mut document)
            .deserialize(&mut input)
            .and_then(|()| input.end());
        document.error = parsed.err();
        document
    }
}

/// The document's object, which fills in a [`Document`] as it is parsed, so that an end too early costs only
/// what is missing.
struct Root<'d, 'a>(&'d mut Document<'a>);

impl<'de> DeserializeSeed<'de> for Root<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Root<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a session")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Document {
            metadata, messages, ..
        } = self.0;
        while let Some(key) = map.next_key::<Words<'de>>()? {
            match key.get() {
                "sessionId" => metadata.session_id = map.next_value()?,
                "startTime" => metadata.start_time = map.next_value()?,
                "lastUpdated" => metadata.last_updated = map.next_value()?,
                "kind" => metadata.kind = map.next_value()?,
                "summary" => metadata.summary = map.next_value()?,
                "messages" => map.next_value_seed(Messages(messages))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// The array of messages.
struct Messages<'d, 'a>(&'d mut Vec<Option<Record<'a>>>);

impl<'de> DeserializeSeed<'de> for Messages<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Messages<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(Object(message)) = seq.next_element()? {
            self.0.push(message);
        }
        Ok(())
    }
}
