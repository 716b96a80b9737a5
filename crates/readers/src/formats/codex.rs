//! OpenAI Codex: command line, `codex exec`, desktop and editor extension.
//!
//! One session is one rollout, an append-only JSONL file under `sessions/` or `archived_sessions/`, whose
//! name ends in the session's id; idle ones may be compressed. Three generations of records are read,
//! all by the same code: bare items (2025), items in an envelope, and paginated threads, in which every
//! text stands twice. Titles are kept apart, in `session_index.jsonl`.

mod conversation;
mod copies;
mod header;
mod injected;
mod payload;
mod record;
mod titles;
mod tools;

use crate::lines::{self, Line, Lines};
use crate::mend::{self, Taken};
use crate::walk::{Class, Walk};
use conversation::{Conversation, State};
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, IssueCode, Position, RawWords, ReadAccount, ReadCursor, ReadError,
    ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource, Timestamp};
use record::{Entry, Record};
use serde::de::IgnoredAny;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Reads the rollouts of OpenAI Codex.
pub struct Codex;

const AGENT: &str = "codex";
const ARCHIVE: &str = "archived_sessions";
/// `sessions/2026/05/04/`, and one folder more for trees that people keep.
const DEPTH: usize = 5;

impl SessionSource for Codex {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let moved = environment.variable("CODEX_HOME").map(PathBuf::from);
        vec![moved.unwrap_or_else(|| environment.home.join(".codex"))]
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let walk = Walk {
            agent: AGENT,
            root,
            depth: DEPTH,
            classify: &classify,
            enter: &holds_sessions,
        };
        walk.run(found);
        // While a compressed rollout is being resumed both forms exist, and the plain one is the newer.
        let plain: HashSet<PathBuf> = found.files.iter().map(|file| file.path.clone()).collect();
        found.files.retain(|file| {
            file.agent != AGENT
                || !is_compressed(&file.path)
                || !plain.contains(&file.path.with_extension(""))
        });
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        if file.role == FileRole::Side {
            return read_whole(file, cursor, |account| titles::read(file, sink, account));
        }
        if is_compressed(&file.path) {
            return read_whole(file, cursor, |account| read_compressed(file, sink, account));
        }
        read_plain(file, cursor, sink)
    }

    fn raw_words(&self, file: &SourceFile) -> RawWords {
        RawWords {
            is_json: !is_compressed(&file.path),
            added: record::ADDED_WORDS,
        }
    }

    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        if facts.kind == SessionKind::Subagent || facts.hidden {
            return None;
        }
        let arguments = ["codex", "resume", &session.id].map(str::to_owned).to_vec();
        Some(ResumeCommand {
            arguments,
            directory: session.cwd.clone(),
        })
    }
}

/// The first folder of a path relative to the root.
fn top_folder(relative: &Path) -> &str {
    relative
        .iter()
        .next()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
}

fn holds_sessions(relative: &Path) -> bool {
    matches!(top_folder(relative), "sessions" | ARCHIVE)
}

fn classify(relative: &Path) -> Class {
    if relative == Path::new(titles::FILE_NAME) {
        return Class::File(FileRole::Side);
    }
    if relative == Path::new("history.jsonl") {
        return Class::Aside("log of prompts, which transcripts repeat");
    }
    let name = relative
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let is_rollout =
        name.starts_with("rollout-") && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"));
    if is_rollout && holds_sessions(relative) {
        Class::File(FileRole::Transcript)
    } else {
        Class::Other
    }
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

/// Date and id in a rollout's name: `rollout-2026-05-04T09-00-00-<uuid>.jsonl`. After a revert the id of
/// the rollout follows that of the session.
fn name_parts(path: &Path) -> Option<(Timestamp, String)> {
    let name = path.file_name()?.to_str()?.strip_prefix("rollout-")?;
    let (date, time) = (name.get(..10)?, name.get(11..19)?.replace('-', ":"));
    let id = name.get(19..)?.strip_prefix('-')?.get(..36)?;
    let is_id = id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let started = Timestamp::parse(&format!("{date}T{time}"))?;
    is_id.then(|| (started, id.to_ascii_lowercase()))
}

/// Id of a session whose file's name does not say it, from the first header.
fn id_in_file(path: &Path, input: impl Read) -> Result<String, ReadError> {
    let mut lines = Lines::new(input, 0);
    let mut is_empty = true;
    while let Some(line) = lines.next().map_err(|error| lines::io_error(path, error))? {
        is_empty = false;
        let text = String::from_utf8_lossy(line.bytes);
        let text = mend::mend(text.trim_start_matches('\u{FEFF}').trim());
        if let Ok(Record {
            entry: Entry::Meta(meta),
            ..
        }) = record::parse(&text, 0)
            && let Some(id) = meta.id
        {
            return Ok(id);
        }
    }
    let (code, detail) = match is_empty {
        true => (IssueCode::EmptyFile, "the file is empty"),
        false => (IssueCode::NoSessionHeader, "no record names the session"),
    };
    Err(ReadError::NoSession {
        path: path.to_owned(),
        code,
        detail: detail.to_owned(),
    })
}

/// Begins the session of a file that is read from its start.
fn begin<'s>(
    file: &SourceFile,
    input: impl FnOnce() -> Result<Box<dyn Read>, ReadError>,
    sink: &'s mut dyn EventSink,
) -> Result<Conversation<'s>, ReadError> {
    let (since, id) = match name_parts(&file.path) {
        Some(parts) => parts,
        None => (file.stamp.modified(), id_in_file(&file.path, input()?)?),
    };
    Ok(Conversation::begin(sink, &id, since)?)
}

