//! Files of lines that are rewritten, or are small, and so are always read whole.

use crate::lines::{self, Lines};
use crate::mend::{self, Taken};
use lookback_model::source::{
    IssueCode, Position, ReadAccount, ReadCursor, ReadError, ReadOutcome, SinkClosed, SourceFile,
};
use serde_json::Value;

/// Takes a record; may add names of types it does not know.
pub type Take<'t> = &'t mut dyn FnMut(Value, &mut Vec<String>) -> Result<Taken, SinkClosed>;

/// Reads a file's lines, and hands on the JSON of each.
///
/// # Errors
/// [`ReadError::StaleCursor`] when there is a cursor, [`ReadError::NoSession`] when the file is empty.
pub fn read_lines(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    take: Take<'_>,
) -> Result<ReadAccount, ReadError> {
    if cursor.is_some() {
        return Err(ReadError::StaleCursor {
            path: file.path.clone(),
        });
    }
    let input = lines::open(&file.path)?;
    let failed = |error| lines::io_error(&file.path, error);
    if input.metadata().map_err(failed)?.len() == 0 {
        return Err(ReadError::NoSession {
            path: file.path.clone(),
            code: IssueCode::EmptyFile,
            detail: "it is empty".to_owned(),
        });
    }
    let (mut lines, mut number) = (Lines::new(input, 0), 0);
    let mut account = ReadAccount::default();
    let (mut unknown, mut closed) = (Vec::new(), None);
    while let Some(line) = lines.next().map_err(failed)? {
        number += 1;
        account.bytes += line.length;
        if line.cut > 0 {
            let detail = format!("{} bytes of long text", line.cut);
            account.note(number, IssueCode::TextCut, detail);
        }
        let is_whole = line.complete || serde_json::from_slice::<Value>(line.bytes).is_ok();
        if !is_whole {
            account.note(number, IssueCode::PartialTail, "the last line is not complete");
            break;
        }
        mend::read_line(line.bytes, number, &mut account, &mut |text| {
            let record = serde_json::from_str(text)?;
            Ok(take(record, &mut unknown).unwrap_or_else(|error| {
                closed = Some(error);
                Taken::Bookkeeping
            }))
        });
        if let Some(closed) = closed {
            return Err(closed.into());
        }
    }
    unknown.iter().for_each(|name| account.note_unknown(name));
    Ok(account)
}

/// The outcome of reading a file whole.
pub fn outcome(account: ReadAccount) -> ReadOutcome {
    let (position, state) = (Position::Whole, String::new());
    ReadOutcome {
        cursor: ReadCursor { position, state },
        account,
    }
}
