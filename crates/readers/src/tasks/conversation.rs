//! Messages as the model was sent them, told as events.

use super::envelope::{self, Part};
use super::xml;
use crate::document::{items, plain, text, words};
use crate::log::{Draft, Placement, SessionLog};
use lookback_model::Timestamp;
use lookback_model::copies::chained_key;
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use lookback_model::source::{EventSink, SinkClosed};
use lookback_model::text::speaks;
use serde_json::Value;
use std::collections::HashMap;

/// A session under construction.
pub struct Conversation<'s> {
    /// Its log.
    pub log: SessionLog<'s>,
    start: Timestamp,
    /// Chains over what was said, so that copies of a beginning are known as such.
    chain: u64,
    /// First and last event of what a summary or a cut takes the place of, by its id.
    hidden: HashMap<String, (u64, u64)>,
    /// Ids of summaries and cuts that were told.
    hiders: Vec<String>,
}

impl<'s> Conversation<'s> {
    /// Begins a session.
    ///
    /// # Errors
    /// [`SinkClosed`] when the sink wants nothing.
    pub fn begin(
        agent: &str,
        sink: &'s mut dyn EventSink,
        id: &str,
        start: Timestamp,
    ) -> Result<Self, SinkClosed> {
        Ok(Self {
            log: SessionLog::begin(sink, id, None)?,
            start,
            chain: chained_key(0, "agent", agent),
            hidden: HashMap::new(),
            hiders: Vec::new(),
        })
    }

    /// Ends it.
    ///
    /// # Errors
    /// [`SinkClosed`] when the sink wants nothing more.
    pub fn finish(mut self) -> Result<(), SinkClosed> {
        if self.log.facts().created_at.is_none() {
            self.log.saw_time(self.start);
        }
        self.log.finish().map(drop)
    }

    /// Appends an event; gives its number.
    ///
    /// # Errors
    /// [`SinkClosed`] when the sink wants nothing more.
    pub fn append(&mut self, mut draft: Draft) -> Result<u64, SinkClosed> {
        if draft.time.is_none() && self.log.next_seq() == 0 {
            draft.time = Some(self.start);
        }
        let said = match &draft.data {
            EventData::UserMessage(message) => Some(("user", message)),
            EventData::AssistantMessage(message) => Some(("agent", message)),
            _ => None,
        };
        // Copies keep the times of messages. Without them many tasks begin with the same words.
        if let (Some((role, message)), Some(time)) = (said.filter(|(_, message)| speaks(message)), draft.time)
        {
            self.chain = chained_key(self.chain, role, &time.0.to_string());
            for block in &message.content {
                if let ContentBlock::Text { text } = block {
                    self.chain = chained_key(self.chain, role, text.trim());
                }
            }
            draft.copy_key = self.chain;
        }
        self.log.append(draft)
    }

    /// Tells a message.
    ///
    /// # Errors
    /// [`SinkClosed`] when the sink wants nothing more.
    pub fn message(&mut self, message: &Value) -> Result<(), SinkClosed> {
        let first = self.log.next_seq();
        let hider = words(message, "condenseParent").or_else(|| words(message, "truncationParent"));
        let is_hidden = hider.is_some_and(|hider| self.hiders.iter().any(|known| known == hider));
        let drafts = self.drafts(message);
        for mut draft in drafts {
            if is_hidden {
                draft.placement = Placement::LogOnly;
            }
            self.append(draft)?;
        }
        let next = self.log.next_seq();
        if let (Some(hider), false, true) = (hider, is_hidden, next > first) {
            let range = self.hidden.entry(hider.to_owned()).or_insert((first, first));
            range.1 = next - 1;
        }
        Ok(())
    }

    fn drafts(&mut self, message: &Value) -> Vec<Draft> {
        let time = message.get("ts").and_then(Timestamp::from_json);
        if let Some(draft) = self.hiding(message, time) {
            return vec![draft];
        }
        let content = content(message);
        let data = match text(message, "role") {
            "user" => self.person(&content),
            "assistant" => self.agent(message, &content),
            // Reasoning that stands for itself.
            _ if text(message, "type") == "reasoning" => self.agent(message, &content),
            _ => Vec::new(),
        };
        let id = words(message, "id").map(str::to_owned);
        data.into_iter()
            .map(|data| Draft {
                native_id: id.clone(),
                ..Draft::new(data, time)
            })
            .collect()
    }

