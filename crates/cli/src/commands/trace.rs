//! `lookback trace`: where a session comes from and what descends from it, or what became of an event.

use crate::compose::{self, Library};
use crate::context::Context;
use crate::error::CommandError;
use crate::freshness::{self, Audience, Freshness};
use crate::layout;
use crate::output::Printer;
use crate::when;
use clap::Args;
use lookback_engine::session_query::{SessionQuery, SessionQueryConfig};
use lookback_model::hit::SessionRow;
use lookback_model::ports::SessionFilter;
use lookback_model::session_query::{
    EventRecord, EventTrace, ReadEventRequest, SessionNode, SessionRecord, SessionTrace,
};
use lookback_model::{SurfaceState, Timestamp, text};
use std::collections::HashMap;
use std::process::ExitCode;

/// Show where a session comes from and what descends from it, or what became of one of its events
///
/// With SEQ: what the event replaced, what replaced it up to what an agent would send now, what it was made from
/// and what was made from it.
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    /// The session's id, or a beginning that only it has
    #[arg(value_name = "SESSION")]
    session: String,
    /// The event, as `show` numbers them
    #[arg(value_name = "SEQ")]
    seq: Option<u64>,
    /// Print the trace as JSON
    #[arg(long)]
    json: bool,
}

/// Related events of one kind that are listed; the others are counted.
const LISTED: usize = 20;

/// Prints a trace.
pub(crate) fn run(args: TraceArgs, context: &mut Context) -> Result<ExitCode, CommandError> {
    let library = context.library()?;
    freshness::bring(
        &library,
        Freshness::WaitUntilCurrent,
        Audience::Program,
        &mut context.printer,
    )?;
    let corpus = compose::session_query(&context.environment, &library, SessionQueryConfig::default())?;
    let id = id_of(&args.session, &corpus.service)?;
    match args.seq {
        Some(seq) => event(&corpus.service, &id, seq, args.json, &mut context.printer)?,
        None => session(&corpus.service, &library, &id, args.json, &mut context.printer)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The one id that is, or begins with, what was typed.
fn id_of(typed: &str, service: &SessionQuery) -> Result<String, CommandError> {
    let records = service.list_sessions()?;
    let ids: Vec<&str> = records.iter().map(|record| record.header.id.as_str()).collect();
    if ids.contains(&typed) {
        return Ok(typed.to_owned());
    }
    let begun: Vec<&str> = ids
        .into_iter()
        .filter(|id| !typed.is_empty() && id.starts_with(typed))
        .collect();
    match begun.as_slice() {
        [] => Err(CommandError::not_found(format!("no session {typed}")).hinted(
            "`lookback sessions --all` lists them; one whose transcript is gone has no log to trace",
        )),
        [id] => Ok((*id).to_owned()),
        [one, two, ..] => {
            let message = format!("{typed} is the beginning of {} sessions", begun.len());
            Err(CommandError::usage(message).hinted(format!("name one of {one}, {two}, …")))
        }
    }
}

fn session(
    service: &SessionQuery,
    library: &Library,
    id: &str,
    json: bool,
    printer: &mut Printer,
) -> Result<(), CommandError> {
    let trace = service.trace_session(id)?;
    if json {
        return printer.json(&trace);
    }
    let all = SessionFilter {
        hidden: true,
        ..SessionFilter::default()
    };
    let rows = library.engine.sessions(&all)?;
    let known = rows.iter().map(|row| (row.session_id.as_str(), row)).collect();
    let now = when::now();
    Tree { known, now, printer }.print(&trace)
}

/// A lineage being printed, each session one line under its parent.
struct Tree<'a> {
    known: HashMap<&'a str, &'a SessionRow>,
    now: Timestamp,
    printer: &'a mut Printer,
}

impl Tree<'_> {
    fn print(&mut self, trace: &SessionTrace) -> Result<(), CommandError> {
        let mut indent = String::new();
        if let Some(id) = &trace.unresolved_parent_id {
            let paint = self.printer.paint();
            let line = format!(
                "{}  {}",
                paint.plain(id),
                paint.dim("(a parent that is not there)")
            );
            self.printer.data(line)?;
            indent.push_str(LAST);
        }
        for parent in trace.parents.iter().rev() {
            self.line(&indent, parent, false)?;
            indent = below(&indent) + LAST;
        }
        self.line(&indent, &trace.target, true)?;
        self.children(&below(&indent), &trace.children)
    }

    /// Descendants nest as deep as sessions were forked; a stack of its own keeps that from mattering.
    fn children(&mut self, indent: &str, nodes: &[SessionNode]) -> Result<(), CommandError> {
        let mut open = vec![(indent.to_owned(), nodes)];
        while let Some((indent, nodes)) = open.pop() {
            let Some((node, rest)) = nodes.split_first() else {
                continue;
            };
            let branch = if rest.is_empty() { LAST } else { MORE };
            let own = format!("{indent}{branch}");
            open.push((indent, rest));
            open.push((below(&own), &node.children));
            self.line(&own, &node.session, false)?;
        }
        Ok(())
    }

    fn line(&mut self, indent: &str, record: &SessionRecord, is_target: bool) -> Result<(), CommandError> {
        let paint = self.printer.paint();
        let header = &record.header;
        let row = self.known.get(header.id.as_str());
        let kind = row
            .map(|row| row.facts.kind.as_str())
            .or(header.origin.as_deref());
        let mut words: Vec<String> = Vec::new();
        words.extend(row.map(|row| row.agent.clone()));
        words.extend(kind.filter(|kind| *kind != "main").map(str::to_owned));
        words.extend(record.live.then(|| "live".to_owned()));
        words.push(when::age(header.created_at, self.now));
        let words = words.join(", ");
        let mark = if is_target { "  <--" } else { "" };
        let taken =
            layout::width(indent) + layout::width(&header.id) + layout::width(&words) + mark.len() + 4;
        let room = self.printer.terminal.width.saturating_sub(taken);
        let title = row.map(|row| layout::cut(&row.title, room)).filter(|_| room > 0);
        let id = if is_target {
            paint.bold(&header.id)
        } else {
            paint.plain(&header.id)
        };
        let mut line = format!("{indent}{id}  {}", paint.dim(&words));
        if let Some(title) = title.filter(|title| !title.is_empty()) {
            line.push_str("  ");
            line.push_str(&paint.plain(&title));
        }
        line.push_str(&paint.bold(mark));
        self.printer.data(line.trim_end())
    }
}

