//! The shapes Gemini CLI writes, as far as they are used.
//!
//! One struct serves for lines, messages and `$set` objects, because they share their fields. Every field
//! takes any type of value and is empty when it is not the one expected, so that a strange field never costs
//! the record. Text borrows from the line where it holds no escapes.

use crate::lenient::{Flag, Length, List, Object, Words, otherwise_default, readable};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A line, a message or an object of metadata.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::formats) struct Record<'a> {
    #[serde(borrow, rename = "$rewindTo")]
    pub(in crate::formats) rewind_to: Words<'a>,
    #[serde(borrow)]
    pub(in crate::formats) id: Words<'a>,
    #[serde(borrow, rename = "$set")]
    pub(in crate::formats) set: Object<Box<Record<'a>>>,
    #[serde(borrow)]
    pub(in crate::formats) session_id: Words<'a>,
    #[serde(borrow)]
    pub(in crate::formats) start_time: Words<'a>,
    #[serde(borrow)]
    pub(in crate::formats) last_updated: Words<'a>,
    #[serde(borrow)]
    pub(in crate::formats) kind: Words<'a>,
    #[serde(borrow)]
    pub(in crate::formats) summary: Words<'a>,
    #[serde(borrow)]
    pub(in crate::formats) messages: List<Record<'a>>,
    #[serde(borrow)]
    pub(in crate::formats) timestamp: Words<'a>,
    #[serde(borrow)]
    pub(in crate::formats) r#type: Words<'a>,
    #[serde(borrow)]
    pub(in crate::formats) content: Content<'a>,
    #[serde(borrow)]
    pub(in crate::formats) display_content: Content<'a>,
    #[serde(borrow)]
    pub(in crate::formats) thoughts: List<Thought<'a>>,
    #[serde(borrow)]
    pub(in crate::formats) tool_calls: List<ToolCall<'a>>,
    #[serde(borrow)]
    pub(in crate::formats) model: Words<'a>,
}

impl Record<'_> {
    /// The id, unless it is empty, which tells nothing from anything.
    pub(in crate::formats) fn own_id(&self) -> Option<&str> {
        self.id.0.as_deref().filter(|id| !id.is_empty())
    }

    /// The message's type when it is none of those that are known.
    pub(in crate::formats) fn unknown_type(&self) -> Option<&str> {
        match self.r#type.get() {
            "user" | "gemini" | "info" | "warning" | "error" => None,
            "" => Some("message without a type"),
            other => Some(other),
        }
    }
}

/// A thought of the model, as the program summarises it.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(in crate::formats) struct Thought<'a> {
    #[serde(borrow)]
    pub(in crate::formats) subject: Words<'a>,
    #[serde(borrow)]
    pub(in crate::formats) description: Words<'a>,
}

/// A tool call with its answer, once there is one.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::formats) struct ToolCall<'a> {
    #[serde(borrow)]
    pub(in crate::formats) id: Words<'a>,
    #[serde(borrow)]
    pub(in crate::formats) name: Words<'a>,
    #[serde(borrow)]
    pub(in crate::formats) args: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::formats) status: Words<'a>,
    #[serde(borrow)]
    pub(in crate::formats) timestamp: Words<'a>,
    #[serde(borrow)]
    pub(in crate::formats) result: Content<'a>,
    /// What the terminal showed; may hold whole files, so it is not decoded unless it is needed.
    #[serde(borrow)]
    pub(in crate::formats) result_display: Option<&'a RawValue>,
}

/// A part of a message's content.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::formats) struct Part<'a> {
    #[serde(borrow)]
    pub(in crate::formats) text: Words<'a>,
    pub(in crate::formats) thought: Flag,
    #[serde(borrow)]
    pub(in crate::formats) inline_data: Object<Data<'a>>,
    #[serde(borrow)]
    pub(in crate::formats) file_data: Object<Data<'a>>,
    #[serde(borrow)]
    pub(in crate::formats) function_call: Object<FunctionCall<'a>>,
    #[serde(borrow)]
    pub(in crate::formats) function_response: Object<FunctionResponse<'a>>,
}

/// Bytes in a message, or where they are.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::formats) struct Data<'a> {
    #[serde(borrow)]
    pub(in crate::formats) mime_type: Words<'a>,
    pub(in crate::formats) data: Length,
}

/// A tool call as the model's interface carries it.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(in crate::formats) struct FunctionCall<'a> {
    #[serde(borrow)]
    pub(in crate::formats) id: Words<'a>,
    #[serde(borrow)]
    pub(in crate::formats) name: Words<'a>,
    #[serde(borrow)]
    pub(in crate::formats) args: Option<&'a RawValue>,
}

/// A tool's answer as the model's interface carries it.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(in crate::formats) struct FunctionResponse<'a> {
    #[serde(borrow)]
    pub(in crate::formats) id: Words<'a>,
    #[serde(borrow)]
    pub(in crate::formats) response: Response<'a>,
    /// Images and files that belong to the answer.
    #[serde(borrow)]
    pub(in crate::formats) parts: Content<'a>,
}

/// Content: a string, a part, or an array of both.
#[derive(Debug, Default)]
pub(in crate::formats) struct Content<'a>(pub(in crate::formats) Vec<Part<'a>>);

