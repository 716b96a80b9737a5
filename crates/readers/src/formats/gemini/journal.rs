//! The append-only form: one record a line, read from where the last read ended.

use super::project;
use super::record::Record;
use super::replay::{Replay, ReplayState, Stop};
use crate::journal::no_session;
use crate::lines::{self, Line, Lines};
use crate::log::SessionLog;
use crate::mend::{self, Taken};
use lookback_model::Timestamp;
use lookback_model::facts::TitleRank;
use lookback_model::session::SessionKind;
use lookback_model::source::{
    EventSink, IssueCode, Position, ReadAccount, ReadCursor, ReadError, ReadOutcome, SourceFile,
};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Seek, SeekFrom};

/// What a cursor keeps.
#[derive(Debug, Deserialize, Serialize)]
struct State {
    session_id: String,
    /// The last line was taken although nothing ended it.
    #[serde(default)]
    is_open: bool,
    /// No record had a time so far, and the session was given the file's.
    #[serde(default)]
    is_untimed: bool,
    replay: ReplayState,
}

/// Reads a journal from `cursor` on.
pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    let mut input = lines::open(&file.path)?;
    let (mut at, state) = start(file, cursor, &mut input)?;
    let mut reader = Reader {
        sessions: Sessions::Unknown {
            file,
            sink: Some(sink),
        },
        stop: None,
        unknown: Vec::new(),
    };
    if let Some(state) = state {
        at.is_open = state.is_open;
        reader.sessions.begin(state.session_id, Some(state.replay))?;
        if state.is_untimed {
            reader.sessions.forget_times();
        }
    }
    let mut account = ReadAccount::default();
    input
        .seek(SeekFrom::Start(at.offset))
        .map_err(|error| lines::io_error(&file.path, error))?;
    let mut lines = Lines::new(&input, at.offset);
    while let Some(line) = lines.next().map_err(|error| lines::io_error(&file.path, error))? {
        if line.complete {
            reader.complete_line(&line, &mut at, &mut account);
        } else {
            reader.last_line(&line, &mut at, &mut account);
        }
        reader
            .unknown
            .drain(..)
            .for_each(|name| account.note_unknown(&name));
        match reader.stop.take() {
            None => {}
            Some(Stop::Closed(closed)) => return Err(closed.into()),
            Some(Stop::Stale) => {
                return Err(ReadError::StaleCursor {
                    path: file.path.clone(),
                });
            }
        }
    }
    finish(file, input, reader, at, account)
}

/// Where reading is.
#[derive(Clone, Copy, Debug, Default)]
struct At {
    offset: u64,
    line: u64,
    is_open: bool,
}

fn start(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    input: &mut File,
) -> Result<(At, Option<State>), ReadError> {
    let failed = |error| lines::io_error(&file.path, error);
    let size = input.metadata().map_err(failed)?.len();
    let Some(cursor) = cursor else {
        if size == 0 {
            return Err(no_session(file, IssueCode::EmptyFile, "it is empty"));
        }
        return Ok((At::default(), None));
    };
    let stale = || ReadError::StaleCursor {
        path: file.path.clone(),
    };
    let Position::Lines { offset, line, guard } = cursor.position else {
        return Err(stale());
    };
    let state = serde_json::from_str(&cursor.state).map_err(|_| stale())?;
    if size < offset || !lines::guard_holds(input, offset, guard).map_err(failed)? {
        return Err(stale());
    }
    Ok((
        At {
            offset,
            line,
            is_open: false,
        },
        Some(state),
    ))
}