/// Where a read of lines stands.
struct Progress {
    offset: u64,
    line: u64,
}

fn read_plain(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    let path = &file.path;
    let io_error = |error| lines::io_error(path, error);
    let mut input = lines::open(path)?;
    if input.metadata().map_err(io_error)?.len() == 0 {
        let (code, detail) = (IssueCode::EmptyFile, "the file is empty".to_owned());
        return Err(ReadError::NoSession {
            path: path.clone(),
            code,
            detail,
        });
    }
    let mut progress = Progress { offset: 0, line: 0 };
    let mut conversation = match cursor {
        None => begin(file, || Ok(Box::new(lines::open(path)?)), sink)?,
        Some(cursor) => {
            let (state, at) = checked(path, &mut input, cursor)?;
            progress = at;
            Conversation::resume(sink, state)?
        }
    };
    conversation.set_archived(is_archived(file));
    input.seek(SeekFrom::Start(progress.offset)).map_err(io_error)?;
    let mut account = ReadAccount::default();
    let start = progress.offset;
    let mut lines = Lines::new(&input, start);
    let is_open_ended =
        read_lines(&mut lines, &mut progress, &mut conversation, &mut account).map_err(io_error)?;
    if let Some(closed) = conversation.closed() {
        return Err(closed.into());
    }
    account.bytes = progress.offset - start;
    if input.metadata().map_err(io_error)?.len() < progress.offset {
        return Err(ReadError::Changed { path: path.clone() });
    }
    let guard = lines::guard(&mut input, progress.offset).map_err(io_error)?;
    let mut state = conversation.finish()?;
    state.is_open_ended = is_open_ended;
    let position = Position::Lines {
        offset: progress.offset,
        line: progress.line,
        guard,
    };
    Ok(ReadOutcome {
        cursor: ReadCursor {
            position,
            state: as_json(&state),
        },
        account,
    })
}

fn is_archived(file: &SourceFile) -> bool {
    file.path
        .strip_prefix(&file.root)
        .is_ok_and(|relative| top_folder(relative) == ARCHIVE)
}

fn as_json(state: &State) -> String {
    // A state of numbers and strings can always be written.
    serde_json::to_string(state).unwrap_or_default()
}

/// The state of a cursor, when what was read before still stands in the file.
fn checked(path: &Path, input: &mut File, cursor: &ReadCursor) -> Result<(State, Progress), ReadError> {
    let stale = || ReadError::StaleCursor {
        path: path.to_owned(),
    };
    let Position::Lines { offset, line, guard } = cursor.position else {
        return Err(stale());
    };
    let holds = lines::guard_holds(input, offset, guard).map_err(|error| lines::io_error(path, error))?;
    let length = input
        .metadata()
        .map_err(|error| lines::io_error(path, error))?
        .len();
    let state: State = serde_json::from_str(&cursor.state).map_err(|_| stale())?;
    if !holds || length < offset {
        return Err(stale());
    }
    // What was taken as a whole line must have been one.
    if state.is_open_ended && !line_ends_at(input, offset).map_err(|error| lines::io_error(path, error))? {
        return Err(stale());
    }
    let line = if state.is_open_ended {
        line.saturating_sub(1)
    } else {
        line
    };
    Ok((state, Progress { offset, line }))
}

/// Whether nothing but white space stands between `offset` and the next line feed, or the end.
fn line_ends_at(input: &mut File, offset: u64) -> io::Result<bool> {
    let mut start = [0; 16];
    input.seek(SeekFrom::Start(offset))?;
    let length = input.read(&mut start)?;
    let rest = start
        .get(..length)
        .unwrap_or_default()
        .split(|&byte| byte == b'\n')
        .next();
    Ok(rest.is_none_or(|rest| rest.iter().all(u8::is_ascii_whitespace)))
}

