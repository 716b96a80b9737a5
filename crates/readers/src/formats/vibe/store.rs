//! The newer sessions: snapshots, and a journal of what came after the latest.
//!
//! `CURRENT` names a generation, whose manifest names the pieces of what the terminal shows; each piece is a
//! file of its own, named by its hash, and so is each older one, which says the same again. What was added
//! since stands in the journal, from a number on. So a session is always read whole, from what `CURRENT` names.

use super::meta::Meta;
use super::{AGENT, META};
use crate::blocks::{Blocks, message};
use crate::journal::{Stop, no_session};
use crate::lenient::{Flag, List, Number, Object, Words, readable};
use crate::lines::{self, Lines};
use crate::log::SessionLog;
use crate::mend::{self, Taken};
use crate::telling::Telling;
use crate::{beside, rewritten, walk};
use lookback_model::Timestamp;
use lookback_model::event::{ContentBlock, EventData, ToolResult};
use lookback_model::source::{
    EventSink, IssueCode, ReadAccount, ReadCursor, ReadError, ReadOutcome, SourceFile,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Current {
    generation: String,
    snapshot_sequence: u64,
    session_id: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Manifest {
    projection_state: Projection,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Projection {
    chunks: Vec<String>,
}

/// A line of the journal.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Record<'a> {
    sequence: Number,
    #[serde(borrow, rename = "type")]
    kind: Words<'a>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Payload<'a> {
    #[serde(borrow)]
    delta: List<Change<'a>>,
}

/// A change to what the terminal shows.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Change<'a> {
    #[serde(borrow)]
    op: Words<'a>,
    #[serde(borrow)]
    id: Words<'a>,
    #[serde(borrow)]
    entry: Option<&'a RawValue>,
}

/// Something the terminal shows.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(borrow, rename = "type")]
    kind: Words<'a>,
    #[serde(borrow)]
    id: Words<'a>,
    created_at: Number,
    #[serde(borrow)]
    role: Words<'a>,
    #[serde(borrow)]
    source: Words<'a>,
    injected: Flag,
    #[serde(borrow)]
    content: Blocks<'a>,
    #[serde(borrow)]
    text: Words<'a>,
    #[serde(borrow)]
    detail: Object<Detail<'a>>,
    #[serde(borrow)]
    state: Object<Outcome<'a>>,
}

/// A call.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Detail<'a> {
    #[serde(borrow)]
    tool_name: Words<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

/// What became of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Outcome<'a> {
    #[serde(borrow)]
    status: Words<'a>,
    #[serde(borrow)]
    output: Object<Output<'a>>,
    #[serde(borrow)]
    output_text: Words<'a>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Output<'a> {
    #[serde(borrow, rename = "type")]
    kind: Words<'a>,
    #[serde(borrow)]
    content: Blocks<'a>,
    #[serde(borrow)]
    structured_content: Option<&'a RawValue>,
}

/// A session's file changes when anything of the session does.
pub(super) fn stamp(file: &mut SourceFile) {
    let Some(folder) = file.path.parent() else {
        return;
    };
    for segment in segments(folder) {
        if let Ok(metadata) = fs::metadata(&segment.1) {
            let stamp = walk::stamp(&metadata);
            file.stamp.size += stamp.size;
            file.stamp.modified_ns = file.stamp.modified_ns.max(stamp.modified_ns);
        }
    }
}

/// The journal's files, by the number of their first record.
fn segments(folder: &Path) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(folder.join("journal"))
        .into_iter()
        .flatten()
        .flatten();
    let paths = entries.map(|entry| entry.path());
    let numbered = paths.filter_map(|path| {
        let is_lines = path.extension().is_some_and(|extension| extension == "jsonl");
        let number = path.file_stem()?.to_str()?.parse().ok()?;
        is_lines.then_some((number, path))
    });
    let mut segments: Vec<_> = numbered.collect();
    segments.sort();
    segments
}

/// What the terminal shows, as JSON, in order.
#[derive(Default)]
struct Shown {
    entries: Vec<Option<String>>,
    places: HashMap<String, usize>,
}

impl Shown {
    fn append(&mut self, id: &str, entry: &str) {
        if !id.is_empty() {
            self.places.insert(id.to_owned(), self.entries.len());
        }
        self.entries.push(Some(entry.to_owned()));
    }

    fn change(&mut self, change: &Change<'_>) -> Option<String> {
        let entry = change.entry.map_or("", RawValue::get);
        let id = match change.id.get() {
            "" => id_of(entry),
            id => id.to_owned(),
        };
        let place = self.places.get(&id).and_then(|&at| self.entries.get_mut(at));
        match (change.op.get(), place) {
            ("append_entry" | "replace_entry" | "upsert_entry", Some(place)) => {
                *place = Some(entry.to_owned());
            }
            ("append_entry" | "replace_entry" | "upsert_entry", None) => self.append(&id, entry),
            ("remove_entry" | "delete_entry", Some(place)) => *place = None,
            ("remove_entry" | "delete_entry" | "set_envelope", _) => {}
            (other, _) => return Some(other.to_owned()),
        }
        None
    }
}

