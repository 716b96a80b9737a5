//! Files that hold one JSON document and are rewritten whole: read as far as they can be parsed.
//!
//! Writers are killed and disks run full, so a document may end anywhere; what stands before the end is kept.
//! Bytes and memory are bounded as in [`lines`], and members that a format has no use for are
//! passed over while parsing, however large they are.

use crate::{lines, mend};
use lookback_model::source::{
    IssueCode, Position, ReadAccount, ReadCursor, ReadError, ReadOutcome, SourceFile,
};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A document as far as it could be parsed.
#[derive(Debug, Default)]
pub struct Document {
    /// What it holds; of what has no end, what was there.
    pub root: Value,
    /// Why the rest could not be parsed.
    pub error: Option<String>,
    /// Its length in the file.
    bytes: u64,
    /// Whether bytes or escapes were replaced.
    is_repaired: bool,
    /// Bytes of long text that were cut.
    cut: u64,
}

impl Document {
    /// Reads a file, without members of the names in `skip` wherever they stand.
    ///
    /// # Errors
    /// [`ReadError::Io`]; [`ReadError::Changed`] when it became shorter meanwhile; [`ReadError::NoSession`]
    /// when it is empty.
    pub fn read(path: &Path, skip: &[&str]) -> Result<Self, ReadError> {
        let failed = |error| lines::io_error(path, error);
        let mut input = lines::open(path)?;
        let length = |input: &File| input.metadata().map(|metadata| metadata.len()).map_err(failed);
        let (bytes, cut) = if length(&input)? > lines::CONDENSE_ABOVE as u64 {
            lines::document(&input).map_err(failed)?
        } else {
            let mut bytes = Vec::new();
            input.read_to_end(&mut bytes).map_err(failed)?;
            (bytes, 0)
        };
        let length = length(&input)?;
        if length < bytes.len() as u64 {
            return Err(ReadError::Changed {
                path: path.to_owned(),
            });
        }
        if bytes.iter().all(|&byte| byte == 0 || byte.is_ascii_whitespace()) {
            return Err(no_session(path, IssueCode::EmptyFile, "it is empty"));
        }
        let mut document = Self::parse(&bytes, skip);
        document.bytes = length;
        document.cut = cut;
        Ok(document)
    }

    /// Parses bytes.
    pub fn parse(bytes: &[u8], skip: &[&str]) -> Self {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let text = String::from_utf8_lossy(bytes);
        let text = match text {
            // A crashed machine leaves zero bytes at the end.
            Cow::Borrowed(text) => Cow::Borrowed(text.trim_matches('\0')),
            owned => owned,
        };
        let mut document = Self {
            is_repaired: matches!(text, Cow::Owned(_)),
            ..Self::default()
        };
        let error = parse_into(&text, skip, &mut document.root);
        document.error = error.as_ref().map(ToString::to_string);
        if error.is_some_and(|error| !error.is_eof()) {
            document.is_repaired = true;
            let mended = mend::mend(&text);
            document.error = parse_into(&mended, skip, &mut document.root).map(|error| error.to_string());
        }
        document
    }

    /// An account of the document's own state: its length, and what was done to it.
    pub fn account(&self) -> ReadAccount {
        let mut account = ReadAccount {
            bytes: self.bytes,
            ..ReadAccount::default()
        };
        if self.is_repaired {
            account.note(1, IssueCode::Repaired, "bad escapes or bytes were replaced");
        }
        if self.cut > 0 {
            account.note(1, IssueCode::TextCut, format!("{} bytes of long text", self.cut));
        }
        account
    }

    /// Accounts for what is missing at its end, after `records` records.
    pub fn account_for_end(&self, records: usize, account: &mut ReadAccount) {
        if let Some(error) = &self.error {
            account.lines += 1;
            account.lost += 1;
            account.note(records as u64 + 1, IssueCode::NotJson, error);
        }
    }
}

/// How a whole read ended.
pub fn outcome(account: ReadAccount) -> ReadOutcome {
    ReadOutcome {
        cursor: ReadCursor {
            position: Position::Whole,
            state: String::new(),
        },
        account,
    }
}

