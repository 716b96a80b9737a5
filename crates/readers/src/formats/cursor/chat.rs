//! A chat of the command: a database of values by their hashes. Those that are JSON are messages, others are the
//! tree that says which of them are still part of the chat.

use super::{COMMAND, prompt};
use crate::document::{self, Document, items, plain, text, words};
use crate::log::{Draft, Placement, SessionLog};
use crate::sqlite::{Fields, Store};
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use lookback_model::facts::TitleRank;
use lookback_model::source::{
    EventSink, IssueCode, ReadAccount, ReadCursor, ReadError, ReadOutcome, SourceFile,
};
use lookback_model::{SessionFacts, Timestamp};
use serde_json::Value;
use std::collections::HashSet;

const BLOBS: &str = "blobs";

/// Reads a chat. One in which nothing was said is none.
pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    document::refuse(file, cursor)?;
    let store = Store::open(&file.path)?;
    let meta = meta(&store);
    let beside = Document::read(&file.path.with_file_name("meta.json"), &[])
        .unwrap_or_default()
        .root;
    let rows = rows(&store)?;
    let mut account = ReadAccount {
        bytes: file.stamp.size,
        ..ReadAccount::default()
    };
    let blobs = blobs(&store, &rows, &mut account)?;
    if blobs.iter().all(|blob| said(&blob.message).is_empty()) {
        account.bookkeeping += account.records;
        account.records = 0;
        return Ok(document::outcome(account));
    }
    let folder = file.path.parent().and_then(|folder| folder.file_name());
    let folder = folder.unwrap_or_default().to_string_lossy();
    let id = words(&meta, "agentId").unwrap_or(&folder);
    let mut log = SessionLog::begin(sink, id, None)?;
    take_facts(&meta, &beside, log.facts());
    for time in [
        meta.get("createdAt"),
        beside.get("createdAtMs"),
        beside.get("updatedAtMs"),
    ] {
        if let Some(time) = time.and_then(Timestamp::from_json) {
            log.saw_time(time);
        }
    }
    if log.facts().created_at.is_none() {
        log.saw_time(file.stamp.modified());
    }
    let time = log.facts().created_at;
    let current = current(&store, text(&meta, "latestRootBlobId"));
    let is_known = blobs.iter().any(|blob| current.contains(&blob.id));
    for blob in &blobs {
        if let Some(folder) = text_of(&blob.message).as_deref().and_then(prompt::folder)
            && log.facts().cwd.is_none()
        {
            log.facts().cwd = Some(folder.to_owned());
        }
        take_model(&blob.message, log.facts());
        let told = blob.message.get("createdAt").and_then(Timestamp::from_json);
        for data in said(&blob.message) {
            let mut draft = Draft::new(data, told.or(time));
            if is_known && !current.contains(&blob.id) {
                draft.placement = Placement::LogOnly;
            }
            draft.native_id = Some(blob.id.clone());
            log.append(draft)?;
        }
    }
    store.check()?;
    log.finish()?;
    Ok(document::outcome(account))
}

/// What is noted about the chat: JSON, in most versions written as hexadecimal digits.
fn meta(store: &Store) -> Value {
    let sql = "SELECT value FROM meta WHERE key = '0'";
    let value = store
        .connection()
        .query_row(sql, [], |row| Ok(Fields(row).bytes("value").to_vec()));
    let bytes = value.unwrap_or_default();
    Document::parse(&from_hex(&bytes).unwrap_or(bytes), &[]).root
}

fn from_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let pairs = digits.chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    });
    pairs.collect()
}

fn take_facts(meta: &Value, beside: &Value, facts: &mut SessionFacts) {
    // The name of the command says that it can go on with the chat.
    facts.agent_version = Some(COMMAND.to_owned());
    facts.offer_title(text(beside, "title"), TitleRank::Given);
    facts.offer_title(text(meta, "name"), TitleRank::Given);
    let folder = words(meta, "workspacePath").or_else(|| words(beside, "cwd"));
    facts.cwd = folder.map(str::to_owned);
    facts.model = words(meta, "lastUsedModel").map(str::to_owned);
}

fn take_model(message: &Value, facts: &mut SessionFacts) {
    let options = message
        .get("providerOptions")
        .and_then(|options| options.get("cursor"));
    if let Some(model) = options.and_then(|options| words(options, "modelName")) {
        facts.model = Some(model.to_owned());
    }
}

fn rows(store: &Store) -> Result<Vec<(i64, String)>, ReadError> {
    if store.columns(BLOBS)?.is_empty() {
        return Ok(Vec::new());
    }
    let read = || -> rusqlite::Result<Vec<(i64, String)>> {
        let sql = format!("SELECT rowid, id FROM {BLOBS} WHERE data IS NOT NULL ORDER BY rowid");
        let mut statement = store.connection().prepare(&sql)?;
        let rows = statement.query_map([], |row| {
            let id = Fields(row).text("id").unwrap_or_default().into_owned();
            Ok((row.get(0)?, id))
        })?;
        rows.collect()
    };
    read().map_err(|error| store.error(error))
}

