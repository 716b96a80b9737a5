//! Live sessions: creating, appending, ending and forking (contract B, B.1 and B.2).

use crate::scripted::{World, code, header, log, other, said, say, turn_end, user};
use lookback_engine::session_query::{LiveError, NewEvent};
use lookback_model::event::EventData;
use lookback_model::session_query::{HeaderError, LogError, SessionQueryErrorCode};
use lookback_model::{SessionHeader, Timestamp};
use serde_json::json;

/// Property: a header that cannot be begins no session.
#[test]
fn an_impossible_header_begins_nothing() {
    let world = World::new();
    let refused = |header| world.live.create(header, Vec::new()).unwrap_err();
    let relative = refused(SessionHeader {
        cwd: Some("work".to_owned()),
        ..header("s1")
    });
    assert!(matches!(
        relative,
        LiveError::Header(HeaderError::RelativeCwd { .. })
    ));
    let newer = refused(SessionHeader {
        version: 1,
        ..header("s1")
    });
    assert!(matches!(
        newer,
        LiveError::Header(HeaderError::UnknownVersion { .. })
    ));
    let early = refused(SessionHeader {
        created_at: Timestamp(-1),
        ..header("s1")
    });
    assert!(matches!(
        early,
        LiveError::Header(HeaderError::ImpossibleTime { .. })
    ));
    assert_eq!(world.live.ids(), [""; 0]);
}

/// Property: an id runs once; after it has ended it may run again, and the old handle stays ended.
#[test]
fn an_id_runs_once() {
    let world = World::new();
    let first = world.session("s1", &["word"]);
    let taken = world.live.create(header("s1"), Vec::new()).unwrap_err();
    assert_eq!(taken, LiveError::AlreadyLive { id: "s1".to_owned() });
    first.end();
    let second = world.session("s1", &[]);
    first.end();
    assert_eq!(world.live.ids(), ["s1"]);
    let ended = LiveError::Ended { id: "s1".to_owned() };
    assert_eq!(first.append(user("late")).unwrap_err(), ended);
    assert_eq!(first.append_all(vec![]).unwrap_err(), ended);
    assert_eq!(say(&second, "fresh"), 0);
}

/// Property: a seed keeps the rules of appended events, and nothing is inferred from it.
#[test]
fn a_seed_is_checked_like_appended_events() {
    let world = World::new();
    let session = world.live.create(header("s1"), said(&["0", "1"])).unwrap();
    assert_eq!(session.header().seed_length, None);
    assert_eq!(say(&session, "2"), 2);
    let mut gap = said(&["0", "1"]);
    gap.remove(0);
    let refused = world.live.create(header("s2"), gap).unwrap_err();
    assert_eq!(
        refused,
        LiveError::Log(LogError::NotContiguous { seq: 1, expected: 0 })
    );
    assert_eq!(world.live.ids(), ["s1"]);
}

/// Property: an event that JSON would not give back is refused, and the log goes on.
#[test]
fn what_json_would_lose_is_refused() {
    let session = World::new().session("s1", &[]);
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    for refused in [
        other("vendor/thing", deep),
        other("vendor/thing", json!({"x": -0.0})),
        other("user/message", json!({"content": []})),
    ] {
        let error = session.append(refused).unwrap_err();
        assert!(matches!(error, LiveError::Log(LogError::NotJson { seq: 0, .. })));
    }
    assert_eq!(say(&session, "word"), 0);
}

/// Property: several events are appended together or not at all.
#[test]
fn several_events_are_appended_together_or_not_at_all() {
    let world = World::new();
    let session = world.session("s1", &["0"]);
    let appended = session.append_all(vec![user("1"), user("2")]).unwrap();
    assert_eq!(appended.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2]);
    let marked = NewEvent {
        source_event_seqs: Some(vec![0]),
        ..turn_end()
    };
    assert!(session.append_all(vec![user("3"), marked]).is_err());
    assert_eq!(session.event_count(), 3);
    assert_eq!(world.found("3"), [""; 0]);
    assert_eq!(say(&session, "3"), 3);
}

/// Property: an appended event is given back as it stands in the log.
#[test]
fn an_appended_event_is_given_back() {
    let session = World::new().session("s1", &["0"]);
    let event = session
        .append(NewEvent {
            native_id: Some("n".to_owned()),
            ..user("1")
        })
        .unwrap();
    let mut expected = said(&["0", "1"]).remove(1);
    expected.native_id = Some("n".to_owned());
    assert_eq!(event, expected);
}