fn id_of(entry: &str) -> String {
    let entry: Object<Entry<'_>> = serde_json::from_str(entry).unwrap_or_default();
    entry
        .0
        .map_or_else(String::new, |entry| entry.id.get().to_owned())
}

/// Reads a session.
pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    let (bytes, mut account) = rewritten::read(file, cursor)?;
    let folder = file.path.parent().unwrap_or(&file.path);
    // Without it there is the journal, as far as it was not cleared.
    let current: Current = serde_json::from_slice(&bytes).unwrap_or_else(|error| {
        account.note(1, IssueCode::NotJson, error.to_string());
        Current::default()
    });
    let mut shown = Shown::default();
    if let Err(missing) = snapshot(folder, &current, &mut shown) {
        account.note(1, IssueCode::NotARecord, missing);
    }
    journal(folder, current.snapshot_sequence, &mut shown, &mut account)?;
    if shown.entries.is_empty() && current.session_id.is_empty() {
        return Err(no_session(
            file,
            IssueCode::NoSessionHeader,
            "it names no session",
        ));
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let id = match current.session_id.as_str() {
        "" => &*name,
        id => id,
    };
    let mut log = SessionLog::begin(sink, id, None)?;
    let meta: Option<Meta> = beside::json(&folder.join(META));
    meta.unwrap_or_default().tell(&mut log);
    let mut action = String::new();
    for entry in shown.entries.iter().flatten() {
        tell(entry, &mut action, &mut log, &mut account).map_err(|stop| stop.error(file))?;
    }
    if log.facts().created_at.is_none() {
        log.saw_time(file.stamp.modified());
    }
    let facts = log.facts();
    facts.hidden = facts.message_count() == 0;
    log.finish()?;
    Ok(rewritten::outcome(account))
}

/// Takes the snapshot that is the latest.
fn snapshot(folder: &Path, current: &Current, shown: &mut Shown) -> Result<(), String> {
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_name(&current.generation) {
        return Err("no snapshot is named".to_owned());
    }
    let generation = folder.join("generations").join(&current.generation);
    let manifest: Option<Manifest> = beside::json(&generation.join("manifest.json"));
    let manifest = manifest.ok_or("the latest snapshot is not there")?;
    for name in manifest
        .projection_state
        .chunks
        .iter()
        .filter(|name| is_name(name))
    {
        let path = folder.join("chunks").join(name).with_extension("json");
        let input = lines::open(&path).map_err(|error| error.to_string())?;
        let (bytes, _) = lines::document(input).map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&bytes);
        let entries: Vec<&RawValue> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        for entry in entries {
            shown.append(&id_of(entry.get()), entry.get());
        }
    }
    Ok(())
}

/// Takes what the journal says after a number.
fn journal(folder: &Path, after: u64, shown: &mut Shown, account: &mut ReadAccount) -> Result<(), ReadError> {
    let segments = segments(folder);
    let first = segments
        .partition_point(|&(number, _)| number <= after + 1)
        .saturating_sub(1);
    for (_, path) in segments.iter().skip(first) {
        let failed = |error| lines::io_error(path, error);
        let mut lines = Lines::new(lines::open(path)?, 0);
        let mut number = 0;
        while let Some(line) = lines.next().map_err(failed)? {
            number += 1;
            let mut unknown = Vec::new();
            if !line.complete && serde_json::from_slice::<serde::de::IgnoredAny>(line.bytes).is_err() {
                account.note(number, IssueCode::PartialTail, "the last record is not complete");
                continue;
            }
            mend::read_line(line.bytes, number, account, &mut |text| {
                let record: Record<'_> = serde_json::from_str(text)?;
                let is_new = record.sequence.0.is_none_or(|number| number > after);
                if record.kind.get() != "projection_delta" || !is_new {
                    return Ok(Taken::Bookkeeping);
                }
                let payload = record.payload.map_or("{}", RawValue::get);
                let payload: Object<Payload<'_>> = serde_json::from_str(payload)?;
                for change in payload.0.unwrap_or_default().delta.get() {
                    unknown.extend(shown.change(change));
                }
                Ok(Taken::Bookkeeping)
            });
            unknown.iter().for_each(|name| account.note_unknown(name));
        }
    }
    Ok(())
}

