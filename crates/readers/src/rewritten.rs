//! Reading a transcript that is one JSON document, rewritten whole on every change.

use crate::journal::no_session;
use crate::{lines, mend};
use lookback_model::source::{
    IssueCode, Position, ReadAccount, ReadCursor, ReadError, ReadOutcome, SourceFile,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::io::Read;

/// The bytes of a document, condensed when it is long, and the account as far as it goes. A cursor says
/// nothing about what changed in it, so there is no going on from one.
///
/// # Errors
/// [`ReadError`] of a file that is empty, changes or cannot be read.
pub(crate) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
) -> Result<(Vec<u8>, ReadAccount), ReadError> {
    let path = &file.path;
    if cursor.is_some() {
        return Err(ReadError::StaleCursor { path: path.clone() });
    }
    let mut input = lines::open(path)?;
    let failed = |error| lines::io_error(path, error);
    let size = input.metadata().map_err(failed)?.len();
    let (mut bytes, cut) = if size > lines::CONDENSE_ABOVE as u64 {
        lines::document(&input).map_err(failed)?
    } else {
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes).map_err(failed)?;
        (bytes, 0)
    };
    let size = input.metadata().map_err(failed)?.len();
    if size < bytes.len() as u64 {
        return Err(ReadError::Changed { path: path.clone() });
    }
    if bytes.is_empty() {
        return Err(no_session(file, IssueCode::EmptyFile, "it is empty"));
    }
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.drain(..3);
    }
    let mut account = ReadAccount {
        bytes: size,
        ..ReadAccount::default()
    };
    if cut > 0 {
        account.note(1, IssueCode::TextCut, format!("{cut} bytes of long text"));
    }
    Ok((bytes, account))
}

/// The text of a document, mended when it is no JSON as it is.
pub(crate) fn text(bytes: &[u8], account: &mut ReadAccount) -> String {
    let text = String::from_utf8_lossy(bytes);
    let is_json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
    // Halves of surrogate pairs are met only by who decodes the string.
    if is_json && matches!(text, Cow::Borrowed(_)) && !text.contains("\\ud") && !text.contains("\\uD") {
        return text.into_owned();
    }
    let mended = mend::mend(&text).into_owned();
    if mended.as_bytes() != bytes {
        account.note(1, IssueCode::Repaired, "bad escapes or bytes were replaced");
    }
    mended
}

/// A document of such text.
///
/// # Errors
/// [`ReadError::NoSession`] when it is damaged beyond mending.
pub(crate) fn parse<'a, T: Deserialize<'a>>(file: &SourceFile, text: &'a str) -> Result<T, ReadError> {
    serde_json::from_str(text).map_err(|error| no_session(file, IssueCode::NotJson, &error.to_string()))
}

/// How reading a document ends.
pub(crate) fn outcome(account: ReadAccount) -> ReadOutcome {
    ReadOutcome {
        cursor: ReadCursor {
            position: Position::Whole,
            state: String::new(),
        },
        account,
    }
}
