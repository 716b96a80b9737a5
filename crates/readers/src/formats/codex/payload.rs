//! The union of the fields that records of a rollout have, and the texts inside them.
//!
//! One flat struct serves every type, so that a line is read in one pass without knowing its type first.
//! What is large, or has more than one shape, is kept as raw JSON and decoded only where it is used;
//! what is not named here (encrypted reasoning, repeated histories, instructions) is skipped.

use super::tools::Call;
use lookback_model::event::ContentBlock;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// A value that is decoded later, or not at all.
pub(super) type Raw<'a> = Option<&'a RawValue>;

/// Fields of a record, of an item, and of the objects inside them.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
#[rustfmt::skip]
pub(super) struct Payload<'a> {
    #[serde(borrow)] pub(super) r#type: Words<'a>,
    #[serde(borrow)] pub(super) id: Words<'a>,
    #[serde(borrow)] pub(super) timestamp: Words<'a>,
    #[serde(borrow)] pub(super) role: Words<'a>,
    #[serde(borrow)] pub(super) content: Raw<'a>,
    #[serde(borrow)] pub(super) text: Raw<'a>,
    #[serde(borrow)] pub(super) message: Raw<'a>,
    #[serde(borrow)] pub(super) summary: Raw<'a>,
    #[serde(borrow)] pub(super) summary_text: Raw<'a>,
    #[serde(borrow)] pub(super) raw_content: Raw<'a>,
    #[serde(borrow)] pub(super) images: Raw<'a>,
    #[serde(borrow)] pub(super) local_images: Raw<'a>,
    #[serde(borrow)] pub(super) item: Raw<'a>,
    // Calls and their answers.
    #[serde(borrow)] pub(super) name: Words<'a>,
    #[serde(borrow)] pub(super) namespace: Words<'a>,
    #[serde(borrow)] pub(super) call_id: Words<'a>,
    #[serde(borrow)] pub(super) arguments: Raw<'a>,
    #[serde(borrow)] pub(super) input: Raw<'a>,
    #[serde(borrow)] pub(super) action: Raw<'a>,
    #[serde(borrow)] pub(super) query: Words<'a>,
    #[serde(borrow)] pub(super) url: Words<'a>,
    #[serde(borrow)] pub(super) pattern: Words<'a>,
    #[serde(borrow)] pub(super) revised_prompt: Words<'a>,
    #[serde(borrow)] pub(super) output: Raw<'a>,
    #[serde(borrow)] pub(super) tools: Raw<'a>,
    #[serde(borrow)] pub(super) command: Raw<'a>,
    #[serde(borrow)] pub(super) aggregated_output: Raw<'a>,
    #[serde(borrow)] pub(super) stdout: Raw<'a>,
    #[serde(borrow)] pub(super) stderr: Raw<'a>,
    #[serde(borrow)] pub(super) exit_code: Raw<'a>,
    #[serde(borrow)] pub(super) changes: Raw<'a>,
    #[serde(borrow)] pub(super) unified_diff: Raw<'a>,
    #[serde(borrow)] pub(super) success: Raw<'a>,
    #[serde(borrow)] pub(super) invocation: Raw<'a>,
    #[serde(borrow)] pub(super) server: Words<'a>,
    #[serde(borrow)] pub(super) tool: Words<'a>,
    #[serde(borrow)] pub(super) result: Raw<'a>,
    #[serde(borrow)] pub(super) content_items: Raw<'a>,
    #[serde(borrow, rename = "Ok")] pub(super) ok: Raw<'a>,
    #[serde(borrow, rename = "Err")] pub(super) err: Raw<'a>,
    #[serde(borrow, rename = "isError")] pub(super) is_error: Raw<'a>,
    // Turns and threads.
    #[serde(borrow)] pub(super) turn_id: Words<'a>,
    #[serde(borrow)] pub(super) thread_id: Words<'a>,
    #[serde(borrow)] pub(super) thread_name: Words<'a>,
    #[serde(borrow)] pub(super) model: Words<'a>,
    #[serde(borrow)] pub(super) reason: Words<'a>,
    pub(super) num_turns: Whole,
    // Of the session.
    #[serde(borrow)] pub(super) session_id: Words<'a>,
    #[serde(borrow)] pub(super) cwd: Words<'a>,
    #[serde(borrow)] pub(super) git: Raw<'a>,
    #[serde(borrow)] pub(super) branch: Words<'a>,
    #[serde(borrow)] pub(super) cli_version: Words<'a>,
    #[serde(borrow)] pub(super) originator: Words<'a>,
    #[serde(borrow)] pub(super) source: Raw<'a>,
    #[serde(borrow)] pub(super) thread_source: Words<'a>,
    #[serde(borrow)] pub(super) parent_thread_id: Words<'a>,
    #[serde(borrow)] pub(super) forked_from_id: Words<'a>,
    #[serde(borrow)] pub(super) agent_role: Words<'a>,
    #[serde(borrow)] pub(super) agent_nickname: Words<'a>,
    pub(super) subagent_history_start_ordinal: Whole,
}

