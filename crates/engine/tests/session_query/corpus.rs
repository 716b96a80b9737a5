//! Live and kept sessions as one corpus (contract B, B.6).

use crate::scripted::Refusal;
use crate::scripted::{Scripted, ScriptedPersistence, World, code, has_cause, header, said, say};
use lookback_model::SessionHeader;
use lookback_model::session_query::{PersistedSession, SessionQueryErrorCode};
use std::thread;

fn ids(world: &World) -> Vec<String> {
    let records = world.query.list_sessions().unwrap();
    records.into_iter().map(|record| record.header.id).collect()
}

fn flags(world: &World, id: &str) -> (bool, bool) {
    let records = world.query.list_sessions().unwrap();
    let record = records.iter().find(|record| record.header.id == id).unwrap();
    (record.live, record.persisted)
}

/// Property: sessions are listed newest first, those of one instant by id.
#[test]
fn sessions_are_listed_newest_first_then_by_id() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    for id in ["s2", "a7", "s9"] {
        world.session(id, &[]);
    }
    for id in ["b7", "s1"] {
        persistence.keep(header(id), said(&["x"]));
    }
    let _mounted = world.query.mount(persistence);
    assert_eq!(ids(&world), ["s9", "a7", "b7", "s2", "s1"]);
}

/// Property: what is handed out is a copy; changing it changes nothing.
#[test]
fn answers_are_copies() {
    let world = World::new();
    let session = world.session("s1", &["one", "two"]);
    let mut records = world.query.list_sessions().unwrap();
    records[0].header.cwd = Some("/changed".to_owned());
    let mut read = world.query.read_event(&crate::reads::at("s1", 0.0)).unwrap();
    read.target.seq = 99;
    read.events.clear();
    let mut appended = session.append(crate::scripted::user("three")).unwrap();
    appended.seq = 99;
    assert_eq!(world.query.list_sessions().unwrap()[0].header, header("s1"));
    let again = world.query.read_event(&crate::reads::at("s1", 2.0)).unwrap();
    assert_eq!((again.target.seq, again.events.len()), (2, 1));
}

/// Property: a session in both places is one, with both flags and the live events.
#[test]
fn a_session_in_both_places_is_one_and_its_live_events_win() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    persistence.keep(header("s1"), said(&["old"]));
    world.session("s1", &["old", "new"]);
    let _mounted = world.query.mount(persistence.clone());
    assert_eq!(ids(&world), ["s1"]);
    assert_eq!(flags(&world, "s1"), (true, true));
    assert_eq!(world.query.list_events("s1").unwrap().len(), 2);
    assert_eq!(world.found("new"), ["s1"]);
    assert_eq!(world.found("old"), ["s1"]);
    let page = world.search("new").unwrap();
    assert!(page.items[0].session.live && page.items[0].session.persisted);
}

/// Property: two headers of one id that differ in anything are a conflict, for whatever meets both.
#[test]
fn headers_that_disagree_are_a_conflict() {
    let base = header("s1");
    for changed in [
        SessionHeader {
            cwd: Some("/w".to_owned()),
            ..base.clone()
        },
        SessionHeader {
            created_at: lookback_model::Timestamp(2),
            ..base.clone()
        },
        SessionHeader {
            seed_length: Some(1),
            ..base.clone()
        },
        SessionHeader {
            parent_session: Some("p".to_owned()),
            ..base.clone()
        },
        SessionHeader {
            delegation_depth: Some(1),
            ..base.clone()
        },
    ] {
        let world = World::new();
        world.session("s1", &["word"]);
        let persistence = ScriptedPersistence::new();
        persistence.keep(changed, said(&["word"]));
        let _mounted = world.query.mount(persistence);
        let conflict = SessionQueryErrorCode::SourceConflict;
        assert_eq!(code(world.query.list_sessions()), conflict);
        assert_eq!(code(world.query.list_events("s1")), conflict);
        assert_eq!(code(world.query.trace_session("s1")), conflict);
        assert_eq!(code(world.search("word")), conflict);
    }
}

/// Property: an absent delegation depth is a depth of 0, which is no conflict.
#[test]
fn an_absent_depth_agrees_with_zero() {
    let world = World::new();
    world.session("s1", &["word"]);
    let persistence = ScriptedPersistence::new();
    persistence.keep(
        SessionHeader {
            delegation_depth: Some(0),
            ..header("s1")
        },
        said(&["word"]),
    );
    let _mounted = world.query.mount(persistence);
    assert_eq!(ids(&world), ["s1"]);
}

