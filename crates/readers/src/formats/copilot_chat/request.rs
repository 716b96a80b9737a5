//! A request and the answer to it.
//!
//! The answer stands twice: as parts that the person saw, and, for tools, as rounds that the model was sent.
//! Words are taken from the parts, arguments and results of tools from the rounds.

use crate::document::{items, plain, text, words};
use crate::log::{Draft, Placement, SessionLog};
use lookback_model::Timestamp;
use lookback_model::copies::key_of_id;
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use lookback_model::source::SinkClosed;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Tells a request.
pub(super) fn tell(agent: &str, log: &mut SessionLog<'_>, request: &Value) -> Result<(), SinkClosed> {
    let id = words(request, "requestId").map(str::to_owned);
    if let Some(model) = words(request, "modelId") {
        log.facts().model = Some(model.to_owned());
    }
    let metadata = request.get("result").and_then(|result| result.get("metadata"));
    let mut answer = Answer {
        log,
        agent,
        time: request.get("timestamp").and_then(Timestamp::from_json),
        // What was undone is gone as soon as something else is asked.
        is_undone: request
            .get("shouldBeRemovedOnSend")
            .is_some_and(|undone| !undone.is_null()),
        told: 0,
        words: String::new(),
        said: Message::default(),
        results: Vec::new(),
        calls: calls(metadata.unwrap_or(&Value::Null)),
        id,
    };
    let prompt = match request.get("message") {
        Some(Value::String(prompt)) => prompt.trim(),
        Some(message) => text(message, "text").trim(),
        None => "",
    };
    if !prompt.is_empty() {
        answer.append(EventData::UserMessage(Message::text(prompt)))?;
    }
    for part in items(request, "response") {
        answer.part(part)?;
    }
    answer.rest(metadata.unwrap_or(&Value::Null))?;
    let error = request
        .get("result")
        .and_then(|result| result.get("errorDetails"));
    if let Some(error) = error.and_then(|error| words(error, "message")) {
        answer.append(EventData::ContextMessage(
            Message::text(error).from_source("error"),
        ))?;
    }
    Ok(())
}

/// A call as the model made it.
struct Call<'v> {
    name: &'v str,
    arguments: String,
    result: Option<&'v Value>,
}

/// The calls of all rounds, by id.
fn calls(metadata: &Value) -> HashMap<&str, Call<'_>> {
    let results = metadata.get("toolCallResults").unwrap_or(&Value::Null);
    let rounds = items(metadata, "toolCallRounds").iter();
    rounds
        .flat_map(|round| items(round, "toolCalls"))
        .map(|call| {
            let id = text(call, "id");
            let arguments = call.get("arguments").map(plain).unwrap_or_default();
            let name = text(call, "name");
            let result = results.get(id);
            (
                id,
                Call {
                    name,
                    arguments,
                    result,
                },
            )
        })
        .collect()
}

/// An answer as it is told: words and calls, then results, then again words.
struct Answer<'a, 's, 'v> {
    log: &'a mut SessionLog<'s>,
    agent: &'a str,
    time: Option<Timestamp>,
    is_undone: bool,
    /// Events of the request so far.
    told: u64,
    /// Words that no part of another kind has ended yet.
    words: String,
    said: Message,
    results: Vec<ToolResult>,
    calls: HashMap<&'v str, Call<'v>>,
    id: Option<String>,
}

impl<'v> Answer<'_, '_, 'v> {
    fn append(&mut self, data: EventData) -> Result<(), SinkClosed> {
        let mut draft = Draft::new(data, self.time);
        if self.is_undone {
            draft.placement = Placement::LogOnly;
        }
        if let Some(id) = &self.id {
            draft.copy_key = key_of_id(self.agent, &format!("{id}#{}", self.told));
            draft.native_id = Some(id.clone());
            draft.reply_id = Some(id.clone());
        }
        self.told += 1;
        self.log.append(draft).map(drop)
    }

    fn part(&mut self, part: &'v Value) -> Result<(), SinkClosed> {
        match text(part, "kind") {
            "" => self.add_words(&value_of(part)),
            "markdownContent" | "markdownVuln" => {
                let content = part.get("content").unwrap_or(part);
                self.add_words(&value_of(content));
            }
            "inlineReference" => self.add_words(&reference(part)),
            "thinking" => {
                let thoughts = value_of(part);
                if !thoughts.trim().is_empty() {
                    self.turn_to_agent()?;
                    self.said.content.push(ContentBlock::Reasoning { text: thoughts });
                }
            }
            "toolInvocationSerialized" | "toolInvocation" => {
                self.turn_to_agent()?;
                self.invocation(part);
            }
            "textEditGroup" | "notebookEditGroup" => {
                self.turn_to_agent()?;
                self.said.content.push(edit(part));
            }
            _ => {}
        }
        Ok(())
    }

    fn add_words(&mut self, words: &str) {
        self.words.push_str(words);
    }