impl Payload<'_> {
    /// The id that a call and its answer share; empty when there is none.
    pub(super) fn call_id(&self) -> String {
        let id = self.call_id.0.as_deref().or(self.id.0.as_deref());
        id.unwrap_or_default().to_owned()
    }

    /// The tool's name, with its namespace where it has one.
    pub(super) fn tool_name(&self) -> String {
        let name = self.name.0.as_deref().unwrap_or_default();
        match self.namespace.0.as_deref() {
            Some(namespace) if !namespace.is_empty() => format!("{namespace}.{name}"),
            _ => name.to_owned(),
        }
    }

    /// A call of a tool that is named by the record's type.
    pub(super) fn call(&self, name: &str, arguments: Raw<'_>) -> Result<Call, serde_json::Error> {
        Ok(Call {
            id: self.call_id(),
            name: name.to_owned(),
            arguments: text(arguments)?.into_owned(),
        })
    }

    /// What a command wrote to both streams.
    pub(super) fn both_streams(&self) -> Result<String, serde_json::Error> {
        let (stdout, stderr) = (text(self.stdout)?, text(self.stderr)?);
        let gap = if stdout.is_empty() || stderr.is_empty() {
            ""
        } else {
            "\n"
        };
        Ok(format!("{stdout}{gap}{stderr}"))
    }

    /// Changes of files as text: each file's path, what was done to it, and the difference.
    pub(super) fn patch(&self) -> Result<String, serde_json::Error> {
        let mut patch = String::new();
        let Some(changes) = self.changes.filter(|changes| changes.get().starts_with('{')) else {
            return Ok(patch);
        };
        let changes: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(changes.get())?;
        for (path, change) in changes {
            let change: Payload<'_> = match change.get().starts_with('{') {
                true => serde_json::from_str(change.get())?,
                false => Payload::default(),
            };
            let difference = text(change.unified_diff.or(change.content))?;
            let kind = change.r#type.0.unwrap_or_default();
            patch.push_str(&format!("{kind} {path}\n{difference}\n"));
        }
        Ok(patch)
    }

    /// Images of a prompt as it was shown.
    pub(super) fn shown_images(&self) -> Result<Vec<ContentBlock>, serde_json::Error> {
        let mut images = Vec::new();
        for list in [self.images, self.local_images] {
            for image in elements(list)? {
                let url: Url = serde_json::from_str(image.get())?;
                images.push(url.0);
            }
        }
        Ok(images)
    }

    /// Names of the tools that a search for tools found.
    pub(super) fn found_tools(&self) -> Result<Vec<String>, serde_json::Error> {
        let mut names = Vec::new();
        for tool in elements(self.tools)? {
            if tool.get().starts_with('{') {
                let tool: Payload<'_> = serde_json::from_str(tool.get())?;
                names.extend(tool.name.0.map(Cow::into_owned));
            }
        }
        Ok(names)
    }
}

/// The elements of a list; none when it is no list.
fn elements(raw: Raw<'_>) -> Result<Vec<&RawValue>, serde_json::Error> {
    match raw {
        Some(list) if list.get().starts_with('[') => serde_json::from_str(list.get()),
        _ => Ok(Vec::new()),
    }
}

