//! Content in blocks, as most interfaces of models have it, and most agents therefore write it: a string, or
//! an array of text, reasoning, calls, answers and media.
//!
//! Agents differ in the names of fields; where they do, a block has all of them. Every field takes any type of
//! value and is empty when it is not the one expected.

use crate::lenient::{Flag, Length, Object, Words, otherwise_default, readable};
use crate::mend;
use lookback_model::event::{ContentBlock, Message};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Content: a string, a block, or an array of both.
#[derive(Debug, Default)]
pub(crate) struct Blocks<'a>(pub(crate) Vec<Block<'a>>);

/// A piece of content. Fields of one meaning are apart, because a record may have several of them.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Words<'a>,
    #[serde(borrow)]
    pub(crate) text: Words<'a>,
    #[serde(borrow)]
    thinking: Words<'a>,
    #[serde(borrow)]
    think: Words<'a>,
    #[serde(borrow)]
    pub(crate) id: Words<'a>,
    #[serde(borrow)]
    pub(crate) name: Words<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Words<'a>,
    #[serde(borrow, rename = "toolUseID")]
    tool_use: Words<'a>,
    /// What a call answered.
    #[serde(borrow)]
    pub(crate) content: Box<Blocks<'a>>,
    pub(crate) is_error: Flag,
    /// What a call came to, as Amp has it.
    #[serde(borrow)]
    pub(crate) run: Option<&'a RawValue>,
    #[serde(borrow)]
    source: Object<Source<'a>>,
    data: Length,
    #[serde(borrow, rename = "mimeType")]
    mime_type: Words<'a>,
    #[serde(borrow, rename = "mediaType")]
    media_type: Words<'a>,
    #[serde(borrow)]
    image_url: Url<'a>,
}

/// Bytes in a block.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Source<'a> {
    #[serde(borrow)]
    media_type: Words<'a>,
    #[serde(borrow, rename = "mediaType")]
    media: Words<'a>,
    data: Length,
}

/// An address: a string, or an object that holds it.
#[derive(Debug, Default)]
struct Url<'a>(Words<'a>);

impl<'a> Blocks<'a> {
    /// Content of one text.
    fn text(text: Cow<'a, str>) -> Self {
        Self(vec![Block {
            text: Words(Some(text)),
            ..Block::default()
        }])
    }

    /// Text, reasoning, calls and media, in order.
    pub(crate) fn content(&self) -> Vec<ContentBlock> {
        self.0.iter().filter_map(Block::content).collect()
    }

    /// The same as a message; `None` when there is nothing in it.
    pub(crate) fn message(&self) -> Option<Message> {
        message(self.content())
    }
}

/// A message of content; `None` when there is nothing in it.
pub(crate) fn message(content: Vec<ContentBlock>) -> Option<Message> {
    (!content.is_empty()).then(|| Message {
        content,
        ..Message::default()
    })
}

impl Block<'_> {
    /// Whether it answers a call.
    pub(crate) fn is_answer(&self) -> bool {
        matches!(self.kind.get(), "tool_result" | "toolResult")
    }

    /// The call that the block answers.
    pub(crate) fn call_id(&self) -> &str {
        first([self.tool_use_id.get(), self.tool_use.get(), ""])
    }

    /// The block, unless it is an answer, is blank, or is of a type that holds no words.
    pub(crate) fn content(&self) -> Option<ContentBlock> {
        match self.kind.get() {
            "thinking" | "think" | "reasoning" => {
                let text = [&self.thinking, &self.think, &self.text].map(Words::get);
                words(first(text)).map(|text| ContentBlock::Reasoning { text })
            }
            "tool_use" | "toolCall" | "tool_call" => Some(ContentBlock::ToolCall {
                id: self.id.get().to_owned(),
                name: self.name.get().to_owned(),
                arguments: match self.input.or(self.arguments) {
                    Some(raw) => arguments(Some(raw)),
                    None => self.text.get().to_owned(),
                },
            }),
            "image" | "image_url" | "audio_url" | "video_url" | "document" | "file" => Some(self.media()),
            "tool_result" | "toolResult" => None,
            _ => words(self.text.get()).map(|text| ContentBlock::Text { text }),
        }
    }

    fn media(&self) -> ContentBlock {
        let Some(source) = &self.source.0 else {
            let url = self.image_url.0.get();
            let (head, encoded) = url.split_once(',').unwrap_or((url, ""));
            let head = head.strip_prefix("data:").unwrap_or_default();
            let told = head.split(';').next().unwrap_or_default();
            return ContentBlock::Media {
                media_type: first([self.mime_type.get(), self.media_type.get(), told]).to_owned(),
                bytes: self.data.0.max(encoded.len() as u64),
            };
        };
        ContentBlock::Media {
            media_type: first([source.media_type.get(), source.media.get(), ""]).to_owned(),
            bytes: source.data.0,
        }
    }
}

/// The first that is not empty.
fn first(texts: [&str; 3]) -> &str {
    texts
        .into_iter()
        .find(|text| !text.is_empty())
        .unwrap_or_default()
}