    /// Ends the words at hand, and what was told before them if tools have answered since.
    fn turn_to_agent(&mut self) -> Result<(), SinkClosed> {
        let words = std::mem::take(&mut self.words);
        let has_words = !words.trim().is_empty();
        if has_words && !self.results.is_empty() {
            self.flush()?;
        }
        if has_words {
            self.said.content.push(ContentBlock::text(words.trim()));
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SinkClosed> {
        let said = std::mem::take(&mut self.said);
        if !said.content.is_empty() {
            self.append(EventData::AssistantMessage(said))?;
        }
        for result in std::mem::take(&mut self.results) {
            self.append(EventData::ToolResult(result))?;
        }
        Ok(())
    }

    fn invocation(&mut self, part: &'v Value) {
        let id = text(part, "toolCallId");
        let call = self.calls.remove(id);
        let (name, arguments, result) = match call {
            Some(call) => (call.name, call.arguments, call.result),
            None => (text(part, "toolId"), specifics(part), None),
        };
        self.said.content.push(ContentBlock::ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments,
        });
        let shown = part.get("resultDetails").filter(|details| !details.is_null());
        let content: Vec<ContentBlock> = match result {
            Some(result) => blocks(result),
            None => shown.map(blocks).unwrap_or_default(),
        };
        if content.is_empty() && result.is_none() {
            return;
        }
        let is_error = shown
            .and_then(|details| details.get("isError"))
            .and_then(Value::as_bool);
        self.results.push(ToolResult {
            call_id: id.to_owned(),
            content,
            is_error: is_error == Some(true),
            ..ToolResult::default()
        });
    }

    /// Ends the answer, with the calls of rounds that no part shows, in their order.
    fn rest(&mut self, metadata: &'v Value) -> Result<(), SinkClosed> {
        self.turn_to_agent()?;
        for round in items(metadata, "toolCallRounds") {
            for call in items(round, "toolCalls") {
                let id = text(call, "id");
                let Some(call) = self.calls.remove(id) else {
                    continue;
                };
                self.said.content.push(ContentBlock::ToolCall {
                    id: id.to_owned(),
                    name: call.name.to_owned(),
                    arguments: call.arguments,
                });
                self.results.extend(call.result.map(|result| ToolResult {
                    call_id: id.to_owned(),
                    content: blocks(result),
                    ..ToolResult::default()
                }));
            }
        }
        self.flush()
    }
}

/// A text, a list of texts, or either as the member of an object.
fn value_of(part: &Value) -> String {
    match part {
        Value::String(text) => text.clone(),
        Value::Array(texts) => texts.iter().map(value_of).collect(),
        Value::Object(fields) => fields.get("value").map(value_of).unwrap_or_default(),
        _ => String::new(),
    }
}

/// A reference is a part of the sentence around it.
fn reference(part: &Value) -> String {
    let target = part.get("inlineReference").unwrap_or(part);
    let name = words(target, "name").or_else(|| words(part, "name"));
    if let Some(name) = name {
        return format!("`{name}`");
    }
    let location = target.get("uri").unwrap_or(target);
    let path = words(location, "path").or_else(|| words(location, "fsPath"));
    let file = path.and_then(|path| path.rsplit(['/', '\\']).next());
    file.map(|file| format!("`{file}`")).unwrap_or_default()
}

/// What a tool was given, as the editor shows it.
fn specifics(part: &Value) -> String {
    let data = part.get("toolSpecificData").unwrap_or(&Value::Null);
    let command = data.get("commandLine").map(|line| {
        let run = words(line, "toolEdited").or_else(|| words(line, "userEdited"));
        run.unwrap_or(text(line, "original"))
    });
    if let Some(command) = command
        .or_else(|| words(data, "command"))
        .filter(|text| !text.is_empty())
    {
        return json!({ "command": command }).to_string();
    }
    if let Some(input) = data.get("rawInput").filter(|input| !input.is_null()) {
        return input.to_string();
    }
    let message = part
        .get("pastTenseMessage")
        .or_else(|| part.get("invocationMessage"));
    message.map(value_of).unwrap_or_default()
}

/// A file that was changed, and the new text.
fn edit(part: &Value) -> ContentBlock {
    let uri = part.get("uri").unwrap_or(&Value::Null);
    let path = words(uri, "path")
        .or_else(|| words(uri, "fsPath"))
        .unwrap_or_default();
    let groups = items(part, "edits").iter();
    let edits = groups.flat_map(|group| {
        group
            .as_array()
            .map_or(std::slice::from_ref(group), Vec::as_slice)
    });
    let texts: Vec<&str> = edits.filter_map(|edit| words(edit, "text")).collect();
    ContentBlock::ToolCall {
        id: String::new(),
        name: text(part, "kind").to_owned(),
        arguments: json!({"path": path, "text": texts.join("\n")}).to_string(),
    }
}

/// A tool's result: parts of text, of which some are trees of what was rendered, or what was shown.
fn blocks(result: &Value) -> Vec<ContentBlock> {
    let parts = match result {
        Value::Array(parts) => parts.as_slice(),
        _ if result.get("output").is_some_and(Value::is_array) => items(result, "output"),
        _ => items(result, "content"),
    };
    let texts = parts.iter().map(|part| {
        let value = part.get("value").unwrap_or(part);
        match value {
            Value::String(text) => text.clone(),
            tree => {
                let mut words = String::new();
                rendered(tree, &mut words);
                words
            }
        }
    });
    let mut blocks: Vec<ContentBlock> = texts
        .filter(|text| !text.trim().is_empty())
        .map(ContentBlock::text)
        .collect();
    if blocks.is_empty() {
        blocks.extend(words(result, "output").map(ContentBlock::text));
    }
    blocks
}

/// The words of a rendered tree, whose nodes have `text` or `children`.
fn rendered(node: &Value, words: &mut String) {
    if let Some(text) = node.get("text").and_then(Value::as_str) {
        words.push_str(text);
        if node.get("lineBreakBefore").and_then(Value::as_bool) == Some(true) {
            words.push('\n');
        }
    }
    if let Some(inner) = node.get("node") {
        rendered(inner, words);
    }
    for child in items(node, "children") {
        rendered(child, words);
    }
}
