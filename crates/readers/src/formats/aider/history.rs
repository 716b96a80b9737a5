//! Reading a history from where the last read ended.
//!
//! Blocks of lines become events when they end, and at the end of the file. If a later read finds that a block
//! which was told goes on, the file is read anew; that happens only when it was read while the agent wrote.

use super::blocks::{Reading, Speaker};
use super::input::Input;
use super::words::{self, Typed};
use crate::lines::{self, Lines};
use crate::log::{Draft, LogState, Placement, SessionLog};
use lookback_model::Timestamp;
use lookback_model::event::{ContentBlock, EventData, Message};
use lookback_model::source::{
    EventSink, IssueCode, Position, ReadAccount, ReadCursor, ReadError, ReadOutcome, SinkClosed, SourceFile,
};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

const START: &str = "# aider chat started at ";

/// A block is cut after so many bytes.
const BLOCK_LIMIT: usize = lines::STRING_LIMIT;

/// All that is needed to go on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct State {
    /// Sessions begun so far.
    sessions: u64,
    /// When the last one began, as it stands there.
    started: String,
    /// When something was last known to be said.
    time: Option<Timestamp>,
    log: LogState,
    reading: Reading,
    /// The last line had no end.
    torn: bool,
}

/// Reads a history.
pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    let mut input = lines::open(&file.path)?;
    let failed = |error| lines::io_error(&file.path, error);
    let (state, offset, line) = match cursor {
        None => (State::default(), 0, 0),
        Some(cursor) => resume(file, cursor, &mut input)?,
    };
    input.seek(SeekFrom::Start(offset)).map_err(failed)?;
    let mut history = History {
        file,
        state,
        lines: Lines::new(&input, offset),
        text: String::new(),
        line,
        end: offset,
        input: Input::beside(&file.path),
        block: String::new(),
        speaker: None,
        is_banner: false,
        account: ReadAccount::default(),
    };
    let mut next = history.first(sink)?;
    while let Some(started) = next {
        next = history.session(&started, sink)?;
    }
    let History {
        mut account,
        state,
        end,
        line,
        ..
    } = history;
    account.bytes = end - offset;
    if end == 0 {
        return Err(no_session(file, IssueCode::EmptyFile, "it is empty"));
    }
    if state.sessions == 0 {
        return Err(no_session(
            file,
            IssueCode::NoSessionHeader,
            "nothing is said in it",
        ));
    }
    let guard = lines::guard(&mut input, end).map_err(failed)?;
    Ok(ReadOutcome {
        cursor: ReadCursor {
            position: Position::Lines {
                offset: end,
                line,
                guard,
            },
            state: serde_json::to_string(&state).unwrap_or_default(),
        },
        account,
    })
}

fn resume(file: &SourceFile, cursor: &ReadCursor, input: &mut File) -> Result<(State, u64, u64), ReadError> {
    let Position::Lines { offset, line, guard } = cursor.position else {
        return Err(stale(file));
    };
    let holds = lines::guard_holds(input, offset, guard);
    if !holds.map_err(|error| lines::io_error(&file.path, error))? {
        return Err(stale(file));
    }
    let state = serde_json::from_str(&cursor.state).map_err(|_| stale(file))?;
    Ok((state, offset, line))
}

fn stale(file: &SourceFile) -> ReadError {
    ReadError::StaleCursor {
        path: file.path.clone(),
    }
}

fn no_session(file: &SourceFile, code: IssueCode, detail: &str) -> ReadError {
    ReadError::NoSession {
        path: file.path.clone(),
        code,
        detail: detail.to_owned(),
    }
}

/// A history as it is read.
struct History<'f> {
    file: &'f SourceFile,
    state: State,
    lines: Lines<&'f File>,
    /// The last line.
    text: String,
    /// Lines that were read.
    line: u64,
    /// Where the last one ended.
    end: u64,
    input: Input,
    /// What is being said, and who says it.
    block: String,
    speaker: Option<Speaker>,
    /// Whether it is how the program presents itself.
    is_banner: bool,
    account: ReadAccount,
}