    /// A summary of what was said before, or the mark of a cut.
    fn hiding(&mut self, message: &Value, time: Option<Timestamp>) -> Option<Draft> {
        let is = |key: &str| message.get(key).and_then(Value::as_bool) == Some(true);
        let (source, key) = if is("isSummary") {
            ("compaction", "condenseId")
        } else if is("isTruncationMarker") {
            ("truncation", "truncationId")
        } else {
            return None;
        };
        let mut summary = Message::default().from_source(source);
        for block in content(message).iter() {
            if let Some(words) = words(block, "text") {
                summary.content.push(ContentBlock::text(words));
            }
        }
        let mut draft = Draft::new(EventData::ContextMessage(summary), time);
        let id = text(message, key);
        if let Some(&(first, last)) = self.hidden.get(id) {
            draft.placement = self.range_on_surface(first, last);
        }
        self.hiders.push(id.to_owned());
        self.log.facts().compactions += 1;
        Some(draft)
    }

    /// The part of a range that is on the surface.
    fn range_on_surface(&self, first: u64, last: u64) -> Placement {
        let inside = |seq: &&u64| (first..=last).contains(*seq);
        let current = self.log.surface().current();
        let (first, last) = (current.iter().find(inside), current.iter().rfind(inside));
        match first.zip(last) {
            Some((&first, &last)) => Placement::ReplaceRange(first, last),
            None => Placement::Append,
        }
    }

    /// A message of the person's role: answers of tools, then words.
    fn person(&mut self, content: &[Value]) -> Vec<EventData> {
        let mut data = Vec::new();
        let mut prompt = Message::default();
        let mut answering = false;
        for block in content {
            match text(block, "type") {
                "tool_result" => {
                    let mut result = answer(block);
                    let told = std::mem::take(&mut result.content);
                    for block in told {
                        self.answered(block, &mut result, &mut prompt);
                    }
                    data.push(EventData::ToolResult(result));
                }
                "text" => self.words(text(block, "text"), &mut answering, &mut prompt, &mut data),
                "file" => {
                    let path = Message::text(text(block, "path")).from_source("attachment");
                    data.push(EventData::ContextMessage(path));
                }
                "image" | "document" => prompt.content.push(media(block)),
                _ => {}
            }
        }
        if speaks(&prompt) || (data.is_empty() && !prompt.content.is_empty()) {
            data.push(EventData::UserMessage(prompt));
        }
        data
    }

    fn words(&mut self, text: &str, answering: &mut bool, prompt: &mut Message, data: &mut Vec<EventData>) {
        for part in envelope::parts(text, answering) {
            match part {
                Part::Person(words) => prompt.content.push(ContentBlock::text(words)),
                Part::Program(words) => {
                    data.push(EventData::ContextMessage(
                        Message::text(words).from_source("notice"),
                    ));
                }
                Part::Answer(words) => match data.last_mut() {
                    // An answer may stand in several blocks.
                    Some(EventData::ToolResult(result)) if !envelope::is_answer(words) => {
                        result.content.push(ContentBlock::text(words));
                    }
                    _ => data.push(EventData::ToolResult(ToolResult {
                        content: vec![ContentBlock::text(words)],
                        ..ToolResult::default()
                    })),
                },
                Part::Folder(folder) => self.folder(folder),
            }
        }
    }

    /// A block of an answer. Where a tool asks the person, the answer is the person's words in tags.
    fn answered(&mut self, block: ContentBlock, result: &mut ToolResult, prompt: &mut Message) {
        let ContentBlock::Text { text } = &block else {
            result.content.push(block);
            return;
        };
        if !envelope::quotes_person(text) {
            result.content.push(block);
            return;
        }
        for part in envelope::parts(text, &mut true) {
            match part {
                Part::Person(words) => prompt.content.push(ContentBlock::text(words)),
                Part::Program(words) | Part::Answer(words) => result.content.push(ContentBlock::text(words)),
                Part::Folder(folder) => self.folder(folder),
            }
        }
    }

