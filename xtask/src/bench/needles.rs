//! Needles: texts planted in one session each, and the queries that should bring that session up.

use super::corpus::Needle;
use anyhow::{Context, Result};
use serde_json::Value;

/// Needles that lie deeper in a tool's text than is indexed, and where.
const BEYOND_CAP: &[(&str, &str)] = &[
    ("tool_deep", "58,000 characters into a tool result"),
    ("tool_vdeep", "440,000 characters into a tool result"),
    ("codex_tool", "9,000 characters into a tool result"),
];

/// Further ways to ask for a planted text: name, query, needle.
const OTHER_WORDS: &[(&str, &str, &str)] = &[
    ("first part of an identifier", "zorbify", "ident"),
    ("last part of an identifier", "quuxle", "ident"),
    ("phrase", "\"vorpalhedge kumquat semaphore\"", "user_prompt"),
    ("words in another order", "semaphore vorpalhedge", "user_prompt"),
    ("typing error", "vorpalhegde", "user_prompt"),
    ("part of a Chinese sentence", "纠缠", "cjk"),
];

/// A query, and the session it should find.
pub(super) struct Probe {
    pub(super) name: String,
    pub(super) query: String,
    /// Id of the session.
    pub(super) session: String,
    /// Where the text lies when that is beyond what is indexed.
    pub(super) beyond_cap: Option<&'static str>,
}

/// Every query there is for the planted texts.
pub(super) fn probes(needles: &[Needle]) -> Vec<Probe> {
    let as_planted = needles.iter().map(|needle| Probe {
        name: needle.name.clone(),
        query: needle.phrase.clone(),
        session: needle.session.clone(),
        beyond_cap: BEYOND_CAP
            .iter()
            .find(|(name, _)| *name == needle.name)
            .map(|(_, place)| *place),
    });
    let in_other_words = OTHER_WORDS.iter().filter_map(|(name, query, needle)| {
        let needle = needles.iter().find(|planted| planted.name == *needle)?;
        let session = needle.session.clone();
        Some(Probe {
            name: (*name).to_owned(),
            query: (*query).to_owned(),
            session,
            beyond_cap: None,
        })
    });
    as_planted.chain(in_other_words).collect()
}

/// Whether a session is among the hits of a search response.
pub(super) fn is_hit(response: &str, session: &str) -> Result<bool> {
    let response: Value = serde_json::from_str(response).context("the response to a search is no JSON")?;
    let hits = response
        .get("hits")
        .and_then(Value::as_array)
        .context("the response to a search has no hits")?;
    Ok(hits
        .iter()
        .any(|hit| hit.get("sessionId").and_then(Value::as_str) == Some(session)))
}

/// Whether a session is among those that `lookback grep -l --json` names, one on each line.
pub(super) fn is_told(lines: &str, session: &str) -> Result<bool> {
    for line in lines.lines() {
        let told: Value = serde_json::from_str(line).context("a line of grep is no JSON")?;
        if told.get("sessionId").and_then(Value::as_str) == Some(session) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needle(name: &str) -> Needle {
        Needle {
            name: name.to_owned(),
            phrase: format!("{name} words"),
            session: format!("{name}-session"),
        }
    }

    #[test]
    fn only_what_lies_beyond_the_cap_is_not_expected() {
        let probes = probes(&[needle("tool_deep"), needle("tool_early"), needle("cjk")]);
        let expected: Vec<_> = probes
            .iter()
            .map(|probe| (probe.name.as_str(), probe.beyond_cap.is_none()))
            .collect();
        let wanted = [
            ("tool_deep", false),
            ("tool_early", true),
            ("cjk", true),
            ("part of a Chinese sentence", true),
        ];
        assert_eq!(expected, wanted);
        assert_eq!(probes[3].session, "cjk-session");
    }

    /// Property: an answer that is no page of hits is an error, never a miss.
    #[test]
    fn a_hit_is_told_from_a_miss_and_from_nonsense() {
        let response = r#"{"kind":"results","hits":[{"sessionId":"a"},{"sessionId":"b"}]}"#;
        assert!(is_hit(response, "b").unwrap());
        assert!(!is_hit(response, "c").unwrap());
        assert!(is_hit(r#"{"kind":"unavailable"}"#, "a").is_err());
        assert!(is_hit("", "a").is_err());
        let lines = "{\"sessionId\":\"a\"}\n{\"sessionId\":\"b\"}\n";
        assert!(is_told(lines, "b").unwrap() && !is_told(lines, "c").unwrap());
        assert!(!is_told("", "a").unwrap() && is_told("a", "a").is_err());
    }
}
