//! The editor's conversations, called composers: a value for each, which lists its messages in order, and a value
//! for each message, called a bubble. One database of gigabytes holds them among much else, so values are asked for
//! by the ranges of their keys, and never more than one message is held.

use super::{AGENT, places};
use crate::document::{Document, items, plain, text, words};
use crate::log::{Draft, Placement};
use crate::rows::{Listed, RowFormat, Stop, Telling};
use crate::sqlite::Store;
use lookback_model::Timestamp;
use lookback_model::copies::key_of_id;
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use lookback_model::facts::TitleRank;
use lookback_model::session::SessionKind;
use lookback_model::source::{IssueCode, ReadError};
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

const TABLE: &str = "cursorDiskKV";
const COMPOSER: &str = "composerData:";
const BUBBLE: &str = "bubbleId:";

/// Members that are long and no part of the conversation, or that nobody but the editor should hold.
const SKIPPED: &[&str] = &[
    "richText",
    "context",
    "codeBlockData",
    "originalFileStates",
    "newlyCreatedFiles",
    "codebaseContextChunks",
    "attachedCodeChunks",
    "codeBlocks",
    "lints",
    "checkpoint",
    "blobEncryptionKey",
    "speculativeSummarizationEncryptionKey",
    "conversationState",
    "diffHistories",
    "additionalData",
];

/// The composers of a database.
pub(super) struct Composers {
    /// The editor's `User` folder.
    user: PathBuf,
    folders: OnceCell<HashMap<String, String>>,
}

impl Composers {
    /// Those of the database at a path.
    pub(super) fn of(database: &Path) -> Self {
        let user = database.ancestors().nth(2).unwrap_or(database).to_owned();
        Self {
            user,
            folders: OnceCell::new(),
        }
    }

    /// The folder of a composer that does not name it itself.
    fn folder(&self, store: &Store, id: &str) -> Option<String> {
        let folders = self.folders.get_or_init(|| {
            let mut folders = places::of_windows(&self.user);
            folders.extend(places::of_headers(store));
            folders
        });
        folders.get(id).cloned()
    }
}

/// Whether a database holds messages of a composer.
pub(super) fn holds(database: &Path, id: &str) -> bool {
    if !database.exists() {
        return false;
    }
    let Ok(store) = Store::open(database) else {
        return false;
    };
    let sql = format!("SELECT 1 FROM {TABLE} WHERE key >= ?1 AND key < ?2 LIMIT 1");
    let (from, to) = bubbles_of(id);
    store.connection().query_row(&sql, [from, to], |_| Ok(())).is_ok()
}

/// The range of the keys of a composer's bubbles.
fn bubbles_of(id: &str) -> (String, String) {
    // `;` comes after `:`.
    (format!("{BUBBLE}{id}:"), format!("{BUBBLE}{id};"))
}

/// What is seen of a composer in the keys alone.
#[derive(Default)]
struct Sight {
    /// Row and length of its own value.
    own: (i64, i64),
    bubbles: u64,
    /// The last row of a bubble: a value that is replaced gets a new row.
    last: i64,
}

impl RowFormat for Composers {
    fn sessions(&self, store: &Store) -> Result<Vec<Listed>, ReadError> {
        if store.columns(TABLE)?.is_empty() {
            return Ok(Vec::new());
        }
        let sights = sights(store).map_err(|error| store.error(error))?;
        let listed = sights.into_iter().map(|(id, sight)| {
            let seen = [sight.own.0, sight.own.1, sight.bubbles as i64, sight.last];
            let bytes: Vec<u8> = seen.iter().flat_map(|number| number.to_le_bytes()).collect();
            Listed {
                key: id.clone(),
                id,
                mark: xxh3_64(&bytes),
            }
        });
        Ok(listed.collect())
    }

    fn mark_up_to(&self, _: &Store, _: &Listed, _: i64) -> rusqlite::Result<u64> {
        // No row is ever settled: bubbles are rewritten as they grow.
        Ok(0)
    }

