//! The store since version 1.2: rows of sessions, messages and parts, each with a document of JSON.
//!
//! The tables `event` and `event_sequence` repeat all of it, and others hold secrets; they are not looked at.

use super::conversation::{self, Conversation, Revert};
use crate::rows::{self, Listed, RowFormat, Stop, Telling};
use crate::sqlite::{Fields, Store};
use lookback_model::Timestamp;
use lookback_model::facts::TitleRank;
use lookback_model::session::SessionKind;
use lookback_model::source::{EventSink, IssueCode, ReadCursor, ReadError, ReadOutcome, SourceFile};
use rusqlite::OptionalExtension;
use serde_json::Value;

pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    rows::read(&Database, file, cursor, sink)
}

struct Database;

/// What is used of a session's row.
const SESSION: &[&str] = &[
    "id",
    "parent_id",
    "directory",
    "title",
    "version",
    "time_created",
    "time_archived",
    "revert",
    "permission",
    "agent",
    "workspace_id",
];

/// The messages of one session up to a row, in the order of the conversation.
const UP_TO: &str = "SELECT id FROM message WHERE session_id = ?1 AND (time_created, id) <= \
                     (SELECT time_created, id FROM message WHERE rowid = ?2)";

impl RowFormat for Database {
    fn sessions(&self, store: &Store) -> Result<Vec<Listed>, ReadError> {
        for table in ["session", "message", "part"] {
            if store.columns(table)?.is_empty() {
                return Ok(Vec::new());
            }
        }
        let columns = store.select("session", SESSION)?;
        let has_next = !store.columns("session_message")?.is_empty();
        list(store, &columns, has_next)
    }

    fn mark_up_to(&self, store: &Store, session: &Listed, row: i64) -> rusqlite::Result<u64> {
        // Prompts are rewritten after their turn, with a summary of what it changed; their parts are not.
        let query = format!(
            "SELECT (SELECT count(*) FROM message WHERE id IN ({UP_TO})), count(*), max(time_updated) FROM part WHERE session_id = ?1 AND message_id IN ({UP_TO})"
        );
        let mut statement = store.connection().prepare_cached(&query)?;
        statement.query_row((&session.key, row), rows::mark)
    }

    fn tell(
        &self,
        store: &Store,
        session: &Listed,
        after: Option<i64>,
        telling: &mut Telling<'_>,
    ) -> Result<(), Stop> {
        let revert = take_session(store, session, telling)?;
        if after.is_some() && revert.is_some() {
            return Err(Stop::Anew);
        }
        if let Some(row) = after {
            check_order(store, session, row)?;
        }
        let mut conversation = Told {
            store,
            revert,
            telling,
        };
        conversation.messages(session, after)
    }
}

/// Every session that has messages, with a mark over its row, its messages and its parts.
fn list(store: &Store, columns: &str, has_next: bool) -> Result<Vec<Listed>, ReadError> {
    let mut groups = vec![
        "SELECT session_id, count(*), max(time_updated) FROM message GROUP BY session_id",
        "SELECT session_id, count(*), max(rowid) FROM part GROUP BY session_id",
    ];
    if has_next {
        groups
            .push("SELECT session_id, count(*), max(time_updated) FROM session_message GROUP BY session_id");
    }
    let mut listed = rows::list(store, &format!("SELECT {columns} FROM session"), &groups)?;
    // What is rewritten in place are the parts of the last message; older ones only together with new rows.
    let query = "SELECT max(time_updated) FROM part WHERE message_id = \
                 (SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created DESC, id DESC LIMIT 1)";
    let mark_last = |listed: &mut [Listed]| -> rusqlite::Result<()> {
        let mut last = store.connection().prepare_cached(query)?;
        for session in listed {
            session.mark ^= last.query_row([&session.key], rows::mark)?;
        }
        Ok(())
    };
    mark_last(&mut listed).map_err(|error| store.error(error))?;
    Ok(listed)
}

/// Refuses to go on when a message that came later belongs before one that was told.
fn check_order(store: &Store, session: &Listed, row: i64) -> Result<(), Stop> {
    let query =
        format!("SELECT count(*) FROM message WHERE session_id = ?1 AND rowid > ?2 AND id IN ({UP_TO})");
    let mut statement = store.connection().prepare_cached(&query)?;
    let out_of_order: i64 = statement.query_row((&session.key, row), |row| row.get(0))?;
    if out_of_order > 0 {
        return Err(Stop::Anew);
    }
    Ok(())
}

