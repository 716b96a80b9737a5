//! `lookback sessions`: the list of sessions, last active first.

use crate::context::Context;
use crate::emptiness;
use crate::error::CommandError;
use crate::filters::{FilterArgs, Filters};
use crate::freshness::{self, Audience, Freshness};
use crate::layout;
use crate::when;
use clap::Args;
use lookback_model::SessionKind;
use lookback_model::hit::{Presence, SessionRow};
use lookback_model::ports::SessionFilter;
use lookback_wire::convert;
use lookback_wire::session::SessionList;
use std::cmp::Reverse;
use std::process::ExitCode;

/// List sessions, last active first
#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    /// Include those of subagents and programs, those agents mark as machine-made, and empty ones
    #[arg(long)]
    all: bool,
    /// How many to list
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    filters: FilterArgs,
    /// What is looked at
    #[arg(long, value_enum, default_value_t)]
    freshness: Freshness,
    /// Print the list as JSON
    #[arg(long)]
    json: bool,
}

/// Lists sessions.
pub(crate) fn run(args: SessionsArgs, context: &mut Context) -> Result<ExitCode, CommandError> {
    let library = context.library()?;
    let audience = Audience::of(args.json);
    let currency = freshness::bring(&library, args.freshness, audience, &mut context.printer)?;
    let filters = args.filters.check(&library.engine, context)?;
    let mut rows = library.engine.sessions(&filter(filters, args.all))?;
    if !args.all {
        // A file of an agent's state alone is a session nobody would look for.
        rows.retain(|row| row.facts.turns > 0);
    }
    sort(&mut rows);
    let total = rows.len();
    rows.truncate(args.limit);
    if args.json {
        let sessions = rows.iter().map(convert::session).collect();
        let list = SessionList {
            sessions,
            total: total as u64,
            stale: currency.stale,
        };
        context.printer.json(&list)?;
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() {
        match library.catalogue.counts()?.sessions {
            0 => emptiness::explain(&currency, context),
            all => context.printer.note(format!(
                "none of {all} sessions; --all shows those of subagents and programs"
            )),
        }
        return Ok(ExitCode::from(1));
    }
    for row in &rows {
        print(row, context)?;
    }
    if total > rows.len() {
        context
            .printer
            .note(format!("{} of {total} sessions; --limit shows more", rows.len()));
    }
    Ok(ExitCode::SUCCESS)
}

fn filter(filters: Filters, all: bool) -> SessionFilter {
    SessionFilter {
        agents: filters.agents,
        paths: filters.paths,
        since: filters.since,
        kinds: if all { Vec::new() } else { vec![SessionKind::Main] },
        hidden: all,
    }
}

/// Last active first; of those active at one time a person's before a program's before a subagent's.
fn sort(rows: &mut [SessionRow]) {
    let rank = |kind: SessionKind| match kind {
        SessionKind::Main => 0,
        SessionKind::Headless => 1,
        SessionKind::Subagent => 2,
    };
    rows.sort_by_key(|row| (Reverse(row.facts.updated_at), rank(row.kind())));
}

/// Three lines: what it is, where and when it was, and its id.
fn print(row: &SessionRow, context: &mut Context) -> Result<(), CommandError> {
    let printer = &mut context.printer;
    let (paint, width) = (printer.paint(), printer.terminal.width);
    printer.data(paint.bold(&layout::cut(&row.title, width)))?;
    let mut parts = vec![row.agent.clone()];
    parts.extend(convert::cwd(row).map(|cwd| layout::cut_start(&cwd, width / 2)));
    parts.extend(row.facts.updated_at.map(|time| when::age(time, when::now())));
    parts.push(format!("{} turns", row.facts.turns));
    parts.extend(kind_words(row));
    if row.presence == Presence::Missing {
        parts.push("transcript is gone".to_owned());
    }
    printer.data(format!("  {}", paint.dim(&parts.join("  "))))?;
    printer.data(format!("  {}", paint.dim(&row.session_id)))
}

/// What tells a session apart from one a person drove.
pub(crate) fn kind_words(row: &SessionRow) -> Option<String> {
    match (row.kind(), &row.facts.parent) {
        (SessionKind::Subagent, Some(parent)) => Some(format!("subagent of {parent}")),
        (SessionKind::Subagent, None) => Some("subagent".to_owned()),
        (SessionKind::Headless, _) => Some("headless".to_owned()),
        (SessionKind::Main, _) => None,
    }
}