/// A value that is a message.
struct Blob {
    id: String,
    message: Value,
}

/// The messages, in the order in which they were written.
fn blobs(store: &Store, rows: &[(i64, String)], account: &mut ReadAccount) -> Result<Vec<Blob>, ReadError> {
    let mut blobs = Vec::new();
    for (row, id) in rows {
        account.lines += 1;
        let number = account.lines;
        let value = store.condensed(BLOBS, "data", *row);
        let (bytes, cut) = value.map_err(|error| store.error(error))?;
        if bytes.first() != Some(&b'{') {
            account.bookkeeping += 1;
            continue;
        }
        if cut > 0 {
            account.note(number, IssueCode::TextCut, format!("{cut} bytes of long text"));
        }
        let document = Document::parse(&bytes, &[]);
        match document.error {
            None => account.records += 1,
            Some(error) => {
                account.lost += 1;
                account.note(number, IssueCode::NotJson, error);
            }
        }
        blobs.push(Blob {
            id: id.clone(),
            message: document.root,
        });
    }
    Ok(blobs)
}

/// Length of a hash in bytes.
const HASH: usize = 32;
/// How many values of the tree are looked at.
const LOOKED_AT: usize = 100_000;

/// The ids of values that the root leads to. A tree's values hold the hashes of others; nothing else in them is
/// as long.
fn current(store: &Store, root: &str) -> HashSet<String> {
    let mut current = HashSet::new();
    let mut waiting = vec![root.to_owned()];
    let sql = format!("SELECT data FROM {BLOBS} WHERE id = ?1");
    while let Some(id) = waiting.pop() {
        if current.len() == LOOKED_AT || id.is_empty() || !current.insert(id.clone()) {
            continue;
        }
        let value = store
            .connection()
            .query_row(&sql, [&id], |row| Ok(Fields(row).bytes("data").to_vec()));
        let Ok(bytes) = value else {
            current.remove(&id);
            continue;
        };
        if bytes.first() == Some(&b'{') {
            continue;
        }
        let hashes = bytes
            .windows(HASH + 1)
            .filter(|window| window.first() == Some(&(HASH as u8)));
        for hash in hashes.filter_map(|window| window.get(1..)) {
            waiting.push(hash.iter().map(|byte| format!("{byte:02x}")).collect());
        }
    }
    current
}

/// A message's text, when it is one.
fn text_of(message: &Value) -> Option<String> {
    if let Some(text) = words(message, "content") {
        return Some(text.to_owned());
    }
    let texts = items(message, "content")
        .iter()
        .filter_map(|block| words(block, "text"));
    let texts: Vec<&str> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn said(message: &Value) -> Vec<EventData> {
    match text(message, "role") {
        "user" => {
            let prompt = prompt::words(&text_of(message).unwrap_or_default());
            if prompt.is_empty() {
                return Vec::new();
            }
            vec![EventData::UserMessage(Message::text(prompt))]
        }
        "assistant" => {
            let mut said = Message::default();
            said.content
                .extend(words(message, "content").map(ContentBlock::text));
            said.content
                .extend(items(message, "content").iter().filter_map(block));
            if said.content.is_empty() {
                return Vec::new();
            }
            vec![EventData::AssistantMessage(said)]
        }
        "tool" => {
            let results = items(message, "content").iter();
            results
                .filter(|block| text(block, "type") == "tool-result")
                .map(|block| EventData::ToolResult(result(block)))
                .collect()
        }
        _ => Vec::new(),
    }
}

fn block(block: &Value) -> Option<ContentBlock> {
    match text(block, "type") {
        "text" => words(block, "text").map(ContentBlock::text),
        "reasoning" => words(block, "text").map(|text| ContentBlock::Reasoning {
            text: text.to_owned(),
        }),
        "tool-call" => Some(ContentBlock::ToolCall {
            id: text(block, "toolCallId").to_owned(),
            name: text(block, "toolName").to_owned(),
            arguments: block.get("args").map(plain).unwrap_or_default(),
        }),
        _ => None,
    }
}

fn result(block: &Value) -> ToolResult {
    let result = block.get("result").map(plain).unwrap_or_default();
    let content = (!result.trim().is_empty()).then(|| ContentBlock::text(result));
    ToolResult {
        call_id: text(block, "toolCallId").to_owned(),
        content: content.into_iter().collect(),
        is_error: block.get("isError").and_then(Value::as_bool) == Some(true),
        ..ToolResult::default()
    }
}
