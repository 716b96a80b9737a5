//! A thread's document: messages tagged by who speaks since version 0.3, with a role and segments before.

use crate::log::{Draft, Placement, SessionLog};
use crate::values::{arguments, at, is_true, list, media, push_text, text};
use lookback_model::Timestamp;
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use lookback_model::facts::TitleRank;
use lookback_model::session::SessionKind;
use lookback_model::source::SinkClosed;
use serde_json::Value;

/// Tells a thread; gives the kinds of messages and blocks that are not known.
pub(super) fn tell(
    log: &mut SessionLog<'_>,
    thread: &Value,
    (created, updated): (Option<Timestamp>, Option<Timestamp>),
) -> Result<Vec<String>, SinkClosed> {
    take_facts(log, thread);
    let messages = list(thread, &["messages"]);
    let mut thread = Thread {
        log,
        time: created,
        unknown: Vec::new(),
    };
    for (at, message) in messages.iter().enumerate() {
        // Messages have no times of their own; the last was there when all was written.
        if at + 1 == messages.len() {
            thread.time = updated.or(created);
        }
        thread.message(message)?;
    }
    Ok(thread.unknown)
}

fn take_facts(log: &mut SessionLog<'_>, thread: &Value) {
    let facts = log.facts();
    let title = text(thread, &["title"]).or_else(|| text(thread, &["summary"]));
    if let Some(title) = title {
        facts.offer_title(title, TitleRank::Given);
    }
    facts.model = text(thread, &["model", "model"]).map(str::to_owned);
    let worktrees = list(thread, &["initial_project_snapshot", "worktree_snapshots"]);
    if let Some(worktree) = worktrees.first() {
        facts.branch = text(worktree, &["git_state", "current_branch"]).map(str::to_owned);
        if facts.cwd.is_none() {
            facts.cwd = text(worktree, &["worktree_path"]).map(str::to_owned);
        }
    }
    if let Some(parent) = text(thread, &["subagent_context", "parent_thread_id"]) {
        facts.parent = Some(parent.to_owned());
        facts.kind = SessionKind::Subagent;
    }
}

struct Thread<'l, 's> {
    log: &'l mut SessionLog<'s>,
    time: Option<Timestamp>,
    unknown: Vec<String>,
}

impl Thread<'_, '_> {
    fn message(&mut self, message: &Value) -> Result<(), SinkClosed> {
        if message.get("role").is_some() {
            return self.segments(message);
        }
        // `"Resume"`: the agent was told to go on.
        let Some((kind, body)) = message.as_object().and_then(|fields| fields.iter().next()) else {
            return Ok(());
        };
        match kind.as_str() {
            "User" => {
                let (content, _) = self.blocks(list(body, &["content"]));
                self.append(EventData::UserMessage(content), text(body, &["id"]))
            }
            "Agent" => self.agent(body),
            "Compaction" => self.compaction(body),
            other => {
                self.unknown.push(other.to_owned());
                Ok(())
            }
        }
    }

    fn append(&mut self, data: EventData, id: Option<&str>) -> Result<(), SinkClosed> {
        let mut draft = Draft::new(data, self.time);
        draft.native_id = id.map(str::to_owned);
        self.log.append(draft)?;
        Ok(())
    }