/// Reads lines to the end; whether the last one that was taken had no line feed.
fn read_lines(
    lines: &mut Lines<impl Read>,
    progress: &mut Progress,
    conversation: &mut Conversation<'_>,
    account: &mut ReadAccount,
) -> io::Result<bool> {
    let mut is_open_ended = conversation.is_open_ended();
    while let Some(line) = lines.next()? {
        progress.line += 1;
        // The line feed of a line that was taken before it came.
        let is_rest = std::mem::take(&mut is_open_ended) && line.bytes.trim_ascii().is_empty();
        if is_rest {
            progress.offset = line.offset + line.length;
            continue;
        }
        if !line.complete && !is_whole(&line, progress.line) {
            account.note(
                progress.line,
                IssueCode::PartialTail,
                "the last record has no end yet",
            );
            progress.line -= 1;
            return Ok(false);
        }
        is_open_ended = !line.complete;
        take_line(&line, progress.line, conversation, account);
        if conversation.closed().is_some() || conversation.has_enough() {
            return Ok(is_open_ended);
        }
        progress.offset = line.offset + line.length;
    }
    Ok(is_open_ended)
}

/// Whether a line without a line feed is a record nevertheless.
fn is_whole(line: &Line<'_>, number: u64) -> bool {
    let bytes = if number == 1 {
        line.bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line.bytes)
    } else {
        line.bytes
    };
    bytes.first() == Some(&b'{') && serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

fn take_line(line: &Line<'_>, number: u64, conversation: &mut Conversation<'_>, account: &mut ReadAccount) {
    if line.cut > 0 {
        account.note(
            number,
            IssueCode::TextCut,
            format!("{} bytes of text were left out", line.cut),
        );
    }
    conversation.record(line.bytes);
    mend::read_line(line.bytes, number, account, &mut |text| -> Result<
        Taken,
        serde_json::Error,
    > {
        let wanted = conversation.tool_text_wanted();
        Ok(conversation.take(record::parse(text, wanted)?))
    });
    for name in conversation.unknown.drain(..) {
        account.note_unknown(&name);
    }
}

/// Reads a compressed rollout from its start. Damage costs what follows it.
fn read_compressed(
    file: &SourceFile,
    sink: &mut dyn EventSink,
    account: &mut ReadAccount,
) -> Result<(), ReadError> {
    let open = || -> Result<Box<dyn Read>, ReadError> {
        let decoder = zstd::stream::read::Decoder::new(lines::open(&file.path)?);
        Ok(Box::new(
            decoder.map_err(|error| lines::io_error(&file.path, error))?,
        ))
    };
    let mut conversation = begin(file, open, sink)?;
    conversation.set_archived(is_archived(file));
    let mut progress = Progress { offset: 0, line: 0 };
    let mut lines = Lines::new(open()?, 0);
    if let Err(error) = read_lines(&mut lines, &mut progress, &mut conversation, account) {
        account.lines += 1;
        account.lost += 1;
        account.note(
            progress.line + 1,
            IssueCode::IoError,
            format!("cannot decompress: {error}"),
        );
    }
    if let Some(closed) = conversation.closed() {
        return Err(closed.into());
    }
    account.bytes = file.stamp.size;
    conversation.finish()?;
    Ok(())
}

/// A file that is read whole or not at all: nothing is done while its marks are what they were.
fn read_whole(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    read: impl FnOnce(&mut ReadAccount) -> Result<(), ReadError>,
) -> Result<ReadOutcome, ReadError> {
    let state = format!("{} {}", file.stamp.size, file.stamp.modified_ns);
    let mut account = ReadAccount::default();
    match cursor {
        Some(cursor) if cursor.position != Position::Whole || cursor.state != state => {
            return Err(ReadError::StaleCursor {
                path: file.path.clone(),
            });
        }
        Some(_) => {}
        None => read(&mut account)?,
    }
    Ok(ReadOutcome {
        cursor: ReadCursor {
            position: Position::Whole,
            state,
        },
        account,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_session_and_start() {
        let id = "019df0a5-d400-7000-8000-00000000000a";
        let started = Timestamp::parse("2026-05-04T09:00:00Z").unwrap();
        for suffix in [
            ".jsonl",
            ".jsonl.zst",
            "_019df0a5-ffff-7000-8000-00000000000b.jsonl",
        ] {
            let name = format!("/h/.codex/sessions/rollout-2026-05-04T09-00-00-{id}{suffix}");
            assert_eq!(name_parts(Path::new(&name)), Some((started, id.to_owned())));
        }
        for name in [
            "rollout-.jsonl",
            "rollout-2026-05-04T09-00-00-short.jsonl",
            "other.jsonl",
            "rollout-ééééééééééééé",
        ] {
            assert_eq!(name_parts(Path::new(name)), None);
        }
    }
}
