//! The live override: what a search sees of sessions that run (contract B, B.10).

use crate::scripted::{
    Fault, PROVIDER, Scripted, ScriptedPersistence, World, code, has_cause, header, said, say,
};
use lookback_model::session_query::SessionQueryErrorCode;
use std::sync::Arc;
use std::thread;

fn calls(world: &World) -> Vec<String> {
    let mut calls = world.provider.take_calls();
    calls.retain(|call| call != "answer" && call != "deactivate");
    calls
}

/// Property: a search sees whatever was appended before it.
#[test]
fn a_search_sees_what_was_appended_before_it() {
    let world = World::new();
    let session = world.session("s1", &[]);
    for at in 0..20 {
        let word = format!("w{at}x");
        assert_eq!(world.found(&word), [""; 0]);
        let seq = say(&session, &word);
        assert_eq!(world.found(&word), ["s1"]);
        assert_eq!(world.found_in("s1", &word), [seq]);
    }
}

/// Property: only sessions that have changed since are given again, and documents of what was there before are
/// the same ones.
#[test]
fn only_what_has_changed_is_given_again() {
    let world = World::new();
    let first = world.session("s1", &["word"]);
    world.session("s2", &["word"]);
    assert_eq!(world.found("word"), ["s1", "s2"]);
    assert_eq!(calls(&world), ["live s1", "live s2", "query"]);
    let before = world.provider.live("s1").unwrap().documents;
    assert_eq!(world.found("word"), ["s1", "s2"]);
    assert_eq!(calls(&world), ["query"]);
    say(&first, "more");
    assert_eq!(world.found("more"), ["s1"]);
    assert_eq!(calls(&world), ["live s1", "query"]);
    let after = world.provider.live("s1").unwrap().documents;
    assert_eq!((before.len(), after.len()), (1, 2));
    assert!(Arc::ptr_eq(&before[0], &after[0]));
}

/// Property: a session that is kept from now on is given again with that flag, and again without it.
#[test]
fn a_change_of_the_persisted_flag_is_given() {
    let world = World::new();
    world.session("s1", &["word"]);
    let flags = || {
        let page = world.search("word").unwrap();
        (page.items[0].session.live, page.items[0].session.persisted)
    };
    assert_eq!(flags(), (true, false));
    let persistence = ScriptedPersistence::new();
    let mounted = world.query.mount(persistence.clone());
    assert_eq!(flags(), (true, false));
    persistence.keep(header("s1"), said(&["word"]));
    mounted.announce(persistence.persisted("s1"));
    assert_eq!(flags(), (true, true));
    assert_eq!(world.provider.live("s1").unwrap().agent, "scripted-agent");
    drop(mounted);
    assert_eq!(flags(), (true, false));
}

/// Property: a search in the events of a live session gives that session alone, and never lists.
#[test]
fn a_search_in_a_live_session_feeds_it_alone() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    persistence.keep(header("s3"), said(&["word"]));
    let _mounted = world.query.mount(persistence.clone());
    let session = world.session("s1", &["word"]);
    world.session("s2", &["word"]);
    let listings = persistence.listings();
    assert_eq!(world.found_in("s1", "word"), [0]);
    assert_eq!(calls(&world), ["live s1", "query"]);
    assert_eq!(world.found_in("s1", "word"), [0]);
    assert_eq!(calls(&world), ["query"]);
    say(&session, "word");
    assert_eq!(world.found_in("s1", "word"), [0, 1]);
    assert_eq!(calls(&world), ["live s1", "query"]);
    assert_eq!(persistence.listings(), listings);
    assert_eq!(persistence.take_inspected(), [""; 0]);
}

