//! Sessions and their events, as `lookback sessions --json` and `lookback show --json` print them.

use crate::hit::Source;
use serde::{Deserialize, Serialize};

/// A list of sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionList {
    /// Last active first, cut to the limit.
    pub sessions: Vec<SessionSummary>,
    /// How many there are without the limit.
    pub total: u64,
    /// Whether transcripts have changed that were not looked at in time.
    pub stale: bool,
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    /// Agent that wrote it.
    pub agent: String,
    /// The agent's id of it.
    pub session_id: String,
    /// Its title.
    pub title: String,
    /// Working directory on the machine that wrote it.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Branch that was last checked out.
    #[serde(default)]
    pub branch: Option<String>,
    /// When it began, RFC 3339 in UTC.
    #[serde(default)]
    pub created_at: Option<String>,
    /// When it was last active, RFC 3339 in UTC.
    #[serde(default)]
    pub updated_at: Option<String>,
    /// Prompts and replies that hold words.
    pub turn_count: u64,
    /// Prompts and replies.
    pub message_count: u64,
    /// Who drove it: `main`, `subagent` or `headless`.
    pub kind: String,
    /// The session that delegated to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<String>,
    /// The session whose history it copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<String>,
    /// Where its transcript is.
    pub source: Source,
    /// How to go on with it; only while its transcript is present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_command: Option<String>,
}

/// A session and its events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEvents {
    /// The session.
    pub session: SessionSummary,
    /// Whether the transcript is gone, so that the words are those that were indexed.
    pub from_archive: bool,
    /// How many events the whole session has.
    pub total: u64,
    /// Its events in order, or those that were asked for.
    pub events: Vec<EventSummary>,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventSummary {
    /// Its number within the session, from 0.
    pub seq: u64,
    /// When it happened, RFC 3339 in UTC; `null` when the transcript does not tell.
    #[serde(default)]
    pub time: Option<String>,
    /// What happened, such as `user/message`.
    #[serde(rename = "type")]
    pub event_type: String,
    /// Who acted: `user`, `assistant`, `tool` or `system`.
    pub role: String,
    /// Whose words it holds first: `user`, `agent`, `reasoning`, `call`, `result` or `context`.
    #[serde(default)]
    pub kind: Option<String>,
    /// `current`, `shadowed` or `log-only`.
    pub surface: String,
    /// All its words.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hit::Presence;

    /// Property: names and nulls are those scripts rely on, and what is not known is left out.
    #[test]
    fn a_session_with_events_is_written_word_for_word() {
        let json = concat!(
            r#"{"session":{"agent":"codex","sessionId":"s","title":"T","cwd":null,"branch":null,"#,
            r#""createdAt":null,"updatedAt":"2026-05-04T09:05:00.000Z","turnCount":2,"messageCount":3,"#,
            r#""kind":"subagent","parentSessionId":"p","source":{"presence":"missing"}},"#,
            r#""fromArchive":true,"total":9,"events":[{"seq":4,"time":null,"type":"user/message","#,
            r#""role":"user","kind":"user","surface":"current","text":"hello"}]}"#,
        );
        let session = SessionSummary {
            agent: "codex".into(),
            session_id: "s".into(),
            title: "T".into(),
            cwd: None,
            branch: None,
            created_at: None,
            updated_at: Some("2026-05-04T09:05:00.000Z".into()),
            turn_count: 2,
            message_count: 3,
            kind: "subagent".into(),
            parent_session_id: Some("p".into()),
            forked_from: None,
            source: Source {
                presence: Presence::Missing,
                file_path: None,
                codex_home: None,
            },
            resume_command: None,
        };
        let event = EventSummary {
            seq: 4,
            time: None,
            event_type: "user/message".into(),
            role: "user".into(),
            kind: Some("user".into()),
            surface: "current".into(),
            text: "hello".into(),
        };
        let shown = SessionEvents {
            session,
            from_archive: true,
            total: 9,
            events: vec![event],
        };
        assert_eq!(serde_json::to_string(&shown).unwrap(), json);
        assert_eq!(serde_json::from_str::<SessionEvents>(json).unwrap(), shown);
    }
}
