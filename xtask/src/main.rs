//! Development tasks of lookback, run as `cargo xtask TASK`.
//!
//! Each task is one module. There is no script beside them: what a person types, the continuous
//! integration runs, on every system that cargo runs on.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a task talks to the person who runs it"
)]

mod bench;
mod ci;
mod command;
mod docs;
mod packages;
mod relevance;
mod walls;

use anyhow::{Result, bail};
use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask TASK

Tasks:
  ci                            Everything a change must pass: format, lints, walls, docs, tests
  walls                         Check crate edges, third-party walls, file lengths and module names
  docs [--check]                Write docs/reference and the types in packages/, or check that they are current
  packages                      Test packages/ against the program, where node and npm are installed
  bench --home DIR [--rounds N] Measure against bare tantivy and ripgrep on the transcripts under DIR
  relevance [--set DIR]... [--misses FILE]
                                Measure how well sessions are found, on the set in relevance/ and on others";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["ci"] => ci::run(),
        ["walls"] => walls::run(),
        ["docs"] => docs::write(),
        ["docs", "--check"] => docs::check(),
        ["packages"] => packages::run(),
        ["bench", options @ ..] => bench::run(&bench::Options::parse(options)?),
        ["relevance", options @ ..] => relevance::run(&relevance::Options::parse(options)?),
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        other => bail!("no task `{}`\n\n{HELP}", other.join(" ")),
    }
}
