//! Where events stand, and what became of them (contract B, B.3 and B.5).

use crate::scripted::{ScriptedPersistence, World, agent, code, header, log, other, replacing, said, user};
use lookback_engine::session_query::{LiveError, NewEvent};
use lookback_model::event::{EventData, ToolResult};
use lookback_model::session_query::{EventTrace, LogError, LogState, SessionQueryErrorCode, fold_log};
use lookback_model::surface::{Surface, SurfaceError};
use lookback_model::{Event, SurfaceOp, SurfaceState, Timestamp};
use proptest::prelude::*;
use serde_json::json;

use SurfaceState::{Current, LogOnly, Shadowed};

fn chunk() -> NewEvent {
    NewEvent::new(Timestamp(7), EventData::AssistantChunk(json!("piece")))
}

fn result(call: &str, text: &str) -> NewEvent {
    let result = ToolResult {
        call_id: call.to_owned(),
        content: vec![lookback_model::ContentBlock::text(text)],
        ..ToolResult::default()
    };
    NewEvent::new(Timestamp(7), EventData::ToolResult(result))
}

/// The states of the events of a live session with this log.
fn states(events: Vec<NewEvent>) -> Vec<SurfaceState> {
    let world = World::new();
    world.session("s1", &[]).append_all(events).unwrap();
    let records = world.query.list_events("s1").unwrap();
    records.into_iter().map(|record| record.surface).collect()
}

/// Why the last event is refused by a log that takes the others.
fn refusal(mut events: Vec<NewEvent>) -> LogError {
    let last = events.pop().unwrap();
    let session = World::new().session("s1", &[]);
    session.append_all(events).unwrap();
    let length = session.event_count();
    let refused = session.append(last).unwrap_err();
    assert_eq!(session.event_count(), length);
    match refused {
        LiveError::Log(error) => error,
        other => panic!("{other}"),
    }
}

fn worked_example() -> Vec<NewEvent> {
    vec![
        user("ask"),
        chunk(),
        NewEvent {
            source_event_seqs: Some(vec![1]),
            ..agent("answer")
        },
        replacing(agent("summary"), 0, 0, &[0]),
        replacing(agent("shorter"), 3, 2, &[3, 2]),
    ]
}

/// Property: a chain of replacements is classified and traced from both ends, alike for a live and a kept log.
#[test]
fn a_log_with_two_replacements_is_traced() {
    let world = World::new();
    world.session("s1", &[]).append_all(worked_example()).unwrap();
    let persistence = ScriptedPersistence::new();
    persistence.keep(header("s2"), log(worked_example()));
    let _mounted = world.query.mount(persistence);
    for id in ["s1", "s2"] {
        let records = world.query.list_events(id).unwrap();
        let states: Vec<_> = records.iter().map(|record| record.surface).collect();
        assert_eq!(states, [Shadowed, LogOnly, Shadowed, Shadowed, Current]);
        let trace = |seq: u64, by: Option<u64>, chain: &[u64], shadows: &[u64], of: &[u64], named: &[u64]| {
            let expected = EventTrace {
                target: records[seq as usize].clone(),
                shadowed_by: by,
                replacement_chain: chain.to_vec(),
                shadows: shadows.to_vec(),
                references: of.to_vec(),
                referenced_by: named.to_vec(),
            };
            assert_eq!(world.query.trace_event(id, seq as f64).unwrap(), expected);
        };
        trace(0, Some(3), &[3, 4], &[], &[], &[3]);
        trace(1, None, &[], &[], &[], &[2]);
        trace(2, Some(4), &[4], &[], &[1], &[4]);
        trace(3, Some(4), &[4], &[0], &[0], &[4]);
        trace(4, None, &[], &[3, 2], &[3, 2], &[]);
    }
}

/// Property: a slice that ends before it starts, by place on the surface, is refused.
#[test]
fn a_slice_that_runs_backwards_is_refused() {
    let error = refusal(vec![user("0"), user("1"), replacing(agent("x"), 1, 0, &[0, 1])]);
    assert_eq!(
        error,
        LogError::Surface(SurfaceError::StartAfterEnd {
            seq: 2,
            start: 1,
            end: 0
        })
    );
}

