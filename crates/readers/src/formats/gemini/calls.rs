//! Tool calls and their answers, wherever a message carries them: in its list of calls, or among the parts
//! of its content, as the model's interface has them.

use super::message::{media, push_text};
use super::record::{Content, Record, ToolCall};
use crate::lenient::readable;
use crate::mend;
use lookback_model::Timestamp;
use lookback_model::event::{self, ContentBlock, EventData, ToolResult};
use serde_json::value::RawValue;
use std::collections::HashSet;

/// What tells one call from another.
pub(in crate::formats) fn call_key(id: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(id.as_bytes())
}

/// Answers among the parts of a person's message, which is how the model's interface carries them.
pub(in crate::formats) fn answers(content: &Content<'_>, calls: &HashSet<u64>) -> Vec<ToolResult> {
    let responses = content
        .0
        .iter()
        .filter_map(|part| part.function_response.0.as_ref());
    responses
        .filter(|response| !calls.contains(&call_key(response.id.get())))
        .map(|response| {
            let mut content = Vec::new();
            push_text(&mut content, &response.response.text);
            content.extend(response.parts.0.iter().filter_map(media));
            let call_id = response.id.get().to_owned();
            ToolResult {
                call_id,
                content,
                is_error: response.response.is_error,
                ..ToolResult::default()
            }
        })
        .collect()
}

/// A call of a message, from wherever the message names it.
#[derive(Debug)]
pub(in crate::formats) struct Call<'r> {
    pub(in crate::formats) id: &'r str,
    name: &'r str,
    args: Option<&'r RawValue>,
    record: Option<&'r ToolCall<'r>>,
}

/// The calls of a message in order: recorded ones, and those that stand among its parts only.
pub(in crate::formats) fn calls<'r>(record: &'r Record<'r>) -> Vec<Call<'r>> {
    let recorded = record.tool_calls.get().iter().map(|call| Call {
        id: call.id.get(),
        name: call.name.get(),
        args: call.args,
        record: Some(call),
    });
    let mut calls: Vec<Call<'r>> = recorded.collect();
    let known = calls.len();
    for call in record
        .content
        .0
        .iter()
        .filter_map(|part| part.function_call.0.as_ref())
    {
        let id = call.id.get();
        let is_recorded = |recorded: &Call<'_>| {
            if id.is_empty() {
                recorded.name == call.name.get()
            } else {
                recorded.id == id
            }
        };
        if !calls.iter().take(known).any(is_recorded) {
            calls.push(Call {
                id,
                name: call.name.get(),
                args: call.args,
                record: None,
            });
        }
    }
    calls
}

impl Call<'_> {
    /// As a block of a message.
    pub(in crate::formats) fn block(&self) -> ContentBlock {
        ContentBlock::ToolCall {
            id: self.id.to_owned(),
            name: self.name.to_owned(),
            arguments: self.arguments(),
        }
    }

    /// As an event of its own.
    pub(in crate::formats) fn event(&self) -> EventData {
        EventData::ToolCall(event::ToolCall {
            call_id: self.id.to_owned(),
            name: self.name.to_owned(),
            arguments: self.arguments(),
            ..event::ToolCall::default()
        })
    }

    /// Arguments as they were written; halves of surrogate pairs, which a raw value may hold, are mended.
    fn arguments(&self) -> String {
        let raw = self.args.map_or("", RawValue::get);
        if raw.contains("\\ud") || raw.contains("\\uD") {
            mend::mend(raw).into_owned()
        } else {
            raw.to_owned()
        }
    }

    /// When the call was recorded.
    pub(in crate::formats) fn time(&self) -> Option<Timestamp> {
        Timestamp::parse(self.record?.timestamp.get())
    }

    /// Whether the call has ended.
    pub(in crate::formats) fn is_answered(&self) -> bool {
        self.record.is_some_and(|call| {
            let status = call.status.get();
            !call.result.0.is_empty() || matches!(status, "success" | "error" | "cancelled")
        })
    }

    /// Its answer: the result, else what the terminal showed.
    pub(in crate::formats) fn answer(&self) -> ToolResult {
        let mut answer = ToolResult {
            call_id: self.id.to_owned(),
            ..ToolResult::default()
        };
        let Some(call) = self.record else {
            return answer;
        };
        answer.is_error = matches!(call.status.get(), "error" | "cancelled");
        for part in &call.result.0 {
            push_text(&mut answer.content, part.text.get());
            answer.content.extend(media(part));
            if let Some(response) = &part.function_response.0 {
                push_text(&mut answer.content, &response.response.text);
                answer.content.extend(response.parts.0.iter().filter_map(media));
                answer.is_error |= response.response.is_error;
            }
        }
        if call.result.0.is_empty()
            && let Some(shown) = call.result_display
            && shown.get().starts_with('"')
            && let Ok(text) = readable(shown)
        {
            push_text(&mut answer.content, &text);
        }
        answer
    }
}
