//! The command line's grammar, and the way from it to a command.

use crate::commands;
use crate::context::Context;
use crate::environment;
use crate::error::CommandError;
use crate::output::Printer;
use crate::terminal::Terminal;
use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Find what was said and done in your coding-agent sessions
#[derive(Debug, Parser)]
#[command(
    name = "lookback",
    version,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    /// Folder of the index [default: LOOKBACK_DATA_DIR, else the system's folder for application data]
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Search(commands::search::SearchArgs),
    Grep(commands::grep::GrepArgs),
    Sessions(commands::sessions::SessionsArgs),
    Show(commands::show::ShowArgs),
    Trace(commands::trace::TraceArgs),
    Resume(commands::resume::ResumeArgs),
    Index(commands::index::IndexArgs),
    Status(commands::status::StatusArgs),
    Doctor(commands::doctor::DoctorArgs),
    Relay(commands::relay::RelayArgs),
    Demo(commands::demo::DemoArgs),
    Completions(commands::completions::CompletionsArgs),
    Man(commands::man::ManArgs),
}

/// Runs what the process was called with; gives its exit code.
pub(crate) fn run() -> ExitCode {
    let mut printer = Printer::new(Terminal::detect());
    let outcome = match Cli::try_parse() {
        Ok(cli) => dispatch(cli, printer),
        Err(error) => (explain(&error, &mut printer), printer),
    };
    let (result, mut printer) = outcome;
    let result = result.and_then(|code| printer.flush().map(|()| code));
    match result {
        Ok(code) => code,
        Err(error) => {
            printer.error(&error);
            error.exit_code()
        }
    }
}

fn dispatch(cli: Cli, printer: Printer) -> (Result<ExitCode, CommandError>, Printer) {
    let environment = environment::of_this_process();
    let data_dir = cli
        .data_dir
        .unwrap_or_else(|| environment::data_dir(&environment));
    let mut context = Context {
        environment,
        data_dir,
        printer,
    };
    let result = match cli.command {
        Command::Search(args) => commands::search::run(args, &mut context),
        Command::Grep(args) => commands::grep::run(args, &mut context),
        Command::Sessions(args) => commands::sessions::run(args, &mut context),
        Command::Show(args) => commands::show::run(args, &mut context),
        Command::Trace(args) => commands::trace::run(args, &mut context),
        Command::Resume(args) => commands::resume::run(args, &mut context),
        Command::Index(args) => commands::index::run(args, &mut context),
        Command::Status(args) => commands::status::run(args, &mut context),
        Command::Doctor(args) => commands::doctor::run(args, &mut context),
        Command::Relay(args) => commands::relay::run(args, &mut context),
        Command::Demo(args) => commands::demo::run(args, &mut context),
        Command::Completions(args) => commands::completions::run(args, &mut context),
        Command::Man(args) => commands::man::run(args, &mut context),
    };
    (result, context.printer)
}

/// Prints help, the version, or what was wrong with the command line.
fn explain(error: &clap::Error, printer: &mut Printer) -> Result<ExitCode, CommandError> {
    let styled = error.render();
    let colour = if error.use_stderr() {
        printer.terminal.stderr_colour
    } else {
        printer.terminal.stdout_colour
    };
    let text = if colour {
        styled.ansi().to_string()
    } else {
        styled.to_string()
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            printer.data(text.trim_end())?;
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            printer.usage(text.trim_end());
            Ok(ExitCode::from(2))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// Property: the grammar is free of contradictions clap can see.
    #[test]
    fn the_grammar_is_sound() {
        Cli::command().debug_assert();
    }
}
