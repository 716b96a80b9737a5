//! The persisted base: what is replaced, removed and left alone (contract B, B.10).

use crate::scripted::Refusal;
use crate::scripted::{
    Fault, PROVIDER, Scripted, ScriptedPersistence, ScriptedProvider, World, code, events_with, has_cause,
    header, said, say,
};
use lookback_engine::session_query::{LiveSessions, Mounted, SessionQuery, SessionQueryConfig};
use lookback_model::session_query::{AbortSignal, SessionQueryErrorCode};
use std::sync::Arc;
use std::thread;

/// A world with two kept sessions, whose base was never filled.
fn kept(persistence: &Arc<ScriptedPersistence>) -> (World, Mounted) {
    persistence.keep(header("s2"), said(&["word two"]));
    persistence.keep(header("s1"), said(&["word one"]));
    let world = World::new();
    let mounted = world.query.mount(persistence.clone());
    (world, mounted)
}

const FIRST: [&str; 6] = [
    "deactivate",
    "inventory",
    "replace s1",
    "replace s2",
    "activate",
    "query",
];

fn calls(world: &World) -> Vec<String> {
    let mut calls = world.provider.take_calls();
    calls.retain(|call| call != "answer");
    calls
}

/// Property: the base is filled while it is inactive, in the order of creation, and is then seen.
#[test]
fn the_base_is_filled_while_it_is_inactive() {
    let (world, _mounted) = kept(&ScriptedPersistence::new());
    assert_eq!(world.found("word"), ["s1", "s2"]);
    assert_eq!(calls(&world), FIRST);
    let page = world.search("two").unwrap();
    assert!(page.items[0].session.persisted && !page.items[0].session.live);
    assert_eq!(page.items[0].best_match.snippet, "word two");
    let snapshot = world.provider.persisted("s1").unwrap();
    assert_eq!(
        (snapshot.agent.as_str(), snapshot.fingerprint.len()),
        ("scripted-agent", 64)
    );
}

/// Property: a session is replaced when its fingerprint is another, and only then.
#[test]
fn what_has_an_equal_fingerprint_is_not_replaced() {
    let persistence = ScriptedPersistence::new();
    let (world, _mounted) = kept(&persistence);
    world.found("word");
    calls(&world);
    assert_eq!(world.found("word"), ["s1", "s2"]);
    assert_eq!(calls(&world), ["deactivate", "inventory", "activate", "query"]);
    persistence.keep(header("s1"), said(&["word one", "more"]));
    assert_eq!(world.found("more"), ["s1"]);
    assert_eq!(
        calls(&world),
        ["deactivate", "inventory", "replace s1", "activate", "query"]
    );
}

/// Property: another service over the same base replaces nothing, though it knows of nothing that was given.
#[test]
fn a_new_service_over_an_old_base_replaces_nothing() {
    for persistence in [ScriptedPersistence::new(), ScriptedPersistence::with_revisions()] {
        let (world, _mounted) = kept(&persistence);
        world.found("word");
        calls(&world);
        persistence.take_inspected();
        let again = SessionQuery::new(SessionQueryConfig::default(), LiveSessions::new()).unwrap();
        let _registered = again.register_search_provider(world.provider.clone()).unwrap();
        let _mounted = again.mount(persistence.clone());
        let page = again.search_sessions(&crate::scripted::sessions_with("word"), &AbortSignal::new());
        assert_eq!(page.unwrap().items.len(), 2);
        assert_eq!(calls(&world), ["deactivate", "inventory", "activate", "query"]);
        let reads = persistence.take_inspected().len();
        assert!(reads == 2 || world.provider.persisted("s1").unwrap().revision.is_some() && reads == 0);
    }
}

