//! Sessions and messages as rows; a message's parts are one document of JSON.

use super::AGENT;
use crate::log::{Draft, Placement};
use crate::rows::{self, Listed, RowFormat, Stop, Telling};
use crate::sqlite::{Fields, Store};
use crate::values::{arguments, at, is_true, media, push_text, text};
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult, TurnEnd, TurnEndReason};
use lookback_model::facts::TitleRank;
use lookback_model::session::SessionKind;
use lookback_model::source::{EventSink, ReadCursor, ReadError, ReadOutcome, SinkClosed, SourceFile};
use lookback_model::{Timestamp, copies};
use serde_json::Value;
use std::path::Path;

pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    let database = Database {
        project: project(&file.path),
    };
    rows::read(&database, file, cursor, sink)
}

/// The project of a database that lies where it lies by default.
fn project(database: &Path) -> Option<String> {
    let folder = database.parent()?;
    let is_default = folder.file_name()? == ".crush";
    is_default.then(|| folder.parent().map(|path| path.to_string_lossy().into_owned()))?
}

struct Database {
    project: Option<String>,
}

const SESSION: &[&str] = &["id", "parent_session_id", "title", "created_at", "updated_at"];
const MESSAGE: &[&str] = &["id", "role", "model", "created_at", "is_summary_message"];

/// What the agent calls a session before it has a title.
const PLACEHOLDERS: [&str; 3] = ["Untitled Session", "New Session", "New Agent Session"];

impl RowFormat for Database {
    fn sessions(&self, store: &Store) -> Result<Vec<Listed>, ReadError> {
        if store.columns("sessions")?.is_empty() || store.columns("messages")?.is_empty() {
            return Ok(Vec::new());
        }
        let columns = store.select("sessions", SESSION)?;
        // Sessions in which titles are made are no sessions of anybody.
        let sessions = format!("SELECT {columns} FROM sessions WHERE id NOT LIKE 'title-%'");
        // Times are in seconds, so that a change may leave them as they were.
        let messages = "SELECT session_id, count(*), max(rowid), max(updated_at), sum(octet_length(parts)) \
                        FROM messages GROUP BY session_id";
        rows::list(store, &sessions, &[messages])
    }

    fn mark_up_to(&self, store: &Store, session: &Listed, row: i64) -> rusqlite::Result<u64> {
        let query = "SELECT count(*), max(updated_at), sum(octet_length(parts)) FROM messages \
                     WHERE session_id = ?1 AND rowid <= ?2";
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
        self.take_session(store, session, telling)?;
        let columns = store.select("messages", MESSAGE).map_err(|_| Stop::Anew)?;
        let parts = rows::document_column("parts");
        let query = format!(
            "SELECT rowid AS row, {columns}, {parts} FROM messages \
             WHERE session_id = ?1 AND rowid > ?2 ORDER BY created_at, rowid"
        );
        let mut statement = store.connection().prepare_cached(&query)?;
        let mut rows = statement.query((&session.key, after.unwrap_or(i64::MIN)))?;
        let mut is_settled = true;
        let mut last = after;
        while let Some(row) = rows.next()? {
            let rowid: i64 = row.get("row")?;
            last = last.max(Some(rowid));
            let Some(parts) = telling.document(store, ("messages", "parts"), row, rowid)? else {
                continue;
            };
            let message = Row::of(Fields(row), &parts);
            is_settled &= message.is_settled();
            message.tell(telling)?;
        }
        if let Some(row) = last.filter(|_| is_settled) {
            telling.settled(row);
        }
        Ok(())
    }
}

impl Database {
    fn take_session(&self, store: &Store, session: &Listed, telling: &mut Telling<'_>) -> Result<(), Stop> {
        let columns = store.select("sessions", SESSION).map_err(|_| Stop::Anew)?;
        let query = format!("SELECT {columns} FROM sessions WHERE id = ?1");
        let mut statement = store.connection().prepare_cached(&query)?;
        let mut rows = statement.query([&session.key])?;
        let Some(row) = rows.next()? else {
            return Ok(());
        };
        let fields = Fields(row);
        let facts = telling.log.facts();
        facts.cwd.clone_from(&self.project);
        facts.parent = fields.text("parent_session_id").map(|id| id.into_owned());
        if facts.parent.is_some() {
            facts.kind = SessionKind::Subagent;
        }
        if let Some(title) = fields.text("title")
            && !PLACEHOLDERS.contains(&title.as_ref())
        {
            facts.offer_title(&title, TitleRank::Given);
        }
        if let Some(created) = fields.number("created_at").and_then(Timestamp::from_number) {
            telling.log.saw_time(created);
        }
        Ok(())
    }
}

/// A message.
struct Row<'r> {
    id: String,
    role: String,
    model: Option<String>,
    time: Option<Timestamp>,
    is_summary: bool,
    parts: &'r [Value],
    bytes: usize,
}

impl<'r> Row<'r> {
    fn of(fields: Fields<'_>, parts: &'r Value) -> Self {
        let owned = |name| fields.text(name).map(|text| text.into_owned());
        Self {
            id: owned("id").unwrap_or_default(),
            role: owned("role").unwrap_or_default(),
            model: owned("model"),
            time: fields.number("created_at").and_then(Timestamp::from_number),
            is_summary: fields.is_set("is_summary_message"),
            parts: parts.as_array().map_or(&[], Vec::as_slice),
            bytes: usize::try_from(fields.integer("length").unwrap_or(0)).unwrap_or(0),
        }
    }