/// Property: a fork begins with its parent's events and knows where it comes from; the two go on apart.
#[test]
fn a_fork_inherits_its_parents_events() {
    let world = World::new();
    let cwd = Some("/work".to_owned());
    let parent = SessionHeader {
        cwd: cwd.clone(),
        ..header("s1")
    };
    let parent = world
        .live
        .create(
            parent,
            log(vec![user("one"), turn_end(), user("two"), turn_end()]),
        )
        .unwrap();
    let whole = parent.fork(header("s2"), None).unwrap();
    let part = world.live.fork("s1", header("s3"), Some(1.0)).unwrap();
    for (fork, length) in [(&whole, 4), (&part, 2)] {
        let header = fork.header();
        assert_eq!(
            (header.parent_session.as_deref(), header.seed_length),
            (Some("s1"), Some(length))
        );
        assert_eq!((&header.cwd, fork.event_count()), (&cwd, length));
    }
    say(&part, "three");
    say(&parent, "four");
    assert_eq!(world.found("two"), ["s1", "s2"]);
    assert_eq!(world.found("three"), ["s3"]);
    assert_eq!(world.found("four"), ["s1"]);
    assert_eq!(world.query.trace_session("s1").unwrap().children.len(), 2);
}

/// Property: a fork of nothing is an empty child.
#[test]
fn a_fork_of_an_empty_session_is_empty() {
    let world = World::new();
    let fork = world.session("s1", &[]).fork(header("s2"), None).unwrap();
    assert_eq!((fork.event_count(), fork.header().seed_length), (0, Some(0)));
}

/// Property: a fork is refused for an unknown or ended source, a taken id, no event and an open turn, looked at
/// in this order.
#[test]
fn a_fork_is_refused_for_a_reason() {
    let world = World::new();
    let source = world.session("s1", &["0"]);
    source.append(turn_end()).unwrap();
    say(&source, "2");
    let id = || "s1".to_owned();
    let unknown = world.live.fork("nowhere", header("s2"), None).unwrap_err();
    assert_eq!(
        unknown,
        LiveError::Unknown {
            id: "nowhere".to_owned()
        }
    );
    let taken = source.fork(header("s1"), Some(-1.0)).unwrap_err();
    assert_eq!(taken, LiveError::AlreadyLive { id: id() });
    for boundary in [-1.0, 0.5, 3.0, f64::INFINITY] {
        let refused = source.fork(header("s2"), Some(boundary)).unwrap_err();
        assert_eq!(
            refused,
            LiveError::InvalidBoundary {
                id: id(),
                boundary,
                length: 3
            }
        );
    }
    let open = |boundary| Err(LiveError::OpenTurn { id: id(), boundary });
    assert_eq!(source.fork(header("s2"), None).map(drop), open(2));
    assert_eq!(source.fork(header("s2"), Some(0.0)).map(drop), open(0));
    assert!(source.fork(header("s2"), Some(1.0)).is_ok());
    source.end();
    assert_eq!(
        source.fork(header("s3"), Some(1.0)).map(drop),
        Err(LiveError::Ended { id: id() })
    );
    let empty = world
        .session("s4", &[])
        .fork(header("s5"), Some(0.0))
        .unwrap_err();
    assert!(matches!(empty, LiveError::InvalidBoundary { length: 0, .. }));
}

/// Property: a handle is found by its id while the session runs.
#[test]
fn a_session_is_found_by_its_id() {
    let world = World::new();
    let session = world.session("s1", &[]);
    say(&world.live.get("s1").unwrap(), "word");
    assert_eq!(session.event_count(), 1);
    assert_eq!(world.query.live().ids(), ["s1"]);
    session.end();
    assert!(world.live.get("s1").is_none());
    assert_eq!(
        code(world.query.list_events("s1")),
        SessionQueryErrorCode::SessionNotFound
    );
}

/// Property: an event with time and type alone joins the surface when its type may.
#[test]
fn a_new_event_joins_the_surface_when_it_may() {
    assert!(user("x").surface_op.is_some());
    assert!(turn_end().surface_op.is_none());
    let chunk = NewEvent::new(Timestamp(0), EventData::AssistantChunk(json!(1)));
    assert!(chunk.surface_op.is_none());
}
