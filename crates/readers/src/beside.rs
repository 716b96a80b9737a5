//! Small files that lie beside transcripts: read whole, or not at all.

use crate::{lines, mend, rewritten};
use lookback_model::source::{EventSink, ReadAccount, ReadError, ReadOutcome, SideTitle, SourceFile};
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// No such file is larger.
const LIMIT: u64 = 4 << 20;

/// The text of a file; `None` when it is not there or too long to be one.
pub(crate) fn text(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(LIMIT + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > LIMIT {
        return None;
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    Some(String::from_utf8_lossy(bytes).into_owned())
}

/// The JSON of a file; `None` when it is not there or damaged beyond mending.
pub(crate) fn json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let text = text(path)?;
    serde_json::from_str(&text)
        .or_else(|_| serde_json::from_str(&mend::mend(&text)))
        .ok()
}

/// Reads a file that holds a title. `find` looks for it in the text; a session whose file names no title keeps
/// the one it has.
///
/// # Errors
/// [`ReadError::Io`].
pub(crate) fn read_title(
    file: &SourceFile,
    sink: &mut dyn EventSink,
    find: impl FnOnce(&str) -> Option<SideTitle>,
) -> Result<ReadOutcome, ReadError> {
    let input = lines::open(&file.path)?;
    let (bytes, _) = lines::document(input).map_err(|error| lines::io_error(&file.path, error))?;
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    if let Some(title) = find(&String::from_utf8_lossy(bytes)) {
        sink.title(title);
    }
    Ok(rewritten::outcome(ReadAccount {
        bytes: bytes.len() as u64,
        lines: 1,
        bookkeeping: 1,
        ..ReadAccount::default()
    }))
}
