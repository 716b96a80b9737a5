//! `lookback status`: how far the index is.

use crate::context::Context;
use crate::error::CommandError;
use crate::when;
use clap::Args;
use lookback_engine::{Phase, Status};
use lookback_model::Timestamp;
use lookback_wire::status::{DegradedRoot, Phase as WirePhase, SearchStatus};
use std::process::ExitCode;

/// Show how far the index is
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Print the status as JSON
    #[arg(long)]
    json: bool,
}

/// Shows how far the index is.
pub(crate) fn run(args: StatusArgs, context: &mut Context) -> Result<ExitCode, CommandError> {
    let status = context.library()?.engine.status()?;
    if args.json {
        context.printer.json(&encode(&status))?;
    } else {
        print(&status, context)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn encode(status: &Status) -> SearchStatus {
    let counts = &status.counts;
    let millis = |time: Option<Timestamp>| time.map(|time| time.0);
    let degraded = |(root, reason): &(std::path::PathBuf, String)| DegradedRoot {
        root: Some(root.to_string_lossy().into_owned()),
        reason: reason.clone(),
    };
    SearchStatus {
        enabled: true,
        phase: match status.phase {
            Phase::Idle => WirePhase::Idle,
            Phase::Indexing => WirePhase::Indexing,
            Phase::Current => WirePhase::Current,
            Phase::Degraded => WirePhase::Degraded,
            Phase::Closed => WirePhase::Closed,
        },
        files_indexed: counts.files_current,
        files_due: counts.files_due,
        files_failed: counts.files_failed,
        degraded_roots: status.degraded_roots.iter().map(degraded).collect(),
        last_reconcile_at: millis(counts.age.last_reconcile_at),
        last_sweep_completed_at: millis(counts.age.last_sweep_completed_at),
        generation: counts.age.generation,
    }
}

fn print(status: &Status, context: &mut Context) -> Result<(), CommandError> {
    let paint = context.printer.paint();
    let counts = &status.counts;
    let now = when::now();
    let age = |time: Option<Timestamp>| time.map_or_else(|| "never".to_owned(), |time| when::age(time, now));
    let mut rows = vec![
        ("phase", status.phase.as_str().to_owned()),
        (
            "sessions",
            format!(
                "{} ({} of them without their transcript)",
                counts.sessions, counts.sessions_missing
            ),
        ),
        (
            "files",
            format!(
                "{} read, {} to read, {} failed",
                counts.files_current, counts.files_due, counts.files_failed
            ),
        ),
        ("last look", age(counts.age.last_reconcile_at)),
        ("whole look", age(counts.age.last_sweep_completed_at)),
        ("folder", context.data_dir.display().to_string()),
    ];
    rows.extend(
        status
            .degraded_roots
            .iter()
            .map(|(root, reason)| ("degraded", format!("{}: {reason}", root.display()))),
    );
    for (name, value) in rows {
        context.printer.data(format!(
            "{}  {}",
            paint.dim(&format!("{name:<10}")),
            paint.plain(&value)
        ))?;
    }
    Ok(())
}
