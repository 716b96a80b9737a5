//! The tables of conversations, their tasks, and the queries that were made. Databases of before 2025 have none of
//! them, and terminals without an agent have them empty.

use super::{AGENT, task};
use crate::log::{Draft, Placement};
use crate::rows::{self, Listed, RowFormat, Stop, Telling};
use crate::sqlite::{Fields, Store};
use crate::values::{list, text};
use lookback_model::event::{EventData, Message};
use lookback_model::facts::TitleRank;
use lookback_model::source::{EventSink, ReadCursor, ReadError, ReadOutcome, SourceFile};
use lookback_model::{Timestamp, copies};
use serde_json::Value;

pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    rows::read(&Database, file, cursor, sink)
}

struct Database;

const QUERY: &[&str] = &["id", "start_ts", "input", "working_directory", "model_id"];

impl RowFormat for Database {
    fn sessions(&self, store: &Store) -> Result<Vec<Listed>, ReadError> {
        let mut ids = Vec::new();
        let mut groups = Vec::new();
        for (table, size) in [
            ("agent_tasks", "octet_length(task)"),
            ("ai_queries", "octet_length(input)"),
        ] {
            if store.columns(table)?.is_empty() {
                continue;
            }
            let times = match table {
                "agent_tasks" => "max(last_modified_at)",
                _ => "max(start_ts)",
            };
            ids.push(format!("SELECT conversation_id FROM {table}"));
            groups.push(format!(
                "SELECT conversation_id, count(*), {times}, sum({size}) FROM {table} GROUP BY conversation_id"
            ));
        }
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let summary = match store
            .columns("agent_conversations")?
            .iter()
            .any(|name| name == "summary")
        {
            true => {
                "(SELECT summary FROM agent_conversations AS held WHERE held.conversation_id = ids.conversation_id)"
            }
            false => "NULL",
        };
        let sessions = format!(
            "SELECT conversation_id, {summary} FROM ({}) AS ids",
            ids.join(" UNION ")
        );
        let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
        rows::list(store, &sessions, &groups)
    }

    /// Tasks are rewritten whole.
    fn mark_up_to(&self, _: &Store, _: &Listed, _: i64) -> rusqlite::Result<u64> {
        Ok(0)
    }

    fn tell(
        &self,
        store: &Store,
        session: &Listed,
        _: Option<i64>,
        telling: &mut Telling<'_>,
    ) -> Result<(), Stop> {
        take_summary(store, session, telling);
        let prompts = queries(store, session, telling)?;
        let told = tasks(store, session, telling)?;
        if told > 0 {
            return Ok(());
        }
        // Of a conversation that is kept elsewhere, its prompts are here.
        for (time, prompt) in prompts {
            let draft = Draft::new(EventData::UserMessage(Message::text(prompt)), time);
            telling.log.append(draft)?;
        }
        Ok(())
    }
}

fn take_summary(store: &Store, session: &Listed, telling: &mut Telling<'_>) {
    let query = "SELECT summary FROM agent_conversations WHERE conversation_id = ?1";
    let summary = store
        .connection()
        .query_row(query, [&session.key], |row| row.get::<_, Option<String>>(0));
    // Older databases have no such column, and then there is none.
    if let Ok(Some(summary)) = summary {
        telling.log.facts().offer_title(&summary, TitleRank::Given);
    }
}

/// Tells all messages of all tasks in the order of their times; gives how many there were.
fn tasks(store: &Store, session: &Listed, telling: &mut Telling<'_>) -> Result<usize, Stop> {
    if store.columns("agent_tasks").map_err(|_| Stop::Anew)?.is_empty() {
        return Ok(0);
    }
    let query = "SELECT task FROM agent_tasks WHERE conversation_id = ?1 ORDER BY id";
    let mut statement = store.connection().prepare_cached(query)?;
    let mut rows = statement.query([&session.key])?;
    let mut messages = Vec::new();
    while let Some(row) = rows.next()? {
        let bytes = Fields(row).bytes("task");
        if let Some(description) = task::description(bytes) {
            telling.log.facts().offer_title(&description, TitleRank::Summary);
        }
        messages.extend(task::messages(bytes));
        telling.record(bytes.len());
    }
    messages.sort_by_key(|said| said.time);
    let count = messages.len();
    for said in messages {
        let mut draft = Draft::new(said.data, said.time);
        draft.reply_id = said.request;
        if matches!(draft.data, EventData::ContextMessage(_)) {
            draft.placement = Placement::ReplaceAll;
            telling.log.facts().compactions += 1;
        }
        if !said.id.is_empty() {
            draft.copy_key = copies::key_of_id(AGENT, &said.id);
            draft.native_id = Some(said.id);
        }
        telling.log.append(draft)?;
    }
    Ok(count)
}

/// Takes the facts of the queries; gives what was asked, and when.
fn queries(
    store: &Store,
    session: &Listed,
    telling: &mut Telling<'_>,
) -> Result<Vec<(Option<Timestamp>, String)>, Stop> {
    if store.columns("ai_queries").map_err(|_| Stop::Anew)?.is_empty() {
        return Ok(Vec::new());
    }
    let columns = store.select("ai_queries", QUERY).map_err(|_| Stop::Anew)?;
    let query = format!("SELECT {columns} FROM ai_queries WHERE conversation_id = ?1 ORDER BY id");
    let mut statement = store.connection().prepare_cached(&query)?;
    let mut rows = statement.query([&session.key])?;
    let mut prompts = Vec::new();
    while let Some(row) = rows.next()? {
        let fields = Fields(row);
        let time = fields.text("start_ts").and_then(|text| Timestamp::parse(&text));
        if let Some(time) = time {
            telling.log.saw_time(time);
        }
        let facts = telling.log.facts();
        if facts.cwd.is_none() {
            facts.cwd = fields.text("working_directory").map(|folder| folder.into_owned());
        }
        if let Some(model) = fields.text("model_id") {
            facts.model = Some(model.into_owned());
        }
        let bytes = fields.bytes("input");
        let Some(input) = telling.json::<Value>(bytes) else {
            continue;
        };
        let asked = list(&input, &[]).iter();
        let asked = asked.filter_map(|item| text(item, &["Query", "text"]));
        prompts.extend(asked.map(|prompt| (time, prompt.to_owned())));
        telling.record(bytes.len());
    }
    telling.log.facts().branch = branch(store, session);
    Ok(prompts)
}

/// The branch of the terminal's blocks that the conversation ran in, where they are kept.
fn branch(store: &Store, session: &Listed) -> Option<String> {
    let query = "SELECT git_branch FROM blocks WHERE agent_view_conversation_id = ?1 AND git_branch <> '' \
                 ORDER BY start_ts DESC LIMIT 1";
    let branch = store
        .connection()
        .query_row(query, [&session.key], |row| row.get(0));
    branch.ok()
}