/// Property: places count and not numbers, so that a slice may start with the larger number.
#[test]
fn a_slice_may_start_with_the_larger_number() {
    let events = vec![
        user("0"),
        user("1"),
        replacing(agent("2"), 0, 0, &[0]),
        replacing(agent("3"), 2, 1, &[2, 1]),
    ];
    assert_eq!(states(events), [Shadowed, Shadowed, Shadowed, Current]);
}

/// Property: what has been replaced cannot be replaced again.
#[test]
fn what_is_shadowed_cannot_be_replaced() {
    let error = refusal(vec![
        user("0"),
        replacing(agent("1"), 0, 0, &[0]),
        replacing(agent("2"), 0, 0, &[0]),
    ]);
    assert_eq!(
        error,
        LogError::Surface(SurfaceError::StartNotOnSurface { seq: 2, start: 0 })
    );
}

/// Property: an event that was never on the surface stays log-only when a range around it is replaced.
#[test]
fn log_only_within_a_replaced_range_stays_log_only() {
    let call = NewEvent::new(
        Timestamp(7),
        EventData::ToolCall(lookback_model::event::ToolCall::default()),
    );
    let events = vec![
        user("0"),
        agent("1"),
        call,
        result("c", "3"),
        replacing(user("4"), 0, 3, &[0, 1, 3]),
    ];
    assert_eq!(
        states(events.clone()),
        [Shadowed, Shadowed, LogOnly, Shadowed, Current]
    );
    let again = [events, vec![replacing(user("5"), 1, 1, &[1])]].concat();
    assert!(matches!(
        refusal(again),
        LogError::Surface(SurfaceError::StartNotOnSurface { .. })
    ));
}

/// Property: one event may stand in for one other.
#[test]
fn a_single_event_may_be_replaced() {
    let events = vec![user("0"), user("1"), replacing(user("2"), 1, 1, &[1])];
    assert_eq!(states(events), [Current, Shadowed, Current]);
}

/// Property: a replacement stands where its slice stood, at the head, in the middle and at the tail.
#[test]
fn a_replacement_stands_where_its_slice_stood() {
    let base = || vec![user("0"), user("1"), user("2"), user("3")];
    for (start, end, order) in [
        (0, 1, [4, 2, 3].as_slice()),
        (1, 2, &[0, 4, 3]),
        (2, 3, &[0, 1, 4]),
    ] {
        let events = log([base(), vec![replacing(agent("4"), start, end, &[start, end])]].concat());
        assert_eq!(fold_log(&events).unwrap().current(), order);
    }
}

/// Property: a chain of replacements is followed to the event that stands now.
#[test]
fn a_chain_of_three_is_followed_to_its_end() {
    let world = World::new();
    let session = world.session("s1", &["0"]);
    for by in 1..4 {
        session
            .append(replacing(agent("x"), by - 1, by - 1, &[by - 1]))
            .unwrap();
    }
    let trace = world.query.trace_event("s1", 0.0).unwrap();
    assert_eq!(
        (trace.shadowed_by, trace.replacement_chain),
        (Some(1), vec![1, 2, 3])
    );
    let trace = world.query.trace_event("s1", 3.0).unwrap();
    assert_eq!((trace.shadowed_by, trace.replacement_chain), (None, vec![]));
    assert_eq!((trace.shadows, trace.target.surface), (vec![2], Current));
}

/// Property: sources are earlier events, each once, and include what is replaced; only an agent's message may
/// have an empty list.
#[test]
fn sources_are_earlier_distinct_and_cover_what_is_replaced() {
    let with = |sources: &[u64], event: NewEvent| NewEvent {
        source_event_seqs: Some(sources.to_vec()),
        ..event
    };
    let after_one = |event| refusal(vec![user("0"), event]);
    assert_eq!(
        after_one(with(&[1], agent("x"))),
        LogError::SourceNotEarlier {
            seq: 1,
            source_seq: 1
        }
    );
    assert_eq!(
        after_one(with(&[0, 0], agent("x"))),
        LogError::SourceRepeated {
            seq: 1,
            source_seq: 0
        }
    );
    assert_eq!(after_one(with(&[], user("x"))), LogError::NoSources { seq: 1 });
    assert_eq!(states(vec![with(&[], agent("x"))]), [Current]);
    let missing = refusal(vec![user("0"), user("1"), replacing(agent("x"), 0, 1, &[1])]);
    assert_eq!(missing, LogError::SourceMissing { seq: 2, shadowed: 0 });
    let changed = refusal(vec![
        result("a", "long"),
        replacing(result("b", "short"), 0, 0, &[0]),
    ]);
    assert_eq!(changed, LogError::ToolResultChanged { seq: 1, shadowed: 0 });
}

