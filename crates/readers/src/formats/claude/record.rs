//! Records of a transcript as typed views that borrow from the line.
//!
//! Every field is optional and a value of an unexpected type counts as absent, because the vendor calls
//! the format internal and changes it weekly. What is not named here (results said twice, usage,
//! signatures, request dumps) is skipped without being built.

use lookback_model::Timestamp;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// One line.
#[derive(Debug, Default)]
pub(super) struct Record<'a> {
    pub kind: Text<'a>,
    pub subtype: Text<'a>,
    pub uuid: Text<'a>,
    pub parent: Text<'a>,
    pub session_id: Text<'a>,
    pub time: Time,
    pub cwd: Text<'a>,
    pub branch: Text<'a>,
    pub version: Text<'a>,
    pub entrypoint: Text<'a>,
    pub prompt_source: Text<'a>,
    pub request_session_id: Text<'a>,
    pub forked_from: Origin<'a>,
    pub origin: Origin<'a>,
    pub row_source: Text<'a>,
    pub source_tool_use: Text<'a>,
    pub attribution_agent: Text<'a>,
    pub sidechain: Flag,
    pub meta: Flag,
    pub compact_summary: Flag,
    pub api_error: Flag,
    pub message: Body<'a>,
    pub attachment: Attachment<'a>,
    /// `content` of a `system` or `queue-operation` record.
    pub content: Text<'a>,
    /// Title of whatever record gives one.
    pub title: Text<'a>,
    pub leaf: Text<'a>,
    /// What a `queue-operation` record does.
    pub operation: Text<'a>,
    /// What a compaction left as it was.
    pub compacted: Compacted<'a>,
}

/// Names of the fields of a record.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Field {
    Type,
    Subtype,
    Uuid,
    ParentUuid,
    SessionId,
    Timestamp,
    Cwd,
    GitBranch,
    Version,
    Entrypoint,
    PromptSource,
    RequestSessionId,
    ForkedFrom,
    Origin,
    RowSource,
    #[serde(rename = "sourceToolUseID")]
    SourceToolUseId,
    AttributionAgent,
    IsSidechain,
    IsMeta,
    IsCompactSummary,
    IsApiErrorMessage,
    Message,
    Attachment,
    Content,
    #[serde(alias = "aiTitle", alias = "customTitle", alias = "agentName")]
    Summary,
    LeafUuid,
    Operation,
    CompactMetadata,
    #[serde(other)]
    Other,
}

impl<'de: 'a, 'a> Deserialize<'de> for Record<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RecordVisitor)
    }
}

struct RecordVisitor;

impl<'de> Visitor<'de> for RecordVisitor {
    type Value = Record<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut record = Record::default();
        // Written out, since a derived implementation refuses a field that stands twice.
        while let Some(field) = map.next_key()? {
            match field {
                Field::Type => record.kind = map.next_value()?,
                Field::Subtype => record.subtype = map.next_value()?,
                Field::Uuid => record.uuid = map.next_value()?,
                Field::ParentUuid => record.parent = map.next_value()?,
                Field::SessionId => record.session_id = map.next_value()?,
                Field::Timestamp => record.time = map.next_value()?,
                Field::Cwd => record.cwd = map.next_value()?,
                Field::GitBranch => record.branch = map.next_value()?,
                Field::Version => record.version = map.next_value()?,
                Field::Entrypoint => record.entrypoint = map.next_value()?,
                Field::PromptSource => record.prompt_source = map.next_value()?,
                Field::RequestSessionId => record.request_session_id = map.next_value()?,
                Field::ForkedFrom => record.forked_from = map.next_value()?,
                Field::Origin => record.origin = map.next_value()?,
                Field::RowSource => record.row_source = map.next_value()?,
                Field::SourceToolUseId => record.source_tool_use = map.next_value()?,
                Field::AttributionAgent => record.attribution_agent = map.next_value()?,
                Field::IsSidechain => record.sidechain = map.next_value()?,
                Field::IsMeta => record.meta = map.next_value()?,
                Field::IsCompactSummary => record.compact_summary = map.next_value()?,
                Field::IsApiErrorMessage => record.api_error = map.next_value()?,
                Field::Message => record.message = map.next_value()?,
                Field::Attachment => record.attachment = map.next_value()?,
                Field::Content => record.content = map.next_value()?,
                Field::Summary => record.title = map.next_value()?,
                Field::Operation => record.operation = map.next_value()?,
                Field::LeafUuid => record.leaf = map.next_value()?,
                Field::CompactMetadata => record.compacted = map.next_value()?,
                Field::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(record)
    }
}

/// Gives the visitor methods that take a value of any other type as absent.
macro_rules! absent {
    ($absent:expr; $($method:ident($type:ty)),*) => {
        $(fn $method<E: Error>(self, _: $type) -> Result<Self::Value, E> { Ok($absent) })*
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> { Ok($absent) }
    };
    (seq $absent:expr) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok($absent)
        }
    };
    (map $absent:expr) => {
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok($absent)
        }
    };
}