/// Property: with revisions, what is unchanged is not read, and an unchanged corpus costs a listing alone.
#[test]
fn what_has_an_equal_revision_is_not_read() {
    let persistence = ScriptedPersistence::with_revisions();
    let (world, mounted) = kept(&persistence);
    assert_eq!(world.found("word"), ["s1", "s2"]);
    assert_eq!(persistence.take_inspected(), ["s1", "s2"]);
    calls(&world);
    assert_eq!(world.found("word"), ["s1", "s2"]);
    assert_eq!(calls(&world), ["query"]);
    persistence.keep(header("s2"), said(&["word two", "more"]));
    assert_eq!(world.found("more"), ["s2"]);
    assert_eq!(persistence.take_inspected(), ["s2"]);
    assert_eq!(
        calls(&world),
        ["deactivate", "inventory", "replace s2", "activate", "query"]
    );
    drop(mounted);
    let _again = world.query.mount(persistence.clone());
    assert_eq!(world.found("word"), ["s1", "s2"]);
    assert_eq!(persistence.take_inspected(), [""; 0]);
}

/// Property: another revision of the same log replaces nothing, and is read once.
#[test]
fn another_revision_of_the_same_log_is_read_once() {
    let persistence = ScriptedPersistence::with_revisions();
    let (world, _mounted) = kept(&persistence);
    world.found("word");
    persistence.take_inspected();
    calls(&world);
    persistence.touch("s1");
    assert_eq!(world.found("word"), ["s1", "s2"]);
    assert_eq!(calls(&world), ["deactivate", "inventory", "activate", "query"]);
    assert_eq!(persistence.take_inspected(), ["s1"]);
    persistence.touch("s2");
    assert_eq!(world.found("word"), ["s1", "s2"]);
    assert_eq!(persistence.take_inspected(), ["s2"]);
}

/// Property: a base that was written without a fingerprint is unchanged where its revision is.
#[test]
fn a_revision_stands_in_for_a_missing_fingerprint() {
    let persistence = ScriptedPersistence::with_revisions();
    let (world, _mounted) = kept(&persistence);
    world.found("word");
    world
        .provider
        .edit_base(|base| base.values_mut().for_each(|session| session.fingerprint.clear()));
    persistence.take_inspected();
    calls(&world);
    persistence.keep(header("s2"), said(&["word two", "more"]));
    assert_eq!(world.found("more"), ["s2"]);
    assert_eq!(persistence.take_inspected(), ["s2"]);
    assert_eq!(
        calls(&world),
        ["deactivate", "inventory", "replace s2", "activate", "query"]
    );
}

/// Property: what is no longer kept is removed, when a listing says so.
#[test]
fn what_is_no_longer_kept_is_removed() {
    let persistence = ScriptedPersistence::with_revisions();
    let (world, _mounted) = kept(&persistence);
    world.found("word");
    calls(&world);
    persistence.refuse_listing(Some(Refusal::Own("gone")));
    persistence.forget("s1");
    assert_eq!(
        code(world.search("word")),
        SessionQueryErrorCode::PersistenceFailed
    );
    assert_eq!(calls(&world), [""; 0]);
    persistence.refuse_listing(None);
    assert_eq!(world.found("word"), ["s2"]);
    assert_eq!(
        calls(&world),
        ["deactivate", "inventory", "remove s1", "activate", "query"]
    );
    assert_eq!(world.provider.persisted_ids(), ["s2"]);
}

/// Property: without a persistence the base is out of sight, and nothing of it is removed; when it is mounted
/// again nothing is replaced.
#[test]
fn unmounting_removes_nothing() {
    let persistence = ScriptedPersistence::new();
    let (world, mounted) = kept(&persistence);
    assert_eq!(world.found("word"), ["s1", "s2"]);
    calls(&world);
    drop(mounted);
    assert_eq!(world.found("word"), [""; 0]);
    assert_eq!(calls(&world), ["deactivate", "query"]);
    assert_eq!(world.found("word"), [""; 0]);
    assert_eq!(calls(&world), ["query"]);
    assert_eq!(world.provider.persisted_ids(), ["s1", "s2"]);
    let _mounted = world.query.mount(persistence);
    assert_eq!(world.found("word"), ["s1", "s2"]);
    assert_eq!(calls(&world), ["deactivate", "inventory", "activate", "query"]);
}

