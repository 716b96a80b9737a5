//! Reading the append-only transcript of one session: a record a line, from where the last read ended.
//!
//! What records mean is a format's own; it says so by [`Records`]. That a line may be damaged, glued to
//! another, still growing or without a line feed, that a file may have been replaced, and that it may hold
//! no session, is the same for all formats and is dealt with here.

use crate::lines::{self, Line, Lines};
use crate::log::{LogState, SessionLog};
use crate::mend::{self, Taken};
use crate::rewritten;
use lookback_model::source::{
    EventSink, IssueCode, Position, ReadAccount, ReadCursor, ReadError, ReadOutcome, SinkClosed, SourceFile,
};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// What the records of a format mean. The implementor is what has to be remembered between two reads.
pub(crate) trait Records: Default + Serialize + DeserializeOwned {
    /// A line's object.
    type Record<'a>: Deserialize<'a>;

    /// The session that a file is of. Asked of every record until one has an answer; records without one
    /// are passed over, but for what is remembered of them here.
    fn session_id(&mut self, record: &Self::Record<'_>, file: &SourceFile) -> Option<String>;

    /// What the file's place and the files beside it say, at the start of every read.
    fn look_around(&mut self, _file: &SourceFile, _log: &mut SessionLog<'_>) {}

    /// Takes a record.
    fn take(&mut self, record: Self::Record<'_>, log: &mut SessionLog<'_>) -> Result<Took, Stop>;

    /// The read ends here. What is told now must be what reading on would have told.
    fn pause(&mut self, _log: &mut SessionLog<'_>) -> Result<(), Stop> {
        Ok(())
    }
}

/// What became of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Took {
    /// It gave events or facts of the conversation.
    Record,
    /// It holds the agent's state.
    Bookkeeping,
    /// It is of this type, which the reader does not know.
    Unknown(String),
}

/// Why reading ends before the file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The receiver wants nothing more.
    Closed,
    /// What is remembered does not suffice; the whole file must be read.
    Stale,
}

impl From<SinkClosed> for Stop {
    fn from(_: SinkClosed) -> Self {
        Self::Closed
    }
}

impl Stop {
    /// As an error of reading `file`.
    pub(crate) fn error(self, file: &SourceFile) -> ReadError {
        match self {
            Self::Closed => SinkClosed.into(),
            Self::Stale => stale(file),
        }
    }
}

/// What a cursor keeps.
#[derive(Debug, Deserialize, Serialize)]
struct State<R> {
    id: String,
    /// The last line was taken although nothing ended it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_open: bool,
    /// No record had a time so far, and the session was given the file's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_untimed: bool,
    log: LogState,
    records: R,
}

/// Reads a transcript from `cursor` on.
pub(crate) fn read<R: Records>(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    let failed = |error| lines::io_error(&file.path, error);
    let mut input = lines::open(&file.path)?;
    let (at, state) = start::<R>(file, cursor, &mut input)?;
    input.seek(SeekFrom::Start(at.offset)).map_err(failed)?;
    let mut reading = Reading::<R>::new(file, at, sink);
    if let Some(state) = state {
        reading.go_on(state)?;
    }
    let mut lines = Lines::new(&input, at.offset);
    while let Some(line) = lines.next().map_err(failed)? {
        reading.line(&line);
        if let Some(stop) = reading.stop {
            return Err(stop.error(file));
        }
        if reading.has_enough() {
            break;
        }
    }
    reading.finish(input)
}

/// Reads a transcript whole that comes from somewhere else than the file as it is, such as a decoder. What
/// cannot be decoded at its end may still be written.
pub(crate) fn read_whole<R: Records>(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    input: impl Read,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    if cursor.is_some() {
        return Err(stale(file));
    }
    let mut reading = Reading::<R>::new(file, At::default(), sink);
    let mut lines = Lines::new(input, 0);
    loop {
        match lines.next() {
            Ok(Some(line)) => reading.line(&line),
            Ok(None) => break,
            Err(error) => {
                let detail = format!("cannot decode the end: {error}");
                let line = reading.at.line + 1;
                reading.account.note(line, IssueCode::PartialTail, detail);
                break;
            }
        }
        if let Some(stop) = reading.stop {
            return Err(stop.error(file));
        }
    }
    let (_, mut account) = reading.end()?;
    account.bytes = file.stamp.size;
    Ok(rewritten::outcome(account))
}

