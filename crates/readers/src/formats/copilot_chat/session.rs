//! Reading a session, from its document or its log of changes.

use super::replay::{self, SKIPPED};
use super::{AGENT, request};
use crate::document::{self, Document, items, no_session, text, words};
use crate::lines::{self, Lines};
use crate::log::SessionLog;
use crate::vscode;
use lookback_model::facts::TitleRank;
use lookback_model::source::{
    EventSink, IssueCode, ReadAccount, ReadCursor, ReadError, ReadOutcome, SourceFile,
};
use lookback_model::{SessionFacts, Timestamp};
use serde_json::Value;
use std::path::Path;

/// Reads a session. One in which nothing was asked is none.
pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    document::refuse(file, cursor)?;
    let mut account = ReadAccount::default();
    let is_log = file
        .path
        .extension()
        .is_some_and(|extension| extension == "jsonl");
    let session = if is_log {
        replayed(file, &mut account)?
    } else {
        let document = Document::read(&file.path, SKIPPED)?;
        account = document.account();
        document.account_for_end(items(&document.root, "requests").len(), &mut account);
        document.root
    };
    if !session.get("requests").is_some_and(Value::is_array) {
        return Err(no_session(
            &file.path,
            IssueCode::NoSessionHeader,
            "it holds no requests",
        ));
    }
    let requests = items(&session, "requests");
    let waiting = items(&session, "pendingRequests");
    if requests.is_empty() && waiting.is_empty() {
        account.lines += 1;
        account.bookkeeping += 1;
        return Ok(document::outcome(account));
    }
    let stem = file.path.file_stem().unwrap_or_default().to_string_lossy();
    let id = words(&session, "sessionId").unwrap_or(&stem);
    let mut log = SessionLog::begin(sink, id, None)?;
    take_facts(&session, &file.path, log.facts());
    for key in ["creationDate", "lastMessageDate"] {
        if let Some(time) = session.get(key).and_then(Timestamp::from_json) {
            log.saw_time(time);
        }
    }
    if log.facts().created_at.is_none() {
        log.saw_time(file.stamp.modified());
    }
    for (at, request) in requests.iter().enumerate() {
        account.lines += 1;
        if request.is_object() {
            account.records += 1;
            request::tell(AGENT, &mut log, request)?;
        } else {
            account.lost += 1;
            account.note(at as u64 + 1, IssueCode::NotARecord, "not a request");
        }
    }
    for waiting in waiting {
        account.lines += 1;
        account.records += 1;
        request::tell(AGENT, &mut log, waiting.get("request").unwrap_or(waiting))?;
    }
    log.finish()?;
    Ok(document::outcome(account))
}

/// The object that a log of changes ends with. Damage ends the log: what comes after it builds on what is
/// missing.
fn replayed(file: &SourceFile, account: &mut ReadAccount) -> Result<Value, ReadError> {
    let input = lines::open(&file.path)?;
    let failed = |error| lines::io_error(&file.path, error);
    let mut lines = Lines::new(input, 0);
    let mut object = Value::Null;
    let mut number = 0;
    while let Some(line) = lines.next().map_err(failed)? {
        number += 1;
        account.bytes += line.length;
        if line.bytes.iter().all(u8::is_ascii_whitespace) {
            account.lines += 1;
            account.blank += 1;
            continue;
        }
        if line.cut > 0 {
            account.note(
                number,
                IssueCode::TextCut,
                format!("{} bytes of long text", line.cut),
            );
        }
        if replay::apply(line.bytes, &mut object).is_some() {
            account.lines += 1;
            account.bookkeeping += 1;
            continue;
        }
        if !line.complete {
            account.note(number, IssueCode::PartialTail, "the last change has no end");
            break;
        }
        account.lines += 1;
        account.lost += 1;
        account.note(
            number,
            IssueCode::NotJson,
            "no change of the session; the log is read as far as here",
        );
        break;
    }
    if number == 0 {
        return Err(no_session(&file.path, IssueCode::EmptyFile, "it is empty"));
    }
    Ok(object)
}

fn take_facts(session: &Value, path: &Path, facts: &mut SessionFacts) {
    facts.offer_title(text(session, "customTitle"), TitleRank::Given);
    let own = words(session, "workingDirectory").map(vscode::path_of_uri);
    facts.cwd = own.or_else(|| workspace(path));
}

/// The folder, or the file of a workspace of several, that a window's storage belongs to.
pub(super) fn workspace(path: &Path) -> Option<String> {
    let places = path.ancestors().skip(2).take(2);
    let notes = places.map(|place| place.join("workspace.json"));
    let note = notes.into_iter().find(|note| note.exists())?;
    let note = Document::read(&note, &[]).ok()?.root;
    let uri = ["folder", "configuration", "workspace"]
        .iter()
        .find_map(|key| words(&note, key))?;
    Some(vscode::path_of_uri(uri))
}
