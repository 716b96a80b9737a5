//! A session's messages and their parts as events, wherever they were stored.

use super::AGENT;
use crate::log::{Draft, Placement, SessionLog};
use crate::values::{arguments, at, is_true, list, media, push_text, text, time};
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult, TurnEnd, TurnEndReason};
use lookback_model::facts::TitleRank;
use lookback_model::source::SinkClosed;
use lookback_model::{Timestamp, copies};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

/// What the agent calls a session before it has a title.
const PLACEHOLDERS: [&str; 2] = ["New session - ", "Child session - "];

/// A title that somebody thought of.
pub(super) fn title(title: &str) -> Option<&str> {
    let is_placeholder = PLACEHOLDERS.iter().any(|start| title.starts_with(start));
    (!is_placeholder).then_some(title)
}

/// Whether a session was begun by `opencode run`, which denies itself to ask: nobody may be there.
pub(super) fn may_not_ask(rules: &Value) -> bool {
    let is_denied = |rule: &Value| {
        text(rule, &["permission"]) == Some("question") && text(rule, &["action"]) == Some("deny")
    };
    rules.as_array().is_some_and(|rules| rules.iter().any(is_denied))
}

/// Whether a part holds something of the conversation, and not the program's state.
pub(super) fn is_speech(part: &Value) -> bool {
    !matches!(
        text(part, &["type"]),
        Some("step-start" | "step-finish" | "snapshot" | "patch" | "agent" | "retry" | "compaction")
    )
}

/// The type of a part that this reader does not know.
pub(super) fn unknown_type(part: &Value) -> Option<&str> {
    const KNOWN: [&str; 5] = ["text", "reasoning", "tool", "file", "subtask"];
    text(part, &["type"]).filter(|kind| is_speech(part) && !KNOWN.contains(kind))
}

/// Whether nothing will be added to or changed in a message by the turn it belongs to.
pub(super) fn is_settled(message: &Value) -> bool {
    text(message, &["role"]) == Some("assistant") && at(message, &["time", "completed"]).is_some()
}

/// Where a conversation was taken back to: what comes from there on is undone, and still stored until the
/// next prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Revert {
    /// The first message that is undone.
    message: String,
    /// The last event that is not; `None` until the message has come.
    kept: Option<Option<u64>>,
}

impl Revert {
    pub(super) fn of(value: &Value) -> Option<Self> {
        let message = text(value, &["messageID"])?.to_owned();
        Some(Self { message, kept: None })
    }
}

/// A session under construction.
pub(super) struct Conversation<'l, 's> {
    pub(super) log: &'l mut SessionLog<'s>,
    pub(super) revert: Option<Revert>,
}

/// A message with what its events have in common.
struct Turn<'m> {
    id: &'m str,
    created: Option<Timestamp>,
    role: &'m str,
    /// Events so far.
    events: u64,
}

impl Conversation<'_, '_> {
    /// Tells a message with its parts, which stand in order.
    pub(super) fn message(&mut self, id: &str, message: &Value, parts: &[Value]) -> Result<(), SinkClosed> {
        if let Some(revert) = &mut self.revert
            && revert.message == id
        {
            revert.kept = Some(self.log.surface().current().last().copied());
        }
        let role = text(message, &["role"]).unwrap_or_default();
        let mut turn = Turn {
            id,
            created: time(message, &["time", "created"]),
            role,
            events: 0,
        };
        if role == "assistant" {
            self.reply(&mut turn, message, parts)
        } else {
            self.prompt(&mut turn, parts)
        }
    }

    /// Takes back what was undone, once all has been told.
    pub(super) fn end(&mut self) -> Result<(), SinkClosed> {
        let Some(kept) = self.revert.take().and_then(|revert| revert.kept) else {
            return Ok(());
        };
        self.log.facts().rewinds += 1;
        let mut draft = Draft::new(
            EventData::ContextMessage(Message::default().from_source("rollback")),
            None,
        );
        draft.placement = kept.map_or(Placement::ReplaceAll, Placement::ReplaceAfter);
        self.log.append(draft)?;
        Ok(())
    }