    fn folder(&mut self, folder: &str) {
        let cwd = &mut self.log.facts().cwd;
        if cwd.is_none() {
            *cwd = Some(folder.to_owned());
        }
    }

    /// A message of the agent's.
    fn agent(&mut self, message: &Value, content: &[Value]) -> Vec<EventData> {
        if let Some(model) = message.get("modelInfo").and_then(|model| words(model, "id")) {
            self.log.facts().model = Some(model.to_owned());
        }
        let mut said = Message::default();
        for key in ["reasoning_content", "text"] {
            if text(message, "type") == "reasoning" || key == "reasoning_content" {
                said.content.extend(reasoning(message, key));
            }
        }
        for block in content {
            match text(block, "type") {
                "text" => said.content.extend(xml::blocks(text(block, "text"))),
                "thinking" => said.content.extend(reasoning(block, "thinking")),
                "reasoning" => said.content.extend(reasoning(block, "text")),
                "tool_use" => said.content.push(call(block)),
                _ => {}
            }
        }
        if said.content.is_empty() {
            return Vec::new();
        }
        vec![EventData::AssistantMessage(said)]
    }
}

/// A message's blocks; a text alone is one block.
fn content(message: &Value) -> std::borrow::Cow<'_, [Value]> {
    match message.get("content") {
        Some(Value::String(text)) => vec![serde_json::json!({"type": "text", "text": text})].into(),
        _ => items(message, "content").into(),
    }
}

fn reasoning(value: &Value, key: &str) -> Option<ContentBlock> {
    let text = words(value, key)?.to_owned();
    Some(ContentBlock::Reasoning { text })
}

/// A call; what the agent says by a tool is speech.
fn call(block: &Value) -> ContentBlock {
    let name = text(block, "name");
    let input = block.get("input").unwrap_or(&Value::Null);
    let speech = xml::SPEECH.iter().find(|(tool, _)| *tool == name);
    if let Some(said) = speech.and_then(|(_, argument)| words(input, argument)) {
        return ContentBlock::text(said);
    }
    ContentBlock::ToolCall {
        id: text(block, "id").to_owned(),
        name: name.to_owned(),
        arguments: plain(input),
    }
}

/// A tool's answer: blocks as the model's interface has them, or results of several queries, which may stand
/// as JSON in a text.
fn answer(block: &Value) -> ToolResult {
    let mut result = ToolResult {
        call_id: text(block, "tool_use_id").to_owned(),
        is_error: block.get("is_error").and_then(Value::as_bool) == Some(true),
        ..ToolResult::default()
    };
    match block.get("content") {
        Some(Value::String(text)) => match query_result(text) {
            Some(query) => add_query(&query, &mut result),
            None => result.content.push(ContentBlock::text(text)),
        },
        Some(Value::Array(parts)) => {
            for part in parts {
                match text(part, "type") {
                    "text" => result.content.push(ContentBlock::text(text(part, "text"))),
                    "image" | "document" => result.content.push(media(part)),
                    _ => add_query(part, &mut result),
                }
            }
        }
        Some(query @ Value::Object(_)) => add_query(query, &mut result),
        _ => {}
    }
    result
}

fn query_result(text: &str) -> Option<Value> {
    if !text.starts_with("{\"query\"") {
        return None;
    }
    serde_json::from_str(text).ok()
}

fn add_query(query: &Value, result: &mut ToolResult) {
    let found = query.get("result").map(plain).unwrap_or_default();
    let failed = query.get("success").and_then(Value::as_bool) == Some(false);
    result.is_error |= failed;
    // The error repeats the end of a command's output, so it is told only when there is nothing else.
    let words = match (found.is_empty(), words(query, "error")) {
        (true, Some(error)) => error.to_owned(),
        _ => found,
    };
    if !words.is_empty() {
        result.content.push(ContentBlock::Text { text: words });
    }
}

fn media(block: &Value) -> ContentBlock {
    let source = block.get("source").unwrap_or(block);
    ContentBlock::Media {
        media_type: words(source, "media_type").unwrap_or("").to_owned(),
        bytes: text(source, "data").len() as u64,
    }
}
