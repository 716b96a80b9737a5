//! Reading a transcript line by line, from where the last read ended.

use super::conversation::{BOOKKEEPING, Conversation, Halt, LinesOf, State, is_conversation};
use super::places::{self, Place};
use super::record::Record;
use super::side;
use crate::lines::{self, Line, Lines};
use crate::mend::{self, Taken};
use lookback_model::source::{
    ContentGuard, EventSink, IssueCode, Position, ReadAccount, ReadCursor, ReadError, ReadOutcome, SourceFile,
};
use serde::de::IgnoredAny;
use std::fs::File;
use std::io::{Seek, SeekFrom};

/// Marks a session of Claude Desktop's own folders, see [`super::Claude`].
pub(super) const COWORK: &str = "cowork";

/// Where a read begins.
struct Start {
    offset: u64,
    line: u64,
    state: Option<State>,
}

/// Reads a transcript from `cursor` on.
pub(super) fn read(
    source: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    let io = |error| lines::io_error(&source.path, error);
    let mut file = lines::open(&source.path)?;
    let length = file.metadata().map_err(io)?.len();
    if length == 0 && cursor.is_none() {
        let (path, detail) = (source.path.clone(), "the file is empty".to_owned());
        return Err(ReadError::NoSession {
            path,
            code: IssueCode::EmptyFile,
            detail,
        });
    }
    let start = match cursor {
        Some(cursor) => continued(source, cursor, &mut file, length)?,
        None => Start {
            offset: 0,
            line: 0,
            state: None,
        },
    };
    file.seek(SeekFrom::Start(start.offset)).map_err(io)?;
    let place = places::place(&source.root, &source.path);
    let conversation = begin(source, &place, start.state, sink)?;
    let mut reading = Reading {
        source,
        conversation,
        account: ReadAccount::default(),
        offset: start.offset,
        line: start.line,
    };
    reading.lines(&file)?;
    let (offset, line) = (reading.offset, reading.line);
    if std::fs::metadata(&source.path).map_err(io)?.len() < offset {
        return Err(ReadError::Changed {
            path: source.path.clone(),
        });
    }
    let guard = lines::guard(&mut file, offset).map_err(io)?;
    let account = reading.account;
    let state = finish(reading.conversation, source)?;
    let state = serde_json::to_string(&state).map_err(|error| io(error.into()))?;
    Ok(ReadOutcome {
        cursor: ReadCursor {
            position: Position::Lines { offset, line, guard },
            state,
        },
        account,
    })
}

/// Where to go on, if the file still holds what was read.
fn continued(
    source: &SourceFile,
    cursor: &ReadCursor,
    file: &mut File,
    length: u64,
) -> Result<Start, ReadError> {
    let stale = || ReadError::StaleCursor {
        path: source.path.clone(),
    };
    let Position::Lines { offset, line, guard } = cursor.position else {
        return Err(stale());
    };
    let holds = |file: &mut File, guard: ContentGuard| lines::guard_holds(file, offset, guard);
    if length < offset || !holds(file, guard).map_err(|error| lines::io_error(&source.path, error))? {
        return Err(stale());
    }
    let state = serde_json::from_str(&cursor.state).map_err(|_| stale())?;
    Ok(Start {
        offset,
        line,
        state: Some(state),
    })
}

fn begin<'s>(
    source: &SourceFile,
    place: &Place,
    state: Option<State>,
    sink: &'s mut dyn EventSink,
) -> Result<Conversation<'s>, ReadError> {
    let time_of_file = state.as_ref().is_some_and(|state| state.time_of_file);
    let mut conversation = Conversation::begin(sink, &place.id, place.subagent, state)?;
    let facts = conversation.log.facts();
    if time_of_file {
        (facts.created_at, facts.updated_at) = (None, None);
    }
    if place.parent.is_some() {
        facts.parent.clone_from(&place.parent);
    }
    if place.cowork && !place.subagent {
        facts.agent_type = Some(COWORK.to_owned());
    }
    if place.subagent {
        side::take_description(&source.path, &mut conversation);
    }
    Ok(conversation)
}

fn finish(mut conversation: Conversation<'_>, source: &SourceFile) -> Result<State, ReadError> {
    let facts = conversation.log.facts();
    let timeless = facts.created_at.is_none();
    if timeless {
        let modified = source.stamp.modified();
        (facts.created_at, facts.updated_at) = (Some(modified), Some(modified));
    }
    conversation.state.time_of_file = timeless;
    Ok(conversation.finish()?)
}

/// A read under way.
struct Reading<'s> {
    source: &'s SourceFile,
    conversation: Conversation<'s>,
    account: ReadAccount,
    /// Bytes and lines before what is next.
    offset: u64,
    line: u64,
}

