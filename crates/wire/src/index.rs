//! What an indexing pass did, as `lookback index --json` prints it.

use serde::{Deserialize, Serialize};

/// The work of a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexReport {
    /// Files that discovery found.
    pub files_seen: u64,
    /// Files that needed no read.
    pub files_unchanged: u64,
    /// Files that were read, from the start or from where the last read ended.
    pub files_read: u64,
    /// Files that could not be read.
    pub files_failed: u64,
    /// Sessions in the files that were read.
    pub sessions_read: u64,
    /// Pieces of text added to the index.
    pub documents_added: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Records that could not be read.
    pub lines_lost: u64,
    /// The index's generation afterwards.
    pub generation: u64,
    /// How long the pass took, in milliseconds.
    pub duration_ms: u64,
    /// Whether everything was looked at.
    pub complete: bool,
    /// Whether another process was indexing, so that this one read nothing.
    pub writer_busy: bool,
    /// What could not be read.
    pub warnings: Vec<Warning>,
}

/// A file, folder or record that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// The kind of trouble, such as `permission_denied`.
    pub code: String,
    /// Agent whose file it is.
    pub agent: String,
    /// Where.
    pub path: String,
    /// The line, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What was wrong.
    pub detail: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: the counters have the names that scripts rely on.
    #[test]
    fn a_report_is_written_word_for_word() {
        let warning = Warning {
            code: "not_json".into(),
            agent: "claude".into(),
            path: "/h/a.jsonl".into(),
            line: Some(3),
            detail: "cut".into(),
        };
        let report = IndexReport {
            files_seen: 1,
            complete: true,
            warnings: vec![warning],
            ..Default::default()
        };
        let json = concat!(
            r#"{"filesSeen":1,"filesUnchanged":0,"filesRead":0,"filesFailed":0,"sessionsRead":0,"#,
            r#""documentsAdded":0,"bytesRead":0,"linesLost":0,"generation":0,"durationMs":0,"complete":true,"#,
            r#""writerBusy":false,"warnings":[{"code":"not_json","agent":"claude","path":"/h/a.jsonl","#,
            r#""line":3,"detail":"cut"}]}"#,
        );
        assert_eq!(serde_json::to_string(&report).unwrap(), json);
        assert_eq!(serde_json::from_str::<IndexReport>(json).unwrap(), report);
    }
}