/// Property: a kept log whose header is not the listed one is a conflict.
#[test]
fn a_log_with_another_header_than_the_listed_one_is_a_conflict() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    persistence.keep(header("s1"), said(&["word"]));
    persistence.list_as(SessionHeader {
        cwd: Some("/w".to_owned()),
        ..header("s1")
    });
    let _mounted = world.query.mount(persistence);
    assert_eq!(
        code(world.query.list_events("s1")),
        SessionQueryErrorCode::SourceConflict
    );
    assert_eq!(code(world.search("word")), SessionQueryErrorCode::SourceConflict);
}

/// Property: a session that runs is read, traced and searched in while the persistence cannot be listed.
#[test]
fn reads_of_a_live_session_do_not_depend_on_the_persistence() {
    let world = World::new();
    world.session("s1", &["word"]);
    let persistence = ScriptedPersistence::new();
    let _mounted = world.query.mount(persistence.clone());
    persistence.refuse_listing(Some(Refusal::Own("gone")));
    let listings = persistence.listings();
    assert_eq!(world.query.list_events("s1").unwrap().len(), 1);
    assert_eq!(
        world
            .query
            .read_event(&crate::reads::at("s1", 0.0))
            .unwrap()
            .end_seq,
        0
    );
    assert_eq!(world.query.trace_event("s1", 0.0).unwrap().target.seq, 0);
    assert_eq!(world.found_in("s1", "word"), [0]);
    assert_eq!(persistence.listings(), listings);
    assert_eq!(
        code(world.query.trace_session("s1")),
        SessionQueryErrorCode::PersistenceFailed
    );
}

/// Property: what needs all sessions fails while the listing does, with the cause, and recovers with it.
#[test]
fn a_failing_listing_fails_what_needs_it_and_recovers() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    persistence.keep(header("s1"), said(&["word"]));
    let _mounted = world.query.mount(persistence.clone());
    for refusal in [Refusal::Own("gone"), Refusal::Panic] {
        persistence.refuse_listing(Some(refusal.clone()));
        let error = world.query.list_sessions().unwrap_err();
        assert_eq!(error.code, SessionQueryErrorCode::PersistenceFailed);
        let is_own = matches!(refusal, Refusal::Own(_));
        assert_eq!(has_cause(&error, &Scripted("gone")), is_own);
        assert!(error.source.is_some());
        assert_eq!(
            code(world.search("word")),
            SessionQueryErrorCode::PersistenceFailed
        );
        persistence.refuse_listing(None);
        assert_eq!(ids(&world), ["s1"]);
        assert_eq!(world.found("word"), ["s1"]);
    }
}

/// Property: a kept log that cannot be read is a failure of the persistence, with its cause.
#[test]
fn a_log_that_cannot_be_read_is_a_failure_of_the_persistence() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    persistence.keep(header("s1"), said(&["word"]));
    let _mounted = world.query.mount(persistence.clone());
    persistence.refuse_logs(Some(Refusal::Own("unreadable")));
    let error = world.query.list_events("s1").unwrap_err();
    assert_eq!(error.code, SessionQueryErrorCode::PersistenceFailed);
    assert!(has_cause(&error, &Scripted("unreadable")));
    assert_eq!(
        code(world.search("word")),
        SessionQueryErrorCode::PersistenceFailed
    );
    persistence.refuse_logs(Some(Refusal::Panic));
    assert_eq!(
        code(world.query.list_events("s1")),
        SessionQueryErrorCode::PersistenceFailed
    );
}

/// Property: a log with a gap cannot be read at all.
#[test]
fn a_log_with_a_gap_cannot_be_read() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    let mut events = said(&["one", "two", "three"]);
    events.remove(1);
    persistence.keep(header("s1"), events);
    let _mounted = world.query.mount(persistence);
    let failed = SessionQueryErrorCode::PersistenceFailed;
    assert_eq!(code(world.query.read_event(&crate::reads::at("s1", 0.0))), failed);
    assert_eq!(code(world.query.list_events("s1")), failed);
}

/// Property: a typed error of the backend passes as it is, from listing and from reading, to all who wait.
#[test]
fn typed_errors_of_a_backend_pass_through() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    persistence.keep(header("s1"), said(&["word"]));
    let _mounted = world.query.mount(persistence.clone());
    let typed = SessionQueryErrorCode::InvalidSurface;
    persistence.refuse_logs(Some(Refusal::Typed(typed)));
    assert_eq!(code(world.query.list_events("s1")), typed);
    assert_eq!(code(world.search("word")), typed);
    persistence.refuse_listing(Some(Refusal::Typed(typed)));
    assert_eq!(code(world.query.list_sessions()), typed);
}

