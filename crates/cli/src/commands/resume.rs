//! `lookback resume`: goes on with a session in its agent.

use crate::context::Context;
use crate::error::CommandError;
use crate::freshness;
use clap::Args;
use lookback_model::SessionKind;
use lookback_model::hit::{Presence, SessionRow};
use lookback_model::source::ResumeCommand;
use lookback_wire::convert;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Go on with a session in its agent
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The session's id, or a beginning that only it has
    #[arg(value_name = "SESSION")]
    session: String,
    /// Print the command instead of running it
    #[arg(long)]
    print: bool,
}

/// Runs or prints the command.
pub(crate) fn run(args: ResumeArgs, context: &mut Context) -> Result<ExitCode, CommandError> {
    let library = context.library()?;
    let row = freshness::session(&library, &args.session, &mut context.printer)?;
    let command = command(&row)?;
    if args.print {
        let line = convert::command_line(command);
        // Read by `eval` as often as by a person: the bytes are what they are, quoted.
        context.printer.bytes(line.as_bytes())?;
        context.printer.bytes(b"\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    context.printer.flush()?;
    start(command, &row.agent)
}

/// The command, or why there is none.
fn command(row: &SessionRow) -> Result<&ResumeCommand, CommandError> {
    let refused = |why: String| CommandError::failed(format!("{} cannot be resumed: {why}", row.session_id));
    let show = format!("`lookback show {}` shows what was said", row.session_id);
    match row.presence {
        Presence::Present => {}
        Presence::Missing => {
            return Err(refused(format!("its transcript {} is gone", row.path.display())).hinted(show));
        }
        Presence::Unverifiable => {
            return Err(refused(format!(
                "its transcript {} cannot be looked at",
                row.path.display()
            ))
            .hinted(show));
        }
    }
    // The agent would take such an id for an option.
    if row.session_id.starts_with('-') {
        return Err(refused("its id looks like an option".to_owned()).hinted(show));
    }
    let Some(command) = &row.resume else {
        let error = refused(format!("{} offers no way to", row.agent));
        return Err(match (row.kind(), &row.facts.parent) {
            (SessionKind::Subagent, Some(parent)) => {
                error.hinted(format!("resume the session it worked for: {parent}"))
            }
            _ => error.hinted(show),
        });
    };
    Ok(command)
}

/// Becomes the agent, in the session's folder.
fn start(command: &ResumeCommand, agent: &str) -> Result<ExitCode, CommandError> {
    let Some((program, arguments)) = command.arguments.split_first() else {
        return Err(CommandError::failed(format!("{agent} gives no command")));
    };
    let mut process = Command::new(program);
    process.args(arguments);
    if let Some(folder) = &command.directory {
        if !Path::new(folder).is_dir() {
            return Err(
                CommandError::failed(format!("the session's folder {folder} is not there"))
                    .hinted("`lookback resume --print` prints the command to run elsewhere"),
            );
        }
        process.current_dir(folder);
    }
    let error = match become_process(process) {
        Ok(code) => return Ok(code),
        Err(error) => error,
    };
    if error.kind() == std::io::ErrorKind::NotFound {
        return Err(CommandError::failed(format!(
            "{program} is not installed, or not on PATH"
        )));
    }
    Err(CommandError::failed(format!("cannot start {program}: {error}")))
}

/// Replaces this process; comes back only when that failed.
#[cfg(unix)]
fn become_process(mut process: Command) -> std::io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(process.exec())
}

/// Runs the program and ends as it ends.
#[cfg(not(unix))]
fn become_process(mut process: Command) -> std::io::Result<ExitCode> {
    let code = process.status()?.code().unwrap_or(1);
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}
