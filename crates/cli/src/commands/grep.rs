//! `lookback grep`: looks through every word of every transcript, also what is too long to be indexed.

use crate::compose;
use crate::context::Context;
use crate::error::{self, CommandError};
use crate::filters::FilterArgs;
use crate::found::{Shape, Shown};
use clap::{Args, ValueEnum};
use lookback_engine::{Case, GrepReport, GrepRequest, Pattern, PatternError, PatternOptions, SessionHits};
use lookback_model::View;
use lookback_model::ports::SessionFilter;
use std::ops::ControlFlow;
use std::process::ExitCode;

/// Look for a text or an expression in every word of every session, however long
///
/// Searches the transcripts themselves, also the parts of tool output that are too long to be indexed. A
/// PATTERN is a regular expression; it may match across lines, and only a capital letter in it makes letter
/// case matter. A blank in plain words, or with -F, matches any white space, a line break as well.
///
/// A line of more than 1,000 characters is shown around its first match; --json has it whole.
#[derive(Debug, Args)]
pub(crate) struct GrepArgs {
    /// What to look for
    #[arg(value_name = "PATTERN")]
    pattern: String,
    /// PATTERN is no expression: every sign in it means itself
    #[arg(short = 'F', long)]
    fixed_strings: bool,
    /// Letters match in either case
    #[arg(short, long, overrides_with = "case_sensitive")]
    ignore_case: bool,
    /// Letters match in their own case only
    #[arg(short = 's', long, overrides_with = "ignore_case")]
    case_sensitive: bool,
    /// Only whole words
    #[arg(short, long)]
    word_regexp: bool,
    /// Print only the sessions that have hits
    #[arg(short = 'l', long)]
    sessions_with_matches: bool,
    /// Print only how many hits each session has
    #[arg(short, long, conflicts_with = "sessions_with_matches")]
    count: bool,
    /// Stop after N hits in each session
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_count: Option<u64>,
    /// Stop after N hits in all; with -l or -c, after N sessions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
    /// Print N lines after each hit as well
    #[arg(short = 'A', long, value_name = "N")]
    after_context: Option<usize>,
    /// Print N lines before each hit as well
    #[arg(short = 'B', long, value_name = "N")]
    before_context: Option<usize>,
    /// Print N lines before and after each hit as well
    #[arg(short = 'C', long, value_name = "N")]
    context: Option<usize>,
    /// Whose words are searched
    #[arg(long, value_enum, default_value_t)]
    scope: Scope,
    #[command(flatten)]
    filters: FilterArgs,
    /// Print each hit as a line of JSON
    #[arg(long)]
    json: bool,
}

/// Whose words are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Scope {
    /// What you and the agent said
    Conversation,
    /// That, reasoning, what tools did, and what the agent's program put in
    #[default]
    All,
}

/// Files that could not be looked at are named up to this many.
const NAMED: usize = 3;

/// Looks through everything.
pub(crate) fn run(args: GrepArgs, context: &mut Context) -> Result<ExitCode, CommandError> {
    let pattern = pattern(&args)?;
    let library = context.library()?;
    let filters = args.filters.check(&library.engine, context)?;
    let filter = SessionFilter {
        agents: filters.agents,
        paths: filters.paths,
        since: filters.since,
        hidden: true,
        ..SessionFilter::default()
    };
    let shape = shape(&args);
    let request = request(&args, pattern, filter, shape);
    let mut shown = Shown::new(shape, args.json, args.limit);
    let mut failed = None;
    let report = library
        .engine
        .grep(
            &request,
            &mut |session: SessionHits| match shown.print(session, &mut context.printer) {
                Ok(flow) => flow,
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            },
        );
    if let Some(error) = failed {
        return Err(error);
    }
    tell(&report, &shown, args.json, context);
    // For programs, as everywhere, an answer without hits is an answer.
    Ok(if shown.hits > 0 || args.json {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

fn pattern(args: &GrepArgs) -> Result<Pattern, CommandError> {
    let options = PatternOptions {
        fixed: args.fixed_strings,
        case: match (args.ignore_case, args.case_sensitive) {
            (true, _) => Case::Ignored,
            (_, true) => Case::Exact,
            _ => Case::Smart,
        },
        words: args.word_regexp,
    };
    Pattern::new(&args.pattern, options).map_err(|error| match error {
        PatternError::Empty => CommandError::usage("nothing to look for")
            .hinted("`lookback sessions` lists sessions without a search"),
        PatternError::Syntax { .. } => {
            CommandError::usage(format!("the pattern is no regular expression: {error}"))
                .hinted("with -F every sign means itself")
        }
        PatternError::TooLarge => CommandError::usage(error.to_string()),
    })
}

fn shape(args: &GrepArgs) -> Shape {
    match (args.sessions_with_matches, args.count) {
        (true, _) => Shape::Sessions,
        (_, true) => Shape::Counts,
        _ => Shape::Lines,
    }
}

fn request(args: &GrepArgs, pattern: Pattern, filter: SessionFilter, shape: Shape) -> GrepRequest {
    let around = |own: Option<usize>| own.or(args.context).unwrap_or(0);
    let of_each = args.max_count.unwrap_or(u64::MAX);
    GrepRequest {
        pattern,
        view: match args.scope {
            Scope::Conversation => View::Conversation,
            Scope::All => View::Everything,
        },
        filter,
        per_session: match shape {
            Shape::Sessions => 1,
            Shape::Counts => of_each,
            Shape::Lines => of_each.min(args.limit.unwrap_or(u64::MAX)),
        },
        context: (shape == Shape::Lines).then(|| (around(args.before_context), around(args.after_context))),
        workers: compose::threads(),
    }
}

/// What was found where, and what could not be looked at.
fn tell(report: &GrepReport, shown: &Shown, json: bool, context: &mut Context) {
    let printer = &mut context.printer;
    if !report.issues.is_empty() {
        let named: Vec<String> = report
            .issues
            .iter()
            .take(NAMED)
            .map(|issue| format!("{} ({})", issue.path.display(), issue.detail))
            .collect();
        let more = if report.issues.len() > NAMED { ", …" } else { "" };
        let count = report.issues.len();
        printer.warn(format!(
            "{count} could not be looked at: {}{more}",
            named.join(", ")
        ));
    }
    if let Some(error) = &report.not_recalled {
        let cause = error::chain(error);
        printer.warn(format!(
            "sessions whose transcripts are gone were not looked at: {cause}"
        ));
    }
    if json {
        return;
    }
    if shown.hits > 0 {
        printer.note("");
    }
    if shown.is_full() {
        printer.note("stopped there; a larger --limit looks further");
        return;
    }
    let gone = match report.gone {
        0 => String::new(),
        gone => format!(" and {} without one", counted(gone, "session")),
    };
    printer.note(format!(
        "{} in {} of {}{gone}",
        counted(shown.hits, "hit"),
        counted(shown.sessions, "session"),
        counted(report.files, "transcript")
    ));
}

fn counted(count: u64, name: &str) -> String {
    format!("{count} {name}{}", if count == 1 { "" } else { "s" })
}