/// Refuses to go on from a cursor, which says nothing about what changed in a document.
///
/// # Errors
/// [`ReadError::StaleCursor`] when there is one.
pub fn refuse(file: &SourceFile, cursor: Option<&ReadCursor>) -> Result<(), ReadError> {
    match cursor {
        None => Ok(()),
        Some(_) => Err(ReadError::StaleCursor {
            path: file.path.clone(),
        }),
    }
}

/// A file without a session.
pub fn no_session(path: &Path, code: IssueCode, detail: &str) -> ReadError {
    ReadError::NoSession {
        path: path.to_owned(),
        code,
        detail: detail.to_owned(),
    }
}

/// A member that is a text; empty when it is not there or no text.
pub fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A member that is a text with something in it.
pub fn words<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value
        .get(key)
        .and_then(Value::as_str)
        .filter(|text| !text.trim().is_empty())
}

/// The items of a member that is an array; none when it is not there or no array.
pub fn items<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// A value as it would stand in a file: a text as it is, nothing for null.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn parse_into(text: &str, skip: &[&str], root: &mut Value) -> Option<serde_json::Error> {
    let mut input = serde_json::Deserializer::from_str(text);
    let parsed = Grow { into: root, skip }
        .deserialize(&mut input)
        .and_then(|()| input.end());
    parsed.err()
}

/// Fills a value in while it is parsed, so that an end too early costs only what is missing.
struct Grow<'g> {
    into: &'g mut Value,
    skip: &'g [&'g str],
}

impl<'de> DeserializeSeed<'de> for Grow<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Grow<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        *self.into = Value::Object(Map::new());
        while let Some(key) = map.next_key::<String>()? {
            if self.skip.contains(&key.as_str()) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let Value::Object(fields) = &mut *self.into else {
                continue;
            };
            let into = fields.entry(key).or_insert(Value::Null);
            map.next_value_seed(Grow {
                into,
                skip: self.skip,
            })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        *self.into = Value::Array(Vec::new());
        let Value::Array(items) = self.into else {
            return Ok(());
        };
        loop {
            let mut item = Value::Null;
            let grow = Grow {
                into: &mut item,
                skip: self.skip,
            };
            let grown = seq.next_element_seed(grow);
            let is_missing = matches!(grown, Ok(None)) || grown.is_err() && item.is_null();
            if !is_missing {
                items.push(item);
            }
            if grown?.is_none() {
                return Ok(());
            }
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        *self.into = Value::String(text.to_owned());
        Ok(())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<(), E> {
        *self.into = Value::String(text);
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        *self.into = Value::Bool(value);
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        *self.into = value.into();
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        *self.into = value.into();
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        *self.into = value.into();
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        *self.into = Value::Null;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    //! Properties: what is whole is what any parser gives; what is cut is its beginning; skipped members
    //! leave nothing; damage in a string costs itself.
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn parse(text: &str) -> Document {
        Document::parse(text.as_bytes(), &["noise"])
    }

    #[test]
    fn a_cut_document_keeps_its_beginning() {
        let document = parse(r#"{"id":"s","messages":[{"role":"user","text":"one"},{"role":"assistant","te"#);
        let wanted = json!({"id": "s", "messages": [{"role": "user", "text": "one"}, {"role": "assistant"}]});
        assert_eq!(document.root, wanted);
        assert!(document.error.is_some());
        assert_eq!(parse("[1,").root, json!([1]));
    }

    #[test]
    fn skipped_members_leave_nothing() {
        let document = parse(r#"{"noise":{"a":[1]},"kept":[{"noise":"x","b":2}]}"#);
        assert_eq!(document.root, json!({"kept": [{"b": 2}]}));
    }

    #[test]
    fn damage_in_a_string_costs_itself() {
        let document = parse("{\"a\":\"half \\ud83d\",\"b\":\"line\nbreak\"}\0\0\0");
        assert_eq!(document.root, json!({"a": "half \u{FFFD}", "b": "line\nbreak"}));
        assert_eq!(document.error, None);
        assert_eq!(document.account().issue_counts["repaired"], 1);
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z]{1,3}", inner, 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whole_documents_are_read_as_they_are(value in value()) {
            let document = parse(&value.to_string());
            prop_assert_eq!(document.root, value);
            prop_assert_eq!(document.error, None);
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let document = Document::parse(&bytes, &[]);
            prop_assert!(document.error.is_some() || !bytes.is_empty());
        }
    }
}