fn words(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// Arguments as they were written, be it as JSON or as a string that holds it. Halves of surrogate pairs, which
/// a raw value may hold, are mended.
pub(crate) fn arguments(raw: Option<&RawValue>) -> String {
    let Some(raw) = raw else {
        return String::new();
    };
    let text = raw.get();
    if text.starts_with('"') {
        let text = readable(raw).map(Cow::into_owned);
        return text.unwrap_or_else(|_| mend::head_of_string(raw.get(), usize::MAX));
    }
    if text.contains("\\ud") || text.contains("\\uD") {
        return mend::mend(text).into_owned();
    }
    if text == "null" {
        return String::new();
    }
    text.to_owned()
}

impl<'de: 'a, 'a> Deserialize<'de> for Blocks<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wanted<'a>(PhantomData<&'a str>);
        impl<'de: 'a, 'a> Visitor<'de> for Wanted<'a> {
            type Value = Blocks<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text, a block or an array of blocks")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Blocks<'a>, E> {
                Ok(Blocks::text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Blocks<'a>, E> {
                Ok(Blocks::text(Cow::Owned(text.to_owned())))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Blocks<'a>, A::Error> {
                Block::deserialize(MapAccessDeserializer::new(map)).map(|block| Blocks(vec![block]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Blocks<'a>, A::Error> {
                let mut blocks = Vec::new();
                while let Some(Blocks(block)) = seq.next_element::<Blocks<'a>>()? {
                    blocks.extend(block);
                }
                Ok(Blocks(blocks))
            }
            otherwise_default!(str seq map);
        }
        deserializer.deserialize_any(Wanted(PhantomData))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Url<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, serde::Deserialize)]
        #[serde(default)]
        struct Holder<'a> {
            #[serde(borrow)]
            url: Words<'a>,
        }
        struct Wanted<'a>(PhantomData<&'a str>);
        impl<'de: 'a, 'a> Visitor<'de> for Wanted<'a> {
            type Value = Url<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an address")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Url<'a>, E> {
                Ok(Url(Words(Some(Cow::Borrowed(text)))))
            }
            fn visit_str<E>(self, text: &str) -> Result<Url<'a>, E> {
                Ok(Url(Words(Some(Cow::Owned(text.to_owned())))))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Url<'a>, A::Error> {
                Holder::deserialize(MapAccessDeserializer::new(map)).map(|holder| Url(holder.url))
            }
            otherwise_default!(str map);
        }
        deserializer.deserialize_any(Wanted(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    //! Properties: every way of writing a block says the same; a field of an unexpected type is empty.
    use super::*;

    fn content(json: &str) -> Vec<ContentBlock> {
        serde_json::from_str::<Blocks<'_>>(json).unwrap().content()
    }

    #[test]
    fn blocks_are_one_in_all_shapes() {
        let text = vec![ContentBlock::text("a")];
        for json in [
            r#""a""#,
            r#"["a"]"#,
            r#"{"type":"text","text":"a"}"#,
            r#"[{"text":"a"}," "]"#,
        ] {
            assert_eq!(content(json), text, "{json}");
        }
        let call = vec![ContentBlock::ToolCall {
            id: "1".to_owned(),
            name: "n".to_owned(),
            arguments: r#"{"a": 1}"#.to_owned(),
        }];
        for json in [
            r#"[{"type":"tool_use","id":"1","name":"n","input":{"a": 1}}]"#,
            r#"[{"type":"toolCall","id":"1","name":"n","arguments":{"a": 1}}]"#,
            r#"[{"type":"tool_call","id":"1","name":"n","arguments":"{\"a\": 1}"}]"#,
        ] {
            assert_eq!(content(json), call, "{json}");
        }
        let image = vec![ContentBlock::Media {
            media_type: "image/png".to_owned(),
            bytes: 4,
        }];
        for json in [
            r#"[{"type":"image","data":"QUFB","mimeType":"image/png"}]"#,
            r#"[{"type":"image","source":{"media_type":"image/png","data":"QUFB"}}]"#,
            r#"[{"type":"image_url","image_url":{"url":"data:image/png;base64,QUFB"}}]"#,
            r#"[{"type":"image_url","image_url":"data:image/png;base64,QUFB"}]"#,
        ] {
            assert_eq!(content(json), image, "{json}");
        }
    }

    #[test]
    fn any_type_of_value_is_taken_everywhere() {
        for value in [
            "null",
            "true",
            "7",
            "-7.5",
            "\"s\"",
            "[1,[2]]",
            "{\"a\":{\"b\":1}}",
        ] {
            for field in [
                "type",
                "text",
                "thinking",
                "id",
                "name",
                "input",
                "tool_use_id",
                "content",
                "is_error",
                "source",
                "data",
                "media_type",
                "image_url",
            ] {
                let json = format!(r#"[{{"{field}":{value}}},{{"source":{{"data":{value}}}}}]"#);
                serde_json::from_str::<Blocks<'_>>(&json).unwrap_or_else(|error| panic!("{json}: {error}"));
            }
        }
    }
}
