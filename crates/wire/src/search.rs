//! The answer to a search of contract A (A.2).

use crate::hit::{Hit, Presence};
use serde::{Deserialize, Serialize};

/// An answer; `kind` tells which.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum SearchResponse {
    /// A page of hits.
    Results(Box<Results>),
    /// The index has moved since the cursor was given; ask for the first page again.
    StaleCursor {
        /// The index's generation now.
        generation: u64,
        /// The generation the cursor was given for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expected_generation: Option<u64>,
    },
    /// The cursor is none, or belongs to another query.
    MalformedCursor,
    /// Nothing was searched.
    Unavailable {
        /// Why.
        reason: UnavailableReason,
    },
}

/// A page of hits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Results {
    /// At most 100, best or newest first.
    pub hits: Vec<Hit>,
    /// Whether there are more, and how to ask for them.
    pub page: Page,
    /// The index's generation.
    pub generation: u64,
    /// What was left out.
    pub truncated: Truncated,
    /// How long the search took, without any waiting for the index, in milliseconds.
    pub duration_ms: u64,
    /// How the answer was found, when that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debug: Option<Debug>,
    /// How each host answered; only when several were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<HostOutcome>>,
}

/// Whether there are more hits, and how to ask for them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// Where the next page begins; `null` on the last.
    #[serde(default)]
    pub cursor: Option<String>,
    /// Whether there is a next page.
    pub has_more: bool,
}

/// What was left out of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Truncated {
    /// Sessions were cut before ranking.
    pub candidates: bool,
    /// How many snippets could not show all of their match.
    pub snippets: u64,
    /// The query was longer than is searched.
    pub query: bool,
    /// Transcripts have changed that were not looked at in time.
    pub freshness: bool,
}

/// How an answer was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Debug {
    /// The rung of the ladder: `phrase`, `and`, `or`, `typo+phrase`, `typo+and` or `typo+or`.
    pub route: String,
    /// The words searched for, when some were repaired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repaired_terms: Option<Vec<String>>,
    /// The same, with the scope.
    pub planner_report: PlannerReport,
}

/// The planner's part of [`struct@Debug`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannerReport {
    /// The rung of the ladder.
    pub route: String,
    /// The words searched for, when some were repaired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repaired_terms: Option<Vec<String>>,
    /// `conversation` or `all`.
    pub scope: String,
}

/// How one of several hosts answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostOutcome {
    /// The host.
    pub execution_host_id: String,
    /// `results`, `stale-cursor`, `malformed-cursor`, `unavailable` or `unreachable`.
    pub outcome: String,
}

/// Why nothing was searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnavailableReason {
    /// Searching is switched off.
    Disabled,
    /// There is no index yet.
    NotReady,
    /// There is no search at the other end.
    NoService,
}

/// Why an answer of another process was refused.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// It is no answer of this contract.
    #[error("not a search response")]
    Shape(#[from] serde_json::Error),
    /// A hit says how to resume a session whose transcript is not there.
    #[error("hit {session_id} carries a resume command without a present source")]
    ResumeWithoutSource {
        /// The session.
        session_id: String,
    },
}

impl SearchResponse {
    /// An answer of another process, checked.
    ///
    /// # Errors
    /// [`DecodeError`] when a field is missing or of another type, or when fields contradict each other.
    pub fn from_json(json: &[u8]) -> Result<Self, DecodeError> {
        let response = serde_json::from_slice(json)?;
        if let Self::Results(results) = &response {
            let contradiction = results
                .hits
                .iter()
                .find(|hit| hit.resume_command.is_some() && hit.source.presence != Presence::Present);
            if let Some(hit) = contradiction {
                return Err(DecodeError::ResumeWithoutSource {
                    session_id: hit.session_id.clone(),
                });
            }
        }
        Ok(response)
    }
}

#[cfg(test)]
mod tests {
    //! Properties: the words on the wire are the contract's; decoding takes what encoding gives, drops
    //! fields of a newer writer, and refuses what the contract calls invalid.
    use super::*;
    use crate::hit::{Evidence, Role, Source};

