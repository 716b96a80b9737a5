//! Small files that lie beside transcripts: read whole, or not at all.

use crate::mend;
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