    fn tell(
        &self,
        store: &Store,
        session: &Listed,
        _: Option<i64>,
        telling: &mut Telling<'_>,
    ) -> Result<(), Stop> {
        let composer = self.composer(store, session, telling)?;
        let inline = items(&composer, "conversation");
        for bubble in inline {
            tell(bubble, true, 0, telling)?;
        }
        let mut bubbles = Bubbles::of(store, &session.key)?;
        for header in items(&composer, "fullConversationHeadersOnly") {
            if let Some(row) = bubbles.named(store, text(header, "bubbleId"))? {
                bubble(store, row, true, telling)?;
            }
        }
        let is_listed = composer.get("fullConversationHeadersOnly").is_some();
        // What is not listed was left; without a list all is what there is.
        for row in bubbles.rest(store, is_listed)? {
            bubble(store, row, !is_listed, telling)?;
        }
        let facts = telling.log.facts();
        facts.hidden = facts.message_count() == 0;
        Ok(())
    }
}

impl Composers {
    /// A composer's own value, with what it says of the session.
    fn composer(&self, store: &Store, session: &Listed, telling: &mut Telling<'_>) -> Result<Value, Stop> {
        let sql = format!("SELECT rowid FROM {TABLE} WHERE key = ?1 AND value IS NOT NULL");
        let key = format!("{COMPOSER}{}", session.key);
        let row = match store.connection().query_row(&sql, [key], |row| row.get(0)) {
            Ok(row) => row,
            Err(rusqlite::Error::QueryReturnedNoRows) => return Ok(Value::Null),
            Err(error) => return Err(error.into()),
        };
        let (bytes, _) = store.condensed(TABLE, "value", row)?;
        let document = Document::parse(&bytes, SKIPPED);
        match document.error {
            Some(error) => telling.lost(bytes.len(), IssueCode::NotJson, error),
            None => telling.bookkeeping(bytes.len()),
        }
        let composer = document.root;
        for key in ["createdAt", "lastUpdatedAt"] {
            if let Some(time) = composer.get(key).and_then(Timestamp::from_json) {
                telling.log.saw_time(time);
            }
        }
        let folder = places::folder_of(&composer).or_else(|| self.folder(store, &session.key));
        let facts = telling.log.facts();
        facts.cwd = folder;
        facts.offer_title(text(&composer, "name"), TitleRank::Given);
        let model = composer
            .get("modelConfig")
            .and_then(|config| words(config, "modelName"));
        facts.model = model.filter(|model| *model != "default").map(str::to_owned);
        facts.archived = composer.get("isArchived").and_then(Value::as_bool) == Some(true);
        if let Some(delegated) = composer.get("subagentInfo").filter(|info| info.is_object()) {
            facts.kind = SessionKind::Subagent;
            let parents = ["parentComposerId", "parentAgentId", "parentId"];
            let parent = parents.iter().find_map(|key| words(delegated, key));
            facts.parent = parent.map(str::to_owned);
            let types = ["subagentType", "subagentTypeName", "type"];
            let role = types.iter().find_map(|key| words(delegated, key));
            facts.agent_type = role.map(str::to_owned);
        }
        Ok(composer)
    }
}

/// Every composer that has a value or a bubble, by id.
fn sights(store: &Store) -> rusqlite::Result<BTreeMap<String, Sight>> {
    let mut sights: BTreeMap<String, Sight> = BTreeMap::new();
    let sql = format!(
        "SELECT key, rowid, length(value) FROM {TABLE} WHERE key >= '{COMPOSER}' AND key < 'composerData;'"
    );
    let mut statement = store.connection().prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let key: String = row.get(0)?;
        if let Some(id) = key.strip_prefix(COMPOSER) {
            let length: Option<i64> = row.get(2)?;
            sights.entry(id.to_owned()).or_default().own = (row.get(1)?, length.unwrap_or(0));
        }
    }
    let sql = format!("SELECT key, rowid FROM {TABLE} WHERE key >= '{BUBBLE}' AND key < 'bubbleId;'");
    let mut statement = store.connection().prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let key: String = row.get(0)?;
        let parts = key.strip_prefix(BUBBLE).and_then(|rest| rest.split_once(':'));
        if let Some((id, _)) = parts {
            let sight = sights.entry(id.to_owned()).or_default();
            sight.bubbles += 1;
            sight.last = sight.last.max(row.get(1)?);
        }
    }
    Ok(sights)
}

