//! Sessions and messages as rows. Rows are never taken out of a session: what was compacted or rewound is marked
//! as no longer active, and what a compaction kept is put in again.

use super::message::{Said, is_review};
use crate::log::{Draft, Placement};
use crate::rows::{self, Listed, RowFormat, Stop, Telling};
use crate::sqlite::{Fields, Store};
use crate::values::text;
use lookback_model::Timestamp;
use lookback_model::event::{EventData, Message};
use lookback_model::facts::TitleRank;
use lookback_model::session::SessionKind;
use lookback_model::source::{EventSink, ReadCursor, ReadError, ReadOutcome, SinkClosed, SourceFile};
use serde_json::Value;
use std::collections::HashMap;
use xxhash_rust::xxh3::Xxh3;

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
    "source",
    "model",
    "model_config",
    "parent_session_id",
    "started_at",
    "cwd",
    "git_branch",
    "title",
    "title_source",
    "archived",
    "hidden",
];
const MESSAGE: &[&str] = &[
    "id",
    "role",
    "tool_calls",
    "tool_call_id",
    "effect_disposition",
    "timestamp",
    "reasoning",
    "reasoning_content",
    "active",
    "compacted",
    "_compressed_summary",
    "display_kind",
];

impl RowFormat for Database {
    fn sessions(&self, store: &Store) -> Result<Vec<Listed>, ReadError> {
        if store.columns("sessions")?.is_empty() || store.columns("messages")?.is_empty() {
            return Ok(Vec::new());
        }
        let columns = store.select("sessions", SESSION)?;
        let flags = flags(store)?;
        let messages = format!("SELECT session_id, max(id), {flags} FROM messages GROUP BY session_id");
        rows::list(store, &format!("SELECT {columns} FROM sessions"), &[&messages])
    }

    fn mark_up_to(&self, store: &Store, session: &Listed, row: i64) -> rusqlite::Result<u64> {
        let Ok(flags) = flags(store) else {
            return Err(rusqlite::Error::InvalidQuery);
        };
        let query = format!("SELECT {flags} FROM messages WHERE session_id = ?1 AND id <= ?2");
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
        take_session(store, session, telling)?;
        let columns = store.select("messages", MESSAGE).map_err(|_| Stop::Anew)?;
        let last = last_copies(store, session, &columns)?;
        let query =
            format!("SELECT {columns}, content FROM messages WHERE session_id = ?1 AND id > ?2 ORDER BY id");
        let mut statement = store.connection().prepare_cached(&query)?;
        let mut rows = statement.query((&session.key, after.unwrap_or(i64::MIN)))?;
        let mut thread = Thread::default();
        let mut row_id = after;
        while let Some(row) = rows.next()? {
            let fields = Fields(row);
            let id = fields.integer("id").unwrap_or(0);
            row_id = row_id.max(Some(id));
            let state = State::of(fields);
            if state == State::Compacted && last.get(&fingerprint(fields)).is_some_and(|&last| last > id) {
                telling.bookkeeping(fields.bytes("content").len());
                continue;
            }
            thread.row(telling, fields, state)?;
        }
        thread.end(telling)?;
        // Only what is still sent to the model can be gone on with.
        let may_go_on = !thread.had_inactive && !thread.in_review && last.is_empty();
        if let Some(row) = row_id.filter(|_| may_go_on) {
            telling.settled(row);
        }
        Ok(())
    }
}

/// What is marked in place, and the length of what is said.
fn flags(store: &Store) -> Result<String, ReadError> {
    let held = store.columns("messages")?;
    let sum = |name: &&str| match held.iter().any(|held| held == name) {
        true => format!("sum({name})"),
        false => "0".to_owned(),
    };
    let sums: Vec<_> = ["active", "compacted"].iter().map(sum).collect();
    Ok(format!(
        "count(*), sum(octet_length(content)), {}",
        sums.join(", ")
    ))
}

/// Of each compacted row what it says, with the last row that says the same: a compaction puts in again what it
/// keeps, each time.
fn last_copies(store: &Store, session: &Listed, columns: &str) -> rusqlite::Result<HashMap<u64, i64>> {
    let mut last = HashMap::new();
    if !columns.contains("messages.compacted") {
        return Ok(last);
    }
    let exists = "SELECT count(*) FROM messages WHERE session_id = ?1 AND compacted = 1";
    let compacted: i64 = store
        .connection()
        .query_row(exists, [&session.key], |row| row.get(0))?;
    if compacted == 0 {
        return Ok(last);
    }
    let query = format!("SELECT {columns}, content FROM messages WHERE session_id = ?1 ORDER BY id");
    let mut statement = store.connection().prepare_cached(&query)?;
    let mut rows = statement.query([&session.key])?;
    while let Some(row) = rows.next()? {
        let fields = Fields(row);
        last.insert(fingerprint(fields), fields.integer("id").unwrap_or(0));
    }
    Ok(last)
}

fn fingerprint(fields: Fields<'_>) -> u64 {
    let mut hash = Xxh3::new();
    for name in ["role", "content", "tool_calls", "tool_call_id"] {
        hash.update(fields.bytes(name));
        hash.update(&[0]);
    }
    hash.digest()
}

/// Where a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Active,
    Compacted,
    Rewound,
}

