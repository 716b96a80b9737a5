//! Properties: each rule refuses what breaks it and leaves the state as it was; a log that passes survives
//! JSON; feeding events one by one says what checking them at once says.

use super::*;
use crate::event::{Message, OtherEvent};
use crate::{SurfaceState, Timestamp};
use proptest::prelude::*;
use serde_json::json;

fn event(seq: u64, data: EventData) -> Event {
    Event {
        seq,
        time: Timestamp(0),
        surface_op: data.surface_eligible().then_some(SurfaceOp::Append),
        data,
        source_event_seqs: None,
        native_id: None,
        copy_key: 0,
    }
}

fn user(seq: u64) -> Event {
    event(seq, EventData::UserMessage(Message::text("ask")))
}

fn agent(seq: u64, sources: Option<Vec<u64>>) -> Event {
    Event {
        source_event_seqs: sources,
        ..event(seq, EventData::AssistantMessage(Message::text("answer")))
    }
}

fn result(seq: u64, call: &str, text: &str) -> Event {
    let result = ToolResult {
        call_id: call.to_owned(),
        content: vec![ContentBlock::text(text)],
        ..ToolResult::default()
    };
    event(seq, EventData::ToolResult(result))
}

fn replacing(event: Event, start: u64, end: u64) -> Event {
    Event {
        surface_op: Some(SurfaceOp::Replace { start, end }),
        ..event
    }
}

fn other(seq: u64, name: &str, data: Value) -> Event {
    let other = OtherEvent {
        r#type: name.to_owned(),
        data,
    };
    event(seq, EventData::Other(other))
}

/// Why the last event of a log is refused whose others are taken.
fn refusal(mut log: Vec<Event>) -> LogError {
    let last = log.pop().unwrap();
    let mut state = LogState::default();
    for event in &log {
        validate_next(&mut state, event).unwrap();
    }
    let before = (state.length(), state.surface().clone());
    let error = validate_next(&mut state, &last).unwrap_err();
    assert_eq!((state.length(), state.surface().clone()), before);
    log.push(last);
    assert_eq!(validate_log(&log), Err(error.clone()));
    error
}

/// Property: numbers are places, from 0 without a gap.
#[test]
fn seqs_are_contiguous_from_zero() {
    assert_eq!(
        refusal(vec![user(1)]),
        LogError::NotContiguous { seq: 1, expected: 0 }
    );
    assert_eq!(
        refusal(vec![user(0), user(0)]),
        LogError::NotContiguous { seq: 0, expected: 1 }
    );
    assert_eq!(
        refusal(vec![user(0), user(2)]),
        LogError::NotContiguous { seq: 2, expected: 1 }
    );
    assert_eq!(validate_log(&[user(0), user(1)]), Ok(()));
}

/// Property: a type that may stand on the surface is log-only without a marker; one that may not has neither
/// marker nor sources.
#[test]
fn markers_stand_on_eligible_types_only() {
    let turn = event(0, EventData::TurnStart(json!({"turn": 1})));
    let marked = Event {
        surface_op: Some(SurfaceOp::Append),
        ..turn.clone()
    };
    let sourced = Event {
        source_event_seqs: Some(vec![]),
        ..turn
    };
    for refused in [marked, sourced] {
        assert!(matches!(
            refusal(vec![refused]),
            LogError::NotEligible { seq: 0, .. }
        ));
    }
    let unmarked = Event {
        surface_op: None,
        ..user(0)
    };
    let mut state = LogState::default();
    validate_next(&mut state, &unmarked).unwrap();
    assert_eq!(state.surface().states(1), [SurfaceState::LogOnly]);
    let sourced = Event {
        surface_op: None,
        ..agent(1, Some(vec![0]))
    };
    assert_eq!(
        refusal(vec![unmarked, sourced]),
        LogError::SourcesWithoutMarker { seq: 1 }
    );
}

/// Property: sources are earlier, distinct, and cover what a replacement takes away.
#[test]
fn sources_are_earlier_distinct_and_cover_what_is_replaced() {
    for later in [1, 2] {
        let refused = refusal(vec![user(0), agent(1, Some(vec![0, later]))]);
        assert_eq!(
            refused,
            LogError::SourceNotEarlier {
                seq: 1,
                source_seq: later
            }
        );
    }
    let twice = refusal(vec![user(0), agent(1, Some(vec![0, 0]))]);
    assert_eq!(
        twice,
        LogError::SourceRepeated {
            seq: 1,
            source_seq: 0
        }
    );
    let empty = Event {
        source_event_seqs: Some(vec![]),
        ..user(0)
    };
    assert_eq!(refusal(vec![empty]), LogError::NoSources { seq: 0 });
    assert_eq!(validate_log(&[agent(0, Some(vec![]))]), Ok(()));
    let uncovered = replacing(agent(2, Some(vec![1])), 0, 1);
    assert_eq!(
        refusal(vec![user(0), user(1), uncovered]),
        LogError::SourceMissing { seq: 2, shadowed: 0 }
    );
    assert_eq!(
        validate_log(&[user(0), user(1), replacing(agent(2, Some(vec![1, 0])), 0, 1)]),
        Ok(())
    );
    assert_eq!(
        validate_log(&[user(0), user(1), replacing(agent(2, None), 0, 1)]),
        Ok(())
    );
}