/// Property: a type that may not stand on the surface has no marker and no sources.
#[test]
fn a_marker_on_another_type_is_refused() {
    let marked = NewEvent {
        surface_op: Some(SurfaceOp::Append),
        ..chunk()
    };
    assert!(matches!(
        refusal(vec![marked]),
        LogError::NotEligible { seq: 0, .. }
    ));
    let sourced = NewEvent {
        source_event_seqs: Some(vec![0]),
        ..other("vendor/thing", json!(1))
    };
    assert!(matches!(
        refusal(vec![user("0"), sourced]),
        LogError::NotEligible { seq: 1, .. }
    ));
}

/// Property: a kept log that breaks the rules cannot be folded, with the rule as the cause.
#[test]
fn a_kept_log_that_breaks_the_rules_has_no_surface() {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    let mut events = said(&["0", "1"]);
    events[1].source_event_seqs = Some(vec![1]);
    persistence.keep(header("s1"), events);
    let _mounted = world.query.mount(persistence);
    let error = world.query.list_events("s1").unwrap_err();
    assert_eq!(error.code, SessionQueryErrorCode::InvalidSurface);
    let cause = error.source.unwrap().downcast::<LogError>().unwrap();
    assert_eq!(
        *cause,
        LogError::SourceNotEarlier {
            seq: 1,
            source_seq: 1
        }
    );
    assert_eq!(code(world.search("1")), SessionQueryErrorCode::InvalidSurface);
}

/// An event, given the surface it meets: appended, log-only, or in the place of a slice.
fn event_on(surface: &Surface, seq: u64, (kind, one, two): (u8, usize, usize)) -> Event {
    let current = surface.current();
    let new = match kind {
        0 => chunk(),
        1 => result("c", "answer"),
        2 if !current.is_empty() => {
            let (one, two) = (one % current.len(), two % current.len());
            let slice = &current[one.min(two)..=one.max(two)];
            replacing(agent("summary"), slice[0], slice[slice.len() - 1], slice)
        }
        // Not what the log would take: the slice may be gone, run backwards, or be no source.
        3 => replacing(agent("wrong"), one as u64, two as u64, &[one as u64]),
        _ => user("ask"),
    };
    Event {
        seq,
        ..log(vec![new]).remove(0)
    }
}

proptest! {
    /// Property: folding event by event, refused ones included, gives the state of folding the log at once; and
    /// documents of a live session that grew between searches say where each event stands.
    #[test]
    fn folding_as_it_grows_is_folding_at_once(
        choices in prop::collection::vec((0u8..6, 0usize..20, 0usize..20), 1..40),
        searches in prop::collection::btree_set(0usize..40, 0..5),
    ) {
        let world = World::new();
        let session = world.session("s1", &[]);
        let mut state = LogState::default();
        let mut events: Vec<Event> = Vec::new();
        for (step, choice) in choices.into_iter().enumerate() {
            let event = event_on(state.surface(), events.len() as u64, choice);
            let followed = state.follow(&event);
            let appended = session.append(NewEvent {
                time: event.time,
                data: event.data.clone(),
                surface_op: event.surface_op,
                source_event_seqs: event.source_event_seqs.clone(),
                native_id: None,
            });
            prop_assert_eq!(followed.is_ok(), appended.is_ok());
            if let Ok(appended) = appended {
                prop_assert_eq!(&appended, &event);
                events.push(event);
            }
            prop_assert_eq!(&fold_log(&events).unwrap(), state.surface());
            prop_assert_eq!(&Surface::of(&events).unwrap(), state.surface());
            if searches.contains(&step) {
                world.found("ask");
            }
        }
        world.found("ask");
        let states = state.surface().states(events.len() as u64);
        let records = world.query.list_events("s1").unwrap();
        prop_assert_eq!(records.iter().map(|record| record.surface).collect::<Vec<_>>(), states.clone());
        let snapshot = world.provider.live("s1").unwrap();
        prop_assert_eq!(snapshot.events, events.len() as u64);
        for document in &snapshot.documents {
            prop_assert_eq!(snapshot.surface(document), states[document.seq as usize]);
        }
    }
}