/// Tells what the terminal shows. `action` is the last request to the model, of which a call came.
fn tell(
    entry: &str,
    action: &mut String,
    log: &mut SessionLog<'_>,
    account: &mut ReadAccount,
) -> Result<(), Stop> {
    account.lines += 1;
    let parsed: Result<Object<Entry<'_>>, _> = serde_json::from_str(entry);
    let Some(entry) = parsed.ok().and_then(|parsed| parsed.0) else {
        account.lost += 1;
        account.note(account.lines, IssueCode::NotARecord, "not an entry");
        return Ok(());
    };
    let time = entry
        .created_at
        .0
        .and_then(|time| Timestamp::from_number(time as f64));
    let mut telling = Telling::new(AGENT, log, time);
    telling.id = entry
        .id
        .0
        .as_deref()
        .filter(|id| !id.is_empty())
        .map(str::to_owned);
    if let Some(own) = action_of(entry.id.get()) {
        own.clone_into(action);
    }
    telling.reply = (!action.is_empty()).then(|| action.clone());
    match entry.kind.get() {
        "message" => {
            if let Some(data) = said(&entry) {
                telling.event(data)?;
            }
        }
        "reasoning" if !entry.text.get().trim().is_empty() => {
            let text = entry.text.get().to_owned();
            let thought = message(vec![ContentBlock::Reasoning { text }]).unwrap_or_default();
            telling.event(EventData::AssistantMessage(thought))?;
        }
        "effect" => effect(&entry, &mut telling)?,
        "reasoning" => {}
        other => account.note_unknown(other),
    }
    if telling.events > 0 {
        account.records += 1;
    } else {
        account.bookkeeping += 1;
    }
    Ok(())
}

/// The request to the model that an entry came of: `assistant-<action>`, `reasoning-<action>-<number>`.
fn action_of(id: &str) -> Option<&str> {
    if let Some(rest) = id.strip_prefix("reasoning-") {
        return Some(rest.rsplit_once('-').map_or(rest, |(action, _)| action));
    }
    id.strip_prefix("assistant-")
}

fn said(entry: &Entry<'_>) -> Option<EventData> {
    let message = entry.content.message()?;
    let source = entry.source.get();
    Some(match entry.role.get() {
        "assistant" => EventData::AssistantMessage(message),
        "user" if entry.injected.0 || source.contains("inject") => {
            EventData::ContextMessage(message.from_source("injected"))
        }
        "user" if source.contains("steer") => EventData::SteeringMessage(message),
        "user" => EventData::UserMessage(message),
        other => EventData::ContextMessage(message.from_source(other)),
    })
}

/// A call of a tool, and its answer once there is one.
fn effect(entry: &Entry<'_>, telling: &mut Telling<'_, '_>) -> Result<(), Stop> {
    let detail = entry.detail.0.as_ref();
    let id = entry.id.get().to_owned();
    let call = ContentBlock::ToolCall {
        id: id.clone(),
        name: detail.map_or("", |detail| detail.tool_name.get()).to_owned(),
        arguments: crate::blocks::arguments(detail.and_then(|detail| detail.input)),
    };
    let call = message(vec![call]).unwrap_or_default();
    telling.event(EventData::AssistantMessage(call))?;
    let Some(state) = &entry.state.0 else {
        return Ok(());
    };
    if matches!(state.status.get(), "running" | "pending" | "in_progress") {
        return Ok(());
    }
    let kind = state.output.0.as_ref().map_or("", |output| output.kind.get());
    let is_error = !matches!(kind, "" | "success") || matches!(state.status.get(), "failed" | "cancelled");
    telling.event(EventData::ToolResult(ToolResult {
        call_id: id,
        content: answer(state),
        is_error,
        ..ToolResult::default()
    }))?;
    Ok(())
}

/// What a tool answered: what it put out, else all that it gave.
fn answer(state: &Outcome<'_>) -> Vec<ContentBlock> {
    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct PutOut<'a> {
        #[serde(borrow)]
        stdout: Words<'a>,
        #[serde(borrow)]
        stderr: Words<'a>,
    }
    let output = state.output.0.as_ref();
    let structured = output.and_then(|output| output.structured_content);
    let put_out = structured.and_then(|raw| serde_json::from_str::<Object<PutOut<'_>>>(raw.get()).ok());
    let put_out = put_out.and_then(|put_out| put_out.0).unwrap_or_default();
    let texts = [&put_out.stdout, &put_out.stderr, &state.output_text].map(Words::get);
    let mut content: Vec<_> = texts
        .into_iter()
        .filter(|text| !text.trim().is_empty())
        .map(ContentBlock::text)
        .collect();
    content.extend(output.map_or_else(Vec::new, |output| output.content.content()));
    if content.is_empty() {
        let whole = structured.or(state.error).and_then(|raw| readable(raw).ok());
        content.extend(
            whole
                .filter(|text| !text.trim().is_empty())
                .map(ContentBlock::text),
        );
    }
    content
}
