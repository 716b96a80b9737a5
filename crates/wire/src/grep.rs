//! What `lookback grep --json` prints: one object a line, of one of these types.

use serde::{Deserialize, Serialize};

/// Lines of an event on which a pattern matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GrepHit {
    /// Agent that wrote the session.
    pub agent: String,
    /// The agent's id of it.
    pub session_id: String,
    /// Where its transcript is, or was.
    pub file_path: String,
    /// The event's number within the session, from 0.
    pub seq: u64,
    /// When it happened, RFC 3339 in UTC; `null` when the transcript does not tell.
    #[serde(default)]
    pub time: Option<String>,
    /// Who acted: `user`, `assistant`, `tool` or `system`.
    pub role: String,
    /// Whose words: `user`, `agent`, `reasoning`, `call`, `result` or `context`.
    pub kind: String,
    /// The first line, counted from 1 in the event's text.
    pub line: u64,
    /// The lines, several when a match goes across them.
    pub text: String,
    /// Where in the text the matches are.
    pub matches: Vec<ByteRange>,
    /// The lines before, when they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The lines after, when they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// Whether the transcript is gone, so that the text is what was indexed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub from_archive: bool,
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByteRange {
    /// Bytes of UTF-8 before it.
    pub start: usize,
    /// Bytes before its end.
    pub end: usize,
}

/// A session in which something was found, for `-l` and `-c`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GrepSession {
    /// Agent that wrote it.
    pub agent: String,
    /// The agent's id of it.
    pub session_id: String,
    /// Its title, where it has one.
    #[serde(default)]
    pub title: Option<String>,
    /// Working directory on the machine that wrote it.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Where its transcript is, or was.
    pub file_path: String,
    /// How many hits it has; only when they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Whether the transcript is gone, so that only what was indexed was looked through.
    #[serde(default, skip_serializing_if = "is_false")]
    pub from_archive: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: names and nulls are those scripts rely on, and what was not asked for is left out.
    #[test]
    fn hits_and_sessions_are_written_word_for_word() {
        let json = concat!(
            r#"{"agent":"codex","sessionId":"s","filePath":"/f","seq":4,"time":null,"role":"tool","#,
            r#""kind":"result","line":900,"text":"a needle","matches":[{"start":2,"end":8}]}"#,
        );
        let hit = GrepHit {
            agent: "codex".into(),
            session_id: "s".into(),
            file_path: "/f".into(),
            seq: 4,
            time: None,
            role: "tool".into(),
            kind: "result".into(),
            line: 900,
            text: "a needle".into(),
            matches: vec![ByteRange { start: 2, end: 8 }],
            before: Vec::new(),
            after: Vec::new(),
            from_archive: false,
        };
        assert_eq!(serde_json::to_string(&hit).unwrap(), json);
        assert_eq!(serde_json::from_str::<GrepHit>(json).unwrap(), hit);
        let json = concat!(
            r#"{"agent":"codex","sessionId":"s","title":null,"cwd":"/w","filePath":"/f","count":2,"#,
            r#""fromArchive":true}"#,
        );
        let session = GrepSession {
            agent: "codex".into(),
            session_id: "s".into(),
            title: None,
            cwd: Some("/w".into()),
            file_path: "/f".into(),
            count: Some(2),
            from_archive: true,
        };
        assert_eq!(serde_json::to_string(&session).unwrap(), json);
        assert_eq!(serde_json::from_str::<GrepSession>(json).unwrap(), session);
    }
}