/// Property: unmounting takes kept sessions out of sight, and the persisted flag from live ones.
#[test]
fn unmounting_takes_kept_sessions_out_of_sight() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    persistence.keep(header("s1"), said(&["word"]));
    persistence.keep(header("s2"), said(&["word"]));
    world.session("s1", &["word"]);
    let mounted = world.query.mount(persistence);
    assert_eq!(ids(&world), ["s2", "s1"]);
    assert_eq!(flags(&world, "s1"), (true, true));
    drop(mounted);
    assert_eq!(ids(&world), ["s1"]);
    assert_eq!(flags(&world, "s1"), (true, false));
    assert_eq!(
        code(world.query.list_events("s2")),
        SessionQueryErrorCode::SessionNotFound
    );
    assert_eq!(world.found("word"), ["s1"]);
}

/// Property: a session that is announced while a listing runs that did not see it is known afterwards, until a
/// later listing speaks of it.
#[test]
fn an_announcement_during_a_listing_is_not_lost() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    let mounted = world.query.mount(persistence.clone());
    let gate = persistence.stop_listing();
    thread::scope(|scope| {
        let listing = scope.spawn(|| ids(&world));
        gate.wait_until_reached();
        persistence.keep(header("s1"), said(&["word"]));
        mounted.announce(persistence.persisted("s1"));
        gate.open();
        assert_eq!(listing.join().unwrap(), ["s1"]);
    });
    persistence.forget("s1");
    assert_eq!(ids(&world), [""; 0]);
}

/// Property: an announcement that is older than a finished listing does not outlive it.
#[test]
fn an_announcement_before_a_listing_gives_way_to_it() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    let mounted = world.query.mount(persistence.clone());
    mounted.announce(PersistedSession {
        header: header("s1"),
        agent: String::new(),
        revision: None,
    });
    assert_eq!(ids(&world), [""; 0]);
}

/// Property: what is announced of a live session is compared with it without asking the persistence.
#[test]
fn an_announcement_is_known_at_once() {
    let world = World::new();
    let session = world.session("s1", &["word"]);
    let persistence = ScriptedPersistence::new();
    let mounted = world.query.mount(persistence.clone());
    let announced = |header| PersistedSession {
        header,
        agent: String::new(),
        revision: None,
    };
    mounted.announce(announced(header("s1")));
    assert!(
        world
            .query
            .read_event(&crate::reads::at("s1", 0.0))
            .unwrap()
            .session
            .persisted
    );
    mounted.announce(announced(SessionHeader {
        cwd: Some("/w".to_owned()),
        ..header("s1")
    }));
    assert_eq!(
        code(world.query.list_events("s1")),
        SessionQueryErrorCode::SourceConflict
    );
    assert_eq!(session.event_count(), 1);
    assert_eq!(persistence.listings(), 1);
}

/// Property: what an old mount's listing finds is nothing to a new mount.
#[test]
fn a_listing_of_an_old_mount_says_nothing() {
    let world = World::new();
    let (old, new) = (ScriptedPersistence::new(), ScriptedPersistence::new());
    old.keep(header("s1"), said(&["old"]));
    new.keep(header("s2"), said(&["new"]));
    let mounted = world.query.mount(old.clone());
    let gate = old.stop_listing();
    thread::scope(|scope| {
        let listing = scope.spawn(|| ids(&world));
        gate.wait_until_reached();
        drop(mounted);
        let mounted = world.query.mount(new);
        gate.open();
        assert_eq!(listing.join().unwrap(), ["s2"]);
        assert_eq!(ids(&world), ["s2"]);
        drop(mounted);
    });
}

/// Property: the same while the new mount is being listed itself.
#[test]
fn a_listing_of_an_old_mount_does_not_end_that_of_a_new_one() {
    let world = World::new();
    let (old, new) = (ScriptedPersistence::new(), ScriptedPersistence::new());
    old.keep(header("s1"), said(&["old"]));
    new.keep(header("s2"), said(&["new"]));
    let mounted = world.query.mount(old.clone());
    let (old_gate, new_gate) = (old.stop_listing(), new.stop_listing());
    thread::scope(|scope| {
        let late = scope.spawn(|| ids(&world));
        old_gate.wait_until_reached();
        let mounting = scope.spawn(|| world.query.mount(new));
        new_gate.wait_until_reached();
        old_gate.open();
        // It goes on to the new mount, and its end shows that the old listing has been put aside.
        new_gate.open();
        assert_eq!(late.join().unwrap(), ["s2"]);
        let _mounted = mounting.join().unwrap();
        assert_eq!(ids(&world), ["s2"]);
    });
    drop(mounted);
}

