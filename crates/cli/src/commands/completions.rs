//! `lookback completions`: what a shell needs to complete our flags.

use crate::args::Cli;
use crate::context::Context;
use crate::error::CommandError;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::process::ExitCode;

/// Print completions for a shell
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the completions.
pub(crate) fn run(args: CompletionsArgs, context: &mut Context) -> Result<ExitCode, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lookback", &mut script);
    context.printer.bytes(&script)?;
    Ok(ExitCode::SUCCESS)
}
