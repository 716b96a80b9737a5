//! Reading a conversation's events from where the last read ended.

use super::event::{self, Told};
use super::{AGENT, EVENTS};
use crate::document::{Document, no_session, text, words};
use crate::lines;
use crate::log::{Draft, LogState, Placement, SessionLog};
use crate::walk;
use lookback_model::copies::key_of_id;
use lookback_model::event::{EventData, Message};
use lookback_model::facts::TitleRank;
use lookback_model::source::{
    EventSink, IssueCode, Position, ReadAccount, ReadCursor, ReadError, ReadOutcome, SourceFile,
};
use lookback_model::{SessionFacts, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// All that is needed to go on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct State {
    id: String,
    /// Number of the last event that was read.
    last: Option<u64>,
    /// Files up to it.
    files: usize,
    /// What is added to times, in milliseconds; `None` while one event alone does not tell.
    offset: Option<i64>,
    log: LogState,
}

/// An event's file.
struct EventFile {
    number: u64,
    path: PathBuf,
}

/// Reads a conversation.
pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    let folder = file.path.parent().unwrap_or(&file.path);
    let base = Document::read(&file.path, &["stats", "tools"]).unwrap_or_default();
    let files = event_files(&folder.join(EVENTS))?;
    if files.is_empty() {
        return Err(no_session(
            &file.path,
            IssueCode::NoSessionHeader,
            "nothing was said in it",
        ));
    }
    let id = words(&base.root, "id").map_or_else(|| dashed(folder), str::to_owned);
    let known = cursor
        .map(|cursor| resume(file, cursor, &id, &files))
        .transpose()?;
    let is_resumed = known.is_some();
    let mut state = known.unwrap_or_default();
    state.id = id;
    state.offset = state.offset.or_else(|| offset(&files));
    let log_state = is_resumed.then(|| std::mem::take(&mut state.log));
    let mut talk = Talk {
        file,
        log: SessionLog::begin(sink, &state.id, log_state)?,
        offset: state.offset.unwrap_or(0),
        is_resumed,
        numbers: HashMap::new(),
        account: base.account(),
    };
    take_facts(&base.root, talk.log.facts());
    let unread = files.iter().filter(|file| Some(file.number) > state.last);
    let unread: Vec<&EventFile> = unread.collect();
    for (at, event) in unread.iter().enumerate() {
        if !talk.event_file(event, at + 1 == unread.len())? {
            break;
        }
        state.last = Some(event.number);
    }
    state.files = files
        .iter()
        .filter(|file| Some(file.number) <= state.last)
        .count();
    if talk.log.facts().created_at.is_none() {
        talk.log.saw_time(file.stamp.modified());
    }
    let account = talk.account;
    state.log = talk.log.finish()?;
    Ok(ReadOutcome {
        cursor: ReadCursor {
            position: Position::Whole,
            state: serde_json::to_string(&state).unwrap_or_default(),
        },
        account,
    })
}

/// The state of an earlier read, if what it read is what is there.
fn resume(file: &SourceFile, cursor: &ReadCursor, id: &str, files: &[EventFile]) -> Result<State, ReadError> {
    let state: State = serde_json::from_str(&cursor.state).map_err(|_| stale(file))?;
    let before = files
        .iter()
        .filter(|file| Some(file.number) <= state.last)
        .count();
    let holds = state.id == id && state.files == before && state.offset.is_some();
    if holds { Ok(state) } else { Err(stale(file)) }
}

fn stale(file: &SourceFile) -> ReadError {
    ReadError::StaleCursor {
        path: file.path.clone(),
    }
}

/// The events' files in their order, which is that of the numbers in their names.
fn event_files(folder: &Path) -> Result<Vec<EventFile>, ReadError> {
    let failed = |error| lines::io_error(folder, error);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let number = name
            .strip_prefix("event-")
            .filter(|_| name.ends_with(".json"))
            .and_then(|rest| rest.split('-').next()?.parse().ok());
        files.extend(number.map(|number| EventFile { number, path }));
    }
    files.sort_by(|a, b| (a.number, &a.path).cmp(&(b.number, &b.path)));
    Ok(files)
}

/// The id as the agent writes it, from a folder's name, which is the same without dashes.
fn dashed(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let is_hex = name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| name.get(range).unwrap_or_default());
    if is_hex {
        parts.join("-")
    } else {
        name.into_owned()
    }
}

/// A quarter of an hour, of which all zones are multiples.
const QUARTER: i64 = 15 * 60 * 1_000;
/// No zone is further from another.
const WIDEST: i64 = 26 * 60 * 60 * 1_000;
/// A file is written this soon after its event.
const SOON: i64 = 5_000;

/// Times have no zone, and are those of the writer's or UTC. When the first two files were written a whole
/// number of quarters from the times in them, that is the zone.
fn offset(files: &[EventFile]) -> Option<i64> {
    let [first, second, ..] = files else {
        return None;
    };
    let (first, second) = (quarters(&first.path), quarters(&second.path));
    Some(first.filter(|_| first == second).unwrap_or(0))
}

