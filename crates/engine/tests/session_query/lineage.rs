//! Where sessions come from (contract B, B.4).

use crate::scripted::{ScriptedPersistence, World, child, code, header, said};
use lookback_model::SessionHeader;
use lookback_model::session_query::{SessionNode, SessionQueryErrorCode, SessionRecord};

fn world(headers: Vec<SessionHeader>) -> World {
    let world = World::new();
    for header in headers {
        world.live.create(header, Vec::new()).unwrap();
    }
    world
}

fn ids(records: &[SessionRecord]) -> Vec<&str> {
    records.iter().map(|record| record.header.id.as_str()).collect()
}

/// A tree as text: a session, and its children in brackets.
fn tree(nodes: &[SessionNode]) -> String {
    let node = |node: &SessionNode| format!("{}({})", node.session.header.id, tree(&node.children));
    nodes.iter().map(node).collect::<Vec<_>>().join(" ")
}

/// Property: parents are told nearest first, up to the root, and children as a whole tree.
#[test]
fn a_grandchild_has_its_parents_nearest_first() {
    let world = world(vec![
        header("s1"),
        child("s2", "s1"),
        child("s3", "s2"),
        child("s4", "s3"),
        child("s5", "s2"),
    ]);
    let trace = world.query.trace_session("s3").unwrap();
    assert_eq!(trace.target.header.id, "s3");
    assert_eq!(ids(&trace.parents), ["s2", "s1"]);
    assert_eq!(trace.root.unwrap().header.id, "s1");
    assert_eq!(trace.unresolved_parent_id, None);
    assert_eq!(tree(&trace.children), "s4()");
    assert_eq!(
        tree(&world.query.trace_session("s1").unwrap().children),
        "s2(s3(s4()) s5())"
    );
}

/// Property: a parent that is not there is named, and then there is no root.
#[test]
fn a_parent_that_is_not_there_is_named() {
    let world = world(vec![child("s2", "gone"), child("s3", "s2")]);
    let trace = world.query.trace_session("s3").unwrap();
    assert_eq!(ids(&trace.parents), ["s2"]);
    assert_eq!(trace.root, None);
    assert_eq!(trace.unresolved_parent_id.as_deref(), Some("gone"));
}

/// Property: siblings stand in the order they were created in, those of one instant by id.
#[test]
fn siblings_stand_by_creation_then_by_id() {
    let world = world(vec![
        header("s0"),
        child("b7", "s0"),
        child("s9", "s0"),
        child("a7", "s0"),
        child("s1", "s0"),
    ]);
    assert_eq!(
        tree(&world.query.trace_session("s0").unwrap().children),
        "s1() a7() b7() s9()"
    );
}

/// Property: a session that descends from itself has no lineage, by itself, by another, or from below a cycle.
#[test]
fn a_session_that_descends_from_itself_has_no_lineage() {
    let world = world(vec![
        child("s1", "s1"),
        child("s2", "s3"),
        child("s3", "s2"),
        child("s4", "s3"),
    ]);
    for id in ["s1", "s2", "s3", "s4"] {
        assert_eq!(
            code(world.query.trace_session(id)),
            SessionQueryErrorCode::InvalidLineage,
            "{id}"
        );
    }
}

/// Property: a cycle elsewhere is nothing to a session that does not descend from it.
#[test]
fn a_cycle_elsewhere_does_not_matter() {
    let world = world(vec![
        child("s2", "s3"),
        child("s3", "s2"),
        header("s1"),
        child("s4", "s1"),
    ]);
    let trace = world.query.trace_session("s1").unwrap();
    assert_eq!(tree(&trace.children), "s4()");
    assert_eq!(
        world.query.trace_session("s4").unwrap().root.unwrap().header.id,
        "s1"
    );
}

/// Property: a root is its own root and has no parents.
#[test]
fn a_root_is_its_own_root() {
    let world = world(vec![header("s1")]);
    let trace = world.query.trace_session("s1").unwrap();
    assert_eq!(trace.root.as_ref(), Some(&trace.target));
    assert_eq!(ids(&trace.parents), [""; 0]);
}

/// Property: lineage goes across live and kept sessions.
#[test]
fn lineage_goes_across_live_and_kept_sessions() {
    let world = world(vec![child("s2", "s1")]);
    let persistence = ScriptedPersistence::new();
    persistence.keep(header("s1"), said(&["x"]));
    persistence.keep(child("s3", "s2"), said(&["x"]));
    let mounted = world.query.mount(persistence);
    let trace = world.query.trace_session("s2").unwrap();
    assert_eq!(trace.root.unwrap().header.id, "s1");
    assert_eq!(tree(&trace.children), "s3()");
    assert_eq!(
        code(world.query.trace_session("s9")),
        SessionQueryErrorCode::SessionNotFound
    );
    drop(mounted);
    let trace = world.query.trace_session("s2").unwrap();
    assert_eq!(trace.unresolved_parent_id.as_deref(), Some("s1"));
    assert_eq!(tree(&trace.children), "");
}

/// Property: a long line of forks is told whole.
#[test]
fn a_long_line_of_forks_is_told_whole() {
    let mut headers = vec![header("s0")];
    headers.extend((1..2_000).map(|at| child(&format!("s{at}"), &format!("s{}", at - 1))));
    let world = world(headers);
    assert_eq!(world.query.trace_session("s1999").unwrap().parents.len(), 1_999);
    let mut children = world.query.trace_session("s0").unwrap().children;
    let mut depth = 0;
    while let Some(node) = children.pop() {
        depth += 1;
        children = node.children;
    }
    assert_eq!(depth, 1_999);
}
