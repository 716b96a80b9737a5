//! The facts of a session that was fed, as far as they can be told from its header and its words.

use lookback_model::facts::TitleRank;
use lookback_model::session_query::EventDocument;
use lookback_model::{SessionFacts, SessionHeader, SessionKind, TextKind, Timestamp};

/// The facts of a session before its first event.
pub(super) fn begin(header: &SessionHeader) -> SessionFacts {
    let is_delegated = header.origin.as_deref() == Some("subagent")
        || header.delegation_depth.is_some_and(|depth| depth > 0);
    let parent = header.parent_session.clone();
    let (parent, forked_from) = match is_delegated {
        true => (parent, None),
        false => (None, parent),
    };
    SessionFacts {
        cwd: header.cwd.clone(),
        kind: if is_delegated {
            SessionKind::Subagent
        } else {
            SessionKind::Main
        },
        parent,
        forked_from,
        created_at: Some(header.created_at),
        updated_at: Some(header.created_at),
        ..SessionFacts::default()
    }
}

/// Adds the words of the next event.
pub(super) fn add(facts: &mut SessionFacts, event: &EventDocument) {
    facts.updated_at = facts.updated_at.max(Some(event.time));
    let words = |kind: TextKind| event.pieces.iter().find(|(held, _)| *held == kind);
    match event.type_name.as_str() {
        "user/message" | "steering/message" => {
            facts.prompts += 1;
            if let Some((_, text)) = words(TextKind::User) {
                facts.turns += 1;
                facts.offer_title(text, TitleRank::Prompt);
            }
        }
        "assistant/message" => {
            facts.replies += 1;
            facts.turns += u64::from(words(TextKind::Agent).is_some());
            facts.tool_calls += u64::from(words(TextKind::Call).is_some());
            if facts.first_copy_key == 0 {
                facts.first_copy_key = event.copy_key;
            }
        }
        "tool/call" => facts.tool_calls += 1,
        "tool/result" => facts.tool_results += 1,
        _ => {}
    }
}

/// The facts of a whole session. What only its transcript tells is as it was known.
pub(super) fn of(
    header: &SessionHeader,
    events: u64,
    documents: &[std::sync::Arc<EventDocument>],
    known: Option<SessionFacts>,
) -> SessionFacts {
    let mut facts = begin(header);
    documents.iter().for_each(|document| add(&mut facts, document));
    facts.events = events;
    let Some(known) = known else {
        return facts;
    };
    let later = |one: Option<Timestamp>, other: Option<Timestamp>| one.max(other);
    SessionFacts {
        updated_at: later(facts.updated_at, known.updated_at),
        events,
        prompts: facts.prompts,
        replies: facts.replies,
        turns: facts.turns,
        tool_calls: facts.tool_calls,
        tool_results: facts.tool_results,
        ..known
    }
}