/// Property: unmounting puts the base out of sight by itself, and a mount that came meanwhile leaves it alone.
#[test]
fn unmounting_deactivates_without_a_search() {
    let persistence = ScriptedPersistence::new();
    let (mut world, mounted) = kept(&persistence);
    world.found("word");
    assert!(world.provider.is_active());
    let gate = world.provider.stop("deactivate");
    drop(mounted);
    gate.wait_until_reached();
    gate.open();
    // The next turn comes after that one.
    world.found("word");
    assert!(!world.provider.is_active());
    drop(world.registration.take());
}

/// Property: what was mounted again before the base could be put out of sight is gone through once.
#[test]
fn a_mount_that_came_meanwhile_is_left_alone() {
    let persistence = ScriptedPersistence::with_revisions();
    let (world, mounted) = kept(&persistence);
    world.found("word");
    let gate = world.provider.stop("query");
    thread::scope(|scope| {
        let search = scope.spawn(|| world.found("word"));
        gate.wait_until_reached();
        calls(&world);
        drop(mounted);
        let mounted = world.query.mount(persistence.clone());
        gate.open();
        assert_eq!(search.join().unwrap(), ["s1", "s2"]);
        assert_eq!(world.found("word"), ["s1", "s2"]);
        drop(mounted);
    });
    assert_eq!(
        calls(&world)[..4],
        ["deactivate", "inventory", "activate", "query"]
    );
}

/// Property: a base that was active before anything was mounted is put out of sight.
#[test]
fn a_base_is_inactive_without_a_persistence() {
    let world = World::new();
    assert_eq!(world.found("word"), [""; 0]);
    assert_eq!(calls(&world), ["deactivate", "query"]);
}

/// Property: whatever step fails, the search fails with its cause, the base stays inactive, and the next search
/// puts everything right.
#[test]
fn a_failure_half_way_leaves_the_base_inactive() {
    let steps = [
        "deactivate",
        "inventory",
        "replace s1",
        "replace s2",
        "remove s0",
        "activate",
    ];
    for step in steps {
        for fault in [Fault::Own("disk full"), Fault::Panic] {
            let persistence = ScriptedPersistence::new();
            persistence.keep(header("s0"), said(&["word"]));
            let (world, _mounted) = kept(&persistence);
            persistence.forget("s2");
            world.found("word");
            persistence.forget("s0");
            persistence.keep(header("s1"), said(&["word one", "changed"]));
            persistence.keep(header("s2"), said(&["word two"]));
            world.provider.fail(step, fault.clone());
            let error = world.search("word").unwrap_err();
            assert_eq!(error.code, SessionQueryErrorCode::IndexFailed, "{step}");
            assert!(error.message.contains(PROVIDER));
            let is_own = matches!(fault, Fault::Own(_));
            assert_eq!(has_cause(&error, &Scripted("disk full")), is_own);
            assert_eq!(world.provider.is_active(), step == "deactivate", "{step}");
            calls(&world);
            assert_eq!(world.found("word"), ["s1", "s2"], "{step}");
            assert_eq!(calls(&world)[..2], ["deactivate", "inventory"]);
            assert_eq!(world.found("changed"), ["s1"]);
            assert_eq!(world.provider.persisted_ids(), ["s1", "s2"]);
        }
    }
}

/// Property: a log that cannot be read leaves the base inactive too, and typed errors pass from any step.
#[test]
fn an_unreadable_log_leaves_the_base_inactive() {
    let persistence = ScriptedPersistence::new();
    let (world, _mounted) = kept(&persistence);
    world.found("word");
    persistence.refuse_logs(Some(Refusal::Own("unreadable")));
    let error = world.search("word").unwrap_err();
    assert_eq!(error.code, SessionQueryErrorCode::PersistenceFailed);
    assert!(has_cause(&error, &Scripted("unreadable")) && !world.provider.is_active());
    persistence.refuse_logs(None);
    world
        .provider
        .fail("inventory", Fault::Typed(SessionQueryErrorCode::InvalidSurface));
    assert_eq!(code(world.search("word")), SessionQueryErrorCode::InvalidSurface);
    assert_eq!(world.found("word"), ["s1", "s2"]);
}

