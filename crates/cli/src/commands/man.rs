//! `lookback man`: manual pages, made from the same text as `--help`.

use crate::args::Cli;
use crate::context::Context;
use crate::error::CommandError;
use clap::{Args, CommandFactory};
use clap_mangen::Man;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Print the manual page, or write all of them
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write one page for each command into this folder instead
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints the page, or writes all of them.
pub(crate) fn run(args: ManArgs, context: &mut Context) -> Result<ExitCode, CommandError> {
    let Some(folder) = args.out else {
        let mut page = Vec::new();
        Man::new(Cli::command())
            .render(&mut page)
            .map_err(|error| CommandError::output(&error))?;
        context.printer.bytes(&page)?;
        return Ok(ExitCode::SUCCESS);
    };
    let pages = write_pages(&folder)
        .map_err(|error| CommandError::failed(format!("cannot write to {}: {error}", folder.display())))?;
    context
        .printer
        .note(format!("wrote {pages} pages to {}", folder.display()));
    Ok(ExitCode::SUCCESS)
}

fn write_pages(folder: &Path) -> io::Result<usize> {
    fs::create_dir_all(folder)?;
    let mut root = Cli::command();
    root.build();
    let mut pages = 1;
    write_page(folder, root.clone(), "lookback")?;
    for command in root
        .get_subcommands()
        .filter(|command| command.get_name() != "help")
    {
        let name = format!("lookback-{}", command.get_name());
        write_page(folder, command.clone(), &name)?;
        pages += 1;
    }
    Ok(pages)
}

fn write_page(folder: &Path, command: clap::Command, name: &str) -> io::Result<()> {
    let mut page = Vec::new();
    Man::new(command).title(name.to_uppercase()).render(&mut page)?;
    fs::write(folder.join(format!("{name}.1")), page)
}
