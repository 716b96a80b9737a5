//! The table of threads.

use super::thread;
use crate::lines;
use crate::rows::{self, Listed, RowFormat, Stop, Telling};
use crate::sqlite::{Fields, Store};
use lookback_model::Timestamp;
use lookback_model::facts::TitleRank;
use lookback_model::session::SessionKind;
use lookback_model::source::{EventSink, IssueCode, ReadCursor, ReadError, ReadOutcome, SourceFile};
use serde_json::Value;

pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    rows::read(&Database, file, cursor, sink)
}

struct Database;

const THREAD: &[&str] = &[
    "id",
    "summary",
    "updated_at",
    "data_type",
    "parent_id",
    "folder_paths",
    "folder_paths_order",
    "created_at",
];

impl RowFormat for Database {
    fn sessions(&self, store: &Store) -> Result<Vec<Listed>, ReadError> {
        if store.columns("threads")?.is_empty() {
            return Ok(Vec::new());
        }
        let columns = store.select("threads", THREAD)?;
        let threads = format!("SELECT {columns}, octet_length(data) FROM threads");
        rows::list(store, &threads, &["SELECT id FROM threads"])
    }

    /// A thread is one document, of which nothing is known to stay.
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
        let columns = store.select("threads", THREAD).map_err(|_| Stop::Anew)?;
        let query = format!(
            "SELECT rowid AS row, {columns}, octet_length(data) AS length FROM threads WHERE id = ?1"
        );
        let mut statement = store.connection().prepare_cached(&query)?;
        let mut rows = statement.query([&session.key])?;
        let Some(row) = rows.next()? else {
            return Ok(());
        };
        let fields = Fields(row);
        let times = take_row(fields, telling);
        let bytes = usize::try_from(fields.integer("length").unwrap_or(0)).unwrap_or(0);
        let encoding = fields.text("data_type").unwrap_or_default();
        let Some(document) = document(store, &encoding, row.get("row")?, bytes, telling)? else {
            return Ok(());
        };
        for unknown in thread::tell(&mut telling.log, &document, times)? {
            telling.unknown(&unknown);
        }
        telling.record(bytes);
        Ok(())
    }
}

/// A thread's document; `None` when it cannot be read, which is noted.
fn document(
    store: &Store,
    encoding: &str,
    rowid: i64,
    bytes: usize,
    telling: &mut Telling<'_>,
) -> Result<Option<Value>, Stop> {
    let blob = store.blob("threads", "data", rowid)?;
    let read = match encoding {
        "json" => lines::document(blob),
        "zstd" => zstd::Decoder::new(blob).and_then(lines::document),
        other => {
            let detail = format!("a thread in the encoding {other:?}");
            telling.lost(bytes, IssueCode::Unsupported, detail);
            return Ok(None);
        }
    };
    match read {
        Ok((document, cut)) => {
            if cut > 0 {
                telling.note(IssueCode::TextCut, format!("{cut} bytes of long text"));
            }
            Ok(telling.json(&document))
        }
        Err(error) => {
            telling.lost(bytes, IssueCode::NotJson, error.to_string());
            Ok(None)
        }
    }
}

/// Takes what the row says; gives the times between which everything happened.
fn take_row(fields: Fields<'_>, telling: &mut Telling<'_>) -> (Option<Timestamp>, Option<Timestamp>) {
    let time = |name| fields.text(name).and_then(|text| Timestamp::parse(&text));
    let updated = time("updated_at");
    let created = time("created_at").or(updated);
    let facts = telling.log.facts();
    if let Some(title) = fields.text("summary") {
        facts.offer_title(&title, TitleRank::Given);
    }
    facts.cwd = fields.text("folder_paths").and_then(|folders| {
        let order = fields.text("folder_paths_order").unwrap_or_default();
        first_folder(&folders, &order).map(str::to_owned)
    });
    facts.parent = fields.text("parent_id").map(|id| id.into_owned());
    if facts.parent.is_some() {
        facts.kind = SessionKind::Subagent;
    }
    for time in created.into_iter().chain(updated) {
        telling.log.saw_time(time);
    }
    (created, updated)
}

/// The folder that was opened first: folders are sorted, and beside them stands which was the how manieth.
fn first_folder<'f>(folders: &'f str, order: &str) -> Option<&'f str> {
    let mut numbers = order.split([',', '\n']).map(str::trim);
    let first = numbers.position(|number| number == "0").unwrap_or(0);
    let mut folders = folders.lines().filter(|folder| !folder.is_empty());
    folders.nth(first)
}
