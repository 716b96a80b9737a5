//! From the domain to the wire.

use crate::hit::{Evidence, Hit, Presence, Role, Source};
use crate::search::{Debug, Page, PlannerReport, Results, SearchResponse, Truncated};
use crate::session::SessionSummary;
use crate::{marks, shell};
use lookback_model::hit::SessionRow;
use lookback_model::ports::{SearchAnswer, SearchPage};
use lookback_model::source::ResumeCommand;
use lookback_model::{Timestamp, View};
use std::time::Duration;

/// What an answer carries beside what the provider said.
#[derive(Clone, Copy, Debug)]
pub struct AnswerContext {
    /// What was searched, named by `debug`.
    pub view: View,
    /// How long the search took.
    pub duration: Duration,
    /// Whether transcripts have changed that were not looked at in time.
    pub stale: bool,
    /// Whether the request asked how the answer was found.
    pub debug: bool,
}

/// An answer of contract A, as told on the same machine.
pub fn response(answer: SearchAnswer, context: AnswerContext) -> SearchResponse {
    match answer {
        SearchAnswer::Results(page) => SearchResponse::Results(Box::new(results(page, context))),
        SearchAnswer::StaleCursor { generation, expected } => SearchResponse::StaleCursor {
            generation,
            expected_generation: expected,
        },
        SearchAnswer::MalformedCursor => SearchResponse::MalformedCursor,
    }
}

fn results(page: SearchPage, context: AnswerContext) -> Results {
    let debug = context.debug.then(|| Debug {
        route: page.route.clone(),
        repaired_terms: page.repaired_terms.clone(),
        planner_report: PlannerReport {
            route: page.route.clone(),
            repaired_terms: page.repaired_terms.clone(),
            scope: scope(context.view).to_owned(),
        },
    });
    Results {
        hits: page.hits.iter().map(hit).collect(),
        page: Page {
            has_more: page.cursor.is_some(),
            cursor: page.cursor,
        },
        generation: page.generation,
        truncated: Truncated {
            candidates: page.candidates_cut,
            snippets: page.snippets_cut,
            query: page.query_cut,
            freshness: context.stale,
        },
        duration_ms: u64::try_from(context.duration.as_millis()).unwrap_or(u64::MAX),
        debug,
        hosts: None,
    }
}

/// Contract A's scope of a view.
pub fn scope(view: View) -> &'static str {
    match view {
        View::Conversation => "conversation",
        View::Full | View::Everything | View::Plain => "all",
    }
}

/// A hit of contract A, as told on the same machine.
pub fn hit(hit: &lookback_model::Hit) -> Hit {
    let row = &hit.session;
    Hit {
        agent: row.agent.clone(),
        execution_host_id: None,
        session_id: row.session_id.clone(),
        title: row.title.clone(),
        cwd: cwd(row),
        branch: row.facts.branch.clone(),
        updated_at: row.facts.updated_at.and_then(time),
        message_count: row.facts.message_count(),
        // JSON has no word for infinities.
        score: if hit.score.is_finite() { hit.score } else { 0.0 },
        source: source(row),
        evidence: hit.evidence.as_ref().map(evidence),
        resume_command: resume_command(row),
        kind: Some(row.kind().as_str().to_owned()),
        parent_session_id: row.facts.parent.clone(),
    }
}

fn evidence(evidence: &lookback_model::Evidence) -> Evidence {
    Evidence {
        snippet: marks::marked(&evidence.snippet.text, &evidence.snippet.matches),
        role: Role::from_name(evidence.kind.role()),
        timestamp: time(evidence.time),
        seq: Some(evidence.seq),
    }
}

/// A session for lists.
pub fn session(row: &SessionRow) -> SessionSummary {
    SessionSummary {
        agent: row.agent.clone(),
        session_id: row.session_id.clone(),
        title: row.title.clone(),
        cwd: cwd(row),
        branch: row.facts.branch.clone(),
        created_at: time(row.facts.created_at.unwrap_or(row.header.created_at)),
        updated_at: row.facts.updated_at.and_then(time),
        turn_count: row.facts.turns,
        message_count: row.facts.message_count(),
        kind: row.kind().as_str().to_owned(),
        parent_session_id: row.facts.parent.clone(),
        forked_from: row.facts.forked_from.clone(),
        source: source(row),
        resume_command: resume_command(row),
    }
}

/// The working directory of a session, as told by its facts, else by its header.
pub fn cwd(row: &SessionRow) -> Option<String> {
    row.facts.cwd.clone().or_else(|| row.header.cwd.clone())
}

