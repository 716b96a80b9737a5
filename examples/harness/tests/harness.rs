//! The example does what the guide says of it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use lookback_example_harness::Harness;
use lookback_model::session_query::{AbortSignal, SessionEventSearchRequest};
use lookback_model::{SessionHeader, SurfaceState, Timestamp};
use std::sync::atomic::{AtomicI64, Ordering};

fn tick() -> Timestamp {
    static NOW: AtomicI64 = AtomicI64::new(1_700_000_000_000);
    Timestamp(NOW.fetch_add(1_000, Ordering::SeqCst))
}

/// Property: what is said is found at once by another session, after the session has ended, and by another process.
#[test]
fn what_was_said_is_recalled() {
    let folder = tempfile::tempdir().unwrap();
    {
        let harness = Harness::open(folder.path(), tick).unwrap();
        let first = harness.begin("first").unwrap();
        let answer = harness.ask(&first, "the frobnicator needs oil").unwrap();
        assert_eq!(answer, "That is new to me.");
        let second = harness.begin("second").unwrap();
        let answer = harness.ask(&second, "frobnicator").unwrap();
        assert!(answer.starts_with("We spoke of that in first: "), "{answer}");
        first.end().unwrap();
        assert_eq!(harness.recall("oil").unwrap().unwrap().0, "first");
        second.end().unwrap();
    }
    let harness = Harness::open(folder.path(), tick).unwrap();
    let (session, words) = harness.recall("needs oil").unwrap().unwrap();
    assert_eq!((session.as_str(), words.contains("frobnicator")), ("first", true));
    let records = harness.sessions().list_sessions().unwrap();
    let ids: Vec<&str> = records.iter().map(|record| record.header.id.as_str()).collect();
    assert_eq!(ids, ["second", "first"]);
    assert!(records.iter().all(|record| record.persisted && !record.live));
}

/// Property: what a compaction replaces is shadowed, traced to what replaced it, and found all the same.
#[test]
fn what_was_compacted_is_shadowed_and_found() {
    let folder = tempfile::tempdir().unwrap();
    let harness = Harness::open(folder.path(), tick).unwrap();
    let session = harness.begin("long").unwrap();
    harness.ask(&session, "use the blue valve").unwrap();
    harness.compact(&session, "we chose a valve").unwrap();
    let sessions = harness.sessions();
    let states: Vec<SurfaceState> = sessions
        .list_events("long")
        .unwrap()
        .iter()
        .map(|event| event.surface)
        .collect();
    use SurfaceState::{Current, LogOnly, Shadowed};
    assert_eq!(states, [Shadowed, Shadowed, LogOnly, Current]);
    assert_eq!(sessions.trace_event("long", 0.0).unwrap().replacement_chain, [3]);
    let request = SessionEventSearchRequest {
        session_id: "long".to_owned(),
        query: "blue valve".to_owned(),
        ..SessionEventSearchRequest::default()
    };
    let page = sessions.search_events(&request, &AbortSignal::new()).unwrap();
    assert_eq!(page.items[0].event.seq, 0);
}

/// Property: a fork knows where it comes from.
#[test]
fn a_fork_is_traced_to_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let harness = Harness::open(folder.path(), tick).unwrap();
    let session = harness.begin("source").unwrap();
    harness.ask(&session, "try it one way").unwrap();
    let fork = session.fork(SessionHeader::new("fork", tick()), None).unwrap();
    harness.ask(&fork, "try it the other way").unwrap();
    let trace = harness.sessions().trace_session("fork").unwrap();
    let parents: Vec<_> = trace
        .parents
        .iter()
        .map(|parent| parent.header.id.as_str())
        .collect();
    assert_eq!(parents, ["source"]);
    assert_eq!(trace.target.header.seed_length, Some(3));
}