/// Property: when a session cannot be given, the search fails and the session's log does not; the next search
/// gives it, with all its events.
#[test]
fn a_session_that_could_not_be_given_is_given_next_time() {
    for fault in [Fault::Own("full"), Fault::Panic] {
        let world = World::new();
        let session = world.session("s1", &["word one"]);
        world.provider.fail("live s1", fault.clone());
        let error = world.search("word").unwrap_err();
        assert_eq!(error.code, SessionQueryErrorCode::IndexFailed);
        assert!(error.message.contains(PROVIDER));
        assert_eq!(
            has_cause(&error, &Scripted("full")),
            matches!(fault, Fault::Own(_))
        );
        say(&session, "word two");
        assert_eq!(world.found_in("s1", "word"), [0, 1]);
        assert_eq!(world.found("word"), ["s1"]);
    }
}

/// Property: a session that could not be given again, or not be removed, is removed when it has ended.
#[test]
fn what_failed_is_not_taken_for_given() {
    let world = World::new();
    let session = world.session("s1", &["word"]);
    assert_eq!(world.found("word"), ["s1"]);
    say(&session, "more");
    world.provider.fail("live s1", Fault::Own("full"));
    assert_eq!(code(world.search("more")), SessionQueryErrorCode::IndexFailed);
    session.end().unwrap();
    world.provider.fail("unlive s1", Fault::Own("full"));
    assert_eq!(code(world.search("word")), SessionQueryErrorCode::IndexFailed);
    assert_eq!(world.found("word"), [""; 0]);
    assert!(world.provider.live("s1").is_none());
    calls(&world);
    assert_eq!(world.found("word"), [""; 0]);
    assert_eq!(calls(&world), ["query"]);
}

/// Property: what failed may have lost what was there before, so that it is given again even when the session is
/// as it was then.
#[test]
fn what_failed_may_have_lost_what_was_given() {
    let world = World::new();
    world.session("s1", &["word"]);
    assert_eq!(world.found("word"), ["s1"]);
    let persistence = ScriptedPersistence::new();
    persistence.keep(header("s1"), said(&["word"]));
    let mounted = world.query.mount(persistence);
    world.provider.fail("live s1", Fault::Lose);
    assert_eq!(code(world.search("word")), SessionQueryErrorCode::IndexFailed);
    drop(mounted);
    assert_eq!(world.found("word"), ["s1"]);
}

/// Property: a session of the same id as one that has ended is another, even with as many events.
#[test]
fn another_session_of_the_same_id_is_given() {
    let world = World::new();
    world.session("s1", &["first"]).end().unwrap();
    world.session("s1", &["second"]);
    assert_eq!(world.found("second"), ["s1"]);
    world.live.get("s1").unwrap().end().unwrap();
    world.session("s1", &["third"]);
    assert_eq!(world.found("third"), ["s1"]);
    assert_eq!(world.found("second"), [""; 0]);
}

/// Property: a session that ends while it is being given is gone for the next search.
#[test]
fn a_session_that_ends_while_it_is_given_is_gone_next_time() {
    let world = World::new();
    let session = world.session("s1", &["word"]);
    let gate = world.provider.stop("live s1");
    thread::scope(|scope| {
        let search = scope.spawn(|| world.found("word"));
        gate.wait_until_reached();
        session.end().unwrap();
        gate.open();
        assert_eq!(search.join().unwrap(), ["s1"]);
    });
    assert_eq!(world.found("word"), [""; 0]);
    assert_eq!(calls(&world), ["live s1", "query", "unlive s1", "query"]);
}

/// Property: events that are appended while a search is under way belong to the next at the latest, and wait for
/// nobody.
#[test]
fn appending_waits_for_no_search() {
    let world = World::new();
    let session = world.session("s1", &["word"]);
    for stop in ["live s1", "query"] {
        say(&session, "word");
        let gate = world.provider.stop(stop);
        thread::scope(|scope| {
            let search = scope.spawn(|| world.found("word"));
            gate.wait_until_reached();
            // The provider stands still until this has been appended.
            say(&session, "late");
            gate.open();
            assert_eq!(search.join().unwrap(), ["s1"]);
        });
        assert_eq!(world.found("late"), ["s1"]);
    }
}