/// How to go on with a session, as a line to paste; only while its transcript is present. An id that
/// begins like an option is not told: the agent would take it for one.
pub fn resume_command(row: &SessionRow) -> Option<String> {
    let command = row.resume.as_ref()?;
    let usable = source(row).presence == Presence::Present && !row.session_id.starts_with('-');
    usable.then(|| command_line(command))
}

/// A command as a line to paste.
pub fn command_line(command: &ResumeCommand) -> String {
    shell::command_line(&command.arguments, command.directory.as_deref())
}

fn source(row: &SessionRow) -> Source {
    let presence = match row.presence {
        lookback_model::hit::Presence::Present => Presence::Present,
        lookback_model::hit::Presence::Unverifiable => Presence::Unverifiable,
        lookback_model::hit::Presence::Missing => Presence::Missing,
    };
    Source {
        presence,
        file_path: Some(row.path.to_string_lossy().into_owned()),
        codex_home: None,
    }
}

/// A time as text; `None` for the epoch itself, which stands for "not told".
pub fn time(time: Timestamp) -> Option<String> {
    let text = time.to_rfc3339();
    (time != Timestamp::default() && !text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    //! Properties: resume commands are told for present sessions only; times that are not known are null;
    //! `debug` is told only when asked for; a page has more exactly when it has a cursor.
    use super::*;
    use lookback_model::{SessionFacts, SessionHeader, SessionOrdinal, Snippet, TextKind};

    fn row(presence: lookback_model::hit::Presence) -> SessionRow {
        SessionRow {
            ordinal: SessionOrdinal(1),
            agent: "claude".into(),
            session_id: "s".into(),
            header: SessionHeader {
                cwd: Some("/srv/shop".into()),
                ..SessionHeader::new("s", Timestamp(0))
            },
            facts: SessionFacts {
                prompts: 2,
                replies: 3,
                turns: 4,
                ..SessionFacts::default()
            },
            title: "T".into(),
            shadowed: Vec::new(),
            path: "/h/s.jsonl".into(),
            presence,
            resume: Some(ResumeCommand {
                arguments: vec!["claude".into(), "--resume".into(), "s".into()],
                directory: Some("/srv/shop".into()),
            }),
            copies: 0,
        }
    }

    fn context(debug: bool) -> AnswerContext {
        AnswerContext {
            view: View::Conversation,
            duration: Duration::from_millis(5),
            stale: false,
            debug,
        }
    }

    #[test]
    fn resume_commands_need_a_present_source() {
        use lookback_model::hit::Presence;
        let present = session(&row(Presence::Present));
        assert_eq!(
            present.resume_command.as_deref(),
            Some("cd /srv/shop && claude --resume s")
        );
        for presence in [Presence::Missing, Presence::Unverifiable] {
            assert_eq!(session(&row(presence)).resume_command, None);
        }
        let option = SessionRow {
            session_id: "--yes".into(),
            ..row(Presence::Present)
        };
        assert_eq!(session(&option).resume_command, None);
        assert_eq!((present.created_at, present.updated_at), (None, None));
        assert_eq!((present.message_count, present.turn_count), (5, 4));
        assert_eq!(present.cwd.as_deref(), Some("/srv/shop"));
    }

    #[test]
    fn a_page_becomes_results() {
        let evidence = lookback_model::Evidence {
            snippet: Snippet {
                text: "a retry".into(),
                matches: std::iter::once(2..7).collect(),
                cut: false,
            },
            kind: TextKind::Result,
            time: Timestamp(1_777_885_500_000),
            seq: 9,
        };
        let hit = lookback_model::Hit {
            session: row(lookback_model::hit::Presence::Present),
            score: f64::NAN,
            evidence: Some(evidence),
        };
        let page = SearchPage {
            hits: vec![hit],
            cursor: Some("c".into()),
            route: "or".into(),
            ..SearchPage::default()
        };
        let answer = SearchAnswer::Results(page);
        let SearchResponse::Results(results) = response(answer.clone(), context(true)) else {
            panic!("no results");
        };
        assert!(results.page.has_more);
        assert_eq!(results.debug.unwrap().planner_report.scope, "conversation");
        let shown = results.hits[0].evidence.as_ref().unwrap();
        assert_eq!((shown.snippet.as_str(), shown.role), ("a [[retry]]", Role::Tool));
        assert_eq!(results.hits[0].score, 0.0);
        let SearchResponse::Results(results) = response(answer, context(false)) else {
            panic!("no results");
        };
        assert_eq!(results.debug, None);
    }
}