impl State {
    fn of(fields: Fields<'_>) -> Self {
        match (fields.integer("active"), fields.is_set("compacted")) {
            (Some(0), true) => Self::Compacted,
            (Some(0), false) => Self::Rewound,
            _ => Self::Active,
        }
    }
}

/// The rows of a session as they come.
#[derive(Default)]
struct Thread {
    /// First and last event that was compacted and has not been replaced yet.
    compacted: Option<(u64, u64)>,
    /// The same of what was rewound.
    rewound: Option<(u64, u64)>,
    /// Whether the program asked something by itself, whose answer comes next.
    in_review: bool,
    had_inactive: bool,
}

impl Thread {
    fn row(&mut self, telling: &mut Telling<'_>, fields: Fields<'_>, state: State) -> Result<(), SinkClosed> {
        if state != State::Rewound {
            self.end_of_rewound(telling)?;
        }
        let said = Said::of(fields);
        let bytes = fields.bytes("content").len();
        if !said.is_message() {
            telling.bookkeeping(bytes);
            return Ok(());
        }
        self.in_review = is_review(&said) || (self.in_review && said.role != "user");
        let from = telling.log.next_seq();
        let mut placement = Placement::Append;
        if said.is_summary
            && let Some((start, end)) = self.compacted.take()
        {
            placement = Placement::ReplaceRange(start, end);
            telling.log.facts().compactions += 1;
        }
        for mut draft in said.drafts(self.in_review) {
            if placement != Placement::Append {
                draft.placement = std::mem::replace(&mut placement, Placement::Append);
            }
            telling.log.append(draft)?;
        }
        telling.record(bytes);
        let last = telling.log.next_seq().checked_sub(1).filter(|&last| last >= from);
        let range = match state {
            State::Active => return Ok(()),
            State::Compacted => &mut self.compacted,
            State::Rewound => &mut self.rewound,
        };
        self.had_inactive = true;
        if let Some(last) = last {
            *range = Some((range.map_or(from, |(start, _)| start), last));
        }
        Ok(())
    }

    fn end_of_rewound(&mut self, telling: &mut Telling<'_>) -> Result<(), SinkClosed> {
        let Some((start, end)) = self.rewound.take() else {
            return Ok(());
        };
        telling.log.facts().rewinds += 1;
        replace(telling, start, end, "rollback")
    }

    /// What was compacted without a summary among the rows is no longer sent either.
    fn end(&mut self, telling: &mut Telling<'_>) -> Result<(), SinkClosed> {
        self.end_of_rewound(telling)?;
        let Some((start, end)) = self.compacted.take() else {
            return Ok(());
        };
        telling.log.facts().compactions += 1;
        replace(telling, start, end, "compaction")
    }
}

fn replace(telling: &mut Telling<'_>, start: u64, end: u64, source: &str) -> Result<(), SinkClosed> {
    let message = Message::default().from_source(source);
    let mut draft = Draft::new(EventData::ContextMessage(message), None);
    draft.placement = Placement::ReplaceRange(start, end);
    telling.log.append(draft)?;
    Ok(())
}

fn take_session(store: &Store, session: &Listed, telling: &mut Telling<'_>) -> Result<(), Stop> {
    let columns = store.select("sessions", SESSION).map_err(|_| Stop::Anew)?;
    let query = format!(
        "SELECT {columns}, (SELECT end_reason FROM sessions AS parent WHERE parent.id = sessions.parent_session_id) \
         AS parent_end FROM sessions WHERE id = ?1"
    );
    let mut statement = store.connection().prepare_cached(&query)?;
    let mut rows = statement.query([&session.key])?;
    let Some(row) = rows.next()? else {
        return Ok(());
    };
    let fields = Fields(row);
    let owned = |name| fields.text(name).map(|text| text.into_owned());
    let facts = telling.log.facts();
    if let Some(title) = fields.text("title") {
        let rank = match fields.text("title_source").as_deref() {
            Some("user") => TitleRank::Custom,
            _ => TitleRank::Given,
        };
        facts.offer_title(&title, rank);
    }
    facts.cwd = owned("cwd");
    facts.branch = owned("git_branch");
    facts.model = owned("model");
    facts.archived = fields.is_set("archived");
    facts.hidden = fields.is_set("hidden");
    if matches!(fields.text("source").as_deref(), Some("cron" | "tool")) {
        facts.kind = SessionKind::Headless;
    }
    let config: Value = serde_json::from_slice(fields.bytes("model_config")).unwrap_or_default();
    let marked = |name| config.get(name).is_some_and(|mark| !mark.is_null());
    let parent = owned("parent_session_id");
    if marked("_branched_from") {
        facts.forked_from = text(&config, &["_branched_from"]).map(str::to_owned).or(parent);
    } else if marked("_reset_from") {
        // Begun anew beside the old one, and nothing of it.
    } else if fields.text("parent_end").as_deref() == Some("compression") && !marked("_delegate_from") {
        facts.forked_from = parent;
    } else if parent.is_some() {
        facts.kind = SessionKind::Subagent;
        facts.parent = parent;
    }
    if let Some(started) = fields.number("started_at").and_then(Timestamp::from_number) {
        telling.log.saw_time(started);
    }
    Ok(())
}