/// What a tool answered: text or JSON, and whether it is an error.
#[derive(Debug, Default)]
pub(in crate::formats) struct Response<'a> {
    pub(in crate::formats) text: Cow<'a, str>,
    pub(in crate::formats) is_error: bool,
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wanted<'a>(PhantomData<&'a str>);
        impl<'de: 'a, 'a> Visitor<'de> for Wanted<'a> {
            type Value = Content<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text, a part or an array of parts")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Content<'a>, E> {
                Ok(Content::text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Content<'a>, E> {
                Ok(Content::text(Cow::Owned(text.to_owned())))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Content<'a>, A::Error> {
                Part::deserialize(MapAccessDeserializer::new(map)).map(|part| Content(vec![part]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content<'a>, A::Error> {
                let mut parts = Vec::new();
                while let Some(Content(part)) = seq.next_element::<Content<'a>>()? {
                    parts.extend(part);
                }
                Ok(Content(parts))
            }
            otherwise_default!(str seq map);
        }
        deserializer.deserialize_any(Wanted(PhantomData))
    }
}

impl<'a> Content<'a> {
    fn text(text: Cow<'a, str>) -> Self {
        Self(vec![Part {
            text: Words(Some(text)),
            ..Part::default()
        }])
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Response<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        Self::of(raw).map_err(serde::de::Error::custom)
    }
}

impl<'a> Response<'a> {
    /// `output` or `error` of the answer where it has one, else all of it.
    fn of(raw: &'a RawValue) -> Result<Self, serde_json::Error> {
        #[derive(Default, serde::Deserialize)]
        #[serde(default)]
        struct Fields<'a> {
            #[serde(borrow)]
            output: Option<&'a RawValue>,
            #[serde(borrow)]
            error: Option<&'a RawValue>,
        }
        let fields: Object<Fields<'a>> = serde_json::from_str(raw.get())?;
        let fields = fields.0.unwrap_or_default();
        let is_error = fields.output.is_none() && fields.error.is_some();
        let wanted = fields.output.or(fields.error).unwrap_or(raw);
        Ok(Self {
            text: readable(wanted)?,
            is_error,
        })
    }
}

#[cfg(test)]
mod tests {
    //! Property: a field of an unexpected type is empty and costs nothing else.
    use super::*;

    #[test]
    fn any_type_of_value_is_taken_everywhere() {
        for value in [
            "null",
            "true",
            "7",
            "-7",
            "7.5",
            "\"s\"",
            "[1,[2]]",
            "{\"a\":{\"b\":1}}",
            "[null,\"t\",{\"text\":5}]",
        ] {
            for field in [
                "$rewindTo",
                "id",
                "$set",
                "sessionId",
                "startTime",
                "lastUpdated",
                "kind",
                "summary",
                "messages",
                "timestamp",
                "type",
                "content",
                "displayContent",
                "thoughts",
                "toolCalls",
                "model",
            ] {
                let json = format!(r#"{{"{field}":{value},"unknown":{value}}}"#);
                serde_json::from_str::<Record<'_>>(&json).unwrap_or_else(|error| panic!("{json}: {error}"));
            }
            for field in [
                "id",
                "name",
                "args",
                "status",
                "timestamp",
                "result",
                "resultDisplay",
            ] {
                let json = format!(r#"{{"toolCalls":[{{"{field}":{value}}}, 5]}}"#);
                let record: Record<'_> = serde_json::from_str(&json).unwrap();
                assert_eq!(record.tool_calls.get().len(), 1, "{json}");
            }
            for field in [
                "text",
                "thought",
                "inlineData",
                "fileData",
                "functionCall",
                "functionResponse",
            ] {
                let json = format!(r#"{{"content":{{"{field}":{value}}}}}"#);
                assert_eq!(
                    serde_json::from_str::<Record<'_>>(&json).unwrap().content.0.len(),
                    1,
                    "{json}"
                );
            }
            let json =
                format!(r#"{{"content":{{"functionResponse":{{"response":{value},"parts":{value}}}}}}}"#);
            serde_json::from_str::<Record<'_>>(&json).unwrap();
        }
    }

    #[test]
    fn text_without_escapes_is_borrowed() {
        let record: Record<'_> =
            serde_json::from_str(r#"{"content":[{"text":"plain"}],"id":"a\n"}"#).unwrap();
        assert!(matches!(record.content.0[0].text.0, Some(Cow::Borrowed("plain"))));
        assert!(matches!(record.id.0, Some(Cow::Owned(_))));
    }

    #[test]
    fn answers_are_text_or_the_json_that_was_given() {
        let text = |json: &str| {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            let response = Response::of(raw).unwrap();
            (response.text.into_owned(), response.is_error)
        };
        assert_eq!(
            text(r#"{"output":"line\nline"}"#),
            ("line\nline".to_owned(), false)
        );
        assert_eq!(
            text(r#"{"error":"no such file"}"#),
            ("no such file".to_owned(), true)
        );
        assert_eq!(
            text(r#"{"output":{"rows":[1]}}"#),
            (r#"{"rows":[1]}"#.to_owned(), false)
        );
        assert_eq!(text(r#"{"rows":[1]}"#), (r#"{"rows":[1]}"#.to_owned(), false));
        assert_eq!(text("null"), (String::new(), false));
    }
}
