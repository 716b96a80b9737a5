//! A hit of contract A (A.2): one session, and the place in it that shows why it was found.

use serde::{Deserialize, Serialize};

/// A session that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// Agent that wrote the session. An open word: the other side may know more agents.
    pub agent: String,
    /// The host it is on, where that is not plain from the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_host_id: Option<String>,
    /// The agent's id of the session.
    pub session_id: String,
    /// Its title.
    pub title: String,
    /// Working directory on the machine that wrote it.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Branch that was last checked out.
    #[serde(default)]
    pub branch: Option<String>,
    /// When it was last active, RFC 3339 in UTC.
    #[serde(default)]
    pub updated_at: Option<String>,
    /// Prompts and replies.
    pub message_count: u64,
    /// Larger is better; comparable only within one answer of one host.
    pub score: f64,
    /// Where its transcript is.
    pub source: Source,
    /// What matched; `null` when no text was searched for.
    #[serde(default)]
    pub evidence: Option<Evidence>,
    /// How to go on with it; only while its transcript is present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_command: Option<String>,
    /// Who drove it: `main`, `subagent` or `headless`. Beyond the contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The session that delegated to this one. Beyond the contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<String>,
}

/// Where a session's transcript is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// Whether it is there.
    pub presence: Presence,
    /// Its path, told on the same machine only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// The home folder of Codex it lies in, told on the same machine only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codex_home: Option<String>,
}

/// Whether a transcript is where it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Presence {
    /// It was there at the last look.
    Present,
    /// Its folder could not be looked at.
    Unverifiable,
    /// It is gone.
    Missing,
}

/// The place that shows why a session was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// The words around the match, see [`crate::marks`].
    pub snippet: String,
    /// Who said them.
    pub role: Role,
    /// When, RFC 3339 in UTC.
    #[serde(default)]
    pub timestamp: Option<String>,
    /// The event within the session, for `lookback show --at`. Beyond the contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
}

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The agent.
    Assistant,
    /// A tool, or the agent calling one.
    Tool,
    /// The agent's program.
    System,
    /// Not told, or a word of a newer writer.
    #[serde(other)]
    Unknown,
}

impl Role {
    /// The role of the contract's word.
    pub fn from_name(name: &str) -> Self {
        match name {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "tool" => Self::Tool,
            "system" => Self::System,
            _ => Self::Unknown,
        }
    }
}