/// Property: a tool's result may only stand in for one other, with another content and nothing else changed.
#[test]
fn a_tool_result_rewrites_the_content_of_one_other() {
    let log = |last: Event| vec![user(0), result(1, "a", "long"), result(2, "b", "long"), last];
    assert_eq!(
        validate_log(&log(replacing(result(3, "a", "short"), 1, 1))),
        Ok(())
    );
    let changed = refusal(log(replacing(result(3, "b", "short"), 1, 1)));
    assert_eq!(changed, LogError::ToolResultChanged { seq: 3, shadowed: 1 });
    for (start, end) in [(0, 0), (1, 2)] {
        let refused = refusal(log(replacing(result(3, "a", "short"), start, end)));
        assert_eq!(refused, LogError::NotOneToolResult { seq: 3 });
    }
}

/// Property: a replacement of what is not on the surface is refused with the fold's own reason.
#[test]
fn a_replacement_must_hold() {
    let missing = SurfaceError::StartNotOnSurface { seq: 1, start: 9 };
    assert_eq!(
        refusal(vec![user(0), replacing(agent(1, None), 9, 9)]),
        LogError::Surface(missing)
    );
    let shadowed = SurfaceError::EndNotOnSurface { seq: 2, end: 0 };
    let log = vec![
        user(0),
        replacing(agent(1, None), 0, 0),
        replacing(agent(2, None), 1, 0),
    ];
    assert_eq!(refusal(log), LogError::Surface(shadowed));
}

/// Property: what JSON would give back as something else is refused.
#[test]
fn what_json_would_change_is_refused() {
    let deep = (0..200).fold(Value::Null, |inner, _| json!([inner]));
    let nested = (0..60).fold(ContentBlock::text("x"), |inner, _| ContentBlock::ToolResult {
        id: String::new(),
        content: vec![inner],
    });
    let message = |block: ContentBlock| {
        event(
            0,
            EventData::UserMessage(Message {
                content: vec![block],
                ..Message::default()
            }),
        )
    };
    let nothing = Message {
        source: Some(Value::Null),
        ..Message::text("x")
    };
    for refused in [
        other(0, "vendor/thing", deep.clone()),
        other(0, "vendor/thing", json!(-0.0)),
        other(0, "user/message", json!({"content": []})),
        event(0, EventData::AssistantChunk(deep)),
        event(0, EventData::UserMessage(nothing)),
        message(nested),
        message(ContentBlock::Other(json!({"type": "text", "text": "x"}))),
    ] {
        assert!(
            matches!(refusal(vec![refused.clone()]), LogError::NotJson { seq: 0, .. }),
            "{refused:?}"
        );
    }
}

/// Property: a header has an id, a known version, a time, an absolute folder and counts.
#[test]
fn headers_hold_what_can_be() {
    let header = SessionHeader::new("s", Timestamp(5));
    assert_eq!(validate_header(&header), Ok(()));
    for cwd in ["/w", "C:\\w", "d:/w", "\\\\host\\share"] {
        assert_eq!(
            validate_header(&SessionHeader {
                cwd: Some(cwd.into()),
                ..header.clone()
            }),
            Ok(())
        );
    }
    for cwd in ["", "w", "./w", "C:w", "~/w"] {
        let refused = validate_header(&SessionHeader {
            cwd: Some(cwd.into()),
            ..header.clone()
        });
        assert!(matches!(refused, Err(HeaderError::RelativeCwd { .. })), "{cwd}");
    }
    let id = || "s".to_owned();
    for (refused, error) in [
        (
            SessionHeader {
                id: " ".into(),
                ..header.clone()
            },
            HeaderError::NoId,
        ),
        (
            SessionHeader {
                version: 1,
                ..header.clone()
            },
            HeaderError::UnknownVersion { id: id(), version: 1 },
        ),
        (
            SessionHeader {
                created_at: Timestamp(-1),
                ..header.clone()
            },
            HeaderError::ImpossibleTime {
                id: id(),
                created_at: -1,
            },
        ),
        (
            SessionHeader {
                delegation_depth: Some(1 << 53),
                ..header.clone()
            },
            HeaderError::ImpossibleCount {
                id: id(),
                field: "delegationDepth",
                value: 1 << 53,
            },
        ),
    ] {
        assert_eq!(validate_header(&refused), Err(error));
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{0,4}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Property: an event that is taken is equal after it was written as JSON and read.
    #[test]
    fn what_is_taken_survives_json(value in json_value(), source in prop::option::of(json_value())) {
        let message = Message { content: vec![ContentBlock::Other(value.clone())], source, ..Message::default() };
        for event in [other(0, "vendor/thing", value), event(0, EventData::UserMessage(message))] {
            if validate_log(std::slice::from_ref(&event)).is_ok() {
                let json = serde_json::to_string(&event).unwrap();
                prop_assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), event);
            }
        }
    }

    /// Property: whatever is refused on the way, the state is that of the events that were taken.
    #[test]
    fn refused_events_leave_no_trace(choices in prop::collection::vec((0u8..5, 0u64..12, 0u64..12), 0..40)) {
        let mut state = LogState::default();
        let mut taken = Vec::new();
        for (kind, start, end) in choices {
            let seq = taken.len() as u64;
            let event = match kind {
                0 => user(seq),
                1 => replacing(agent(seq, None), start, end),
                2 => result(seq, "a", "x"),
                3 => replacing(result(seq, "a", "y"), start, start),
                _ => agent(seq, Some(vec![start, end])),
            };
            if validate_next(&mut state, &event).is_ok() {
                taken.push(event);
            }
        }
        prop_assert_eq!(validate_log(&taken), Ok(()));
        prop_assert_eq!(&Surface::of(&taken).unwrap(), state.surface());
        prop_assert_eq!(state.length(), taken.len() as u64);
    }
}