/// Property: with revisions too, a failed pass is gone through again though nothing has changed since.
#[test]
fn a_failed_pass_is_made_again() {
    let persistence = ScriptedPersistence::with_revisions();
    let (world, _mounted) = kept(&persistence);
    world.provider.fail("activate", Fault::Own("disk full"));
    assert_eq!(code(world.search("word")), SessionQueryErrorCode::IndexFailed);
    calls(&world);
    assert_eq!(world.found("word"), ["s1", "s2"]);
    assert_eq!(calls(&world), ["deactivate", "inventory", "activate", "query"]);
}

/// Property: what is kept of a session that lives is put into the base once, and brought up to date when it has
/// ended; until then the live one hides it.
#[test]
fn what_is_kept_of_a_live_session_waits_until_it_has_ended() {
    let persistence = ScriptedPersistence::with_revisions();
    let world = World::new();
    let session = world.session("s1", &["one"]);
    persistence.keep(header("s1"), said(&["one"]));
    let _mounted = world.query.mount(persistence.clone());
    assert_eq!(world.found("one"), ["s1"]);
    assert_eq!(
        calls(&world),
        [
            "deactivate",
            "inventory",
            "replace s1",
            "activate",
            "live s1",
            "query"
        ]
    );
    say(&session, "two");
    persistence.keep(header("s1"), said(&["one", "two"]));
    assert_eq!(world.found("two"), ["s1"]);
    assert_eq!(calls(&world), ["live s1", "query"]);
    session.end().unwrap();
    assert_eq!(world.found("two"), ["s1"]);
    let ended = [
        "deactivate",
        "inventory",
        "replace s1",
        "activate",
        "unlive s1",
        "query",
    ];
    assert_eq!(calls(&world), ended);
    assert_eq!(world.found("two"), ["s1"]);
    assert_eq!(calls(&world), ["query"]);
}

/// Property: a session that lived when others were brought up to date is brought up to date itself when it has
/// ended, though the listing has not changed since.
#[test]
fn what_was_left_for_a_live_session_is_made_up_for() {
    let persistence = ScriptedPersistence::with_revisions();
    let (world, _mounted) = kept(&persistence);
    world.found("word");
    let session = world.live.create(header("s1"), said(&["word one"])).unwrap();
    say(&session, "word more");
    persistence.keep(header("s1"), said(&["word one", "word more"]));
    persistence.keep(header("s2"), said(&["word two", "word more"]));
    calls(&world);
    assert_eq!(world.found("more"), ["s2", "s1"]);
    assert_eq!(
        calls(&world),
        [
            "deactivate",
            "inventory",
            "replace s2",
            "activate",
            "live s1",
            "query"
        ]
    );
    session.end().unwrap();
    assert_eq!(world.found("more"), ["s1", "s2"]);
    assert_eq!(
        calls(&world),
        [
            "deactivate",
            "inventory",
            "replace s1",
            "activate",
            "unlive s1",
            "query"
        ]
    );
}

/// Property: a pass that failed counts for nothing, even when all is again as it was before it.
#[test]
fn a_failed_pass_is_made_again_when_all_is_as_before() {
    let persistence = ScriptedPersistence::with_revisions();
    let (world, _mounted) = kept(&persistence);
    assert_eq!(world.found("word"), ["s1", "s2"]);
    persistence.keep(header("s3"), said(&["word three"]));
    world.provider.fail("replace s3", Fault::Own("full"));
    assert_eq!(code(world.search("word")), SessionQueryErrorCode::IndexFailed);
    persistence.forget("s3");
    assert_eq!(world.found("word"), ["s1", "s2"]);
}