/// Property: a mount that another took the place of is gone, and neither speaks nor unmounts.
#[test]
fn a_replaced_mount_does_nothing_more() {
    let world = World::new();
    let (old, new) = (ScriptedPersistence::new(), ScriptedPersistence::new());
    old.keep(header("s1"), said(&["old"]));
    new.keep(header("s2"), said(&["new"]));
    let first = world.query.mount(old.clone());
    let _second = world.query.mount(new);
    first.announce(old.persisted("s1"));
    drop(first);
    assert_eq!(ids(&world), ["s2"]);
}

/// Property: callers who come while a listing runs wait for that one; its failure reaches all of them.
#[test]
fn callers_share_a_listing_that_runs() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    let _mounted = world.query.mount(persistence.clone());
    for fails in [false, true] {
        persistence.refuse_listing(fails.then_some(Refusal::Own("gone")));
        let gate = persistence.stop_listing();
        let before = persistence.listings();
        let outcomes: Vec<bool> = thread::scope(|scope| {
            let first = scope.spawn(|| world.query.list_sessions());
            gate.wait_until_reached();
            let others: Vec<_> = (0..3)
                .map(|_| scope.spawn(|| world.query.list_sessions()))
                .collect();
            gate.open();
            let first = [first.join().unwrap()].into_iter();
            let all = first.chain(others.into_iter().map(|other| other.join().unwrap()));
            all.map(|listed| match listed {
                Ok(records) => records.is_empty(),
                Err(error) => has_cause(&error, &Scripted("gone")),
            })
            .collect()
        });
        assert_eq!(outcomes, [true; 4]);
        // Whoever came after the listing had ended made one of its own.
        assert!((before + 1..=before + 4).contains(&persistence.listings()));
        assert_eq!(persistence.most_listings_at_once(), 1);
    }
}

/// Property: nobody waits for a listing whose end was told to others, however many come and go.
#[test]
fn every_caller_of_a_listing_is_told_its_end() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    let _mounted = world.query.mount(persistence.clone());
    persistence.refuse_listing(Some(Refusal::Own("gone")));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..500 {
                    let error = world.query.list_sessions().unwrap_err();
                    assert!(has_cause(&error, &Scripted("gone")));
                }
            });
        }
    });
}

/// Property: a session that begins to live while its kept log is read is read as it lives.
#[test]
fn a_session_that_begins_to_live_while_it_is_read_wins() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    persistence.keep(header("s1"), said(&["old"]));
    let _mounted = world.query.mount(persistence.clone());
    let gate = persistence.stop_inspection();
    thread::scope(|scope| {
        let events = scope.spawn(|| world.query.list_events("s1").unwrap());
        gate.wait_until_reached();
        world.session("s1", &["old", "new"]);
        gate.open();
        assert_eq!(events.join().unwrap().len(), 2);
    });
}

/// Property: a log that was listed and is not there is looked for twice; then the persistence has failed, or
/// the session is gone when it is no longer listed.
#[test]
fn a_listed_log_that_is_not_there_is_looked_for_twice() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    persistence.keep(header("s1"), said(&["word"]));
    let _mounted = world.query.mount(persistence.clone());
    persistence.hide_log(Some("s1"));
    assert_eq!(
        code(world.query.list_events("s1")),
        SessionQueryErrorCode::PersistenceFailed
    );
    assert_eq!(persistence.take_inspected(), ["s1", "s1"]);
    assert_eq!(
        code(world.search("word")),
        SessionQueryErrorCode::PersistenceFailed
    );
    persistence.hide_log(None);
    assert_eq!(world.found("word"), ["s1"]);
    let gate = persistence.stop_inspection();
    thread::scope(|scope| {
        let events = scope.spawn(|| code(world.query.list_events("s1")));
        gate.wait_until_reached();
        persistence.forget("s1");
        gate.open();
        assert_eq!(events.join().unwrap(), SessionQueryErrorCode::SessionNotFound);
    });
}

/// Property: a live session that ends is still seen by what began before, and by nothing that begins after.
#[test]
fn an_ended_session_is_gone() {
    let world = World::new();
    let session = world.session("s1", &["word"]);
    assert_eq!(ids(&world), ["s1"]);
    session.end().unwrap();
    assert_eq!(ids(&world), [""; 0]);
    assert_eq!(
        code(world.query.list_events("s1")),
        SessionQueryErrorCode::SessionNotFound
    );
    let again = world.session("s1", &[]);
    assert_eq!(say(&again, "other"), 0);
    assert_eq!(world.query.list_events("s1").unwrap().len(), 1);
}
