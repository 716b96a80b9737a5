//! `lookback index`: reads what has changed, now and to the end.

use crate::context::Context;
use crate::error::CommandError;
use crate::progress::Bar;
use clap::Args;
use indicatif::HumanBytes;
use lookback_engine::{FileIssue, ReconcileOptions, Reconciled};
use lookback_wire::index::{IndexReport, Warning};
use std::process::ExitCode;
use std::time::Duration;

/// Read what has changed into the index
#[derive(Debug, Args)]
pub(crate) struct IndexArgs {
    /// Read every transcript again from its start, whether or not it seems to have changed
    #[arg(long)]
    verify: bool,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

/// How long to leave another process alone before looking whether it is done.
const TURN_PAUSE: Duration = Duration::from_millis(50);

/// How many warnings a person is shown.
const WARNINGS_SHOWN: usize = 10;

/// Reads what has changed.
pub(crate) fn run(args: IndexArgs, context: &mut Context) -> Result<ExitCode, CommandError> {
    let library = context.library()?;
    let bar = Bar::new(context.printer.terminal.stderr_live);
    let options = ReconcileOptions {
        deadline: None,
        verify: args.verify,
    };
    let mut pass = library.engine.reconcile(options, &bar)?;
    if pass.writer_busy {
        context
            .printer
            .note("waiting for another lookback that is indexing");
    }
    // Whoever asked for an index is owed one: what changed after the other process looked is not in its.
    while pass.writer_busy {
        std::thread::park_timeout(TURN_PAUSE);
        pass = library.engine.reconcile(options, &bar)?;
    }
    drop(bar);
    if args.json {
        context.printer.json(&encode(&pass))?;
    } else {
        print(&pass, context)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn encode(pass: &Reconciled) -> IndexReport {
    IndexReport {
        files_seen: pass.files_seen,
        files_unchanged: pass.files_unchanged,
        files_read: pass.files_read,
        files_failed: pass.files_failed,
        sessions_read: pass.sessions_read,
        documents_added: pass.documents_added,
        bytes_read: pass.bytes_read,
        lines_lost: pass.lines_lost,
        generation: pass.generation,
        duration_ms: u64::try_from(pass.duration.as_millis()).unwrap_or(u64::MAX),
        complete: pass.complete,
        writer_busy: pass.writer_busy,
        warnings: pass.issues.iter().map(warning).collect(),
    }
}

/// An issue on the wire.
pub(crate) fn warning(issue: &FileIssue) -> Warning {
    Warning {
        code: issue.code.as_str().to_owned(),
        agent: issue.agent.clone(),
        path: issue.path.to_string_lossy().into_owned(),
        line: issue.line,
        detail: issue.detail.clone(),
    }
}

fn print(pass: &Reconciled, context: &mut Context) -> Result<(), CommandError> {
    let printer = &mut context.printer;
    printer.data(format!(
        "read {} of {} files ({}), {} sessions, in {:.1} s; {} unchanged",
        pass.files_read,
        pass.files_seen,
        HumanBytes(pass.bytes_read),
        pass.sessions_read,
        pass.duration.as_secs_f64(),
        pass.files_unchanged,
    ))?;
    for issue in pass.issues.iter().take(WARNINGS_SHOWN) {
        printer.warn(describe(issue));
    }
    let more = pass.issues.len().saturating_sub(WARNINGS_SHOWN) as u64 + pass.issues_dropped;
    if more > 0 {
        printer.note(format!("{more} more warnings; `lookback doctor` has them all"));
    }
    Ok(())
}

/// An issue in a line of words.
pub(crate) fn describe(issue: &FileIssue) -> String {
    let place = match issue.line {
        Some(line) => format!("{}, line {line}", issue.path.display()),
        None => issue.path.display().to_string(),
    };
    let kind = issue.code.as_str().replace('_', " ");
    if issue.detail.is_empty() {
        format!("{kind}: {place}")
    } else {
        format!("{kind}: {place}: {}", issue.detail)
    }
}
