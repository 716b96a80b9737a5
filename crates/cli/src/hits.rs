//! Hits as a person reads them: one block for each session.

use crate::commands::sessions::kind_words;
use crate::error::CommandError;
use crate::layout::{self, Span};
use crate::output::Printer;
use crate::paint::Tone;
use crate::when;
use lookback_model::hit::{Hit, SessionRow};
use lookback_model::{Evidence, TextKind, Timestamp};
use lookback_wire::convert;
use std::collections::HashMap;

/// Columns that a subagent's block stands further in than that of its parent.
const INDENT: usize = 4;

/// Prints hits, each subagent's under the session it worked for when that is a hit as well.
pub(crate) fn print(hits: &[Hit], now: Timestamp, printer: &mut Printer) -> Result<(), CommandError> {
    for (number, (hit, indent)) in arrange(hits).into_iter().enumerate() {
        if number > 0 {
            printer.data("")?;
        }
        block(hit, indent, now, printer)?;
    }
    Ok(())
}

/// Hits in the order to print them, with their indents. A family stands where its best hit stands.
fn arrange(hits: &[Hit]) -> Vec<(&Hit, usize)> {
    let by_id: HashMap<&str, usize> = hits
        .iter()
        .enumerate()
        .map(|(at, hit)| (hit.session.session_id.as_str(), at))
        .collect();
    let parent = |hit: &Hit| {
        hit.session
            .facts
            .parent
            .as_deref()
            .and_then(|id| by_id.get(id).copied())
    };
    let mut families: Vec<(usize, Vec<usize>)> = Vec::new();
    for at in 0..hits.len() {
        let mut ancestors = std::iter::successors(Some(at), |&at| hits.get(at).and_then(parent));
        let root = ancestors.by_ref().take(hits.len()).last().unwrap_or(at);
        // Who has more ancestors than there are hits is in a circle, and stands alone.
        let root = if ancestors.next().is_some() { at } else { root };
        match families.iter_mut().find(|(family, _)| *family == root) {
            Some((_, members)) => members.push(at),
            None => families.push((root, vec![at])),
        }
    }
    let mut arranged = Vec::with_capacity(hits.len());
    for (root, members) in families {
        arranged.extend(hits.get(root).map(|hit| (hit, 0)));
        let others = members.into_iter().filter(|&member| member != root);
        arranged.extend(others.filter_map(|member| Some((hits.get(member)?, INDENT))));
    }
    arranged
}

fn block(hit: &Hit, indent: usize, now: Timestamp, printer: &mut Printer) -> Result<(), CommandError> {
    let paint = printer.paint();
    let columns = printer.terminal.width.saturating_sub(indent).max(1);
    let inner = columns.saturating_sub(2).max(1);
    let row = &hit.session;
    let margin = " ".repeat(indent);
    for line in layout::wrap(&head(row, columns, now), columns, paint) {
        printer.data(format!("{margin}{line}"))?;
    }
    printer.data(format!(
        "{margin}  {}",
        paint.bold(&layout::cut(&row.title, inner))
    ))?;
    if let Some(evidence) = &hit.evidence {
        for line in layout::wrap(&snippet(evidence, paint.colour), inner, paint) {
            printer.data(format!("{margin}  {line}"))?;
        }
    }
    let at = hit
        .evidence
        .as_ref()
        .map(|evidence| format!(" --at {}", evidence.seq))
        .unwrap_or_default();
    let id = lookback_wire::shell::quote(&row.session_id);
    printer.data(format!(
        "{margin}  {} {}",
        paint.dim("show:"),
        paint.plain(&format!("lookback show {id}{at}"))
    ))?;
    // Not cut: a command is there to be copied.
    if let Some(command) = convert::resume_command(row) {
        printer.data(format!(
            "{margin}  {} {}",
            paint.dim("resume:"),
            paint.plain(&command)
        ))?;
    }
    Ok(())
}

/// Agent, project, folder, age, and what tells it from a session of a person.
fn head(row: &SessionRow, columns: usize, now: Timestamp) -> Vec<Span> {
    let cwd = convert::cwd(row).unwrap_or_default();
    let mut parts = vec![(Tone::Who, row.agent.clone())];
    parts.extend(project(&cwd).map(|name| (Tone::Bold, name.to_owned())));
    let mut rest = Vec::new();
    rest.extend(
        row.facts
            .updated_at
            .map(|time| (Tone::Plain, when::age(time, now))),
    );
    rest.extend(kind_words(row).map(|words| (Tone::Plain, words)));
    if row.presence == lookback_model::hit::Presence::Missing {
        rest.push((Tone::Plain, "transcript is gone".to_owned()));
    }
    let taken: usize = parts
        .iter()
        .chain(&rest)
        .map(|(_, text)| layout::width(text) + SEPARATOR.len())
        .sum();
    let room = columns.saturating_sub(taken);
    if !cwd.is_empty() && room >= SHORTEST_FOLDER {
        parts.push((Tone::Dim, layout::cut_start(&cwd, room)));
    }
    parts.append(&mut rest);
    let mut spans = Vec::new();
    for (number, (tone, text)) in parts.into_iter().enumerate() {
        if number > 0 {
            spans.push(Span::new(Tone::Dim, SEPARATOR));
        }
        spans.push(Span::new(tone, &text));
    }
    spans
}

