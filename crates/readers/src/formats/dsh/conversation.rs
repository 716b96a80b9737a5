//! What the harness's lines are: a header, and events as they are known here.
//!
//! Pieces of streamed answers are left out, because the finished message repeats them; so the numbers of events
//! are others here, and what replaces events by their numbers is translated.

use super::AGENT;
use crate::journal::{Records, Stop, Took};
use crate::lenient::{Number, Object, Words};
use crate::log::{Draft, Placement, SessionLog};
use crate::telling::{Chain, Telling};
use lookback_model::event::{ContentBlock, EventData, SurfaceOp};
use lookback_model::session::SessionKind;
use lookback_model::{Event, SourceFile, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// Events that say nothing.
const NOISE: &[&str] = &[
    "assistant/chunk",
    "step/start",
    "step/end",
    "turn/start",
    "request/header-delta",
];
/// Rows that stand for runs of pieces of streamed answers.
const PACKED: &[&str] = &["text-chunks", "reasoning-chunks", "tool-call-chunks"];

/// A session as far as it was read.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Conversation {
    chain: Chain,
    /// Events on the surface: their numbers in the harness's log, and here.
    numbers: Vec<(u64, u64)>,
    /// Leading events that are those of the parent, by the harness's numbers.
    seed: u64,
}

/// What every line has.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Words<'a>,
    seq: Number,
    #[serde(borrow)]
    id: Words<'a>,
    #[serde(borrow)]
    cwd: Words<'a>,
    created_at: Number,
    #[serde(borrow)]
    parent_session: Words<'a>,
    seed_length: Number,
    delegation_depth: Number,
    #[serde(borrow)]
    origin: Words<'a>,
    #[serde(borrow)]
    agent_preset: Words<'a>,
}

fn line<'a>(raw: &'a RawValue) -> Line<'a> {
    let line: Object<Line<'a>> = serde_json::from_str(raw.get()).unwrap_or_default();
    line.0.unwrap_or_default()
}

impl Records for Conversation {
    type Record<'a> = &'a RawValue;

    fn session_id(&mut self, raw: &&RawValue, file: &SourceFile) -> Option<String> {
        let line = line(raw);
        if line.kind.get() == "session" && !line.id.get().trim().is_empty() {
            return Some(line.id.get().to_owned());
        }
        // The header is damaged.
        if !line.kind.get().contains('/') || line.seq.0.is_none() {
            return None;
        }
        let name = file.path.file_name()?.to_str()?;
        if name.starts_with("session.jsonl") {
            return Some(file.path.parent()?.file_name()?.to_str()?.to_owned());
        }
        name.split(".jsonl").next().map(str::to_owned)
    }

    fn take(&mut self, raw: &RawValue, log: &mut SessionLog<'_>) -> Result<Took, Stop> {
        let line = line(raw);
        let kind = line.kind.get();
        if kind == "session" {
            self.header(&line, log);
            return Ok(Took::Bookkeeping);
        }
        if PACKED.contains(&kind) || NOISE.contains(&kind) {
            return Ok(Took::Bookkeeping);
        }
        let Ok(event) = serde_json::from_str::<Event>(raw.get()) else {
            let name = if kind.is_empty() { "(none)" } else { kind };
            return Ok(Took::Unknown(name.to_owned()));
        };
        self.event(event, log)
    }
}

impl Conversation {
    fn header(&mut self, line: &Line<'_>, log: &mut SessionLog<'_>) {
        if let Some(time) = line
            .created_at
            .0
            .and_then(|time| Timestamp::from_number(time as f64))
        {
            log.saw_time(time);
        }
        self.seed = line.seed_length.0.unwrap_or(0);
        let said = |words: &Words<'_>| {
            words
                .0
                .as_deref()
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        let facts = log.facts();
        facts.cwd = said(&line.cwd);
        let is_delegated = line.delegation_depth.0.unwrap_or(0) > 0 || line.origin.get() == "subagent";
        if is_delegated {
            facts.kind = SessionKind::Subagent;
            facts.parent = said(&line.parent_session);
            facts.agent_type = said(&line.agent_preset);
        } else {
            facts.forked_from = said(&line.parent_session);
        }
    }

    fn event(&mut self, event: Event, log: &mut SessionLog<'_>) -> Result<Took, Stop> {
        let (number, time) = (event.seq, event.time);
        let mut data = event.data;
        match &data {
            EventData::RequestHeader(header) => {
                let model = header.get("model").and_then(Value::as_str).map(str::to_owned);
                let facts = log.facts();
                facts.model = model.or(facts.model.take());
                return Ok(Took::Bookkeeping);
            }
            EventData::TurnEnd(end) if end.reason.kind == "completed" => return Ok(Took::Bookkeeping),
            EventData::Other(other) => return Ok(Took::Unknown(other.r#type.clone())),
            _ => {}
        }
        drop_bytes(&mut data);
        let placement = self.placement(&data, event.surface_op);
        let is_on_surface = placement != Placement::LogOnly;
        let is_summary = matches!(data, EventData::ContextMessage(_));
        let replaces = matches!(placement, Placement::ReplaceRange(..));
        log.facts().compactions += u64::from(is_summary && replaces);
        let seq = if data.surface_eligible() {
            let mut telling = Telling::new(AGENT, log, Some(time));
            telling.placement = placement;
            let rewinds = telling.log.facts().rewinds;
            let seq = telling.chained(data, &mut self.chain)?;
            log.facts().rewinds = rewinds;
            seq
        } else {
            log.append(Draft::new(data, Some(time)))?
        };
        if is_on_surface {
            self.numbers.push((number, seq));
        }
        if replaces {
            let surface = log.surface();
            self.numbers.retain(|&(_, seq)| surface.position(seq).is_some());
        }
        if number < self.seed {
            log.seed_ends_here();
        }
        Ok(Took::Record)
    }

    /// Where an event goes, with its numbers translated. One that replaces what is not there joins the end.
    fn placement(&self, data: &EventData, op: Option<SurfaceOp>) -> Placement {
        if !data.surface_eligible() {
            return Placement::LogOnly;
        }
        let here = |number: u64| {
            let known = self.numbers.iter().rev().find(|&&(own, _)| own == number);
            known.map(|&(_, seq)| seq)
        };
        match op {
            None => Placement::LogOnly,
            Some(SurfaceOp::Append) => Placement::Append,
            Some(SurfaceOp::Replace { start, end }) => here(start)
                .zip(here(end))
                .map_or(Placement::Append, |(start, end)| {
                    Placement::ReplaceRange(start, end)
                }),
        }
    }
}

/// Of images and documents only what they were is kept.
fn drop_bytes(data: &mut EventData) {
    let content = match data {
        EventData::UserMessage(message)
        | EventData::SteeringMessage(message)
        | EventData::AssistantMessage(message)
        | EventData::ContextMessage(message) => &mut message.content,
        EventData::ToolResult(result) => &mut result.content,
        EventData::PromptBlocked(prompt) => &mut prompt.content,
        _ => return,
    };
    for block in content {
        let ContentBlock::Other(value) = block else {
            continue;
        };
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        if let Some(data) = text("data") {
            let media_type = text("mediaType").or_else(|| text("mimeType")).unwrap_or_default();
            *block = ContentBlock::Media {
                media_type: media_type.to_owned(),
                bytes: data.len() as u64,
            };
        }
    }
}