    const FULL: &str = concat!(
        r#"{"kind":"results","hits":[{"agent":"claude","sessionId":"s1","title":"Retry","cwd":"/srv/shop","#,
        r#""branch":null,"updatedAt":"2026-05-04T09:05:00.000Z","messageCount":12,"score":3.5,"#,
        r#""source":{"presence":"present","filePath":"/h/s1.jsonl"},"#,
        r#""evidence":{"snippet":"the [[retry]] queue","role":"user","timestamp":"2026-05-04T09:00:00.000Z","seq":4},"#,
        r#""resumeCommand":"cd /srv/shop && claude --resume s1","kind":"main"}],"#,
        r#""page":{"cursor":"abc","hasMore":true},"generation":7,"#,
        r#""truncated":{"candidates":false,"snippets":1,"query":false,"freshness":true},"durationMs":3,"#,
        r#""debug":{"route":"or","plannerReport":{"route":"or","scope":"all"}}}"#,
    );

    fn full() -> SearchResponse {
        let hit = Hit {
            agent: "claude".into(),
            execution_host_id: None,
            session_id: "s1".into(),
            title: "Retry".into(),
            cwd: Some("/srv/shop".into()),
            branch: None,
            updated_at: Some("2026-05-04T09:05:00.000Z".into()),
            message_count: 12,
            score: 3.5,
            source: Source {
                presence: Presence::Present,
                file_path: Some("/h/s1.jsonl".into()),
                codex_home: None,
            },
            evidence: Some(Evidence {
                snippet: "the [[retry]] queue".into(),
                role: Role::User,
                timestamp: Some("2026-05-04T09:00:00.000Z".into()),
                seq: Some(4),
            }),
            resume_command: Some("cd /srv/shop && claude --resume s1".into()),
            kind: Some("main".into()),
            parent_session_id: None,
        };
        let debug = Debug {
            route: "or".into(),
            repaired_terms: None,
            planner_report: PlannerReport {
                route: "or".into(),
                repaired_terms: None,
                scope: "all".into(),
            },
        };
        SearchResponse::Results(Box::new(Results {
            hits: vec![hit],
            page: Page {
                cursor: Some("abc".into()),
                has_more: true,
            },
            generation: 7,
            truncated: Truncated {
                snippets: 1,
                freshness: true,
                ..Truncated::default()
            },
            duration_ms: 3,
            debug: Some(debug),
            hosts: None,
        }))
    }

    #[test]
    fn results_are_written_word_for_word() {
        assert_eq!(serde_json::to_string(&full()).unwrap(), FULL);
        assert_eq!(SearchResponse::from_json(FULL.as_bytes()).unwrap(), full());
    }

    #[test]
    fn the_other_kinds_are_written_word_for_word() {
        let stale = SearchResponse::StaleCursor {
            generation: 9,
            expected_generation: Some(8),
        };
        let fresh = SearchResponse::StaleCursor {
            generation: 9,
            expected_generation: None,
        };
        let off = SearchResponse::Unavailable {
            reason: UnavailableReason::NotReady,
        };
        for (response, json) in [
            (
                stale,
                r#"{"kind":"stale-cursor","generation":9,"expectedGeneration":8}"#,
            ),
            (fresh, r#"{"kind":"stale-cursor","generation":9}"#),
            (SearchResponse::MalformedCursor, r#"{"kind":"malformed-cursor"}"#),
            (off, r#"{"kind":"unavailable","reason":"not-ready"}"#),
        ] {
            assert_eq!(serde_json::to_string(&response).unwrap(), json);
            assert_eq!(SearchResponse::from_json(json.as_bytes()).unwrap(), response);
        }
    }

    #[test]
    fn fields_of_a_newer_writer_are_dropped() {
        let newer = FULL
            .replace(r#""generation":7"#, r#""generation":7,"weather":{"sun":1}"#)
            .replace(r#""role":"user""#, r#""role":"user","tone":"kind""#);
        assert_eq!(SearchResponse::from_json(newer.as_bytes()).unwrap(), full());
        let role = FULL.replace(r#""role":"user""#, r#""role":"oracle""#);
        let SearchResponse::Results(results) = SearchResponse::from_json(role.as_bytes()).unwrap() else {
            panic!("no results");
        };
        assert_eq!(results.hits[0].evidence.as_ref().unwrap().role, Role::Unknown);
    }

    #[test]
    fn what_the_contract_calls_invalid_is_refused() {
        let gone = FULL.replace(r#""presence":"present""#, r#""presence":"missing""#);
        assert!(matches!(
            SearchResponse::from_json(gone.as_bytes()),
            Err(DecodeError::ResumeWithoutSource { session_id }) if session_id == "s1"
        ));
        let without = FULL.replace(r#","freshness":true"#, "");
        assert!(matches!(
            SearchResponse::from_json(without.as_bytes()),
            Err(DecodeError::Shape(_))
        ));
    }
}