const SEPARATOR: &str = " - ";
/// A folder of fewer columns than this tells nothing.
const SHORTEST_FOLDER: usize = 10;

/// The last segment of a working directory of any system.
fn project(cwd: &str) -> Option<&str> {
    cwd.rsplit(['/', '\\']).find(|segment| !segment.is_empty())
}

/// The snippet, its matches set off; without colour by quotation marks, so that they can be seen anywhere.
fn snippet(evidence: &Evidence, colour: bool) -> Vec<Span> {
    let text = &evidence.snippet.text;
    let mut spans = vec![Span::new(Tone::Dim, &format!("{}: ", speaker(evidence.kind)))];
    let mut at = 0;
    for range in &evidence.snippet.matches {
        let (Some(before), Some(inside)) = (text.get(at..range.start), text.get(range.clone())) else {
            continue;
        };
        spans.push(Span::new(Tone::Plain, before));
        let marked = if colour {
            inside.to_owned()
        } else {
            format!("«{inside}»")
        };
        spans.push(Span::new(Tone::Match, &marked));
        at = range.end;
    }
    spans.push(Span::new(Tone::Plain, text.get(at..).unwrap_or("")));
    spans
}

/// Who speaks, in a word.
pub(crate) fn speaker(kind: TextKind) -> &'static str {
    match kind {
        TextKind::User => "you",
        TextKind::Agent => "agent",
        TextKind::Reasoning => "agent, thinking",
        TextKind::Call => "tool call",
        TextKind::Result => "tool result",
        TextKind::Context => "context",
    }
}

#[cfg(test)]
mod tests {
    //! Properties: families stay together and lose nobody; matches can be told without colour.
    use super::*;
    use lookback_model::hit::Presence;
    use lookback_model::{SessionFacts, SessionHeader, SessionOrdinal, Snippet};

    fn hit(id: &str, parent: Option<&str>) -> Hit {
        let facts = SessionFacts {
            parent: parent.map(str::to_owned),
            ..SessionFacts::default()
        };
        let session = SessionRow {
            ordinal: SessionOrdinal(1),
            agent: "claude".into(),
            session_id: id.into(),
            header: SessionHeader::new(id, Timestamp(1)),
            facts,
            title: id.into(),
            shadowed: Vec::new(),
            path: "/x".into(),
            presence: Presence::Present,
            resume: None,
            copies: 0,
        };
        Hit {
            session,
            score: 1.0,
            evidence: None,
        }
    }

    fn order(hits: &[Hit]) -> Vec<(&str, usize)> {
        arrange(hits)
            .into_iter()
            .map(|(hit, indent)| (hit.session.session_id.as_str(), indent))
            .collect()
    }

    #[test]
    fn subagents_stand_under_their_parents() {
        let hits = [
            hit("a1", Some("a")),
            hit("b", None),
            hit("a", None),
            hit("a2", Some("a1")),
            hit("c", Some("?")),
        ];
        assert_eq!(
            order(&hits),
            [("a", 0), ("a1", INDENT), ("a2", INDENT), ("b", 0), ("c", 0)]
        );
    }

    #[test]
    fn a_circle_of_parents_loses_nobody() {
        let hits = [hit("a", Some("b")), hit("b", Some("a")), hit("c", Some("c"))];
        let mut ids: Vec<_> = order(&hits).into_iter().map(|(id, _)| id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids, ["a", "b", "c"]);
        assert_eq!(order(&hits).len(), 3);
    }

    #[test]
    fn matches_show_without_colour() {
        let evidence = Evidence {
            snippet: Snippet {
                text: "the retry".into(),
                matches: std::iter::once(4..9).collect(),
                cut: false,
            },
            kind: TextKind::User,
            time: Timestamp(1),
            seq: 0,
        };
        let plain: String = snippet(&evidence, false)
            .into_iter()
            .map(|span| span.text)
            .collect();
        assert_eq!(plain, "you: the «retry»");
        let painted = snippet(&evidence, true);
        assert!(
            painted
                .iter()
                .any(|span| span.tone == Tone::Match && span.text == "retry")
        );
    }

    #[test]
    fn projects_are_the_last_segment() {
        assert_eq!(project("/srv/shop/"), Some("shop"));
        assert_eq!(project("C:\\Work\\App"), Some("App"));
        assert_eq!(project("/"), None);
    }
}