fn finish(
    file: &SourceFile,
    mut input: File,
    reader: Reader<'_, '_>,
    at: At,
    account: ReadAccount,
) -> Result<ReadOutcome, ReadError> {
    let changed = || ReadError::Changed {
        path: file.path.clone(),
    };
    let size = input
        .metadata()
        .map_err(|error| lines::io_error(&file.path, error))?
        .len();
    if size < at.offset {
        return Err(changed());
    }
    let guard = lines::guard(&mut input, at.offset).map_err(|_| changed())?;
    let Sessions::Begun { session_id, replay } = reader.sessions else {
        return Err(no_session(
            file,
            IssueCode::NoSessionHeader,
            "no line says which session it is",
        ));
    };
    let mut replay = *replay;
    let is_untimed = replay.log.facts().created_at.is_none();
    if is_untimed {
        replay.log.saw_time(file.stamp.modified());
    }
    let state = State {
        session_id,
        is_open: at.is_open,
        is_untimed,
        replay: replay.finish()?,
    };
    let state = serde_json::to_string(&state).unwrap_or_default();
    Ok(ReadOutcome {
        cursor: ReadCursor {
            position: Position::Lines {
                offset: at.offset,
                line: at.line,
                guard,
            },
            state,
        },
        account,
    })
}

/// The session of a file, which its header names.
enum Sessions<'f, 's> {
    Unknown {
        file: &'f SourceFile,
        sink: Option<&'s mut dyn EventSink>,
    },
    Begun {
        session_id: String,
        replay: Box<Replay<'s>>,
    },
}

impl<'s> Sessions<'_, 's> {
    /// Begins the session when it has not begun.
    fn begin(&mut self, session_id: String, state: Option<ReplayState>) -> Result<(), ReadError> {
        let Self::Unknown { file, sink } = self else {
            return Ok(());
        };
        let Some(sink) = sink.take() else {
            return Ok(());
        };
        let replay = begin(file, &session_id, state, sink)?;
        *self = Self::Begun {
            session_id,
            replay: Box::new(replay),
        };
        Ok(())
    }
}

impl Sessions<'_, '_> {
    /// Forgets the file's time, so that a record's can take its place.
    fn forget_times(&mut self) {
        if let Self::Begun { replay, .. } = self {
            let facts = replay.log.facts();
            (facts.created_at, facts.updated_at) = (None, None);
        }
    }
}

/// Begins a session of `file`, with what its place says about it, or goes on with it.
pub(super) fn begin<'s>(
    file: &SourceFile,
    session_id: &str,
    state: Option<ReplayState>,
    sink: &'s mut dyn EventSink,
) -> Result<Replay<'s>, lookback_model::source::SinkClosed> {
    let is_new = state.is_none();
    let mut replay = Replay::begin(&file.agent, state, |log| SessionLog::begin(sink, session_id, log))?;
    if is_new {
        let facts = replay.log.facts();
        facts.cwd = project::directory(file);
        if let Some(parent) = project::parent_session(&file.path) {
            facts.kind = SessionKind::Subagent;
            facts.parent = Some(parent.to_owned());
        }
    }
    Ok(replay)
}

/// Takes metadata: of a header, of a `$set` object or of a document.
pub(super) fn take_metadata(replay: &mut Replay<'_>, record: &Record<'_>) {
    for time in [&record.start_time, &record.last_updated] {
        if let Some(time) = Timestamp::parse(time.get()) {
            replay.log.saw_time(time);
        }
    }
    let facts = replay.log.facts();
    facts.offer_title(record.summary.get(), TitleRank::Summary);
    if record.kind.get() == "subagent" {
        facts.kind = SessionKind::Subagent;
    }
}

struct Reader<'f, 's> {
    sessions: Sessions<'f, 's>,
    stop: Option<Stop>,
    /// Types that are not known, until the account is free to take them.
    unknown: Vec<String>,
}

impl Reader<'_, '_> {
    fn complete_line(&mut self, line: &Line<'_>, at: &mut At, account: &mut ReadAccount) {
        at.offset = line.offset + line.length;
        account.bytes += line.length;
        if std::mem::take(&mut at.is_open) {
            self.end_of_open_line(line);
            return;
        }
        at.line += 1;
        if line.cut > 0 {
            account.note(
                at.line,
                IssueCode::TextCut,
                format!("{} bytes of long text", line.cut),
            );
        }
        mend::read_line(line.bytes, at.line, account, &mut |text| self.take(text));
    }

