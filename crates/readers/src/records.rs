//! Files of JSON lines that are read whole: for logs that tell no times of their own, so that what was read in
//! parts would differ from what is read at once.

use crate::document::no_session;
use crate::lines::{self, Lines};
use crate::mend::{self, Taken};
use lookback_model::source::{IssueCode, ReadAccount, ReadError, SinkClosed, SourceFile};
use serde::de::IgnoredAny;
use serde_json::Value;

/// Reads the records of a file one after the other, and accounts for each. A last line without an end is taken
/// when it is whole all the same.
///
/// # Errors
/// [`ReadError::NoSession`] when the file is empty, [`ReadError::Closed`] when `take` wants nothing more, and what
/// the file fails with.
pub fn read(
    file: &SourceFile,
    take: &mut dyn FnMut(&Value) -> Result<Taken, SinkClosed>,
) -> Result<ReadAccount, ReadError> {
    let failed = |error| lines::io_error(&file.path, error);
    let mut lines = Lines::new(lines::open(&file.path)?, 0);
    let mut account = ReadAccount::default();
    let (mut number, mut closed) = (0, None);
    while let Some(line) = lines.next().map_err(failed)? {
        number += 1;
        account.bytes += line.length;
        if !line.complete && serde_json::from_slice::<IgnoredAny>(line.bytes).is_err() {
            account.note(number, IssueCode::PartialTail, "the last record has no end");
            break;
        }
        if line.cut > 0 {
            account.note(
                number,
                IssueCode::TextCut,
                format!("{} bytes of long text", line.cut),
            );
        }
        mend::read_line(line.bytes, number, &mut account, &mut |json| {
            let record: Value = serde_json::from_str(json)?;
            Ok(take(&record).unwrap_or_else(|stopped| {
                closed = Some(stopped);
                Taken::Bookkeeping
            }))
        });
        if let Some(closed) = closed {
            return Err(closed.into());
        }
    }
    if number == 0 {
        return Err(no_session(&file.path, IssueCode::EmptyFile, "it is empty"));
    }
    Ok(account)
}
