//! Properties: chunks rebuild the text and never exceed their limit; each block lands in one kind;
//! heads never split a character.

use super::*;
use crate::Timestamp;
use crate::event::{ToolResult, TurnEndReason};
use proptest::prelude::*;

fn event(data: EventData) -> Event {
    Event {
        seq: 0,
        time: Timestamp(0),
        data,
        surface_op: None,
        source_event_seqs: None,
        native_id: None,
        copy_key: 0,
    }
}

fn texts(event: &Event) -> Vec<(TextKind, String)> {
    pieces(event)
        .into_iter()
        .map(|piece| (piece.kind, piece.text.into_owned()))
        .collect()
}

#[test]
fn an_answer_is_split_by_kind() {
    let message = Message {
        content: vec![
            ContentBlock::Reasoning { text: "think".into() },
            ContentBlock::text(" one "),
            ContentBlock::ToolCall {
                id: "c".into(),
                name: "Bash".into(),
                arguments: r#"{"command":"ls\n-la","n":3,"none":null}"#.into(),
            },
            ContentBlock::text("two"),
            ContentBlock::Other(serde_json::json!({"type": "vendor", "text": "hidden"})),
        ],
        ..Message::default()
    };
    assert_eq!(
        texts(&event(EventData::AssistantMessage(message))),
        [
            (TextKind::Reasoning, "think".to_owned()),
            (TextKind::Agent, "one\ntwo".to_owned()),
            (TextKind::Call, "Bash\ncommand: ls\n-la\nn: 3".to_owned()),
        ]
    );
}

#[test]
fn blank_and_structural_events_have_no_text() {
    let completed = TurnEnd {
        turn: None,
        reason: TurnEndReason {
            kind: "completed".into(),
            ..TurnEndReason::default()
        },
    };
    for data in [
        EventData::UserMessage(Message::text(" \n ")),
        EventData::AssistantChunk(Value::from("words")),
        EventData::RequestHeader(Value::from("words")),
        EventData::TurnEnd(completed),
    ] {
        assert_eq!(texts(&event(data)), []);
    }
}

#[test]
fn a_failed_turn_tells_reason_message_and_code() {
    let reason = TurnEndReason {
        kind: "error".into(),
        message: Some("overloaded".into()),
        code: Some("529".into()),
        ..TurnEndReason::default()
    };
    let end = event(EventData::TurnEnd(TurnEnd { turn: None, reason }));
    assert_eq!(
        texts(&end),
        [(TextKind::Context, "error\noverloaded\n529".to_owned())]
    );
}

#[test]
fn a_tool_error_is_part_of_its_result() {
    let result = ToolResult {
        content: vec![ContentBlock::text("no such file")],
        error: Some(crate::event::ToolError {
            name: "NotFound".into(),
            code: Some("ENOENT".into()),
        }),
        ..ToolResult::default()
    };
    assert_eq!(
        texts(&event(EventData::ToolResult(result))),
        [(TextKind::Result, "no such file\nNotFound\nENOENT".to_owned())]
    );
}

#[test]
fn a_cut_falls_on_a_boundary_in_the_second_half_or_is_hard() {
    let words = format!("{} {}", "a".repeat(5_000), "b".repeat(5_000));
    let lengths: Vec<_> = chunks(&words).map(str::len).collect();
    assert_eq!(lengths, [5_001, 5_000]);

    let solid = "x".repeat(20_000);
    assert_eq!(
        chunks(&solid).map(str::len).collect::<Vec<_>>(),
        [8_000, 8_000, 4_000]
    );

    let early = format!("{} {}", "a".repeat(100), "b".repeat(9_000));
    assert_eq!(chunks(&early).next().map(str::len), Some(8_000));

    let wide = format!("{}\u{3000}{}", "語".repeat(7_999), "語".repeat(10));
    assert_eq!(
        chunks(&wide).next().map(|chunk| chunk.chars().count()),
        Some(8_000)
    );
}

proptest! {
    #[test]
    fn chunks_rebuild_any_text(text in "(?s)[a-z .\u{3042}\u{301}😀_\\-/]{0,20000}") {
        let parts: Vec<&str> = chunks(&text).collect();
        prop_assert_eq!(&parts.concat(), &text);
        prop_assert!(parts.iter().all(|part| part.chars().count() <= CHUNK_LIMIT && !part.is_empty()));
    }

    #[test]
    fn heads_fit_and_lose_nothing_they_could_keep(text in "\\PC{0,80}", limit in 0usize..40) {
        let head = head_utf16(&text, limit);
        prop_assert!(text.starts_with(head));
        prop_assert!(head.encode_utf16().count() <= limit);
        if let Some(next) = text[head.len()..].chars().next() {
            prop_assert!(head.encode_utf16().count() + next.len_utf16() > limit);
        }
    }
}
