//! `lookback`: the command line, and the only place where the parts are put together.

mod args;
mod commands;
mod compose;
mod context;
mod emptiness;
mod environment;
mod error;
mod filters;
mod found;
mod freshness;
mod hits;
mod layout;
mod output;
mod paint;
mod progress;
mod terminal;
mod when;

use std::process::ExitCode;

fn main() -> ExitCode {
    args::run()
}
