//! Looking into JSON whose shape is not to be relied on: what is not there, or is something else, is nothing.

use lookback_model::Timestamp;
use lookback_model::event::ContentBlock;
use serde_json::Value;

/// What stands at a path of keys.
pub fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// The text at a path; `None` when it is empty.
pub fn text<'v>(value: &'v Value, path: &[&str]) -> Option<&'v str> {
    at(value, path)?.as_str().filter(|text| !text.is_empty())
}

/// The items of the list at a path.
pub fn list<'v>(value: &'v Value, path: &[&str]) -> &'v [Value] {
    at(value, path)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Whether `true` stands at a path.
pub fn is_true(value: &Value, path: &[&str]) -> bool {
    at(value, path).and_then(Value::as_bool).unwrap_or(false)
}

/// The time at a path.
pub fn time(value: &Value, path: &[&str]) -> Option<Timestamp> {
    Timestamp::from_json(at(value, path)?)
}

/// Arguments of a call as the agent wrote them: text as it is, anything else as JSON.
pub fn arguments(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Adds a text that is not blank.
pub fn push_text(content: &mut Vec<ContentBlock>, text: &str) {
    if !text.trim().is_empty() {
        content.push(ContentBlock::text(text));
    }
}

/// An image or document, by its type and its encoded data or the URL that holds it.
pub fn media(media_type: &str, data: &str) -> ContentBlock {
    let inline = data.strip_prefix("data:");
    let named = inline.and_then(|inline| inline.split([';', ',']).next());
    let media_type = if media_type.is_empty() {
        named.unwrap_or_default()
    } else {
        media_type
    };
    ContentBlock::Media {
        media_type: media_type.to_owned(),
        bytes: data.len() as u64,
    }
}