/// The rows of a composer's bubbles that were not told yet.
struct Bubbles {
    /// By the id in the key, in the order of rows.
    rows: BTreeMap<i64, String>,
    by_key: HashMap<String, i64>,
    /// By the id in the value, when a list had one that no key has.
    by_value: Option<HashMap<String, i64>>,
}

impl Bubbles {
    fn of(store: &Store, id: &str) -> rusqlite::Result<Self> {
        let sql =
            format!("SELECT key, rowid FROM {TABLE} WHERE key >= ?1 AND key < ?2 AND value IS NOT NULL");
        let (from, to) = bubbles_of(id);
        let prefix = from.len();
        let mut statement = store.connection().prepare_cached(&sql)?;
        let mut found = statement.query([from, to])?;
        let (mut rows, mut by_key) = (BTreeMap::new(), HashMap::new());
        while let Some(row) = found.next()? {
            let key: String = row.get(0)?;
            let id = key.get(prefix..).unwrap_or_default().to_owned();
            rows.insert(row.get(1)?, id.clone());
            by_key.insert(id, row.get(1)?);
        }
        Ok(Self {
            rows,
            by_key,
            by_value: None,
        })
    }

    /// Takes the row of a bubble that a list names.
    fn named(&mut self, store: &Store, id: &str) -> rusqlite::Result<Option<i64>> {
        let row = match self.by_key.get(id) {
            Some(row) => Some(*row),
            None => {
                if self.by_value.is_none() {
                    self.by_value = Some(self.ids_in_values(store)?);
                }
                self.by_value.as_ref().and_then(|rows| rows.get(id)).copied()
            }
        };
        Ok(row.filter(|row| self.rows.remove(row).is_some()))
    }

    fn ids_in_values(&self, store: &Store) -> rusqlite::Result<HashMap<String, i64>> {
        let mut ids = HashMap::new();
        for &row in self.rows.keys() {
            let (bytes, _) = store.condensed(TABLE, "value", row)?;
            let bubble = Document::parse(&bytes, SKIPPED).root;
            if let Some(id) = bubble.get("bubbleId").and_then(Value::as_str) {
                ids.entry(id.to_owned()).or_insert(row);
            } else if let Some(id) = self.rows.get(&row) {
                ids.entry(id.clone()).or_insert(row);
            }
        }
        Ok(ids)
    }

    /// The rows that no list named: in the order of rows, or of their times where there is no list.
    fn rest(self, store: &Store, is_listed: bool) -> rusqlite::Result<Vec<i64>> {
        let rows = self.rows.into_keys();
        if is_listed {
            return Ok(rows.collect());
        }
        let mut timed = Vec::new();
        for row in rows {
            let (bytes, _) = store.condensed(TABLE, "value", row)?;
            timed.push((time(&Document::parse(&bytes, SKIPPED).root), row));
        }
        timed.sort_unstable();
        Ok(timed.into_iter().map(|(_, row)| row).collect())
    }
}

/// Tells the bubble of a row.
fn bubble(store: &Store, row: i64, is_current: bool, telling: &mut Telling<'_>) -> Result<(), Stop> {
    let (bytes, cut) = store.condensed(TABLE, "value", row)?;
    if cut > 0 {
        telling.note(IssueCode::TextCut, format!("{cut} bytes of long text"));
    }
    let document = Document::parse(&bytes, SKIPPED);
    if let Some(error) = document.error {
        telling.lost(bytes.len(), IssueCode::NotJson, error);
        return Ok(());
    }
    tell(&document.root, is_current, bytes.len(), telling)
}

