//! `lookback doctor`: what is where, what was read, what was not, and what to do about it.

use crate::commands::index::warning;
use crate::context::Context;
use crate::error::CommandError;
use crate::freshness::{self, Audience, Freshness};
use clap::Args;
use indicatif::HumanBytes;
use lookback_engine::{AgentReport, DoctorReport, FileIssue, RootReport};
use lookback_model::ports::FileReport;
use lookback_model::source::IssueCode;
use lookback_wire::doctor as wire;
use lookback_wire::shell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// Tell what was read, what was not, and what to do about it
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Print the full account as JSON
    #[arg(long)]
    json: bool,
}

/// How many findings a person is shown.
const FINDINGS_SHOWN: usize = 20;

/// Examines.
pub(crate) fn run(args: DoctorArgs, context: &mut Context) -> Result<ExitCode, CommandError> {
    let library = context.library()?;
    let audience = Audience::of(args.json);
    freshness::bring(
        &library,
        Freshness::WaitUntilCurrent,
        audience,
        &mut context.printer,
    )?;
    let report = library.engine.doctor()?;
    if args.json {
        let data_dir = context.data_dir.display().to_string();
        context.printer.json(&encode(&report, data_dir))?;
    } else {
        print(&report, context)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn encode(report: &DoctorReport, data_dir: String) -> wire::DoctorReport {
    wire::DoctorReport {
        data_dir,
        agents: report.agents.iter().map(encode_agent).collect(),
        files: report.files.iter().map(encode_file).collect(),
        not_indexed: report
            .not_indexed
            .iter()
            .map(|(file, reason)| wire::NotIndexed {
                agent: file.agent.clone(),
                path: file.path.display().to_string(),
                reason: reason.clone(),
            })
            .collect(),
        warnings: report.issues.iter().map(warning).collect(),
    }
}

fn encode_agent(agent: &AgentReport) -> wire::AgentReport {
    let encode_root = |root: &RootReport| wire::RootReport {
        path: root.path.display().to_string(),
        exists: root.exists,
        files: root.files,
        bytes: root.bytes,
        ignored: root
            .ignored
            .iter()
            .map(|(&reason, &count)| (reason.to_owned(), count))
            .collect(),
        issues: root.issues.iter().map(warning).collect(),
    };
    wire::AgentReport {
        agent: agent.agent.clone(),
        sessions: agent.sessions,
        roots: agent.roots.iter().map(encode_root).collect(),
    }
}

fn encode_file(file: &FileReport) -> wire::FileReport {
    let account = &file.account;
    let mut counts = wire::Counts::default();
    for session in &file.sessions {
        counts.prompts += session.facts.prompts;
        counts.replies += session.facts.replies;
        counts.tool_calls += session.facts.tool_calls;
        counts.tool_results += session.facts.tool_results;
    }
    let issues = account.issues.iter().map(|issue| wire::LineIssue {
        line: issue.line,
        code: issue.code.as_str().to_owned(),
        detail: issue.detail.clone(),
    });
    wire::FileReport {
        agent: file.row.agent.clone(),
        root: file.row.root.display().to_string(),
        path: file.row.path.display().to_string(),
        role: file.row.role.as_str().to_owned(),
        state: file.row.state.as_str().to_owned(),
        presence: file.row.presence.as_str().to_owned(),
        error: file.error.clone(),
        bytes: file.row.stamp.size,
        lines: account.lines,
        records: account.records,
        bookkeeping: account.bookkeeping,
        blank: account.blank,
        lost: account.lost,
        issue_counts: account.issue_counts.clone(),
        issues: issues.collect(),
        unknown_types: account.unknown_types.clone(),
        sessions: file
            .sessions
            .iter()
            .map(|session| session.session_id.clone())
            .collect(),
        counts,
    }
}

fn print(report: &DoctorReport, context: &mut Context) -> Result<(), CommandError> {
    let printer = &mut context.printer;
    let paint = printer.paint();
    for agent in &report.agents {
        printer.data(format!(
            "{}  {} sessions",
            paint.who(&agent.agent),
            agent.sessions
        ))?;
        for root in &agent.roots {
            let state = if root.exists {
                format!("{} files, {}", root.files, HumanBytes(root.bytes))
            } else {
                "not there".to_owned()
            };
            printer.data(format!(
                "  {}  {state}",
                paint.plain(&root.path.display().to_string())
            ))?;
        }
    }
    printer.data(format!(
        "{}  {}",
        paint.dim("index"),
        paint.plain(&context.data_dir.display().to_string())
    ))?;
    let findings = findings(report);
    printer.data("")?;
    if findings.is_empty() {
        return printer.data("everything that was found is read");
    }
    printer.data(paint.bold(&format!("{} findings", findings.len())))?;
    for finding in findings.iter().take(FINDINGS_SHOWN) {
        printer.data(format!("- {}", paint.plain(&finding.words)))?;
        printer.data(format!("    {}", paint.dim(&finding.mend)))?;
    }
    if findings.len() > FINDINGS_SHOWN {
        printer.note(format!(
            "{} more; `lookback doctor --json` has all",
            findings.len() - FINDINGS_SHOWN
        ));
    }
    Ok(())
}

/// Something that is not as it should be, and the command that mends or shows it.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    words: String,
    mend: String,
}

/// Losses first, one finding for each file and kind of trouble.
fn findings(report: &DoctorReport) -> Vec<Finding> {
    let mut grouped: BTreeMap<(bool, IssueCode, &PathBuf), Vec<&FileIssue>> = BTreeMap::new();
    for issue in report
        .issues
        .iter()
        .filter(|issue| issue.code != IssueCode::PartialTail)
    {
        grouped
            .entry((!issue.code.is_loss(), issue.code, &issue.path))
            .or_default()
            .push(issue);
    }
    let named: Vec<&PathBuf> = grouped.keys().map(|(_, _, path)| *path).collect();
    let unexplained = report
        .not_indexed
        .iter()
        .filter(|(file, _)| !named.contains(&&file.path));
    let unread: Vec<Finding> = unexplained
        .map(|(file, reason)| Finding {
            words: format!("{} is not indexed: {reason}", file.path.display()),
            mend: "lookback index --verify".to_owned(),
        })
        .collect();
    let mut unknown: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for file in &report.files {
        for (name, count) in &file.account.unknown_types {
            *unknown.entry((&file.row.agent, name)).or_default() += count;
        }
    }
    let unknown = unknown.into_iter().map(|((agent, name), count)| Finding {
        words: format!("{agent} writes records of type {name}, unknown to this lookback ({count} times)"),
        mend: "lookback --version   # a newer one may know it".to_owned(),
    });
    let troubles = grouped.into_values().filter_map(|issues| finding(&issues));
    unread.into_iter().chain(troubles).chain(unknown).collect()
}

fn finding(issues: &[&FileIssue]) -> Option<Finding> {
    let first = issues.first()?;
    let path = first.path.display();
    let quoted = shell::quote(&path.to_string());
    let line = first.line.unwrap_or(1);
    let look = format!("sed -n {line}p {quoted}");
    let (words, mend) = match first.code {
        IssueCode::PermissionDenied => (format!("{path} may not be read"), format!("chmod u+rX {quoted}")),
        IssueCode::DanglingLink => (format!("{path} links to nothing"), format!("ls -l {quoted}")),
        IssueCode::IoError => (
            format!("{path} cannot be read: {}", first.detail),
            "lookback index".to_owned(),
        ),
        IssueCode::NotAFile => (format!("{path} is no file"), format!("ls -l {quoted}")),
        IssueCode::PartialTail => return None,
        IssueCode::NotJson => (format!("{} lines of {path} are no JSON", issues.len()), look),
        IssueCode::NotARecord => (format!("{} lines of {path} are no records", issues.len()), look),
        IssueCode::NulBytes => (
            format!("{path} has {} runs of zero bytes, from a crash", issues.len()),
            look,
        ),
        IssueCode::Repaired => (
            format!("{} lines of {path} were mended and read", issues.len()),
            look,
        ),
        IssueCode::EmptyFile => (format!("{path} is empty"), format!("ls -l {quoted}")),
        IssueCode::NoSessionHeader => (
            format!("{path} does not say which session it is"),
            format!("head -n 1 {quoted}"),
        ),
        IssueCode::TextCut => (
            format!("{} texts of {path} were cut for their length", issues.len()),
            look,
        ),
        IssueCode::DamagedDatabase => (
            format!("{path} is no whole database: {}", first.detail),
            format!("ls -l {quoted}"),
        ),
        IssueCode::UnreadableDatabase => (
            format!("{path} cannot be read as it lies: {}", first.detail),
            format!("ls -l {quoted}*"),
        ),
        IssueCode::Unsupported => (
            format!("{} parts of {path} are of a kind that is not known", issues.len()),
            format!("ls -l {quoted}"),
        ),
    };
    Some(Finding { words, mend })
}

#[cfg(test)]
mod tests {
    //! Properties: every kind of trouble but a tail being written is a finding with something to do, losses
    //! come first, and one file's trouble of one kind is one finding.
    use super::*;

    fn issue(code: IssueCode, path: &str, line: u64) -> FileIssue {
        FileIssue {
            agent: "claude".into(),
            path: path.into(),
            line: Some(line),
            code,
            detail: "why".into(),
        }
    }

    #[test]
    fn trouble_is_grouped_and_losses_come_first() {
        let issues = vec![
            issue(IssueCode::Repaired, "/a", 1),
            issue(IssueCode::NotJson, "/b c", 4),
            issue(IssueCode::NotJson, "/b c", 9),
            issue(IssueCode::PartialTail, "/a", 7),
        ];
        let report = DoctorReport {
            issues,
            ..DoctorReport::default()
        };
        let found = findings(&report);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].words, "2 lines of /b c are no JSON");
        assert_eq!(found[0].mend, "sed -n 4p '/b c'");
    }
}