    fn prompt(&mut self, turn: &mut Turn<'_>, parts: &[Value]) -> Result<(), SinkClosed> {
        let (mut said, mut added) = (Vec::new(), Vec::new());
        for part in parts {
            match text(part, &["type"]) {
                Some("text") => {
                    let is_added = is_true(part, &["synthetic"]) || is_true(part, &["ignored"]);
                    let content = if is_added { &mut added } else { &mut said };
                    push_text(content, text(part, &["text"]).unwrap_or_default());
                }
                Some("file") => said.push(file(part)),
                Some("subtask") => push_text(&mut added, text(part, &["prompt"]).unwrap_or_default()),
                _ => {}
            }
        }
        if !said.is_empty() {
            for block in &said {
                if let ContentBlock::Text { text } = block {
                    self.log.facts().offer_title(unquoted(text), TitleRank::Prompt);
                }
            }
            self.append(turn, EventData::UserMessage(content(said)), turn.created)?;
        }
        if !added.is_empty() {
            let message = content(added).from_source("synthetic");
            self.append(turn, EventData::ContextMessage(message), turn.created)?;
        }
        Ok(())
    }

    fn reply(&mut self, turn: &mut Turn<'_>, message: &Value, parts: &[Value]) -> Result<(), SinkClosed> {
        if let Some(model) = text(message, &["modelID"]) {
            self.log.facts().model = Some(model.to_owned());
        }
        if is_true(message, &["summary"]) {
            return self.summary(turn, message, parts);
        }
        let mut said = Vec::new();
        let mut answers = Vec::new();
        for part in parts {
            let kind = text(part, &["type"]);
            // What was said after an answer stands after it.
            if kind != Some("tool") && is_speech(part) && !answers.is_empty() {
                self.step(turn, &mut said, &mut answers)?;
            }
            match kind {
                Some("text") => push_text(&mut said, text(part, &["text"]).unwrap_or_default()),
                Some("reasoning") => {
                    let text = text(part, &["text"]).unwrap_or_default().to_owned();
                    said.push(ContentBlock::Reasoning { text });
                }
                Some("file") => said.push(file(part)),
                Some("tool") => {
                    said.push(call(part));
                    answers.extend(answer(part));
                }
                _ => {}
            }
        }
        // A message without parts was asked for and never came; it counts all the same.
        if !said.is_empty() || turn.events == 0 {
            self.step(turn, &mut said, &mut answers)?;
        }
        if let Some(completed) = time(message, &["time", "completed"]) {
            self.log.saw_time(completed);
        }
        if let Some(error) = at(message, &["error"]) {
            let time = time(message, &["time", "completed"]).or(turn.created);
            self.append(turn, EventData::TurnEnd(failure(error)), time)?;
        }
        Ok(())
    }

    /// Appends what was said and called so far, and the answers to the calls.
    fn step(
        &mut self,
        turn: &mut Turn<'_>,
        said: &mut Vec<ContentBlock>,
        answers: &mut Vec<(ToolResult, Option<Timestamp>)>,
    ) -> Result<(), SinkClosed> {
        let message = content(std::mem::take(said));
        self.append(turn, EventData::AssistantMessage(message), turn.created)?;
        for (answer, time) in answers.drain(..) {
            self.append(turn, EventData::ToolResult(answer), time.or(turn.created))?;
        }
        Ok(())
    }

    /// A summary, which the model is sent in the place of all that was before.
    fn summary(&mut self, turn: &mut Turn<'_>, message: &Value, parts: &[Value]) -> Result<(), SinkClosed> {
        let mut summary = Vec::new();
        for part in parts.iter().filter(|part| text(part, &["type"]) == Some("text")) {
            push_text(&mut summary, text(part, &["text"]).unwrap_or_default());
        }
        let is_whole = at(message, &["error"]).is_none() && at(message, &["time", "completed"]).is_some();
        let data = EventData::ContextMessage(content(summary).from_source("compaction"));
        let mut draft = self.draft(turn, data, turn.created);
        if is_whole {
            draft.placement = Placement::ReplaceAll;
            self.log.facts().compactions += 1;
        }
        self.log.append(draft)?;
        Ok(())
    }