    fn of_type<'s>(&'s self, kind: &'s str) -> impl Iterator<Item = &'s Value> {
        let parts = self.parts.iter();
        parts
            .filter(move |part| text(part, &["type"]) == Some(kind))
            .filter_map(|part| part.get("data"))
    }

    /// An answer is written again and again while it comes in, and then has an end.
    fn is_settled(&self) -> bool {
        self.role != "assistant" || self.of_type("finish").next().is_some()
    }

    fn tell(&self, telling: &mut Telling<'_>) -> Result<(), SinkClosed> {
        const KNOWN: [&str; 8] = [
            "text",
            "reasoning",
            "tool_call",
            "tool_result",
            "shell_command",
            "finish",
            "image_url",
            "binary",
        ];
        for part in self.parts {
            if let Some(kind) = text(part, &["type"]).filter(|kind| !KNOWN.contains(kind)) {
                telling.unknown(kind);
            }
        }
        telling.record(self.bytes);
        if self.is_summary {
            return self.summary(telling);
        }
        match self.role.as_str() {
            "assistant" => self.reply(telling),
            "tool" => self.answers(telling),
            "user" => self.prompt(telling),
            // Instructions.
            _ => {
                let message = self.content().from_source("system");
                self.append(telling, EventData::ContextMessage(message))
            }
        }
    }

    fn append(&self, telling: &mut Telling<'_>, data: EventData) -> Result<(), SinkClosed> {
        let draft = self.draft(data);
        telling.log.append(draft)?;
        Ok(())
    }

    fn draft(&self, data: EventData) -> Draft {
        let mut draft = Draft::new(data, self.time);
        draft.native_id = Some(self.id.clone());
        draft.reply_id = (self.role == "assistant").then(|| self.id.clone());
        draft.copy_key = copies::key_of_id(AGENT, &self.id);
        draft
    }

    /// What was said, shown and called.
    fn content(&self) -> Message {
        let mut content = Vec::new();
        for part in self.parts {
            let Some(data) = part.get("data") else { continue };
            match text(part, &["type"]).unwrap_or_default() {
                "text" => push_text(&mut content, text(data, &["text"]).unwrap_or_default()),
                "reasoning" => content.push(ContentBlock::Reasoning {
                    text: text(data, &["thinking"]).unwrap_or_default().to_owned(),
                }),
                "tool_call" => content.push(ContentBlock::ToolCall {
                    id: text(data, &["id"]).unwrap_or_default().to_owned(),
                    name: text(data, &["name"]).unwrap_or_default().to_owned(),
                    arguments: arguments(data.get("input")),
                }),
                "shell_command" => {
                    let command = text(data, &["command"]).unwrap_or_default();
                    content.push(ContentBlock::text(format!("!{command}")));
                }
                "image_url" => content.push(media("", text(data, &["url"]).unwrap_or_default())),
                "binary" => {
                    let bytes = text(data, &["Data"]).unwrap_or_default();
                    content.push(media(text(data, &["MIMEType"]).unwrap_or_default(), bytes));
                }
                _ => {}
            }
        }
        Message {
            content,
            ..Message::default()
        }
    }

    fn prompt(&self, telling: &mut Telling<'_>) -> Result<(), SinkClosed> {
        self.append(telling, EventData::UserMessage(self.content()))?;
        // What a command said that the person ran.
        for command in self.of_type("shell_command") {
            let output = text(command, &["output"]).unwrap_or_default();
            let message = Message::text(output).from_source("shell");
            self.append(telling, EventData::ContextMessage(message))?;
        }
        Ok(())
    }

    fn reply(&self, telling: &mut Telling<'_>) -> Result<(), SinkClosed> {
        if self.model.is_some() {
            telling.log.facts().model.clone_from(&self.model);
        }
        self.append(telling, EventData::AssistantMessage(self.content()))?;
        for finish in self.of_type("finish") {
            let kind = match text(finish, &["reason"]) {
                Some("canceled") => "aborted",
                Some("error") => "error",
                Some("permission_denied") => "rejected",
                _ => continue,
            };
            let owned = |key| text(finish, &[key]).map(str::to_owned);
            let reason = TurnEndReason {
                kind: kind.to_owned(),
                reason: owned("details"),
                message: owned("message"),
                code: None,
            };
            self.append(telling, EventData::TurnEnd(TurnEnd { turn: None, reason }))?;
        }
        Ok(())
    }

    fn answers(&self, telling: &mut Telling<'_>) -> Result<(), SinkClosed> {
        for result in self.of_type("tool_result") {
            let mut content = Vec::new();
            push_text(&mut content, text(result, &["content"]).unwrap_or_default());
            if let Some(data) = text(result, &["data"]) {
                content.push(media(text(result, &["mime_type"]).unwrap_or_default(), data));
            }
            let answer = ToolResult {
                call_id: text(result, &["tool_call_id"]).unwrap_or_default().to_owned(),
                content,
                is_error: is_true(result, &["is_error"]) || at(result, &["is_error"]) == Some(&1.into()),
                ..ToolResult::default()
            };
            self.append(telling, EventData::ToolResult(answer))?;
        }
        Ok(())
    }

    /// A summary, which the model is sent in the place of all that was before.
    fn summary(&self, telling: &mut Telling<'_>) -> Result<(), SinkClosed> {
        let message = self.content().from_source("compaction");
        let mut draft = self.draft(EventData::ContextMessage(message));
        draft.placement = Placement::ReplaceAll;
        telling.log.facts().compactions += 1;
        telling.log.append(draft)?;
        Ok(())
    }
}