fn tell(bubble: &Value, is_current: bool, length: usize, telling: &mut Telling<'_>) -> Result<(), Stop> {
    let said = match bubble.get("type").and_then(Value::as_u64) {
        Some(1) => person(bubble),
        Some(2) => agent(bubble),
        _ => Vec::new(),
    };
    if said.is_empty() {
        telling.bookkeeping(length);
        return Ok(());
    }
    telling.record(length);
    let model = bubble.get("modelInfo").and_then(|info| words(info, "modelName"));
    if let Some(model) = model.filter(|model| *model != "default") {
        telling.log.facts().model = Some(model.to_owned());
    }
    let id = words(bubble, "bubbleId");
    let time = time(bubble).or(telling.log.facts().created_at);
    for (at, data) in said.into_iter().enumerate() {
        let mut draft = Draft::new(data, time);
        if !is_current {
            draft.placement = Placement::LogOnly;
        }
        if let Some(id) = id {
            draft.native_id = Some(id.to_owned());
            draft.copy_key = key_of_id(AGENT, &format!("{id}#{at}"));
        }
        telling.log.append(draft)?;
    }
    Ok(())
}

fn time(bubble: &Value) -> Option<Timestamp> {
    let told = bubble.get("createdAt").and_then(Timestamp::from_json);
    let timing = bubble.get("timingInfo").unwrap_or(&Value::Null);
    told.or_else(|| timing.get("clientStartTime").and_then(Timestamp::from_json))
}

fn person(bubble: &Value) -> Vec<EventData> {
    let mut message = Message::default();
    message
        .content
        .extend(words(bubble, "text").map(ContentBlock::text));
    let images = items(bubble, "images").len();
    let image = || ContentBlock::Media {
        media_type: String::new(),
        bytes: 0,
    };
    message.content.extend(std::iter::repeat_with(image).take(images));
    if message.content.is_empty() {
        return Vec::new();
    }
    vec![EventData::UserMessage(message)]
}

fn agent(bubble: &Value) -> Vec<EventData> {
    let mut message = Message::default();
    let thoughts = bubble
        .get("thinking")
        .and_then(|thinking| words(thinking, "text"));
    message
        .content
        .extend(thoughts.map(|text| ContentBlock::Reasoning {
            text: text.to_owned(),
        }));
    message
        .content
        .extend(words(bubble, "text").map(ContentBlock::text));
    let tool = bubble
        .get("toolFormerData")
        .filter(|tool| words(tool, "name").is_some());
    let mut said = Vec::new();
    if let Some(tool) = tool {
        let written = ["rawArgs", "params"].iter().find_map(|key| tool.get(*key));
        message.content.push(ContentBlock::ToolCall {
            id: text(tool, "toolCallId").to_owned(),
            name: text(tool, "name").to_owned(),
            arguments: written.map(plain).unwrap_or_default(),
        });
    }
    if !message.content.is_empty() {
        said.push(EventData::AssistantMessage(message));
    }
    if let Some(tool) = tool {
        let result = tool
            .get("result")
            .map(plain)
            .filter(|result| !result.trim().is_empty());
        let status = text(tool, "status");
        let is_error = matches!(status, "error" | "cancelled" | "rejected");
        if result.is_some() || is_error {
            said.push(EventData::ToolResult(ToolResult {
                call_id: text(tool, "toolCallId").to_owned(),
                content: result.map(readable).map(ContentBlock::text).into_iter().collect(),
                is_error,
                ..ToolResult::default()
            }));
        }
    }
    said
}

/// A result, which may be JSON in a text, as a person would read it.
fn readable(result: String) -> String {
    lookback_model::text::readable_arguments(&result).into_owned()
}