/// A string; empty when absent.
#[derive(Clone, Debug, Default)]
pub(super) struct Text<'a>(pub Cow<'a, str>);

impl Text<'_> {
    /// The string, unless it is empty.
    pub(super) fn get(&self) -> Option<&str> {
        Some(&*self.0).filter(|text| !text.is_empty())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
            absent!(Text::default(); visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64));
            absent!(seq Text::default());
            absent!(map Text::default());
        }
        deserializer.deserialize_any(Any)
    }
}

/// A truth value; false when absent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flag(pub bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Flag;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a truth value")
            }
            fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
                Ok(Flag(value))
            }
            absent!(Flag(false); visit_str(&str), visit_i64(i64), visit_u64(u64), visit_f64(f64));
            absent!(seq Flag(false));
            absent!(map Flag(false));
        }
        deserializer.deserialize_any(Any)
    }
}

/// A point in time, as text or number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Time(pub Option<Timestamp>);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Time;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Time(Timestamp::parse(text)))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Time(Timestamp::from_number(number as f64)))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                Ok(Time(Timestamp::from_number(number)))
            }
            absent!(Time(None); visit_bool(bool), visit_i64(i64));
            absent!(seq Time(None));
            absent!(map Time(None));
        }
        deserializer.deserialize_any(Any)
    }
}

/// Implements `Deserialize` for a struct of lenient fields: an object gives them, anything else absence.
macro_rules! lenient_object {
    ($name:ident { $($key:literal => $field:ident),* $(,)? }) => {
        impl<'de: 'a, 'a> Deserialize<'de> for $name<'a> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Any;
                impl<'de> Visitor<'de> for Any {
                    type Value = $name<'de>;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("an object")
                    }
                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        let mut object = $name::default();
                        while let Some(Text(key)) = map.next_key()? {
                            match &*key {
                                $($key => object.$field = map.next_value()?,)*
                                _ => {
                                    map.next_value::<IgnoredAny>()?;
                                }
                            }
                        }
                        Ok(object)
                    }
                    absent!($name::default(); visit_bool(bool), visit_str(&str), visit_i64(i64), visit_u64(u64), visit_f64(f64));
                    absent!(seq $name::default());
                }
                deserializer.deserialize_any(Any)
            }
        }
    };
}

/// Where a record or a prompt comes from: `forkedFrom` and `origin`.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin<'a> {
    pub session_id: Text<'a>,
    pub kind: Text<'a>,
}

lenient_object!(Origin { "sessionId" => session_id, "kind" => kind });

/// `compactMetadata` of a boundary.
#[derive(Debug, Default)]
pub(super) struct Compacted<'a> {
    pub kept: Kept<'a>,
}

lenient_object!(Compacted { "preservedSegment" => kept });

/// The end of a conversation that a compaction left as it was: it is sent after the summary.
#[derive(Debug, Default)]
pub(super) struct Kept<'a> {
    /// Its first record.
    pub head: Text<'a>,
}

lenient_object!(Kept { "headUuid" => head });

/// `message` of a conversation record.
#[derive(Debug, Default)]
pub(super) struct Body<'a> {
    pub id: Text<'a>,
    pub model: Text<'a>,
    pub content: Content<'a>,
}

lenient_object!(Body { "id" => id, "model" => model, "content" => content });