/// A string's text; what is no string stays JSON. Empty when absent.
pub(super) fn text(raw: Raw<'_>) -> Result<Cow<'_, str>, serde_json::Error> {
    let Some(raw) = raw else {
        return Ok(Cow::Borrowed(""));
    };
    if !raw.get().starts_with('"') {
        // Also proves the escapes inside.
        let value: serde_json::Value = serde_json::from_str(raw.get())?;
        return Ok(Cow::Owned(value.to_string()));
    }
    let words: Words<'_> = serde_json::from_str(raw.get())?;
    Ok(words.0.unwrap_or_default())
}

/// Blocks of a string, of one block, or of a list of strings and blocks.
pub(super) fn content(raw: Raw<'_>) -> Result<Vec<ContentBlock>, serde_json::Error> {
    let mut blocks = Vec::new();
    let Some(value) = raw else {
        return Ok(blocks);
    };
    if value.get().starts_with('[') {
        for element in elements(raw)? {
            blocks.extend(block(element)?);
        }
    } else {
        blocks.extend(block(value)?);
    }
    Ok(blocks)
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow)]
    r#type: Words<'a>,
    #[serde(borrow)]
    text: Words<'a>,
    image_url: Option<Url>,
}

fn block(raw: &RawValue) -> Result<Option<ContentBlock>, serde_json::Error> {
    if raw.get().starts_with('"') {
        let words: Words<'_> = serde_json::from_str(raw.get())?;
        return Ok(words.0.filter(|text| !text.is_empty()).map(ContentBlock::text));
    }
    if !raw.get().starts_with('{') {
        return Ok(None);
    }
    let part: Part<'_> = serde_json::from_str(raw.get())?;
    let kind = part.r#type.0.as_deref().unwrap_or_default();
    Ok(match kind {
        "encrypted_content" => None,
        _ if kind.contains("image") => Some(part.image_url.map_or(
            ContentBlock::Media {
                media_type: String::new(),
                bytes: 0,
            },
            |url| url.0,
        )),
        _ => part
            .text
            .0
            .filter(|text| !text.is_empty())
            .map(ContentBlock::text),
    })
}

/// Text; absent when the value is of another type.
#[derive(Clone, Debug, Default)]
pub(super) struct Words<'a>(pub(super) Option<Cow<'a, str>>);

/// A whole number; absent when the value is of another type.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Whole(pub(super) Option<u64>);

/// An image by what its address says: never the data itself.
struct Url(ContentBlock);

impl Url {
    fn of(url: &str) -> Self {
        let data = url.strip_prefix("data:").and_then(|data| data.split_once(','));
        let (media_type, bytes) = data.map_or(("", 0), |(head, data)| {
            (head.split(';').next().unwrap_or_default(), data.len() as u64)
        });
        Self(ContentBlock::Media {
            media_type: media_type.to_owned(),
            bytes,
        })
    }
}

/// Takes a value of any type and keeps what it was asked for.
struct Lenient<T>(T);

/// What is made of a value, by type; everything else is passed by.
trait Keep<'de>: Default {
    fn text(text: Cow<'de, str>) -> Self;
    fn number(_: u64) -> Self {
        Self::default()
    }
}

impl<'de> Keep<'de> for Words<'de> {
    fn text(text: Cow<'de, str>) -> Self {
        Self(Some(text))
    }
}

impl Keep<'_> for Whole {
    fn text(_: Cow<'_, str>) -> Self {
        Self(None)
    }
    fn number(number: u64) -> Self {
        Self(Some(number))
    }
}

impl Default for Url {
    fn default() -> Self {
        Self(ContentBlock::Media {
            media_type: String::new(),
            bytes: 0,
        })
    }
}

impl Keep<'_> for Url {
    fn text(text: Cow<'_, str>) -> Self {
        Self::of(&text)
    }
}

impl<'de, T: Keep<'de>> Visitor<'de> for Lenient<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<T, E> {
        Ok(T::text(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::text(Cow::Owned(text.to_owned())))
    }
    fn visit_u64<E>(self, number: u64) -> Result<T, E> {
        Ok(T::number(number))
    }
    fn visit_i64<E>(self, _: i64) -> Result<T, E> {
        Ok(T::default())
    }
    fn visit_f64<E>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }
    fn visit_bool<E>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }
    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Words<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Lenient(Words::<'de>(None)))
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Lenient(Self(None)))
    }
}

impl<'de> Deserialize<'de> for Url {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Lenient(Self::default()))
    }
}
