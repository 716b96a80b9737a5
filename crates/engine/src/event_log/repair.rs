//! What ends a turn that was left open by a process that died in it.
//!
//! Every call of the turn that was not answered gets an error as its answer, an open step is ended, then the turn,
//! as interrupted. All bear the time of the last real event: nobody knows when it ended. Calls without an id cannot
//! be told from answered ones and get none.

use lookback_model::event::{ToolError, ToolResult, TurnEnd, TurnEndReason};
use lookback_model::{ContentBlock, Event, EventData, SurfaceOp, Timestamp};
use serde_json::{Value, json};

/// The events to append to a log; none when its last turn is ended, or it has none.
pub(super) fn of_open_turn(events: &[Event]) -> Vec<Event> {
    let Some(turn) = OpenTurn::of(events) else {
        return Vec::new();
    };
    let time = events.last().map_or(Timestamp(0), |event| event.time);
    let step_end = turn.step.map(EventData::StepEnd);
    let turn_end = EventData::TurnEnd(TurnEnd {
        turn: turn.number,
        reason: TurnEndReason {
            kind: "interrupted".to_owned(),
            ..TurnEndReason::default()
        },
    });
    turn.unanswered
        .into_iter()
        .map(Call::answer)
        .chain(step_end)
        .chain([turn_end])
        .zip(events.len() as u64..)
        .map(|(data, seq)| Event {
            seq,
            time,
            surface_op: data.surface_eligible().then_some(SurfaceOp::Append),
            data,
            source_event_seqs: None,
            native_id: None,
            copy_key: 0,
        })
        .collect()
}

/// The last turn, as long as it is open.
#[derive(Default)]
struct OpenTurn {
    number: Option<u64>,
    /// The payload that ends the open step.
    step: Option<Value>,
    /// In the order of the calls.
    unanswered: Vec<Call>,
}

/// A call that waits for its answer.
struct Call {
    id: String,
    turn: Option<u64>,
    step: Option<u64>,
}

impl Call {
    fn answer(self) -> EventData {
        EventData::ToolResult(ToolResult {
            call_id: self.id,
            content: vec![ContentBlock::text("the session ended before the tool answered")],
            is_error: true,
            error: Some(ToolError {
                name: "Interrupted".to_owned(),
                code: None,
            }),
            turn: self.turn,
            step: self.step,
            ..ToolResult::default()
        })
    }
}

impl OpenTurn {
    fn of(events: &[Event]) -> Option<Self> {
        let mut open: Option<Self> = None;
        for event in events {
            match &event.data {
                EventData::TurnStart(start) => {
                    open = Some(Self {
                        number: start.get("turn").and_then(Value::as_u64),
                        ..Self::default()
                    });
                }
                EventData::TurnEnd(_) => open = None,
                data => {
                    if let Some(turn) = &mut open {
                        turn.take(data);
                    }
                }
            }
        }
        open
    }

    fn take(&mut self, data: &EventData) {
        match data {
            EventData::StepStart(start) => self.step = Some(self.end_of_step(start)),
            EventData::StepEnd(_) => self.step = None,
            EventData::ToolCall(call) => self.called(&call.call_id, call.turn, call.step),
            EventData::AssistantMessage(message) => {
                for block in &message.content {
                    if let ContentBlock::ToolCall { id, .. } = block {
                        self.called(id, message.turn, message.step);
                    }
                }
            }
            EventData::ToolResult(result) => self.answered(&result.call_id),
            _ => {}
        }
    }

    /// Turn and step as the start of the step named them.
    fn end_of_step(&self, start: &Value) -> Value {
        let number = |name: &str| start.get(name).and_then(Value::as_u64);
        let mut end = json!({});
        for (name, value) in [("turn", number("turn").or(self.number)), ("step", number("step"))] {
            if let (Some(fields), Some(value)) = (end.as_object_mut(), value) {
                fields.insert(name.to_owned(), value.into());
            }
        }
        end
    }

    /// Notes a call once, whether a message or a record of its own names it first.
    fn called(&mut self, id: &str, turn: Option<u64>, step: Option<u64>) {
        let is_known = self.unanswered.iter().any(|call| call.id == id);
        if !id.is_empty() && !is_known {
            self.unanswered.push(Call {
                id: id.to_owned(),
                turn,
                step,
            });
        }
    }

    fn answered(&mut self, id: &str) {
        self.unanswered.retain(|call| call.id != id);
    }
}
