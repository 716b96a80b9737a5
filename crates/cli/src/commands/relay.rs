//! `lookback relay`: the operations of a session query for a program, over standard input and output.

use crate::compose;
use crate::context::Context;
use crate::error::{self, CommandError};
use crate::freshness::{self, Audience, Freshness};
use clap::Args;
use lookback_engine::session_query::SessionQueryConfig;
use lookback_server::rpc::{Dispatcher, ServeError, serve};
use std::io::{self, BufReader};
use std::process::ExitCode;

/// Let a program query sessions, stored ones and its own running ones
///
/// Speaks JSON-RPC 2.0 over standard input and output, one message a line of at most 16 MiB, until the input
/// ends. The methods are `sessionQuery.listSessions`, `listEvents`, `readEvent`, `traceSession`, `traceEvent`,
/// `searchSessions`, `searchEvents`, `filterSessionResults`, `filterEventResults`, and, for sessions that the
/// program itself runs, `attachLive`, `appendLive` and `detachLive`. Whoever may write to it may read every
/// session.
#[derive(Debug, Args)]
pub(crate) struct RelayArgs {
    /// Search with this provider; without it, with the one that is available
    #[arg(long, value_name = "ID")]
    search_provider: Option<String>,
    /// Hits on a page when a search does not say
    #[arg(long, value_name = "N", default_value_t = SessionQueryConfig::default().default_limit)]
    default_limit: usize,
    /// Hits on a page at most
    #[arg(long, value_name = "N", default_value_t = SessionQueryConfig::default().max_limit)]
    max_limit: usize,
    /// Events before, and after, the one that is read, at most
    #[arg(long, value_name = "N", default_value_t = SessionQueryConfig::default().read_window_max)]
    read_window_max: usize,
    /// What is looked at before the first request; every later one sees what is on disk then
    #[arg(long, value_enum, default_value_t)]
    freshness: Freshness,
}

/// Serves until the input ends.
pub(crate) fn run(args: RelayArgs, context: &mut Context) -> Result<ExitCode, CommandError> {
    let config = SessionQueryConfig {
        search_provider: args.search_provider,
        default_limit: args.default_limit,
        max_limit: args.max_limit,
        read_window_max: args.read_window_max,
    };
    let library = context.library()?;
    freshness::bring(&library, args.freshness, Audience::Program, &mut context.printer)?;
    let corpus = compose::session_query(&context.environment, &library, config)?;
    let dispatcher = Dispatcher::new(corpus.service.clone());
    let input = BufReader::new(io::stdin());
    match serve(&dispatcher, input, context.printer.stream()?) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(ServeError::Write(error)) => Err(CommandError::output(&error)),
        Err(error @ ServeError::Read(_)) => Err(CommandError::failed(error::chain(&error))),
    }
}
