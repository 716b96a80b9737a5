//! `lookback demo`: a search on sample sessions, for people who have none yet or want to look first.
//!
//! The samples live in `demo/`. A time in them is written `"@12"`: twelve minutes after the session began.

use crate::commands::search::{self, SearchArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::when;
use clap::Args;
use lookback_model::{Environment, Timestamp};
use lookback_wire::shell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Search in sample sessions
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// What to look for
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
}

const SAMPLE_QUERY: &str = "connection refused";
const SESSION: &str = "b7c1f6a2-3c58-4e7d-9a40-5f0e2d91c001";

/// A sample file: where under the home folder, how many minutes ago it begins, and what it holds.
struct Sample {
    path: &'static str,
    minutes_ago: i64,
    content: &'static str,
}

const SAMPLES: &[Sample] = &[
    Sample {
        path: ".claude/projects/-home-demo-teahouse/b7c1f6a2-3c58-4e7d-9a40-5f0e2d91c001.jsonl",
        minutes_ago: 3 * 24 * 60,
        content: include_str!("../../demo/claude-checkout.jsonl"),
    },
    Sample {
        path: ".claude/projects/-home-demo-teahouse/b7c1f6a2-3c58-4e7d-9a40-5f0e2d91c001/subagents/agent-demo7f3a.jsonl",
        minutes_ago: 3 * 24 * 60,
        content: include_str!("../../demo/claude-subagent.jsonl"),
    },
    Sample {
        path: ".claude/projects/-home-demo-teahouse/b7c1f6a2-3c58-4e7d-9a40-5f0e2d91c001/subagents/agent-demo7f3a.meta.json",
        minutes_ago: 3 * 24 * 60,
        content: include_str!("../../demo/claude-subagent.meta.json"),
    },
    Sample {
        path: ".codex/sessions/2026/01/05/rollout-2026-01-05T10-00-00-0199aa10-7c1d-7b3e-8a55-64d0c2e7c002.jsonl",
        minutes_ago: 26 * 60,
        content: include_str!("../../demo/codex-webhooks.jsonl"),
    },
    Sample {
        path: ".gemini/tmp/teahouse/chats/session-2026-01-05T12-00-3e9f4d60.json",
        minutes_ago: 5 * 60,
        content: include_str!("../../demo/gemini-receipt.json"),
    },
    Sample {
        path: ".gemini/projects.json",
        minutes_ago: 0,
        content: include_str!("../../demo/gemini-projects.json"),
    },
];

/// Searches in the samples. Without a query the samples are kept, to go on with by hand.
pub(crate) fn run(args: DemoArgs, context: &mut Context) -> Result<ExitCode, CommandError> {
    let folder = write_samples(when::now())
        .map_err(|error| CommandError::failed(format!("cannot write the sample sessions: {error}")))?;
    let home = folder.join("home");
    context.environment = Environment::at_home(&home);
    context.data_dir = folder.join("data");
    let keep = args.query.is_empty();
    let query = if keep {
        vec![SAMPLE_QUERY.to_owned()]
    } else {
        args.query
    };
    context.printer.note(format!(
        "lookback search {}   # in sample sessions",
        query.join(" ")
    ));
    context.printer.note("");
    let result = search::run(
        SearchArgs {
            query,
            ..SearchArgs::default()
        },
        context,
    );
    if keep {
        offer(&folder, &home, context);
    } else {
        // A leftover in the folder for temporary files harms nobody.
        let _ = fs::remove_dir_all(&folder);
    }
    result
}

/// What to try next.
fn offer(folder: &Path, home: &Path, context: &mut Context) {
    let quoted = |path: &Path| shell::quote(&path.to_string_lossy());
    let prefix = format!(
        "HOME={} LOOKBACK_DATA_DIR={} lookback",
        quoted(home),
        quoted(&context.data_dir)
    );
    let printer = &mut context.printer;
    printer.note("");
    printer.note("to go on with the samples:");
    printer.note(format!("  {prefix} search thundering herd"));
    printer.note(format!("  {prefix} show {SESSION}"));
    printer.note("to be rid of them:");
    printer.note(format!("  rm -r {}", quoted(folder)));
}

/// Writes the samples below a new folder that only this person can enter.
fn write_samples(now: Timestamp) -> io::Result<PathBuf> {
    let folder = new_folder(now)?;
    for sample in SAMPLES {
        let path = folder.join("home").join(sample.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let began = Timestamp(now.0 - sample.minutes_ago * MINUTE);
        fs::write(path, with_times(sample.content, began))?;
    }
    Ok(folder)
}

/// Never an existing folder: it might be somebody else's.
fn new_folder(now: Timestamp) -> io::Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("lookback-demo-{}-{}", std::process::id(), now.0));
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(&folder)?;
    Ok(folder)
}

const MINUTE: i64 = 60_000;

/// The content with real times in the place of `"@12"`.
fn with_times(content: &str, began: Timestamp) -> String {
    let mut filled = String::with_capacity(content.len());
    let mut rest = content;
    while let Some((before, after)) = rest.split_once("\"@") {
        filled.push_str(before);
        let (minutes, behind) = after.split_once('"').unwrap_or((after, ""));
        match minutes.parse::<i64>() {
            Ok(minutes) => filled.push_str(&format!("\"{}\"", Timestamp(began.0 + minutes * MINUTE))),
            Err(_) => filled.push_str(&format!("\"@{minutes}\"")),
        }
        rest = behind;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    //! Property: the samples are JSON once their times are filled in, and no time is left open.
    use super::*;

    #[test]
    fn samples_are_whole() {
        for sample in SAMPLES {
            let filled = with_times(sample.content, Timestamp(1_777_885_500_000));
            assert!(!filled.contains("\"@"), "{}", sample.path);
            let whole = serde_json::from_str::<serde_json::Value>(&filled).is_ok();
            let lines = filled
                .lines()
                .all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok());
            assert!(whole || lines, "{}", sample.path);
        }
        assert_eq!(
            with_times("\"@2\"", Timestamp(1_777_885_500_000)),
            "\"2026-05-04T09:07:00.000Z\""
        );
    }
}
