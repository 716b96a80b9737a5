//! Turns: searches wait for one another, callers may leave, and shared work goes on (contract B, B.10).

use crate::scripted::{
    Fault, ScriptedPersistence, World, code, events_with, header, said, say, sessions_with,
};
use lookback_model::session_query::{AbortSignal, SessionQueryErrorCode};
use std::thread;

/// Property: while a provider is queried nothing else is done to it, and other searches follow whole.
#[test]
fn a_query_holds_its_turn() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    persistence.keep(header("s2"), said(&["word"]));
    let session = world.session("s1", &["word"]);
    let gate = world.provider.stop("query");
    thread::scope(|scope| {
        let first = scope.spawn(|| world.found("word"));
        gate.wait_until_reached();
        say(&session, "more");
        let mounted = world.query.mount(persistence);
        let others: Vec<_> = (0..3).map(|_| scope.spawn(|| world.found("word"))).collect();
        gate.open();
        assert_eq!(first.join().unwrap(), ["s1"]);
        for other in others {
            assert_eq!(other.join().unwrap(), ["s2", "s1"]);
        }
        drop(mounted);
    });
    let calls = world.provider.take_calls();
    let queries: Vec<usize> = (0..calls.len()).filter(|&at| calls[at] == "query").collect();
    assert_eq!(queries.len(), 4);
    assert!(queries.iter().all(|&at| calls[at + 1] == "answer"), "{calls:?}");
}

/// Property: two searches at once take turns, each with what was appended before it.
#[test]
fn searches_at_once_take_turns() {
    let world = World::new();
    let session = world.session("s1", &["one"]);
    let gate = world.provider.stop("live s1");
    thread::scope(|scope| {
        let first = scope.spawn(|| world.found("one"));
        gate.wait_until_reached();
        say(&session, "two");
        let second = scope.spawn(|| world.found("two"));
        gate.open();
        assert_eq!(
            (first.join().unwrap(), second.join().unwrap()),
            (vec!["s1".to_owned()], vec!["s1".to_owned()])
        );
    });
    let calls = world.provider.take_calls();
    let queried: Vec<&str> = calls
        .iter()
        .map(String::as_str)
        .filter(|call| *call != "deactivate")
        .collect();
    assert_eq!(
        queried,
        ["live s1", "query", "answer", "live s1", "query", "answer"]
    );
}

/// Property: a signal that was aborted before the call refuses it, and the provider hears nothing.
#[test]
fn an_aborted_signal_refuses_at_once() {
    let world = World::new();
    world.session("s1", &["word"]);
    let signal = AbortSignal::new();
    signal.abort();
    let aborted = SessionQueryErrorCode::Aborted;
    assert_eq!(
        code(world.query.search_sessions(&sessions_with("word"), &signal)),
        aborted
    );
    assert_eq!(
        code(world.query.search_events(&events_with("s1", "word"), &signal)),
        aborted
    );
    assert_eq!(world.provider.take_calls(), [""; 0]);
    assert_eq!(world.provider.statuses(), 0);
}

/// Property: a caller that waits for its turn leaves when its signal is aborted, while the search before it goes
/// on; its own query is never made.
#[test]
fn a_caller_that_waits_for_its_turn_may_leave() {
    let world = World::new();
    world.session("s1", &["word"]);
    let gate = world.provider.stop("query");
    let signal = AbortSignal::new();
    thread::scope(|scope| {
        let first = scope.spawn(|| world.found("word"));
        gate.wait_until_reached();
        let waiting = scope.spawn(|| code(world.query.search_sessions(&sessions_with("never"), &signal)));
        // It leaves though the turn before it does not end.
        signal.abort();
        assert_eq!(waiting.join().unwrap(), SessionQueryErrorCode::Aborted);
        assert!(!first.is_finished());
        gate.open();
        assert_eq!(first.join().unwrap(), ["s1"]);
    });
    assert_eq!(world.found("word"), ["s1"]);
    assert_eq!(world.provider.last_sessions_spec().query, "word");
    let calls = world.provider.take_calls();
    assert_eq!(calls.iter().filter(|call| *call == "query").count(), 2);
}

/// Property: a caller leaves while its own turn is under way; what was begun is finished for the others.
#[test]
fn a_caller_may_leave_in_its_turn_and_the_work_goes_on() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    persistence.keep(header("s1"), said(&["word"]));
    let _mounted = world.query.mount(persistence);
    let gate = world.provider.stop("replace s1");
    let signal = AbortSignal::new();
    thread::scope(|scope| {
        let leaving = scope.spawn(|| code(world.query.search_sessions(&sessions_with("word"), &signal)));
        gate.wait_until_reached();
        signal.abort();
        assert_eq!(leaving.join().unwrap(), SessionQueryErrorCode::Aborted);
        gate.open();
        assert_eq!(world.found("word"), ["s1"]);
    });
    let calls = world.provider.take_calls();
    assert_eq!(calls.iter().filter(|call| *call == "replace s1").count(), 1);
    assert_eq!(calls.iter().filter(|call| *call == "query").count(), 1);
}

/// Property: a search that is aborted before its query, after its query, or while its provider fails, is aborted
/// for its caller and for nobody else.
#[test]
fn an_abort_is_the_callers_alone() {
    let world = World::new();
    let session = world.session("s1", &["word"]);
    for step in ["live s1", "query"] {
        let faults: [fn(AbortSignal) -> Fault; 2] = [Fault::Abort, Fault::AbortAndFail];
        for fault in faults {
            say(&session, "word");
            let signal = AbortSignal::new();
            world.provider.fail(step, fault(signal.clone()));
            world.provider.take_calls();
            let aborted = world.query.search_sessions(&sessions_with("word"), &signal);
            assert_eq!(code(aborted), SessionQueryErrorCode::Aborted, "{step}");
            assert_eq!(world.found("word"), ["s1"], "{step}");
            let queries = world
                .provider
                .take_calls()
                .into_iter()
                .filter(|call| call == "query");
            assert_eq!(queries.count(), if step == "query" { 2 } else { 1 });
        }
    }
}

/// Property: a failed turn does not keep the next from its own.
#[test]
fn a_failed_turn_does_not_stop_the_next() {
    let world = World::new();
    world.session("s1", &["word"]);
    let gate = world.provider.stop("live s1");
    world.provider.fail("live s1", Fault::Panic);
    thread::scope(|scope| {
        let first = scope.spawn(|| code(world.search("word")));
        gate.wait_until_reached();
        let second = scope.spawn(|| world.found("word"));
        gate.open();
        assert_eq!(first.join().unwrap(), SessionQueryErrorCode::IndexFailed);
        assert_eq!(second.join().unwrap(), ["s1"]);
    });
}