    /// What blocks say, and the ids of the calls among them.
    fn blocks<'b>(&mut self, blocks: &'b [Value]) -> (Message, Vec<&'b str>) {
        let (mut content, mut calls) = (Vec::new(), Vec::new());
        for block in blocks {
            let Some((kind, body)) = block.as_object().and_then(|fields| fields.iter().next()) else {
                continue;
            };
            match kind.as_str() {
                "Text" => push_text(&mut content, body.as_str().unwrap_or_default()),
                "Thinking" => content.push(ContentBlock::Reasoning {
                    text: text(body, &["text"]).unwrap_or_default().to_owned(),
                }),
                "ToolUse" => {
                    calls.extend(text(body, &["id"]));
                    content.push(call(body));
                }
                "Image" => content.push(media("", text(body, &["source"]).unwrap_or_default())),
                // Files that were put in whole, and thoughts that cannot be read.
                "Mention" | "RedactedThinking" => {}
                other => self.unknown.push(other.to_owned()),
            }
        }
        let message = Message {
            content,
            ..Message::default()
        };
        (message, calls)
    }

    fn agent(&mut self, body: &Value) -> Result<(), SinkClosed> {
        let (content, calls) = self.blocks(list(body, &["content"]));
        self.append(EventData::AssistantMessage(content), None)?;
        let Some(results) = at(body, &["tool_results"]).and_then(Value::as_object) else {
            return Ok(());
        };
        let called = calls.iter().filter_map(|&id| results.get_key_value(id));
        let others = results.iter().filter(|(id, _)| !calls.contains(&id.as_str()));
        for (id, result) in called.chain(others) {
            self.append(EventData::ToolResult(answer(id, result)), None)?;
        }
        Ok(())
    }

    /// A summary, which the model is sent in the place of all that was before.
    fn compaction(&mut self, body: &Value) -> Result<(), SinkClosed> {
        let summary = ["summary", "text", "content"]
            .iter()
            .find_map(|key| text(body, &[key]));
        let summary = summary.or_else(|| body.as_str()).unwrap_or_default();
        let message = Message::text(summary).from_source("compaction");
        let mut draft = Draft::new(EventData::ContextMessage(message), self.time);
        draft.placement = Placement::ReplaceAll;
        self.log.facts().compactions += 1;
        self.log.append(draft)?;
        Ok(())
    }

    /// A message of the older form.
    fn segments(&mut self, message: &Value) -> Result<(), SinkClosed> {
        let mut content = Vec::new();
        for segment in list(message, &["segments"]) {
            let words = text(segment, &["text"]).unwrap_or_default();
            match text(segment, &["type"]) {
                Some("text") => push_text(&mut content, words),
                Some("thinking") => content.push(ContentBlock::Reasoning {
                    text: words.to_owned(),
                }),
                _ => {}
            }
        }
        content.extend(list(message, &["tool_uses"]).iter().map(call));
        let content = Message {
            content,
            ..Message::default()
        };
        let data = match text(message, &["role"]) {
            Some("user") => EventData::UserMessage(content),
            Some("assistant") => EventData::AssistantMessage(content),
            _ => EventData::ContextMessage(content.from_source("system")),
        };
        self.append(data, None)?;
        for result in list(message, &["tool_results"]) {
            let id = text(result, &["tool_use_id"]).unwrap_or_default();
            self.append(EventData::ToolResult(answer(id, result)), None)?;
        }
        Ok(())
    }
}

fn call(body: &Value) -> ContentBlock {
    ContentBlock::ToolCall {
        id: text(body, &["id"]).unwrap_or_default().to_owned(),
        name: text(body, &["name"]).unwrap_or_default().to_owned(),
        arguments: arguments(body.get("input")),
    }
}

/// An answer, whose content has been text, a block, and a list of blocks.
fn answer(id: &str, result: &Value) -> ToolResult {
    let content = result.get("content").unwrap_or(&Value::Null);
    let blocks = match content {
        Value::Array(blocks) => blocks.as_slice(),
        other => std::slice::from_ref(other),
    };
    let mut content = Vec::new();
    for block in blocks {
        let words = block.as_str().or_else(|| text(block, &["Text"]));
        push_text(&mut content, words.unwrap_or_default());
        if let Some(image) = block.get("Image") {
            content.push(media("", text(image, &["source"]).unwrap_or_default()));
        }
    }
    ToolResult {
        call_id: id.to_owned(),
        content,
        is_error: is_true(result, &["is_error"]),
        ..ToolResult::default()
    }
}
