//! The database: sessions and messages as rows. Its schema grows with every release, and a migration may have
//! ended half-way, so that only what every version had is relied on.

use super::message::{Said, View};
use crate::rows::{self, Listed, RowFormat, Stop, Telling};
use crate::sqlite::{Fields, Store};
use crate::values::text;
use lookback_model::Timestamp;
use lookback_model::facts::TitleRank;
use lookback_model::session::SessionKind;
use lookback_model::source::{EventSink, ReadCursor, ReadError, ReadOutcome, SourceFile};
use serde_json::Value;

pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    rows::read(&Database, file, cursor, sink)
}

struct Database;

const SESSION: &[&str] = &[
    "id",
    "name",
    "description",
    "user_set_name",
    "session_type",
    "working_dir",
    "created_at",
    "model_config_json",
    "parent_session_id",
    "archived_at",
];
const MESSAGE: &[&str] = &[
    "id",
    "message_id",
    "role",
    "created_timestamp",
    "timestamp",
    "metadata_json",
];

/// Tables that hold messages, the usual one first.
const TABLES: [&str; 2] = ["messages", "thread_messages"];

impl RowFormat for Database {
    fn sessions(&self, store: &Store) -> Result<Vec<Listed>, ReadError> {
        if store.columns("sessions")?.is_empty() {
            return Ok(Vec::new());
        }
        let mut groups = Vec::new();
        for table in TABLES {
            let columns = store.columns(table)?;
            if !columns.iter().any(|column| column == "session_id") {
                continue;
            }
            let has_metadata = columns.iter().any(|column| column == "metadata_json");
            let metadata = if has_metadata { "metadata_json" } else { "''" };
            groups.push(format!(
                "SELECT session_id, count(*), max(id), sum(octet_length(content_json)), \
                        sum(octet_length({metadata})) FROM {table} GROUP BY session_id"
            ));
        }
        let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
        let columns = store.select("sessions", SESSION)?;
        rows::list(store, &format!("SELECT {columns} FROM sessions"), &groups)
    }

    fn mark_up_to(&self, store: &Store, session: &Listed, row: i64) -> rusqlite::Result<u64> {
        // What is compacted or edited is deleted and put in again, under new numbers.
        let query = "SELECT count(*), min(id), sum(octet_length(content_json)) FROM messages \
                     WHERE session_id = ?1 AND id <= ?2";
        let mut statement = store.connection().prepare_cached(query)?;
        statement.query_row((&session.key, row), rows::mark)
    }

    fn tell(
        &self,
        store: &Store,
        session: &Listed,
        after: Option<i64>,
        telling: &mut Telling<'_>,
    ) -> Result<(), Stop> {
        take_session(store, session, telling)?;
        let [usual, other] = TABLES;
        let count = tell_from(store, (usual, session), after, telling)?;
        if count == 0 && after.is_none() {
            tell_from(store, (other, session), None, telling)?;
        }
        Ok(())
    }
}

/// Tells the messages of one table; gives how many there were.
fn tell_from(
    store: &Store,
    (table, session): (&str, &Listed),
    after: Option<i64>,
    telling: &mut Telling<'_>,
) -> Result<u64, Stop> {
    let columns = store.select(table, MESSAGE).map_err(|_| Stop::Anew)?;
    if store.columns(table).map_err(|_| Stop::Anew)?.is_empty() {
        return Ok(0);
    }
    let content = rows::document_column("content_json");
    // By number: times are in seconds, and do not tell a call from its answer.
    let query =
        format!("SELECT {columns}, {content} FROM {table} WHERE session_id = ?1 AND id > ?2 ORDER BY id");
    let mut statement = store.connection().prepare_cached(&query)?;
    let mut rows = statement.query((&session.key, after.unwrap_or(i64::MIN)))?;
    let mut view = View {
        is_open: after.is_some(),
    };
    let (mut count, mut last) = (0, after);
    while let Some(row) = rows.next()? {
        let fields = Fields(row);
        let id: i64 = row.get("id")?;
        count += 1;
        last = Some(id);
        let Some(content) = telling.document(store, (table, "content_json"), row, id)? else {
            continue;
        };
        let metadata: Value = serde_json::from_slice(fields.bytes("metadata_json")).unwrap_or_default();
        let role = fields.text("role").unwrap_or_default();
        let time = fields
            .number("created_timestamp")
            .and_then(Timestamp::from_number);
        let said = Said {
            session: &session.id,
            role: &role,
            time: time.or_else(|| Timestamp::parse(&fields.text("timestamp")?)),
            content: &content,
            metadata: &metadata,
            id: fields.text("message_id").map(|id| id.into_owned()),
        };
        for kind in said.tell(&mut telling.log, &mut view)? {
            telling.unknown(kind);
        }
        telling.record(usize::try_from(fields.integer("length").unwrap_or(0)).unwrap_or(0));
    }
    // Only what is still sent to the model can be gone on with.
    if let Some(row) = last.filter(|_| table == "messages" && view.is_open) {
        telling.settled(row);
    }
    Ok(count)
}

fn take_session(store: &Store, session: &Listed, telling: &mut Telling<'_>) -> Result<(), Stop> {
    let columns = store.select("sessions", SESSION).map_err(|_| Stop::Anew)?;
    let query = format!("SELECT {columns} FROM sessions WHERE id = ?1");
    let mut statement = store.connection().prepare_cached(&query)?;
    let mut rows = statement.query([&session.key])?;
    let Some(row) = rows.next()? else {
        return Ok(());
    };
    let fields = Fields(row);
    let owned = |name| fields.text(name).map(|text| text.into_owned());
    let facts = telling.log.facts();
    let name = owned("name").filter(|name| !is_placeholder(name));
    if let Some(title) = name.or_else(|| owned("description").filter(|name| !is_placeholder(name))) {
        let rank = match fields.text("user_set_name").as_deref() {
            Some("1" | "true" | "TRUE") => TitleRank::Custom,
            _ => TitleRank::Given,
        };
        facts.offer_title(&title, rank);
    }
    facts.cwd = owned("working_dir");
    facts.archived = owned("archived_at").is_some();
    facts.parent = owned("parent_session_id");
    let config: Value = serde_json::from_slice(fields.bytes("model_config_json")).unwrap_or_default();
    facts.model = text(&config, &["model_name"]).map(str::to_owned);
    match fields.text("session_type").as_deref() {
        Some("sub_agent" | "subagent") => facts.kind = SessionKind::Subagent,
        Some("scheduled") => facts.kind = SessionKind::Headless,
        Some("hidden") => facts.hidden = true,
        _ => {}
    }
    if let Some(created) = fields.text("created_at").and_then(|text| Timestamp::parse(&text)) {
        telling.log.saw_time(created);
    }
    Ok(())
}

/// What the agent calls a session before it has a name.
pub(super) fn is_placeholder(name: &str) -> bool {
    let numbered = name
        .strip_prefix("New session ")
        .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    numbered || matches!(name, "CLI Session" | "ACP Session" | "New Chat" | "New session")
}
