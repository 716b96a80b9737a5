//! `lookback show`: a session as a conversation, as the person last saw it, with what was rewound or
//! compacted still in its place.

use crate::commands::sessions::kind_words;
use crate::compose;
use crate::context::Context;
use crate::error::CommandError;
use crate::found::kind_name;
use crate::freshness;
use crate::hits::speaker;
use crate::layout;
use crate::output::Printer;
use crate::when;
use clap::Args;
use lookback_engine::session_query::SessionQueryConfig;
use lookback_engine::{ShownEvent, Transcript, WHOLE_LOG};
use lookback_model::hit::SessionRow;
use lookback_model::{SurfaceState, TextKind};
use lookback_wire::convert;
use lookback_wire::session::{EventSummary, SessionEvents};
use std::process::ExitCode;

/// Print a session's conversation
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The session's id, or a beginning that only it has
    #[arg(value_name = "SESSION")]
    session: String,
    /// Only the surroundings of this event
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,
    /// How many events before it
    #[arg(long, value_name = "N", default_value_t = 5, requires = "at")]
    before: usize,
    /// How many events after it
    #[arg(long, value_name = "N", default_value_t = 10, requires = "at")]
    after: usize,
    /// Leave nothing out: long tool results, and what was never part of the conversation
    #[arg(long)]
    full: bool,
    /// Print the session and all its events as JSON
    #[arg(long)]
    json: bool,
}

/// Tool results are cut to so many lines.
const RESULT_LINES: usize = 20;
/// Source of the message that takes the place of a compacted conversation.
const COMPACTION: &str = "compaction";

/// Prints a session.
pub(crate) fn run(args: ShowArgs, context: &mut Context) -> Result<ExitCode, CommandError> {
    let library = context.library()?;
    let row = freshness::session(&library, &args.session, &mut context.printer)?;
    let config = SessionQueryConfig {
        read_window_max: WHOLE_LOG,
        ..SessionQueryConfig::default()
    };
    let corpus = compose::session_query(&context.environment, &library, config)?;
    let transcript = library.engine.transcript(&corpus.service, &row)?;
    if args.json {
        let events = window(transcript.events.iter().collect(), &args)?;
        let shown = SessionEvents {
            session: convert::session(&row),
            from_archive: transcript.from_archive,
            total: row.facts.events,
            events: events.into_iter().map(encode).collect(),
        };
        context.printer.json(&shown)?;
        return Ok(ExitCode::SUCCESS);
    }
    head(&row, &transcript, &mut context.printer)?;
    let compacted = last_compaction(&transcript.events);
    let wanted = |event: &&ShownEvent| args.at == Some(event.seq) || is_shown(event, args.full);
    let events = transcript.events.iter().filter(wanted).collect();
    for event in window(events, &args)? {
        print(event, compacted, &args, &mut context.printer)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The events around the one that was asked for; all when none was.
fn window<'a>(events: Vec<&'a ShownEvent>, args: &ShowArgs) -> Result<Vec<&'a ShownEvent>, CommandError> {
    let Some(seq) = args.at else {
        return Ok(events);
    };
    let Some(at) = events.iter().position(|event| event.seq == seq) else {
        let error = CommandError::not_found(format!("the session has no event {seq}"));
        return Err(match (events.first(), events.last()) {
            (Some(first), Some(last)) => error.hinted(format!("it has events {} to {}", first.seq, last.seq)),
            _ => error.hinted("it has no events"),
        });
    };
    let from = at.saturating_sub(args.before);
    let count = (at - from).saturating_add(args.after).saturating_add(1);
    Ok(events.into_iter().skip(from).take(count).collect())
}

fn encode(event: &ShownEvent) -> EventSummary {
    EventSummary {
        seq: event.seq,
        time: convert::time(event.time),
        event_type: event.type_name.clone(),
        role: event.role.to_owned(),
        kind: event.kind.map(kind_name).map(str::to_owned),
        surface: surface_name(event.surface).to_owned(),
        text: event.text.clone(),
    }
}

fn surface_name(surface: SurfaceState) -> &'static str {
    match surface {
        SurfaceState::Current => "current",
        SurfaceState::Shadowed => "shadowed",
        SurfaceState::LogOnly => "log-only",
    }
}

/// What was never part of the conversation is left out, and so is what has no words.
fn is_shown(event: &ShownEvent, full: bool) -> bool {
    let part = full || event.surface != SurfaceState::LogOnly || event.kind == Some(TextKind::Call);
    part && !event.text.trim().is_empty()
}

