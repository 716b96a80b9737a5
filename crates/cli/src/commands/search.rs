//! `lookback search`: finds sessions by what was said and done in them.

use crate::compose::Library;
use crate::context::Context;
use crate::emptiness;
use crate::environment;
use crate::error::CommandError;
use crate::filters::{FilterArgs, Filters};
use crate::freshness::{self, Audience, Currency, Freshness};
use crate::hits;
use crate::when;
use clap::{Args, ValueEnum};
use lookback_model::ports::{SearchAnswer, SearchPage};
use lookback_model::query::parse::parse;
use lookback_model::query::{MAX_LIMIT, Sort, clamp_limit};
use lookback_model::source::IssueCode;
use lookback_model::{SearchRequest, View};
use lookback_wire::convert::{self, AnswerContext};
use lookback_wire::shell;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

/// Find sessions by what was said and done in them
///
/// Words are searched for in every session; "quoted words" must stand side by side. `repo:NAME` and
/// `path:PART` narrow the search to sessions that worked there.
#[derive(Debug, Default, Args)]
pub(crate) struct SearchArgs {
    /// What to look for; several words are one query
    #[arg(value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// Print the answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// How many sessions to find, 1 to 100 [default: 20]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) limit: Option<f64>,
    /// What is searched
    #[arg(long, value_enum, default_value_t)]
    pub(crate) scope: Scope,
    #[command(flatten)]
    pub(crate) filters: FilterArgs,
    /// Which come first
    #[arg(long, value_enum, default_value_t)]
    pub(crate) sort: Order,
    /// What is looked at
    #[arg(long, value_enum, default_value_t)]
    pub(crate) freshness: Freshness,
    /// Go on where an answer's page ended
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
    /// Where to search; only `local` so far
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Tell how the answer was found
    #[arg(long)]
    pub(crate) debug: bool,
}

/// What is searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// What you and the agent said
    Conversation,
    /// That, reasoning, and what tools did
    #[default]
    All,
}

/// Which hits come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// The best
    #[default]
    Relevance,
    /// The last active
    Newest,
}

/// How often a first page is asked for again when the index moved while it was made.
const ATTEMPTS: usize = 3;

/// Searches.
pub(crate) fn run(args: SearchArgs, context: &mut Context) -> Result<ExitCode, CommandError> {
    check_host(args.host.as_deref())?;
    let query = args.query.join(" ");
    if !args.json && parse(&query).is_blank() {
        return Err(CommandError::usage("nothing to search for")
            .hinted("`lookback sessions` lists sessions without a search"));
    }
    let library = context.library()?;
    let audience = Audience::of(args.json);
    let filters = args.filters.check(&library.engine, context)?;
    let currency = freshness::bring(&library, args.freshness, audience, &mut context.printer)?;
    let request = request(&args, query, filters);
    let begun = Instant::now();
    let answer = ask(&library, &request)?;
    if args.json {
        let told = AnswerContext {
            view: request.view,
            duration: begun.elapsed(),
            stale: currency.stale,
            debug: args.debug,
        };
        context.printer.json(&convert::response(answer, told))?;
        return Ok(ExitCode::SUCCESS);
    }
    let page = page(answer)?;
    print(&page, &args, &library, &currency, context)
}

/// Other hosts come later; until then they are refused as contract A words it, never widened.
fn check_host(host: Option<&str>) -> Result<(), CommandError> {
    match host {
        None | Some("local") => Ok(()),
        Some(_) => Err(CommandError::usage(
            "Agent Session History is not available for this execution host.",
        )),
    }
}

fn request(args: &SearchArgs, query: String, filters: Filters) -> SearchRequest {
    SearchRequest {
        view: match args.scope {
            Scope::Conversation => View::Conversation,
            Scope::All => View::Full,
        },
        limit: clamp_limit(args.limit),
        sort: match args.sort {
            Order::Relevance => Sort::Relevance,
            Order::Newest => Sort::Newest,
        },
        agents: filters.agents,
        paths: filters.paths,
        since: filters.since,
        cursor: args.cursor.clone(),
        ..SearchRequest::new(query)
    }
}

/// A first page that the index outran is asked for again, as the contract tells clients to do.
fn ask(library: &Library, request: &SearchRequest) -> Result<SearchAnswer, CommandError> {
    let mut answer = library.engine.search(request)?;
    for _ in 1..ATTEMPTS {
        let outrun = request.cursor.is_none() && matches!(answer, SearchAnswer::StaleCursor { .. });
        if !outrun {
            break;
        }
        answer = library.engine.search(request)?;
    }
    Ok(answer)
}

fn page(answer: SearchAnswer) -> Result<SearchPage, CommandError> {
    match answer {
        SearchAnswer::Results(page) => Ok(page),
        SearchAnswer::StaleCursor { .. } => {
            Err(CommandError::failed("the index has changed since that page")
                .hinted("search again without --cursor"))
        }
        SearchAnswer::MalformedCursor => Err(CommandError::usage(
            "--cursor is not from an answer to this query",
        )),
    }
}