fn stale(file: &SourceFile) -> ReadError {
    ReadError::StaleCursor {
        path: file.path.clone(),
    }
}

/// A file without a session.
pub(crate) fn no_session(file: &SourceFile, code: IssueCode, detail: &str) -> ReadError {
    ReadError::NoSession {
        path: file.path.clone(),
        code,
        detail: detail.to_owned(),
    }
}

/// Where reading is.
#[derive(Clone, Copy, Debug, Default)]
struct At {
    offset: u64,
    line: u64,
    is_open: bool,
}

fn start<R: Records>(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    input: &mut File,
) -> Result<(At, Option<State<R>>), ReadError> {
    let failed = |error| lines::io_error(&file.path, error);
    let size = input.metadata().map_err(failed)?.len();
    let Some(cursor) = cursor else {
        if size == 0 {
            return Err(no_session(file, IssueCode::EmptyFile, "it is empty"));
        }
        return Ok((At::default(), None));
    };
    let Position::Lines { offset, line, guard } = cursor.position else {
        return Err(stale(file));
    };
    let state: State<R> = serde_json::from_str(&cursor.state).map_err(|_| stale(file))?;
    if size < offset || !lines::guard_holds(input, offset, guard).map_err(failed)? {
        return Err(stale(file));
    }
    let is_open = state.is_open;
    Ok((
        At {
            offset,
            line,
            is_open,
        },
        Some(state),
    ))
}

