//! The full account of what was read and what was not, as `lookback doctor --json` prints it.

use crate::index::Warning;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DoctorReport {
    /// Folder of the index.
    pub data_dir: String,
    /// By agent.
    pub agents: Vec<AgentReport>,
    /// By file that was read or failed, in order of path.
    pub files: Vec<FileReport>,
    /// Files that lie there and are not in the index.
    pub not_indexed: Vec<NotIndexed>,
    /// What could not be looked at.
    pub warnings: Vec<Warning>,
}

/// An agent's part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentReport {
    /// The agent.
    pub agent: String,
    /// Its sessions.
    pub sessions: u64,
    /// The folders it keeps transcripts in.
    pub roots: Vec<RootReport>,
}

/// A folder of transcripts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RootReport {
    /// Where.
    pub path: String,
    /// Whether it is there.
    pub exists: bool,
    /// Files found.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that are no transcripts, by reason.
    pub ignored: BTreeMap<String, u64>,
    /// What could not be looked at below it.
    pub issues: Vec<Warning>,
}

/// A file's account: `lines` is the sum of `records`, `bookkeeping`, `blank` and `lost`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileReport {
    /// Agent that wrote it.
    pub agent: String,
    /// The folder it was found under.
    pub root: String,
    /// Where it is.
    pub path: String,
    /// `transcript` or `side`.
    pub role: String,
    /// `current`, `due` or `failed`.
    pub state: String,
    /// `present`, `unverifiable` or `missing`.
    pub presence: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Its length when it was last read.
    pub bytes: u64,
    /// Complete lines or records.
    pub lines: u64,
    /// Those that gave events.
    pub records: u64,
    /// Those that hold the agent's state.
    pub bookkeeping: u64,
    /// Those without content.
    pub blank: u64,
    /// Those that could not be read.
    pub lost: u64,
    /// How often each kind of trouble was met.
    pub issue_counts: BTreeMap<String, u64>,
    /// The first places of trouble.
    pub issues: Vec<LineIssue>,
    /// Records of unknown types, by type.
    pub unknown_types: BTreeMap<String, u64>,
    /// The sessions it holds.
    pub sessions: Vec<String>,
    /// What those sessions hold.
    pub counts: Counts,
}

/// Trouble at a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LineIssue {
    /// The line, counted from 1.
    pub line: u64,
    /// The kind of trouble.
    pub code: String,
    /// What was wrong.
    pub detail: String,
}

/// What sessions hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Prompts of the person.
    pub prompts: u64,
    /// Messages of the agent.
    pub replies: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Answers of tools.
    pub tool_results: u64,
}

/// A file that lies there and is not in the index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotIndexed {
    /// Agent whose file it is.
    pub agent: String,
    /// Where.
    pub path: String,
    /// Why.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: a file's account has the names that scripts rely on.
    #[test]
    fn a_files_account_is_written_word_for_word() {
        let file = FileReport {
            agent: "gemini".into(),
            root: "/h".into(),
            path: "/h/a.json".into(),
            role: "transcript".into(),
            state: "current".into(),
            presence: "present".into(),
            lines: 2,
            records: 1,
            lost: 1,
            counts: Counts {
                prompts: 1,
                ..Counts::default()
            },
            ..FileReport::default()
        };
        let json = concat!(
            r#"{"agent":"gemini","root":"/h","path":"/h/a.json","role":"transcript","state":"current","presence":"present","#,
            r#""bytes":0,"lines":2,"records":1,"bookkeeping":0,"blank":0,"lost":1,"issueCounts":{},"issues":[],"#,
            r#""unknownTypes":{},"sessions":[],"counts":{"prompts":1,"replies":0,"toolCalls":0,"toolResults":0}}"#,
        );
        assert_eq!(serde_json::to_string(&file).unwrap(), json);
        assert_eq!(serde_json::from_str::<FileReport>(json).unwrap(), file);
    }
}
