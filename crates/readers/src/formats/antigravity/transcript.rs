//! Reading steps from where the last read ended.

use super::{FULL, SHORT, beside, step};
use crate::document::{self, no_session, text};
use crate::lines::{self, Lines};
use crate::log::{Draft, LogState, SessionLog};
use crate::mend::{self, Taken};
use lookback_model::Timestamp;
use lookback_model::source::{
    EventSink, IssueCode, Position, ReadAccount, ReadCursor, ReadError, ReadOutcome, SinkClosed, SourceFile,
};
use serde_json::Value;
use std::collections::HashMap;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;

/// Reads a transcript.
pub(super) fn read(
    file: &SourceFile,
    id: &str,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    let mut input = lines::open(&file.path)?;
    let failed = |error| lines::io_error(&file.path, error);
    let length = input.metadata().map_err(failed)?.len();
    if length == 0 {
        return Err(no_session(&file.path, IssueCode::EmptyFile, "it is empty"));
    }
    let (log, offset, line) = match cursor {
        None => (None, 0, 0),
        Some(cursor) => resume(file, cursor, &mut input)?,
    };
    input.seek(SeekFrom::Start(offset)).map_err(failed)?;
    let mut telling = Telling {
        file,
        log: SessionLog::begin(sink, id, log)?,
        full: None,
        closed: None,
    };
    let mut account = ReadAccount::default();
    let mut lines = Lines::new(&input, offset);
    let (mut end, mut number) = (offset, line);
    while let Some(line) = lines.next().map_err(failed)? {
        if !line.complete {
            account.note(number + 1, IssueCode::PartialTail, "the last step has no end");
            break;
        }
        number += 1;
        end = line.offset + line.length;
        if line.cut > 0 {
            account.note(
                number,
                IssueCode::TextCut,
                format!("{} bytes of long text", line.cut),
            );
        }
        mend::read_line(line.bytes, number, &mut account, &mut |json| {
            let step: Value = serde_json::from_str(json)?;
            Ok(telling.step(step))
        });
        if let Some(closed) = telling.closed {
            return Err(closed.into());
        }
    }
    drop(lines);
    account.bytes = end - offset;
    beside::take(&file.root, id, telling.log.facts());
    let is_timed = telling.log.facts().created_at.is_some();
    if !is_timed {
        telling.log.saw_time(file.stamp.modified());
    }
    let state = telling.log.finish()?;
    // The file's own time is no time of the conversation, so a session that has no other is read anew.
    if !is_timed {
        return Ok(document::outcome(account));
    }
    let guard = lines::guard(&mut input, end).map_err(failed)?;
    Ok(ReadOutcome {
        cursor: ReadCursor {
            position: Position::Lines {
                offset: end,
                line: number,
                guard,
            },
            state: serde_json::to_string(&state).unwrap_or_default(),
        },
        account,
    })
}

fn resume(
    file: &SourceFile,
    cursor: &ReadCursor,
    input: &mut File,
) -> Result<(Option<LogState>, u64, u64), ReadError> {
    let stale = || ReadError::StaleCursor {
        path: file.path.clone(),
    };
    let Position::Lines { offset, line, guard } = cursor.position else {
        return Err(stale());
    };
    let holds = lines::guard_holds(input, offset, guard);
    if !holds.map_err(|error| lines::io_error(&file.path, error))? {
        return Err(stale());
    }
    let state = serde_json::from_str(&cursor.state).map_err(|_| stale())?;
    Ok((Some(state), offset, line))
}

/// Steps by their number and type.
type Steps = HashMap<(String, String), Value>;

fn key(step: &Value) -> (String, String) {
    let number = step
        .get("step_index")
        .map(ToString::to_string)
        .unwrap_or_default();
    (number, text(step, "type").to_owned())
}

/// A transcript as it is told.
struct Telling<'s> {
    file: &'s SourceFile,
    log: SessionLog<'s>,
    /// The steps of the full transcript, where the short one is read and a step in it was cut.
    full: Option<Steps>,
    closed: Option<SinkClosed>,
}

impl Telling<'_> {
    fn step(&mut self, mut step: Value) -> Taken {
        self.fill(&mut step);
        let time = Timestamp::parse(text(&step, "created_at"));
        let Some(said) = step::said(&step, self.log.facts()) else {
            if let Some(time) = time {
                self.log.saw_time(time);
            }
            return Taken::Bookkeeping;
        };
        self.closed = self.log.append(Draft::new(said, time)).err();
        Taken::Record
    }

    /// Puts the full fields in the place of those that were cut.
    fn fill(&mut self, step: &mut Value) {
        let cut = step.get("truncated_fields").and_then(Value::as_array);
        let Some(cut) = cut.filter(|cut| !cut.is_empty()).cloned() else {
            return;
        };
        if !self.file.path.ends_with(SHORT) {
            return;
        }
        let path = self.file.path.with_file_name(FULL);
        let full = self.full.get_or_insert_with(|| full_steps(&path));
        let Some(whole) = full.get(&key(step)) else {
            return;
        };
        for name in cut.iter().filter_map(Value::as_str) {
            if let (Some(field), Some(whole)) = (step.get_mut(name), whole.get(name)) {
                *field = whole.clone();
            }
        }
    }
}

fn full_steps(path: &Path) -> Steps {
    let mut steps = Steps::new();
    let Ok(input) = File::open(path) else {
        return steps;
    };
    let mut lines = Lines::new(input, 0);
    while let Ok(Some(line)) = lines.next() {
        if let Ok(step) = serde_json::from_slice::<Value>(line.bytes) {
            steps.insert(key(&step), step);
        }
    }
    steps
}
