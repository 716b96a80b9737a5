//! Reading an event with its neighbours (contract B, B.5).

use crate::scripted::{ScriptedPersistence, World, code, header, log, replacing, said, turn_end, user};
use lookback_engine::session_query::SessionQueryConfig;
use lookback_model::session_query::{ReadEventRequest, SessionQueryErrorCode};

pub(crate) fn at(id: &str, seq: f64) -> ReadEventRequest {
    ReadEventRequest {
        session_id: id.to_owned(),
        seq,
        ..ReadEventRequest::default()
    }
}

fn window(seq: f64, before: f64, after: f64) -> ReadEventRequest {
    ReadEventRequest {
        before: Some(before),
        after: Some(after),
        ..at("s1", seq)
    }
}

fn world() -> World {
    let world = World::new();
    world.session("s1", &["0", "1", "2", "3", "4"]);
    world
}

/// Property: the window is cut at the log's ends, and its bounds are told.
#[test]
fn a_window_is_cut_at_both_ends_of_the_log() {
    let world = world();
    for (request, bounds) in [
        (at("s1", 2.0), (2, 2)),
        (window(2.0, 1.0, 1.0), (1, 3)),
        (window(1.0, 5.0, 0.0), (0, 1)),
        (window(3.0, 0.0, 50.0), (3, 4)),
        (window(0.0, 50.0, 50.0), (0, 4)),
    ] {
        let read = world.query.read_event(&request).unwrap();
        assert_eq!((read.start_seq, read.end_seq), bounds);
        let seqs: Vec<u64> = read.events.iter().map(|event| event.seq).collect();
        assert_eq!(seqs, (bounds.0..=bounds.1).collect::<Vec<_>>());
        assert_eq!(read.target.seq as f64, request.seq);
        assert_eq!(read.session.header, header("s1"));
        assert!(read.session.live && !read.session.persisted);
    }
}

/// Property: the configured most is accepted, and one more is not.
#[test]
fn the_window_has_a_most() {
    let world = world();
    assert!(world.query.read_event(&window(2.0, 50.0, 50.0)).is_ok());
    for refused in [window(2.0, 51.0, 0.0), window(2.0, 0.0, 51.0)] {
        assert_eq!(
            code(world.query.read_event(&refused)),
            SessionQueryErrorCode::InvalidWindow
        );
    }
}

/// Property: the window is looked at before the session and the event are.
#[test]
fn the_window_is_checked_first() {
    let world = world();
    let unknown = ReadEventRequest {
        before: Some(-1.0),
        ..at("nowhere", 99.0)
    };
    assert_eq!(
        code(world.query.read_event(&unknown)),
        SessionQueryErrorCode::InvalidWindow
    );
    assert_eq!(
        code(world.query.read_event(&at("nowhere", 99.0))),
        SessionQueryErrorCode::SessionNotFound
    );
}

/// Property: the sides of a window are whole numbers from 0.
#[test]
fn sides_of_a_window_are_whole_numbers() {
    let world = world();
    for side in [-1.0, 0.5, f64::NAN, f64::INFINITY] {
        for refused in [window(2.0, side, 0.0), window(2.0, 0.0, side)] {
            assert_eq!(
                code(world.query.read_event(&refused)),
                SessionQueryErrorCode::InvalidWindow,
                "{side}"
            );
        }
    }
}

/// Property: a configured most of 0 allows the event alone.
#[test]
fn a_window_may_be_forbidden() {
    let world = World::configured(SessionQueryConfig {
        read_window_max: 0,
        ..SessionQueryConfig::default()
    });
    world.session("s1", &["0", "1"]);
    let alone = world.query.read_event(&window(1.0, 0.0, 0.0)).unwrap();
    assert_eq!(alone.events.len(), 1);
    assert_eq!(
        code(world.query.read_event(&window(1.0, 1.0, 0.0))),
        SessionQueryErrorCode::InvalidWindow
    );
}

/// Property: a number that is no event's is not found, whatever is wrong with it.
#[test]
fn a_number_without_an_event_is_not_found() {
    let world = world();
    world.session("empty", &[]);
    for seq in [5.0, -1.0, 1.5, f64::NAN, f64::INFINITY, 1e300] {
        let missing = SessionQueryErrorCode::EventNotFound;
        assert_eq!(code(world.query.read_event(&at("s1", seq))), missing, "{seq}");
        assert_eq!(code(world.query.trace_event("s1", seq)), missing, "{seq}");
    }
    assert_eq!(
        code(world.query.read_event(&at("empty", 0.0))),
        SessionQueryErrorCode::EventNotFound
    );
}

/// Property: events of a log that cannot be folded are read all the same; what needs the fold says so.
#[test]
fn a_log_that_cannot_be_folded_can_be_read() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    persistence.keep(
        header("s1"),
        log(vec![user("word"), turn_end(), replacing(user("x"), 9, 9, &[0])]),
    );
    let _mounted = world.query.mount(persistence);
    let read = world.query.read_event(&window(1.0, 1.0, 1.0)).unwrap();
    assert_eq!(read.events.len(), 3);
    let invalid = SessionQueryErrorCode::InvalidSurface;
    let error = world.query.list_events("s1").unwrap_err();
    assert_eq!(error.code, invalid);
    assert!(error.source.is_some());
    assert_eq!(code(world.query.trace_event("s1", 0.0)), invalid);
    assert_eq!(code(world.search("word")), invalid);
}

/// Property: a kept session is read as a live one is.
#[test]
fn kept_sessions_are_read_alike() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    persistence.keep(header("s1"), said(&["0", "1", "2"]));
    let _mounted = world.query.mount(persistence);
    let read = world.query.read_event(&window(1.0, 1.0, 0.0)).unwrap();
    assert_eq!((read.start_seq, read.end_seq), (0, 1));
    assert!(!read.session.live && read.session.persisted);
    assert_eq!(read.target, said(&["0", "1"])[1]);
}