/// The session of a file, once it is known.
enum Session<'s> {
    Unknown(Option<&'s mut dyn EventSink>),
    Begun { id: String, log: Box<SessionLog<'s>> },
}

/// A read under way.
struct Reading<'f, 's, R> {
    file: &'f SourceFile,
    session: Session<'s>,
    records: R,
    at: At,
    account: ReadAccount,
    stop: Option<Stop>,
}

impl<'f, 's, R: Records> Reading<'f, 's, R> {
    fn new(file: &'f SourceFile, at: At, sink: &'s mut dyn EventSink) -> Self {
        Self {
            file,
            session: Session::Unknown(Some(sink)),
            records: R::default(),
            at,
            account: ReadAccount::default(),
            stop: None,
        }
    }

    fn go_on(&mut self, state: State<R>) -> Result<(), ReadError> {
        self.records = state.records;
        self.begin(state.id, Some(state.log), state.is_untimed)
            .map_err(|stop| stop.error(self.file))
    }

    fn begin(&mut self, id: String, state: Option<LogState>, is_untimed: bool) -> Result<(), Stop> {
        let Session::Unknown(sink) = &mut self.session else {
            return Ok(());
        };
        let mut log = SessionLog::begin(sink.take().ok_or(Stop::Closed)?, &id, state)?;
        if is_untimed {
            let facts = log.facts();
            (facts.created_at, facts.updated_at) = (None, None);
        }
        self.records.look_around(self.file, &mut log);
        self.session = Session::Begun {
            id,
            log: Box::new(log),
        };
        Ok(())
    }

    fn has_enough(&self) -> bool {
        matches!(&self.session, Session::Begun { log, .. } if log.has_enough())
    }

    fn line(&mut self, line: &Line<'_>) {
        if std::mem::take(&mut self.at.is_open) {
            self.end_of_open_line(line);
            return;
        }
        let number = self.at.line + 1;
        if !line.complete && !self.is_whole(line, number) {
            return;
        }
        self.at = At {
            offset: line.offset + line.length,
            line: number,
            is_open: !line.complete,
        };
        self.account.bytes += line.length;
        if line.cut > 0 {
            let detail = format!("{} bytes of long text", line.cut);
            self.account.note(number, IssueCode::TextCut, detail);
        }
        if let Session::Begun { log, .. } = &mut self.session {
            log.record(line.bytes);
        }
        let mut account = std::mem::take(&mut self.account);
        let mut unknown = Vec::new();
        mend::read_line(line.bytes, number, &mut account, &mut |text| {
            let record: R::Record<'_> = serde_json::from_str(text)?;
            if self.stop.is_some() {
                return Ok(Taken::Bookkeeping);
            }
            Ok(match self.take(record) {
                Ok(Took::Record) => Taken::Record,
                Ok(Took::Bookkeeping) => Taken::Bookkeeping,
                Ok(Took::Unknown(name)) => {
                    unknown.push(name);
                    Taken::Bookkeeping
                }
                Err(stop) => {
                    self.stop = Some(stop);
                    Taken::Bookkeeping
                }
            })
        });
        unknown.iter().for_each(|name| account.note_unknown(name));
        self.account = account;
    }

    /// What follows a line that was taken before anything ended it: nothing, or else another record was
    /// glued to it, and the whole of it has to be read as one line.
    fn end_of_open_line(&mut self, line: &Line<'_>) {
        if !line.bytes.iter().all(u8::is_ascii_whitespace) {
            self.stop = Some(Stop::Stale);
            return;
        }
        self.at.offset = line.offset + line.length;
        self.at.is_open = !line.complete;
        self.account.bytes += line.length;
    }

    /// Whether the last line, which nothing ends, is a whole record all the same. One that is not may be
    /// growing, and is left for the next read.
    fn is_whole(&mut self, line: &Line<'_>, number: u64) -> bool {
        let bytes = match line.bytes.strip_prefix(b"\xEF\xBB\xBF") {
            Some(bytes) if number == 1 => bytes,
            _ => line.bytes,
        };
        let record = bytes.trim_ascii();
        if record.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(record).is_ok() {
            return true;
        }
        if record.iter().all(|&byte| byte == 0) {
            if !record.is_empty() {
                let detail = format!("{} zero bytes at the end", record.len());
                self.account.note(number, IssueCode::NulBytes, detail);
            }
            return false;
        }
        self.account
            .note(number, IssueCode::PartialTail, "the last record is not complete");
        false
    }

    fn take(&mut self, record: R::Record<'_>) -> Result<Took, Stop> {
        if let Session::Unknown(_) = &self.session {
            let Some(id) = self.records.session_id(&record, self.file) else {
                return Ok(Took::Bookkeeping);
            };
            self.begin(id, None, false)?;
        }
        match &mut self.session {
            Session::Begun { log, .. } => self.records.take(record, log),
            Session::Unknown(_) => Err(Stop::Closed),
        }
    }

    fn finish(self, mut input: File) -> Result<ReadOutcome, ReadError> {
        let file = self.file;
        let changed = || ReadError::Changed {
            path: file.path.clone(),
        };
        let size = input
            .metadata()
            .map_err(|error| lines::io_error(&file.path, error))?
            .len();
        let At { offset, line, .. } = self.at;
        if size < offset {
            return Err(changed());
        }
        let guard = lines::guard(&mut input, offset).map_err(|_| changed())?;
        let (state, account) = self.end()?;
        let position = Position::Lines { offset, line, guard };
        Ok(ReadOutcome {
            cursor: ReadCursor { position, state },
            account,
        })
    }

    /// Ends the session for now; gives what a cursor keeps of it.
    fn end(mut self) -> Result<(String, ReadAccount), ReadError> {
        let Session::Begun { id, mut log } = self.session else {
            let detail = "no line says which session it is";
            return Err(no_session(self.file, IssueCode::NoSessionHeader, detail));
        };
        self.records
            .pause(&mut log)
            .map_err(|stop| stop.error(self.file))?;
        let is_untimed = log.facts().created_at.is_none();
        if is_untimed {
            log.saw_time(self.file.stamp.modified());
        }
        let state = State {
            id,
            is_open: self.at.is_open,
            is_untimed,
            log: log.finish()?,
            records: self.records,
        };
        Ok((serde_json::to_string(&state).unwrap_or_default(), self.account))
    }
}
