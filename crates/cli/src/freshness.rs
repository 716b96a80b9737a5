//! How far a command goes to have the index current before it looks into it.
//!
//! A command that only reads must work on what is indexed when nothing can be written: a failed pass is
//! told on standard error, and the command goes on.

use crate::compose::Library;
use crate::error::CommandError;
use crate::output::Printer;
use crate::progress::Bar;
use clap::ValueEnum;
use lookback_engine::{Engine, EngineError, ReconcileOptions, Reconciled};
use lookback_model::hit::SessionRow;
use std::time::{Duration, Instant};

/// How long a search waits for changes to be read (seed A).
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a program waits for the very first index, which must be whole to be of use to it.
const FIRST_PATIENCE: Duration = Duration::from_secs(60);

/// What is searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Freshness {
    /// What is indexed; transcripts are not looked at
    Indexed,
    /// What is on disk, as far as it can be read in five seconds
    #[default]
    WaitUntilCurrent,
}

/// Who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A person, who sees a bar and can interrupt.
    Person,
    /// A program, which needs an answer in bounded time.
    Program,
}

impl Audience {
    /// Programs ask for JSON.
    pub(crate) fn of(json: bool) -> Self {
        if json { Self::Program } else { Self::Person }
    }
}

/// How current the index is.
#[derive(Debug, Default)]
pub(crate) struct Currency {
    /// Transcripts have changed that were not read in time.
    pub(crate) stale: bool,
    /// What the pass did, when there was one.
    pub(crate) pass: Option<Reconciled>,
}

/// Reads what has changed, as far as `freshness` and patience allow.
pub(crate) fn bring(
    library: &Library,
    freshness: Freshness,
    audience: Audience,
    printer: &mut Printer,
) -> Result<Currency, CommandError> {
    if freshness == Freshness::Indexed {
        return Ok(Currency::default());
    }
    let first = library.catalogue.age()?.last_sweep_completed_at.is_none();
    let bar = Bar::new(printer.terminal.stderr_live && audience == Audience::Person);
    let pass = pass(&library.engine, first, audience, &bar);
    drop(bar);
    match pass {
        Ok(pass) => Ok(Currency {
            stale: !pass.complete,
            pass: Some(pass),
        }),
        Err(error) => {
            let EngineError::Store(error) = error else {
                return Err(error.into());
            };
            let cause = crate::error::chain(&error);
            printer.warn(format!(
                "only what is indexed is looked at, because new sessions cannot be added: {cause}"
            ));
            Ok(Currency {
                stale: true,
                pass: None,
            })
        }
    }
}

/// One pass. While another process indexes, nothing waits for it: its last commit is what is looked into.
fn pass(engine: &Engine, first: bool, audience: Audience, bar: &Bar) -> Result<Reconciled, EngineError> {
    let patience = if first { FIRST_PATIENCE } else { PATIENCE };
    // A person who asks for the first time sees the bar and would rather have the whole answer.
    let deadline = (!first || audience == Audience::Program).then(|| Instant::now() + patience);
    let options = ReconcileOptions {
        deadline,
        ..ReconcileOptions::default()
    };
    engine.reconcile(options, bar)
}

/// A session by its id or the beginning of it; transcripts are looked at only when it is not known yet.
pub(crate) fn session(
    library: &Library,
    id: &str,
    printer: &mut Printer,
) -> Result<SessionRow, CommandError> {
    match library.engine.session(id) {
        Err(EngineError::NoSuchSession { .. }) => {
            bring(library, Freshness::WaitUntilCurrent, Audience::Program, printer)?;
            Ok(library.engine.session(id)?)
        }
        found => Ok(found?),
    }
}