/// Takes the facts of a session's row; gives what was undone in it.
fn take_session(store: &Store, session: &Listed, telling: &mut Telling<'_>) -> Result<Option<Revert>, Stop> {
    let Ok(columns) = store.select("session", SESSION) else {
        return Ok(None);
    };
    let query = format!("SELECT {columns} FROM session WHERE id = ?1");
    let mut statement = store.connection().prepare_cached(&query)?;
    let mut rows = statement.query([&session.key])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let fields = Fields(row);
    let owned = |name| fields.text(name).map(std::borrow::Cow::into_owned);
    let branch = branch(store, owned("workspace_id"));
    let facts = telling.log.facts();
    if let Some(title) = fields.text("title")
        && let Some(title) = conversation::title(&title)
    {
        facts.offer_title(title, TitleRank::Given);
    }
    facts.cwd = owned("directory");
    facts.agent_version = owned("version");
    facts.branch = branch;
    facts.archived = fields.is_set("time_archived");
    facts.parent = owned("parent_id");
    let json = |name| serde_json::from_slice::<Value>(fields.bytes(name)).ok();
    if facts.parent.is_some() {
        facts.kind = SessionKind::Subagent;
        facts.agent_type = owned("agent");
    } else if json("permission").is_some_and(|rules| conversation::may_not_ask(&rules)) {
        facts.kind = SessionKind::Headless;
    }
    if let Some(created) = fields.number("time_created").and_then(Timestamp::from_number) {
        telling.log.saw_time(created);
    }
    Ok(json("revert").and_then(|revert| Revert::of(&revert)))
}

/// The branch of a workspace, where there are workspaces.
fn branch(store: &Store, workspace: Option<String>) -> Option<String> {
    let query = "SELECT branch FROM workspace WHERE id = ?1";
    let branch = store
        .connection()
        .query_row(query, [workspace?], |row| row.get(0));
    branch.optional().ok().flatten().flatten()
}

/// A session that is being told.
struct Told<'t, 's> {
    store: &'t Store,
    revert: Option<Revert>,
    telling: &'t mut Telling<'s>,
}

impl Told<'_, '_> {
    fn messages(&mut self, session: &Listed, after: Option<i64>) -> Result<(), Stop> {
        let store = self.store;
        let data = rows::document_column("data");
        let query = format!(
            "SELECT rowid AS row, id, {data} FROM message \
                     WHERE session_id = ?1 AND (?2 IS NULL OR (time_created, id) > \
                     (SELECT time_created, id FROM message WHERE rowid = ?2)) ORDER BY time_created, id"
        );
        let mut statement = store.connection().prepare_cached(&query)?;
        let mut rows = statement.query((&session.key, after))?;
        let mut last = None;
        let mut told = 0;
        while let Some(row) = rows.next()? {
            told += 1;
            let id = Fields(row).text("id").unwrap_or_default();
            let Some(message) = self
                .telling
                .document(store, ("message", "data"), row, row.get("row")?)?
            else {
                last = None;
                continue;
            };
            self.telling.record(0);
            let parts = self.parts(&id)?;
            let mut conversation = Conversation {
                log: &mut self.telling.log,
                revert: self.revert.take(),
            };
            conversation.message(&id, &message, &parts)?;
            self.revert = conversation.revert;
            last = conversation::is_settled(&message)
                .then(|| row.get("row"))
                .transpose()?;
        }
        let is_undone = self.revert.is_some();
        let mut conversation = Conversation {
            log: &mut self.telling.log,
            revert: self.revert.take(),
        };
        conversation.end()?;
        if told == 0 && after.is_none() {
            let detail = "messages in the tables of a newer generation";
            self.telling.lost(0, IssueCode::Unsupported, detail);
        }
        if !is_undone && let Some(row) = last {
            self.telling.settled(row);
        }
        Ok(())
    }

    fn parts(&mut self, message: &str) -> Result<Vec<Value>, Stop> {
        let store = self.store;
        let data = rows::document_column("data");
        let query = format!(
            "SELECT rowid AS row, {data} FROM part \
                     WHERE message_id = ?1 ORDER BY id"
        );
        let mut statement = store.connection().prepare_cached(&query)?;
        let mut rows = statement.query([message])?;
        let mut parts = Vec::new();
        while let Some(row) = rows.next()? {
            let Some(part) = self
                .telling
                .document(store, ("part", "data"), row, row.get("row")?)?
            else {
                continue;
            };
            let bytes = usize::try_from(Fields(row).integer("length").unwrap_or(0)).unwrap_or(0);
            if let Some(kind) = conversation::unknown_type(&part) {
                self.telling.unknown(kind);
            }
            if conversation::is_speech(&part) {
                self.telling.record(bytes);
                parts.push(part);
            } else {
                self.telling.bookkeeping(bytes);
            }
        }
        Ok(parts)
    }
}