    /// What follows a line that was taken before anything ended it: nothing, or else another record was
    /// glued to it, and the whole of it has to be read as one line.
    fn end_of_open_line(&mut self, line: &Line<'_>) {
        if !line.bytes.iter().all(u8::is_ascii_whitespace) {
            self.stop = Some(Stop::Stale);
        }
    }

    /// The last line, which nothing ends: it is taken when it is whole, and left when it may be growing.
    fn last_line(&mut self, line: &Line<'_>, at: &mut At, account: &mut ReadAccount) {
        if at.is_open {
            self.end_of_open_line(line);
            return;
        }
        let number = at.line + 1;
        let without_mark = if number == 1 {
            line.bytes.strip_prefix(b"\xEF\xBB\xBF")
        } else {
            None
        };
        let text = std::str::from_utf8(without_mark.unwrap_or(line.bytes))
            .unwrap_or_default()
            .trim();
        let taken = if text.starts_with('{') {
            self.take(text).ok()
        } else {
            None
        };
        let Some(taken) = taken else {
            if !line.bytes.iter().all(u8::is_ascii_whitespace) {
                account.note(number, IssueCode::PartialTail, "the last line is not complete");
            }
            return;
        };
        match taken {
            Taken::Record => account.records += 1,
            Taken::Bookkeeping => account.bookkeeping += 1,
        }
        account.lines += 1;
        account.bytes += line.length;
        *at = At {
            offset: line.offset + line.length,
            line: number,
            is_open: true,
        };
    }

    /// Parses a record whole, then replays it.
    fn take(&mut self, text: &str) -> Result<Taken, serde_json::Error> {
        let record: Record<'_> = serde_json::from_str(text)?;
        if self.stop.is_some() {
            return Ok(Taken::Bookkeeping);
        }
        let taken = self.replay(&record);
        Ok(taken.unwrap_or_else(|stop| {
            self.stop = Some(stop);
            Taken::Bookkeeping
        }))
    }

    /// In the order in which the agent itself tells its records apart.
    fn replay(&mut self, record: &Record<'_>) -> Result<Taken, Stop> {
        if let Some(target) = record.rewind_to.0.as_deref() {
            self.begun(None)?.rewind(target)?;
            return Ok(Taken::Record);
        }
        if record.id.0.is_some() {
            self.unknown.extend(record.unknown_type().map(str::to_owned));
            self.begun(None)?.message(record)?;
            return Ok(Taken::Record);
        }
        if let Some(set) = &record.set.0 {
            return self.metadata(set, set.session_id.0.as_deref());
        }
        if let Some(id) = record.session_id.0.as_deref() {
            return self.metadata(record, Some(id));
        }
        let kind = record.r#type.get();
        self.unknown.push(
            if kind.is_empty() {
                "record without an id"
            } else {
                kind
            }
            .to_owned(),
        );
        Ok(Taken::Bookkeeping)
    }

    fn metadata(&mut self, record: &Record<'_>, id: Option<&str>) -> Result<Taken, Stop> {
        let replay = self.begun(id)?;
        take_metadata(replay, record);
        let Some(messages) = &record.messages.0 else {
            return Ok(Taken::Bookkeeping);
        };
        replay.replace(messages)?;
        Ok(Taken::Record)
    }
}

impl<'s> Reader<'_, 's> {
    /// The session, begun under `id`, or under its file's name when its header is damaged.
    fn begun(&mut self, id: Option<&str>) -> Result<&mut Replay<'s>, Stop> {
        if let Sessions::Unknown { file, .. } = &self.sessions {
            let name = || {
                file.path
                    .file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned()
            };
            let id = id
                .filter(|id| !id.trim().is_empty())
                .map_or_else(name, str::to_owned);
            self.sessions
                .begin(id, None)
                .map_err(|_| Stop::Closed(lookback_model::source::SinkClosed))?;
        }
        match &mut self.sessions {
            Sessions::Begun { replay, .. } => Ok(replay),
            Sessions::Unknown { .. } => Err(Stop::Closed(lookback_model::source::SinkClosed)),
        }
    }
}