    fn append(
        &mut self,
        turn: &mut Turn<'_>,
        data: EventData,
        time: Option<Timestamp>,
    ) -> Result<(), SinkClosed> {
        let draft = self.draft(turn, data, time);
        self.log.append(draft)?;
        Ok(())
    }

    fn draft(&self, turn: &mut Turn<'_>, data: EventData, time: Option<Timestamp>) -> Draft {
        let mut draft = Draft::new(data, time);
        // A fork gets new ids, and keeps times and words.
        let words = serde_json::to_string(&draft.data).unwrap_or_default();
        let created = turn.created.map_or(0, |created| created.0);
        let name = format!(
            "{created} {} {} {:x}",
            turn.role,
            turn.events,
            xxh3_64(words.as_bytes())
        );
        draft.copy_key = copies::key_of_id(AGENT, &name);
        draft.native_id = Some(turn.id.to_owned());
        if turn.role == "assistant" {
            draft.reply_id = Some(turn.id.to_owned());
        }
        turn.events += 1;
        draft
    }
}

fn content(content: Vec<ContentBlock>) -> Message {
    Message {
        content,
        ..Message::default()
    }
}

fn file(part: &Value) -> ContentBlock {
    let url = text(part, &["url"]).unwrap_or_default();
    // Of a file that is named only, no bytes were kept.
    let data = if url.starts_with("data:") { url } else { "" };
    media(text(part, &["mime"]).unwrap_or_default(), data)
}

fn call(part: &Value) -> ContentBlock {
    ContentBlock::ToolCall {
        id: text(part, &["callID"]).unwrap_or_default().to_owned(),
        name: text(part, &["tool"]).unwrap_or_default().to_owned(),
        arguments: arguments(at(part, &["state", "input"])),
    }
}

/// What a tool answered and when; `None` while it is at work.
fn answer(part: &Value) -> Option<(ToolResult, Option<Timestamp>)> {
    let state = at(part, &["state"])?;
    let status = text(state, &["status"])?;
    let mut content = Vec::new();
    match status {
        "completed" => push_text(&mut content, text(state, &["output"]).unwrap_or_default()),
        "error" => push_text(&mut content, text(state, &["error"]).unwrap_or_default()),
        _ => return None,
    }
    for attachment in list(state, &["attachments"]) {
        content.push(file(attachment));
    }
    // A command that fails is a tool that worked, to the agent.
    let exit = at(state, &["metadata", "exit"]).and_then(Value::as_i64);
    let result = ToolResult {
        call_id: text(part, &["callID"]).unwrap_or_default().to_owned(),
        content,
        is_error: status == "error" || exit.is_some_and(|exit| exit != 0),
        ..ToolResult::default()
    };
    Some((result, time(state, &["time", "end"])))
}

fn failure(error: &Value) -> TurnEnd {
    let name = text(error, &["name"]).unwrap_or_default();
    let message = text(error, &["data", "message"]).map(str::to_owned);
    let kind = match name {
        "MessageAbortedError" => "aborted",
        _ => "error",
    };
    TurnEnd {
        turn: None,
        reason: TurnEndReason {
            kind: kind.to_owned(),
            message,
            code: Some(name.to_owned()).filter(|name| !name.is_empty()),
            ..TurnEndReason::default()
        },
    }
}

/// A prompt without the quotes that `opencode run "…"` puts around it.
fn unquoted(prompt: &str) -> &str {
    let inner = prompt.strip_prefix('"').and_then(|inner| inner.strip_suffix('"'));
    inner.unwrap_or(prompt)
}
