//! The tree of a conversation's messages.

use crate::document::{items, text};
use lookback_model::Timestamp;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// A place in the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'v> {
    pub(super) id: &'v str,
    /// What was said there; roots hold nothing.
    pub(super) message: Option<&'v Value>,
    /// Whether it is on the way to the last message that the person saw.
    pub(super) is_active: bool,
    /// Whether it is the first of a branch that was left.
    is_left: bool,
}

/// All nodes, each after its parent, branches in the order in which they were begun. Every node comes once,
/// whatever the references between them say.
pub(super) fn in_order<'v>(mapping: &'v Map<String, Value>, current: &'v str) -> Vec<Node<'v>> {
    let last = if mapping.contains_key(current) {
        Some(current)
    } else {
        newest_leaf(mapping)
    };
    let active = way_to(mapping, last);
    let is_root = |node: &Value| {
        let parent = text(node, "parent");
        parent.is_empty() || !mapping.contains_key(parent)
    };
    let roots = mapping
        .iter()
        .filter(|(_, node)| is_root(node))
        .map(|(id, _)| id.as_str());
    let mut waiting: Vec<(&str, bool)> = roots.map(|id| (id, true)).collect();
    waiting.reverse();
    let mut nodes = Vec::with_capacity(mapping.len());
    let mut seen = HashSet::new();
    while let Some((id, is_below_active)) = waiting.pop() {
        let Some((id, node)) = mapping
            .get_key_value(id)
            .filter(|(id, _)| seen.insert(id.as_str()))
        else {
            continue;
        };
        let is_active = active.contains(id.as_str());
        nodes.push(Node {
            id,
            message: node.get("message").filter(|message| message.is_object()),
            is_active,
            is_left: !is_active && is_below_active,
        });
        let children = items(node, "children").iter().rev().filter_map(Value::as_str);
        waiting.extend(children.map(|child| (child, is_active)));
    }
    nodes
}

/// How many branches were left.
pub(super) fn abandoned(nodes: &[Node<'_>]) -> u64 {
    nodes.iter().filter(|node| node.is_left).count() as u64
}

fn way_to<'v>(mapping: &'v Map<String, Value>, last: Option<&'v str>) -> HashSet<&'v str> {
    let mut way = HashSet::new();
    let mut at = last;
    while let Some(id) = at
        && let Some(node) = mapping.get(id)
        && way.insert(id)
    {
        at = node.get("parent").and_then(Value::as_str);
    }
    way
}

fn newest_leaf(mapping: &Map<String, Value>) -> Option<&str> {
    let says_something = |node: &Value| node.get("message").is_some_and(Value::is_object);
    let leaves = mapping
        .iter()
        .filter(|(_, node)| says_something(node) && items(node, "children").is_empty());
    let time = |node: &Value| {
        node.get("message")?
            .get("create_time")
            .and_then(Timestamp::from_json)
    };
    leaves
        .max_by_key(|(_, node)| time(node))
        .map(|(id, _)| id.as_str())
}

#[cfg(test)]
mod tests {
    //! Properties: every node comes once and after its parent; the way that was last seen is found also without
    //! its mark, and through a cycle.
    use super::*;
    use serde_json::json;

    fn told(mapping: &Value, current: &str) -> Vec<(String, bool)> {
        let nodes = in_order(mapping.as_object().unwrap(), current);
        nodes
            .iter()
            .map(|node| (node.id.to_owned(), node.is_active))
            .collect()
    }

    #[test]
    fn the_way_that_was_last_seen() {
        let mapping = json!({
            "r": {"parent": null, "children": ["a"]},
            "a": {"parent": "r", "children": ["b", "c"]},
            "b": {"parent": "a", "children": [], "message": {"create_time": 5.0}},
            "c": {"parent": "a", "children": [], "message": {"create_time": 9.0}},
        });
        let wanted =
            |b: bool| [("r", true), ("a", true), ("b", b), ("c", !b)].map(|(id, on)| (id.to_owned(), on));
        assert_eq!(told(&mapping, "b"), wanted(true));
        assert_eq!(told(&mapping, "c"), wanted(false));
        assert_eq!(told(&mapping, "gone"), wanted(false));
        assert_eq!(abandoned(&in_order(mapping.as_object().unwrap(), "c")), 1);
    }

    #[test]
    fn a_cycle_is_walked_once() {
        let mapping = json!({
            "a": {"parent": "gone", "children": ["b"]},
            "b": {"parent": "c", "children": ["c"]},
            "c": {"parent": "b", "children": ["b", "a"]},
        });
        assert_eq!(told(&mapping, "c").len(), 3);
    }
}