const LAST: &str = "└─ ";
const MORE: &str = "├─ ";

/// What stands before the lines under one with this indent.
fn below(indent: &str) -> String {
    indent.replace(LAST, "   ").replace(MORE, "│  ")
}

fn event(
    service: &SessionQuery,
    id: &str,
    seq: u64,
    json: bool,
    printer: &mut Printer,
) -> Result<(), CommandError> {
    let trace = service.trace_event(id, seq as f64)?;
    if json {
        return printer.json(&trace);
    }
    let events = service.list_events(id)?;
    let paint = printer.paint();
    printer.data(format!(
        "{}  {}",
        one_line(&trace.target),
        paint.dim(&when::local(trace.target.time))
    ))?;
    let request = ReadEventRequest {
        session_id: id.to_owned(),
        seq: seq as f64,
        ..ReadEventRequest::default()
    };
    let read = service.read_event(&request)?;
    let pieces = text::pieces(&read.target);
    if let Some(piece) = pieces.first() {
        let room = printer.terminal.width.saturating_sub(2);
        printer.data(format!("  {}", paint.plain(&layout::cut(&piece.text, room))))?;
    }
    relations(&trace, &events, printer)
}

fn relations(trace: &EventTrace, events: &[EventRecord], printer: &mut Printer) -> Result<(), CommandError> {
    for (name, seqs) in [
        ("replaced by, up to what is current", &trace.replacement_chain),
        ("replaces", &trace.shadows),
        ("made from", &trace.references),
        ("named as a source by", &trace.referenced_by),
    ] {
        if seqs.is_empty() {
            continue;
        }
        let paint = printer.paint();
        printer.data(paint.bold(name))?;
        for &seq in seqs.iter().take(LISTED) {
            let event = usize::try_from(seq).ok().and_then(|at| events.get(at));
            printer.data(format!("  {}", event.map_or_else(|| format!("#{seq}"), one_line)))?;
        }
        let left = seqs.len().saturating_sub(LISTED);
        if left > 0 {
            printer.data(format!(
                "  {}",
                paint.dim(&format!("… {left} more; --json has them all"))
            ))?;
        }
    }
    Ok(())
}

fn one_line(event: &EventRecord) -> String {
    let surface = match event.surface {
        SurfaceState::Current => "current",
        SurfaceState::Shadowed => "shadowed",
        SurfaceState::LogOnly => "log-only",
    };
    format!("#{}  {}  {surface}", event.seq, event.r#type)
}