fn quarters(path: &Path) -> Option<i64> {
    let event = Document::read(path, &[]).ok()?;
    let said = Timestamp::parse(text(&event.root, "timestamp"))?;
    let written = walk::stamp(&fs::metadata(path).ok()?).modified();
    let apart = written.0 - said.0;
    let rounded = (apart + QUARTER / 2).div_euclid(QUARTER) * QUARTER;
    ((apart - rounded).abs() < SOON && rounded.abs() <= WIDEST).then_some(rounded)
}

fn take_facts(base: &Value, facts: &mut SessionFacts) {
    let within = |outer: &str| base.get(outer).unwrap_or(&Value::Null);
    facts.cwd = words(within("workspace"), "working_dir").map(str::to_owned);
    let llm = within("agent").get("llm").unwrap_or(&Value::Null);
    facts.model = words(llm, "model").map(str::to_owned);
    facts.offer_title(text(base, "title"), TitleRank::Given);
}

/// A conversation as it is told.
struct Talk<'s> {
    file: &'s SourceFile,
    log: SessionLog<'s>,
    offset: i64,
    is_resumed: bool,
    /// Numbers of the events that were told in this read, by the agent's ids.
    numbers: HashMap<String, u64>,
    account: ReadAccount,
}

impl Talk<'_> {
    /// Tells an event. `false` when it is the last and still being written.
    fn event_file(&mut self, file: &EventFile, is_last: bool) -> Result<bool, ReadError> {
        let line = file.number + 1;
        let document = Document::read(&file.path, &["tools", "system_prompt"]);
        let whole = match document {
            Ok(document) if document.error.is_none() && document.root.is_object() => document,
            Ok(_) | Err(ReadError::NoSession { .. }) if is_last => {
                let detail = "the last event has no end";
                self.account.note(line, IssueCode::PartialTail, detail);
                return Ok(false);
            }
            Ok(document) => {
                let why = document.error.unwrap_or_else(|| "not an event".to_owned());
                self.lost(line, IssueCode::NotJson, why);
                return Ok(true);
            }
            Err(ReadError::NoSession { .. }) => {
                self.lost(line, IssueCode::NotJson, "an empty file".to_owned());
                return Ok(true);
            }
            Err(error) => return Err(error),
        };
        self.account.add(&whole.account());
        self.account.lines += 1;
        self.event(&whole.root)?;
        Ok(true)
    }

    fn lost(&mut self, line: u64, code: IssueCode, why: String) {
        self.account.lines += 1;
        self.account.lost += 1;
        self.account.note(line, code, why);
    }

    fn event(&mut self, event: &Value) -> Result<(), ReadError> {
        let time = Timestamp::parse(text(event, "timestamp"));
        let time = time.map(|time| Timestamp(time.0 + self.offset));
        let mut draft = match event::told(event) {
            Told::Said(data) => Draft::new(data, time),
            Told::Condensed { forgotten, summary } => {
                // What is forgotten may have been told in an earlier read, which remembers no ids.
                if self.is_resumed {
                    return Err(stale(self.file));
                }
                self.condensed(&forgotten, summary, time)
            }
            Told::Summary(summary) => {
                let mut draft = Draft::new(EventData::ContextMessage(summary), time);
                draft.placement = Placement::LogOnly;
                draft
            }
            told @ (Told::Nothing | Told::Unknown) => {
                self.account.bookkeeping += 1;
                if told == Told::Unknown {
                    self.account.note_unknown(text(event, "kind"));
                }
                return Ok(());
            }
        };
        self.account.records += 1;
        if let Some(id) = words(event, "id") {
            draft.native_id = Some(id.to_owned());
            draft.copy_key = key_of_id(AGENT, id);
        }
        draft.reply_id = words(event, "llm_response_id").map(str::to_owned);
        let id = draft.native_id.clone();
        let seq = self.log.append(draft)?;
        self.numbers.extend(id.map(|id| (id, seq)));
        Ok(())
    }

    /// A summary in the place of what is forgotten.
    fn condensed(&mut self, forgotten: &[String], summary: Message, time: Option<Timestamp>) -> Draft {
        let numbers = forgotten.iter().filter_map(|id| self.numbers.get(id));
        let on_surface = numbers.filter(|seq| self.log.surface().position(**seq).is_some());
        let range = on_surface.fold(None, |range: Option<(u64, u64)>, &seq| match range {
            None => Some((seq, seq)),
            Some((first, last)) => Some((first.min(seq), last.max(seq))),
        });
        let mut draft = Draft::new(EventData::ContextMessage(summary), time);
        if let Some((first, last)) = range {
            draft.placement = Placement::ReplaceRange(first, last);
        }
        self.log.facts().compactions += 1;
        draft
    }
}