fn is_compaction(event: &ShownEvent) -> bool {
    event.source.as_deref() == Some(COMPACTION)
}

fn last_compaction(events: &[ShownEvent]) -> Option<u64> {
    events
        .iter()
        .rev()
        .find(|event| is_compaction(event))
        .map(|event| event.seq)
}

fn head(row: &SessionRow, transcript: &Transcript, printer: &mut Printer) -> Result<(), CommandError> {
    let paint = printer.paint();
    printer.data(paint.bold(&layout::cut(&row.title, printer.terminal.width)))?;
    let mut parts = vec![row.agent.clone(), row.session_id.clone()];
    parts.extend(kind_words(row));
    parts.push(format!("{} turns", row.facts.turns));
    printer.data(paint.dim(&parts.join(" - ")))?;
    let mut place = Vec::new();
    place.extend(convert::cwd(row));
    place.extend(row.facts.branch.as_ref().map(|branch| format!("branch {branch}")));
    let times = [row.facts.created_at, row.facts.updated_at];
    place.extend(
        times
            .into_iter()
            .flatten()
            .map(when::local)
            .filter(|time| !time.is_empty()),
    );
    if !place.is_empty() {
        printer.data(paint.dim(&place.join(" - ")))?;
    }
    printer.data(paint.dim(&row.path.display().to_string()))?;
    if transcript.from_archive {
        printer.note("the transcript cannot be read; this is what was indexed of it");
    }
    Ok(())
}

fn print(
    event: &ShownEvent,
    compacted: Option<u64>,
    args: &ShowArgs,
    printer: &mut Printer,
) -> Result<(), CommandError> {
    let paint = printer.paint();
    printer.data("")?;
    if is_compaction(event) {
        printer.data(paint.dim("--compaction--"))?;
    }
    // What a compaction took away stands above its line; what else is shadowed was rewound.
    let rewound = event.surface == SurfaceState::Shadowed && compacted.is_none_or(|at| event.seq > at);
    for (kind, text) in &event.pieces {
        let mut line = vec![paint.who(speaker(*kind))];
        line.extend(
            Some(when::local(event.time))
                .filter(|time| !time.is_empty())
                .map(|time| paint.dim(&time)),
        );
        line.push(paint.dim(&format!("#{}", event.seq)));
        if rewound {
            line.push(paint.bold("(rewound)"));
        }
        if args.at == Some(event.seq) {
            line.push(paint.bold("<--"));
        }
        printer.data(line.join("  "))?;
        let limit = (*kind == TextKind::Result && !args.full).then_some(RESULT_LINES);
        body(text, limit, printer)?;
    }
    Ok(())
}

/// The words, set in, cut after `limit` lines.
fn body(text: &str, limit: Option<usize>, printer: &mut Printer) -> Result<(), CommandError> {
    let paint = printer.paint();
    for line in text.lines().take(limit.unwrap_or(usize::MAX)) {
        printer.data(format!("  {}", paint.plain(line)).trim_end())?;
    }
    let left = limit.map_or(0, |limit| text.lines().count().saturating_sub(limit));
    if left > 0 {
        printer.data(format!(
            "  {}",
            paint.dim(&format!("… {left} more lines; --full shows them"))
        ))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    //! Properties: a window is cut at the session's ends and never leaves the event out.
    use super::*;
    use lookback_model::Timestamp;

    fn event(seq: u64) -> ShownEvent {
        ShownEvent {
            seq,
            time: Timestamp(1),
            type_name: "user/message".into(),
            role: "user",
            kind: Some(TextKind::User),
            surface: SurfaceState::Current,
            text: "words".into(),
            pieces: vec![(TextKind::User, "words".into())],
            source: None,
        }
    }

    fn seqs(at: u64, before: usize, after: usize) -> Result<Vec<u64>, CommandError> {
        let events: Vec<ShownEvent> = (0..10).map(event).collect();
        let args = ShowArgs {
            session: String::new(),
            at: Some(at),
            before,
            after,
            full: false,
            json: false,
        };
        Ok(window(events.iter().collect(), &args)?
            .into_iter()
            .map(|event| event.seq)
            .collect())
    }

    #[test]
    fn windows_end_where_the_session_does() {
        assert_eq!(seqs(5, 1, 2).unwrap(), [5 - 1, 5, 6, 7]);
        assert_eq!(seqs(0, 3, 0).unwrap(), [0]);
        assert_eq!(seqs(9, 0, usize::MAX).unwrap(), [9]);
        let error = seqs(10, 1, 1).unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("it has events 0 to 9"));
    }
}