/// What the next line is.
enum Next {
    /// A session begins, at this time.
    Session(String),
    /// Something is said; the line stands in [`History::text`].
    Words,
    Blank,
    End,
}

impl History<'_> {
    /// Takes a line.
    fn next(&mut self) -> Result<Next, ReadError> {
        let failed = |error| lines::io_error(&self.file.path, error);
        let Some(line) = self.lines.next().map_err(failed)? else {
            return Ok(Next::End);
        };
        if self.state.torn {
            return Err(stale(self.file));
        }
        self.line += 1;
        self.end = line.offset + line.length;
        self.state.torn = !line.complete;
        self.account.lines += 1;
        if line.cut > 0 {
            let detail = format!("{} bytes of long text", line.cut);
            self.account.note(self.line, IssueCode::TextCut, detail);
        }
        let mut bytes = line.bytes;
        if self.line == 1 {
            bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        }
        self.text.clear();
        self.text.push_str(&String::from_utf8_lossy(bytes));
        if self.text.ends_with('\r') {
            self.text.pop();
        }
        if bytes.contains(&0) {
            self.text.retain(|character| character != '\0');
            self.account
                .note(self.line, IssueCode::NulBytes, "zero bytes in the line");
            if self.text.trim().is_empty() {
                self.account.lost += 1;
                return Ok(Next::Blank);
            }
        }
        if let Some(started) = self.text.strip_prefix(START) {
            self.account.bookkeeping += 1;
            return Ok(Next::Session(started.trim().to_owned()));
        }
        if self.text.trim().is_empty() {
            self.account.blank += 1;
            return Ok(Next::Blank);
        }
        self.account.records += 1;
        Ok(Next::Words)
    }

    /// Reads what goes on with the session of an earlier read, or stands before any start of one. Gives the
    /// start of the next session.
    fn first(&mut self, sink: &mut dyn EventSink) -> Result<Option<String>, ReadError> {
        loop {
            match self.next()? {
                Next::End => return Ok(None),
                Next::Session(started) => return Ok(Some(started)),
                Next::Blank => {
                    self.state.reading.blank();
                }
                Next::Words => break,
            }
        }
        // What was said last was told as if it had ended.
        let told = self.state.reading.speaker;
        if told.is_some() && told == Some(self.state.reading.clone().line(&self.text)) {
            return Err(stale(self.file));
        }
        if self.state.sessions == 0 {
            self.begin("");
            return self.talk(None, true, sink);
        }
        let log = std::mem::take(&mut self.state.log);
        self.talk(Some(log), true, sink)
    }

    /// Reads a session that begins.
    fn session(&mut self, started: &str, sink: &mut dyn EventSink) -> Result<Option<String>, ReadError> {
        self.begin(started);
        self.talk(None, false, sink)
    }

    fn begin(&mut self, started: &str) {
        self.state = State {
            sessions: self.state.sessions + 1,
            started: started.to_owned(),
            time: Some(Timestamp::parse(started).unwrap_or_else(|| self.file.stamp.modified())),
            torn: self.state.torn,
            ..State::default()
        };
    }

    /// Reads what is said in a session, beginning with the line at hand if there is one. Gives the start of
    /// the next session.
    fn talk(
        &mut self,
        state: Option<LogState>,
        has_line: bool,
        sink: &mut dyn EventSink,
    ) -> Result<Option<String>, ReadError> {
        let id = id(self.file, &self.state);
        let is_new = state.is_none();
        let mut log = SessionLog::begin(sink, &id, state)?;
        if is_new {
            self.present(&mut log);
        }
        let mut next = if has_line { Next::Words } else { self.next()? };
        let following = loop {
            match next {
                Next::End => break None,
                Next::Session(started) => break Some(started),
                Next::Blank => {
                    if self.state.reading.blank() {
                        self.add_line("");
                    } else {
                        self.tell(&mut log)?;
                    }
                }
                Next::Words => self.words(&mut log)?,
            }
            next = self.next()?;
        };
        self.tell(&mut log)?;
        // Many sessions are begun and left without a word.
        let facts = log.facts();
        facts.hidden = facts.message_count() == 0;
        self.state.log = log.finish()?;
        Ok(following)
    }

    /// What is known of a session before a word is said.
    fn present(&self, log: &mut SessionLog<'_>) {
        if let Some(time) = self.state.time {
            log.saw_time(time);
        }
        let folder = self.file.path.parent().unwrap_or(Path::new(""));
        log.facts().cwd = Some(folder.display().to_string());
    }

    fn words(&mut self, log: &mut SessionLog<'_>) -> Result<(), SinkClosed> {
        let was_prompted = self.state.reading.prompted;
        let speaker = self.state.reading.line(&self.text);
        if self.speaker != Some(speaker) {
            self.tell(log)?;
            self.speaker = Some(speaker);
            self.is_banner = !was_prompted;
        }
        let text = std::mem::take(&mut self.text);
        self.add_line(&text);
        self.text = text;
        Ok(())
    }

    fn add_line(&mut self, line: &str) {
        if self.block.len() + line.len() > BLOCK_LIMIT {
            self.account.note(self.line, IssueCode::TextCut, "a long block");
            return;
        }
        self.block.push_str(line);
        self.block.push('\n');
    }

    /// Hands on the block at hand.
    fn tell(&mut self, log: &mut SessionLog<'_>) -> Result<(), SinkClosed> {
        let block = std::mem::take(&mut self.block);
        let draft = match self.speaker.take() {
            None => None,
            Some(Speaker::Person) => self.typed(&block),
            Some(Speaker::Model) => {
                words::reply(&block).map(|message| self.draft(EventData::AssistantMessage(message)))
            }
            Some(Speaker::Program) => {
                words::notice(&block, self.is_banner, log.facts()).map(|data| self.draft(data))
            }
        };
        if let Some(draft) = draft {
            log.append(draft)?;
        }
        Ok(())
    }

    fn typed(&mut self, block: &str) -> Option<Draft> {
        match words::typed(block) {
            Typed::Nothing => None,
            Typed::Prompt(message) => {
                self.take_time(&message);
                Some(self.draft(EventData::UserMessage(message)))
            }
            Typed::Command { message, clears } => {
                let mut draft = self.draft(EventData::ContextMessage(message));
                draft.placement = if clears {
                    Placement::ReplaceAll
                } else {
                    Placement::LogOnly
                };
                Some(draft)
            }
        }
    }

    /// Takes the time at which a prompt was typed, for it and what follows.
    fn take_time(&mut self, prompt: &Message) {
        let (Some(since), [ContentBlock::Text { text }]) = (self.state.time, prompt.content.as_slice())
        else {
            return;
        };
        if let Some(time) = self.input.time_of(text, since) {
            self.state.time = Some(time);
        }
    }

    fn draft(&self, data: EventData) -> Draft {
        Draft::new(data, self.state.time)
    }
}

/// The agent gives sessions no ids. The place in the file is one that stays while the file grows; the hash
/// tells files apart, by their path below the root, so that a home has the same ids wherever it lies.
fn id(file: &SourceFile, state: &State) -> String {
    let relative = file.path.strip_prefix(&file.root).unwrap_or(&file.path);
    let place = if relative.as_os_str().is_empty() {
        &file.path
    } else {
        relative
    };
    let place: Vec<_> = place.iter().map(|part| part.to_string_lossy()).collect();
    let hash = xxh3_64(format!("{}\n{}", place.join("/"), state.started).as_bytes());
    format!("{:08x}#{}", hash >> 32, state.sessions)
}