fn print(
    page: &SearchPage,
    args: &SearchArgs,
    library: &Library,
    currency: &Currency,
    context: &mut Context,
) -> Result<ExitCode, CommandError> {
    hits::print(&page.hits, when::now(), &mut context.printer)?;
    let counts = library.catalogue.counts()?;
    if counts.sessions == 0 {
        emptiness::explain(currency, context);
        return Ok(ExitCode::from(1));
    }
    let printer = &mut context.printer;
    if !page.hits.is_empty() {
        printer.note("");
    }
    if let Some(words) = &page.repaired_terms {
        printer.note(format!(
            "nothing has these words; searched for: {}",
            words.join(" ")
        ));
    }
    if page.query_cut {
        printer.note("the query is longer than is searched; its end was left out");
    }
    if args.debug {
        printer.note(format!("route: {}", page.route));
    }
    if let Some(cursor) = &page.cursor {
        // Few people page; a larger page is shorter to type.
        match clamp_limit(args.limit) {
            MAX_LIMIT => printer.note(format!("there are more: --cursor {cursor}")),
            limit => printer.note(format!("there are more: --limit {}", (limit * 2).min(MAX_LIMIT))),
        }
    }
    if page.hits.is_empty() && page.cursor.is_none() {
        offer_grep(&args.query.join(" "), context)?;
    }
    let printer = &mut context.printer;
    let agents = library.catalogue.sessions_by_agent()?;
    let mut summary = vec![searched(&agents, &args.filters.agents)];
    summary.extend(skipped(counts.files_failed, currency));
    summary.extend(outdated(&counts, currency));
    printer.note(summary.join("; "));
    Ok(if page.hits.is_empty() {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

/// Says how to look through what is too long to be indexed. Not for a query that has no words.
fn offer_grep(query: &str, context: &mut Context) -> Result<(), CommandError> {
    let words: Vec<String> = parse(query).words.into_iter().map(|word| word.text).collect();
    let words = words.join(" ");
    if words.trim().is_empty() {
        return Ok(());
    }
    let limit = environment::text_caps(&context.environment)?.tool_text;
    let end_of_options = if words.starts_with('-') { "-- " } else { "" };
    context.printer.note(format!(
        "nothing found in the index; tool output is indexed up to {limit} characters: \
        `lookback grep -F {end_of_options}{}` looks through everything",
        shell::quote(&words)
    ));
    Ok(())
}

/// What was searched: how many sessions of which of the agents that have any.
fn searched(sessions: &BTreeMap<String, u64>, wanted: &[String]) -> String {
    let searched = sessions
        .iter()
        .filter(|(agent, _)| wanted.is_empty() || wanted.contains(agent));
    let (agents, counts): (Vec<&str>, Vec<u64>) =
        searched.map(|(agent, count)| (agent.as_str(), count)).unzip();
    let total: u64 = counts.iter().sum();
    format!("searched {total} sessions of {}", agents.join(", "))
}

/// Files that could not be read, by reason.
fn skipped(failed: u64, currency: &Currency) -> Option<String> {
    if failed == 0 {
        return None;
    }
    let mut reasons: BTreeMap<&'static str, u64> = BTreeMap::new();
    let issues = currency.pass.iter().flat_map(|pass| &pass.issues);
    for issue in issues.filter(|issue| issue.line.is_none() && issue.code != IssueCode::Repaired) {
        *reasons.entry(issue.code.as_str()).or_default() += 1;
    }
    let named: Vec<String> = reasons
        .iter()
        .map(|(code, count)| format!("{count} {}", code.replace('_', " ")))
        .collect();
    let named = if named.is_empty() {
        "`lookback doctor` tells why".to_owned()
    } else {
        named.join(", ")
    };
    Some(format!("{failed} files skipped ({named})"))
}

fn outdated(counts: &lookback_model::ports::CatalogueCounts, currency: &Currency) -> Option<String> {
    if !currency.stale {
        return None;
    }
    let age = counts
        .age
        .last_reconcile_at
        .map_or_else(|| "new".to_owned(), |time| when::age(time, when::now()));
    let why = match &currency.pass {
        Some(pass) if pass.writer_busy => "another lookback is indexing",
        Some(_) => "not everything new was read in time",
        None => "new sessions cannot be added",
    };
    Some(format!("{why}, the index is from {age}"))
}

#[cfg(test)]
mod tests {
    //! Property: hosts are taken or refused as contract A words it.
    use super::*;

    #[test]
    fn only_the_local_host_is_known() {
        assert!(check_host(None).is_ok() && check_host(Some("local")).is_ok());
        for host in ["", "all", "ssh:box", "nope", "LOCAL"] {
            let error = check_host(Some(host)).unwrap_err();
            assert_eq!(
                error.message,
                "Agent Session History is not available for this execution host."
            );
        }
    }
}
