//! The log of changes to a session: the whole object first, then what was set, added and deleted in it.
//! Streamed text is written many times over, so only the object at the end is what was said.

use crate::document::Document;
use serde_json::Value;

/// Members that are long and no part of the conversation.
pub(super) const SKIPPED: &[&str] = &[
    "inputState",
    "contentReferences",
    "codeCitations",
    "editedFileEvents",
    "followups",
    "variableData",
    "usedContext",
    "renderedUserMessage",
    "renderedGlobalContext",
    "codeBlocks",
    "cacheKey",
];

/// Kinds of changes.
const WHOLE: u64 = 0;
const SET: u64 = 1;
const ADD: u64 = 2;
const DELETE: u64 = 3;

/// Applies a line of the log. `None` when it is no change, or one that the object has no place for.
pub(super) fn apply(line: &[u8], object: &mut Value) -> Option<()> {
    let document = Document::parse(line, SKIPPED);
    if document.error.is_some() {
        return None;
    }
    let mut change = document.root;
    let kind = change.get("kind")?.as_u64()?;
    let value = change.get_mut("v").map(Value::take);
    if kind == WHOLE {
        *object = value.filter(Value::is_object)?;
        return Some(());
    }
    if object.is_null() {
        return None;
    }
    let path = change.get("k")?.as_array()?;
    let is_skipped = |key: &Value| key.as_str().is_some_and(|key| SKIPPED.contains(&key));
    if path.iter().any(is_skipped) {
        return Some(());
    }
    let (last, parents) = path.split_last()?;
    let parent = parents.iter().try_fold(object, |value, key| step(value, key))?;
    match kind {
        SET => *place(parent, last)? = value.unwrap_or(Value::Null),
        ADD => {
            let keep = change.get("i").and_then(Value::as_u64);
            add(place(parent, last)?, keep, value)?;
        }
        DELETE => delete(parent, last),
        _ => {}
    }
    Some(())
}

/// A member or an item that is there.
fn step<'v>(value: &'v mut Value, key: &Value) -> Option<&'v mut Value> {
    match key {
        Value::String(name) => value.get_mut(name.as_str()),
        Value::Number(at) => value.get_mut(usize::try_from(at.as_u64()?).ok()?),
        _ => None,
    }
}

/// A member, or an item at most one behind the last.
fn place<'v>(parent: &'v mut Value, key: &Value) -> Option<&'v mut Value> {
    match (parent, key) {
        (Value::Object(fields), Value::String(name)) => {
            Some(fields.entry(name.as_str()).or_insert(Value::Null))
        }
        (Value::Array(items), Value::Number(at)) => {
            let at = usize::try_from(at.as_u64()?).ok()?;
            if at == items.len() {
                items.push(Value::Null);
            }
            items.get_mut(at)
        }
        _ => None,
    }
}

/// Cuts an array to a length, if one is given, and adds to it.
fn add(target: &mut Value, keep: Option<u64>, value: Option<Value>) -> Option<()> {
    if target.is_null() {
        *target = Value::Array(Vec::new());
    }
    let items = target.as_array_mut()?;
    if let Some(keep) = keep {
        items.truncate(usize::try_from(keep).unwrap_or(usize::MAX));
    }
    match value {
        Some(Value::Array(mut added)) => items.append(&mut added),
        Some(Value::Null) | None => {}
        Some(added) => items.push(added),
    }
    Some(())
}

fn delete(parent: &mut Value, key: &Value) {
    match (parent, key) {
        (Value::Object(fields), Value::String(name)) => drop(fields.remove(name)),
        (Value::Array(items), Value::Number(at)) => {
            if let Some(item) = at
                .as_u64()
                .and_then(|at| items.get_mut(usize::try_from(at).ok()?))
            {
                *item = Value::Null;
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    //! Properties: changes give the object that the editor has; a change that has no place changes nothing.
    use super::*;
    use serde_json::json;

    fn replay(lines: &[Value]) -> (Value, usize) {
        let mut object = Value::Null;
        let applied = lines
            .iter()
            .filter(|line| apply(line.to_string().as_bytes(), &mut object).is_some());
        let applied = applied.count();
        (object, applied)
    }

    #[test]
    fn changes_give_the_object() {
        let (object, applied) = replay(&[
            json!({"kind": 0, "v": {"requests": [], "inputState": {"draft": "x"}, "old": 1}}),
            json!({"kind": 2, "k": ["requests"], "v": [{"id": "a", "response": ["on", "e"]}]}),
            json!({"kind": 2, "k": ["requests", 0, "response"], "i": 1, "v": ["two"]}),
            json!({"kind": 2, "k": ["requests", 0, "parts"], "v": [1]}),
            json!({"kind": 1, "k": ["title"], "v": "t"}),
            json!({"kind": 3, "k": ["old"]}),
            json!({"kind": 1, "k": ["inputState", "draft"], "v": "y"}),
            json!({"kind": 2, "k": ["requests"], "v": [{"id": "b"}]}),
            json!({"kind": 2, "k": ["requests"], "i": 1}),
        ]);
        let wanted =
            json!({"requests": [{"id": "a", "response": ["on", "two"], "parts": [1]}], "title": "t"});
        assert_eq!((object, applied), (wanted, 9));
    }

    #[test]
    fn a_change_without_a_place_changes_nothing() {
        let (object, applied) = replay(&[
            json!({"kind": 1, "k": ["before"], "v": 1}),
            json!({"kind": 0, "v": {"requests": []}}),
            json!({"kind": 1, "k": ["requests", 1_000_000_000_000u64], "v": 1}),
            json!({"kind": 1, "k": ["nowhere", 0, "x"], "v": 1}),
            json!({"kind": 2, "k": [], "v": 1}),
            json!([1]),
        ]);
        assert_eq!((object, applied), (json!({"requests": []}), 1));
    }
}
