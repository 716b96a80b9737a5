//! `session_index.jsonl`: titles of sessions, appended to at every change. The last one of an id holds.

use crate::lines::{self, Lines};
use crate::mend::{self, Taken};
use lookback_model::source::{EventSink, IssueCode, ReadAccount, ReadError, SideTitle, SourceFile};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Name of the file in the agent's folder.
pub(super) const FILE_NAME: &str = "session_index.jsonl";

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    thread_name: Option<Cow<'a, str>>,
}

/// Reads the titles and hands on the last one of each session.
pub(super) fn read(
    file: &SourceFile,
    sink: &mut dyn EventSink,
    account: &mut ReadAccount,
) -> Result<(), ReadError> {
    let mut lines = Lines::new(lines::open(&file.path)?, 0);
    let mut titles = BTreeMap::new();
    let mut number = 0;
    while let Some(line) = lines.next().map_err(|error| lines::io_error(&file.path, error))? {
        number += 1;
        if !line.complete && serde_json::from_slice::<Entry<'_>>(line.bytes).is_err() {
            account.note(number, IssueCode::PartialTail, "the last record has no end yet");
            break;
        }
        account.bytes += line.length;
        mend::read_line(line.bytes, number, account, &mut |text| {
            let entry: Entry<'_> = serde_json::from_str(text)?;
            let title = entry.thread_name.unwrap_or_default().trim().to_owned();
            titles.insert(entry.id.to_ascii_lowercase(), title);
            Ok(Taken::Record)
        });
    }
    for (session_id, title) in titles {
        sink.title(SideTitle {
            agent: file.agent.clone(),
            session_id,
            title,
        });
    }
    Ok(())
}
