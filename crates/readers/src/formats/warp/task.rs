//! The messages of a task, as far as words are in them. New kinds of messages come with every release; they are
//! passed over.

use super::protobuf::{Content, Fields, words};
use lookback_model::Timestamp;
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};

/// A message of a task.
pub(super) struct Said {
    pub(super) id: String,
    /// Of the request that it answers or makes.
    pub(super) request: Option<String>,
    pub(super) time: Option<Timestamp>,
    pub(super) data: EventData,
}

/// The numbers of the fields that are read.
mod field {
    pub(super) const TASK_DESCRIPTION: u64 = 2;
    pub(super) const TASK_MESSAGE: u64 = 5;
    pub(super) const ID: u64 = 1;
    pub(super) const QUERY: u64 = 2;
    pub(super) const OUTPUT: u64 = 3;
    pub(super) const CALL: u64 = 4;
    pub(super) const RESULT: u64 = 5;
    pub(super) const REQUEST: u64 = 13;
    pub(super) const TIME: u64 = 14;
    pub(super) const REASONING: u64 = 15;
    pub(super) const SUMMARY: u64 = 16;
    /// Of a call: to run a command in the shell.
    pub(super) const SHELL: u64 = 2;
}

/// What a task is for.
pub(super) fn description(task: &[u8]) -> Option<String> {
    Fields::of(task).text(field::TASK_DESCRIPTION)
}

/// A task's messages.
pub(super) fn messages(task: &[u8]) -> Vec<Said> {
    let fields = Fields::of(task);
    let messages = fields.filter_map(|(number, content)| match content {
        Content::Bytes(bytes) if number == field::TASK_MESSAGE => said(bytes),
        _ => None,
    });
    messages.collect()
}

fn said(message: &[u8]) -> Option<Said> {
    let fields = Fields::of(message);
    let time = fields.message(field::TIME);
    let seconds = time.number(1).unwrap_or(0) as f64;
    let nanoseconds = time.number(2).unwrap_or(0) as f64;
    let data = fields.into_iter().find_map(|(number, content)| match content {
        Content::Bytes(body) => data(number, body),
        _ => None,
    })?;
    Some(Said {
        id: fields.text(field::ID).unwrap_or_default(),
        request: fields.text(field::REQUEST),
        time: Timestamp::from_number(seconds + nanoseconds / 1e9),
        data,
    })
}

fn data(number: u64, body: &[u8]) -> Option<EventData> {
    let fields = Fields::of(body);
    let text = || fields.text(1).unwrap_or_default();
    let message = |block| Message {
        content: vec![block],
        ..Message::default()
    };
    Some(match number {
        field::QUERY => EventData::UserMessage(Message::text(text())),
        field::OUTPUT => EventData::AssistantMessage(Message::text(text())),
        field::REASONING => {
            let text = text();
            EventData::AssistantMessage(message(ContentBlock::Reasoning { text }))
        }
        field::CALL => EventData::AssistantMessage(message(call(fields))),
        field::RESULT => EventData::ToolResult(result(fields)),
        field::SUMMARY => {
            EventData::ContextMessage(Message::text(words(body).join("\n")).from_source("compaction"))
        }
        _ => return None,
    })
}

/// The field after the id, which says by its number which tool it is.
fn tool<'b>(mut fields: Fields<'b>) -> Option<(u64, &'b [u8])> {
    fields.find_map(|(number, content)| match content {
        Content::Bytes(bytes) if number != field::ID => Some((number, bytes)),
        _ => None,
    })
}

fn call(fields: Fields<'_>) -> ContentBlock {
    let (name, arguments) = match tool(fields) {
        Some((field::SHELL, body)) => ("run_shell_command", words(body).join("\n")),
        Some((_, body)) => ("tool", words(body).join("\n")),
        None => ("tool", String::new()),
    };
    ContentBlock::ToolCall {
        id: fields.text(field::ID).unwrap_or_default(),
        name: name.to_owned(),
        arguments,
    }
}

fn result(fields: Fields<'_>) -> ToolResult {
    let body = tool(fields).map_or(&[][..], |(_, body)| body);
    let words = words(body).join("\n");
    ToolResult {
        call_id: fields.text(field::ID).unwrap_or_default(),
        content: vec![ContentBlock::text(words)],
        ..ToolResult::default()
    }
}