impl Reading<'_> {
    fn lines(&mut self, file: &File) -> Result<(), ReadError> {
        let io = |error| lines::io_error(&self.source.path.clone(), error);
        let mut lines = Lines::new(file, self.offset);
        if self.conversation.state.unterminated {
            let Some(rest) = lines.next().map_err(io)? else {
                return Ok(());
            };
            // What was taken as a whole line must have been one.
            if !rest.bytes.iter().all(u8::is_ascii_whitespace) {
                return Err(ReadError::StaleCursor {
                    path: self.source.path.clone(),
                });
            }
            if !rest.complete {
                return Ok(());
            }
            self.pass(&rest);
            self.conversation.state.unterminated = false;
        }
        while let Some(line) = lines.next().map_err(io)? {
            if !line.complete && !self.may_be_taken(&line) {
                return Ok(());
            }
            self.conversation.state.unterminated = !line.complete;
            self.line += 1;
            self.pass(&line);
            self.line(&line)?;
            if self.conversation.log.has_enough() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn pass(&mut self, line: &Line<'_>) {
        self.offset += line.length;
        self.account.bytes += line.length;
    }

    /// Whether the file's last line, which has no line feed, is whole all the same. When it is not, it is
    /// left for the next read.
    fn may_be_taken(&mut self, line: &Line<'_>) -> bool {
        let number = self.line + 1;
        if is_whole(line, number) {
            return true;
        }
        let record = line.bytes.trim_ascii();
        if record.iter().all(|&byte| byte == 0) {
            if !record.is_empty() {
                self.account.note(
                    number,
                    IssueCode::NulBytes,
                    format!("{} zero bytes at the end", record.len()),
                );
            }
            return false;
        }
        self.account
            .note(number, IssueCode::PartialTail, "the last record is not complete");
        false
    }

    fn line(&mut self, line: &Line<'_>) -> Result<(), ReadError> {
        let number = self.line;
        if line.cut > 0 {
            self.account.note(
                number,
                IssueCode::TextCut,
                format!("{} bytes of text were left out", line.cut),
            );
        }
        if line.complete && is_plain_bookkeeping(line.bytes) {
            self.account.lines += 1;
            self.account.bookkeeping += 1;
            return Ok(());
        }
        let (source, conversation) = (self.source, &mut self.conversation);
        conversation.log.record(line.bytes);
        let mut halt = None;
        let mut unknown = Vec::new();
        mend::read_line(line.bytes, number, &mut self.account, &mut |json| {
            let record: Record<'_> = serde_json::from_str(json)?;
            if halt.is_some() {
                return Ok(Taken::Bookkeeping);
            }
            match take(conversation, &record, source, &mut unknown) {
                Ok(taken) => Ok(taken),
                Err(error) => {
                    halt = Some(error);
                    Ok(Taken::Bookkeeping)
                }
            }
        });
        unknown.iter().for_each(|name| self.account.note_unknown(name));
        halt.map_or(Ok(()), Err)
    }
}

/// Whether a line is a whole record, though it may lack its line feed.
fn is_whole(line: &Line<'_>, number: u64) -> bool {
    let record = line.bytes.trim_ascii();
    let record = match record.strip_prefix(b"\xEF\xBB\xBF") {
        Some(record) if number == 1 => record,
        _ => record,
    };
    line.complete || record.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(record).is_ok()
}

fn take(
    conversation: &mut Conversation<'_>,
    record: &Record<'_>,
    source: &SourceFile,
    unknown: &mut Vec<String>,
) -> Result<Taken, ReadError> {
    if conversation.asks_whose_lines(record) && !has_lines_of_its_own(source)? {
        conversation.state.lines_of = LinesOf::Subagent;
    }
    let mut name = None;
    let taken = conversation.take(record, &mut name).map_err(|halt| match halt {
        Halt::Closed(closed) => ReadError::Closed(closed),
        Halt::Stale => ReadError::StaleCursor {
            path: source.path.clone(),
        },
    });
    unknown.extend(name);
    taken
}

/// Whether any line of a file's conversation is not of a sidechain. Asked only of files that begin with
/// a sidechain, which few do.
fn has_lines_of_its_own(source: &SourceFile) -> Result<bool, ReadError> {
    let mut lines = Lines::new(lines::open(&source.path)?, 0);
    let mut number = 0;
    let mut found = false;
    while let Some(line) = lines
        .next()
        .map_err(|error| lines::io_error(&source.path, error))?
    {
        number += 1;
        if !is_whole(&line, number) {
            break;
        }
        mend::read_line(line.bytes, number, &mut ReadAccount::default(), &mut |json| {
            let record: Record<'_> = serde_json::from_str(json)?;
            found |= is_conversation(&record) && !record.sidechain.0;
            Ok(Taken::Record)
        });
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a line is surely one record of bookkeeping, so that it need not be parsed: it begins with its
/// type, and no other record is glued to it. Most of the bytes of new transcripts are such lines.
fn is_plain_bookkeeping(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(br#"{"type":""#) else {
        return false;
    };
    let Some(name) = memchr::memchr(b'"', rest).and_then(|end| rest.get(..end)) else {
        return false;
    };
    BOOKKEEPING.iter().any(|kind| kind.as_bytes() == name)
        && bytes.trim_ascii_end().ends_with(b"}")
        && memchr::memmem::find(rest, b"\"parentUuid\"").is_none()
        && memchr::memmem::find(rest, b"}{\"").is_none()
        && (name.starts_with(b"api-") || memchr::memmem::find(rest, b"{\"type\":\"").is_none())
}