/// Property: another mount, of the same persistence too, is gone through anew.
#[test]
fn another_mount_is_gone_through_anew() {
    let persistence = ScriptedPersistence::with_revisions();
    let (world, _mounted) = kept(&persistence);
    world.found("word");
    calls(&world);
    let _again = world.query.mount(persistence);
    assert_eq!(world.found("word"), ["s1", "s2"]);
    assert_eq!(calls(&world), ["deactivate", "inventory", "activate", "query"]);
}

/// Property: what was found to be equal under another revision is looked at again when somebody else has
/// changed the base.
#[test]
fn a_base_that_was_changed_by_another_is_put_right() {
    let persistence = ScriptedPersistence::with_revisions();
    let (world, _mounted) = kept(&persistence);
    world.found("word");
    persistence.touch("s1");
    world.found("word");
    world.provider.edit_base(|base| {
        let session = base.get_mut("s1").unwrap();
        session.fingerprint = "another".to_owned();
        session.documents.clear();
    });
    persistence.touch("s2");
    assert_eq!(world.found("word"), ["s1", "s2"]);
}

/// Property: a live session that shows other words than what is kept of it is found by its own alone, and what
/// is kept shows again when it ends.
#[test]
fn a_live_session_hides_what_is_kept_of_it() {
    let persistence = ScriptedPersistence::new();
    persistence.keep(header("s1"), said(&["old word"]));
    let world = World::new();
    let _mounted = world.query.mount(persistence);
    assert_eq!(world.found("old"), ["s1"]);
    let session = world.session("s1", &["new word"]);
    assert_eq!(world.found("old"), [""; 0]);
    assert_eq!(world.found("word"), ["s1"]);
    session.end().unwrap();
    assert_eq!(world.found("old"), ["s1"]);
    assert_eq!(world.found("new"), [""; 0]);
}

/// Property: the events of a kept session are searched like those of a live one.
#[test]
fn events_of_a_kept_session_are_searched() {
    let (world, _mounted) = kept(&ScriptedPersistence::new());
    assert_eq!(world.found_in("s2", "two"), [0]);
    assert_eq!(calls(&world), FIRST);
    let unknown = world
        .query
        .search_events(&events_with("s9", "two"), &AbortSignal::new());
    assert_eq!(code(unknown), SessionQueryErrorCode::SessionNotFound);
    assert_eq!(calls(&world), [""; 0]);
}

/// Property: a persistence that is unmounted while its logs are read fails nobody.
#[test]
fn unmounting_while_logs_are_read_fails_nobody() {
    let persistence = ScriptedPersistence::new();
    let (world, mounted) = kept(&persistence);
    world.session("s3", &["word"]);
    let gate = persistence.stop_inspection();
    thread::scope(|scope| {
        let search = scope.spawn(|| world.found("word"));
        gate.wait_until_reached();
        drop(mounted);
        gate.open();
        assert_eq!(search.join().unwrap(), ["s3"]);
    });
    assert!(!world.provider.is_active());
}

/// Property: a session that is gone when its log is read was not there: the listing is made again.
#[test]
fn a_session_that_goes_while_logs_are_read_was_not_there() {
    let persistence = ScriptedPersistence::new();
    let (world, _mounted) = kept(&persistence);
    let gate = persistence.stop_inspection();
    thread::scope(|scope| {
        let search = scope.spawn(|| world.found("word"));
        gate.wait_until_reached();
        persistence.forget("s1");
        gate.open();
        assert_eq!(search.join().unwrap(), ["s2"]);
    });
}

/// Property: each provider has a base of its own.
#[test]
fn providers_are_fed_apart() {
    let persistence = ScriptedPersistence::with_revisions();
    let (mut world, _mounted) = kept(&persistence);
    assert_eq!(world.found("word"), ["s1", "s2"]);
    drop(world.registration.take());
    let other = Arc::new(ScriptedProvider::new("other"));
    let _other = world.query.register_search_provider(other.clone()).unwrap();
    assert_eq!(world.found("word"), ["s1", "s2"]);
    assert_eq!(other.persisted_ids(), ["s1", "s2"]);
}