/// `attachment` of an `attachment` record.
#[derive(Debug, Default)]
pub(super) struct Attachment<'a> {
    pub kind: Text<'a>,
    pub mode: Text<'a>,
    pub prompt: Content<'a>,
    /// When a queued prompt was typed.
    pub time: Time,
}

lenient_object!(Attachment { "type" => kind, "commandMode" => mode, "prompt" => prompt, "timestamp" => time });

/// A block of a message's content.
#[derive(Debug, Default)]
pub(super) struct Block<'a> {
    pub kind: Text<'a>,
    pub text: Text<'a>,
    pub thinking: Text<'a>,
    pub id: Text<'a>,
    pub name: Text<'a>,
    pub input: Json<'a>,
    pub call: Text<'a>,
    pub content: Answer<'a>,
    pub is_error: Flag,
    pub source: Media<'a>,
}

lenient_object!(Block {
    "type" => kind,
    "text" => text,
    "thinking" => thinking,
    "id" => id,
    "name" => name,
    "input" => input,
    "tool_use_id" => call,
    "content" => content,
    "is_error" => is_error,
    "source" => source,
});

/// `source` of an image or document.
#[derive(Debug, Default)]
pub(super) struct Media<'a> {
    pub media_type: Text<'a>,
    pub data: Length,
}

lenient_object!(Media { "media_type" => media_type, "data" => data });

/// The length of a string that is not held.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Length(pub u64);

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Text::deserialize(deserializer).map(|text| Self(text.0.len() as u64))
    }
}

/// A value as it was written; empty when absent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Json<'a>(pub &'a str);

impl<'de: 'a, 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = <&'de RawValue>::deserialize(deserializer)?.get();
        // Skipping does not look at escapes, so that half a surrogate pair would go on unmended.
        if json.contains("\\ud") || json.contains("\\uD") {
            serde_json::from_str::<serde_json::Value>(json).map_err(D::Error::custom)?;
        }
        Ok(Self(json))
    }
}

/// Content of a tool's answer. A string stays as it stands in the line, for most of it is never wanted.
#[derive(Debug)]
pub(super) enum Answer<'a> {
    /// A JSON string with its quotes.
    Literal(&'a str),
    Blocks(Vec<Block<'a>>),
}

impl Default for Answer<'_> {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Answer<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?.get();
        match raw.as_bytes().first() {
            Some(b'"') => Ok(Self::Literal(raw)),
            Some(b'[') => serde_json::from_str(raw)
                .map(Self::Blocks)
                .map_err(D::Error::custom),
            _ => Ok(Self::default()),
        }
    }
}

/// Content of a message: a string or blocks.
#[derive(Debug)]
pub(super) enum Content<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

impl Default for Content<'_> {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Content<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or blocks")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = seq.next_element()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }
            absent!(Content::default(); visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64));
            absent!(map Content::default());
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    //! Property: a value of an unexpected type costs that value, never the record; text that cannot be
    //! decoded is refused so that the line is mended.
    use super::*;

    #[test]
    fn odd_types_count_as_absent() {
        let json = r#"{"type":"user","type":"assistant","uuid":7,"parentUuid":["x"],"timestamp":{"a":1},
            "isMeta":"yes","isSidechain":null,"cwd":{"b":[1]},"forkedFrom":3,"origin":"human",
            "message":{"content":[17,{"type":"text","text":"kept","input":null}]},"attachment":[]}"#;
        let record: Record<'_> = serde_json::from_str(json).unwrap();
        assert_eq!(record.kind.get(), Some("assistant"));
        assert!(record.uuid.get().is_none() && record.parent.get().is_none() && record.cwd.get().is_none());
        assert!(!record.meta.0 && !record.sidechain.0 && record.time.0.is_none());
        let Content::Blocks(blocks) = &record.message.content else {
            panic!("blocks")
        };
        assert_eq!((blocks.len(), blocks[1].text.get()), (2, Some("kept")));
    }

    #[test]
    fn half_a_surrogate_in_arguments_is_refused() {
        let with = |text: &str| format!(r#"{{"message":{{"content":[{{"input":{{"a":"{text}"}}}}]}}}}"#);
        assert!(serde_json::from_str::<Record<'_>>(&with("\\ud83d")).is_err());
        assert!(serde_json::from_str::<Record<'_>>(&with("\\ud83d\\ude00")).is_ok());
    }
}
