//! What is where, what is indexed, and what is not and why.

use crate::discover::{self, RootSight, Sight};
use crate::engine::{Engine, EngineError};
use crate::reconcile::FileIssue;
use lookback_model::ports::{FileReport, FileState, SessionFilter};
use lookback_model::source::SourceFile;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// What [`Engine::doctor`] found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DoctorReport {
    /// Every agent that can be read, whether or not it has left anything.
    pub agents: Vec<AgentReport>,
    /// Every file of the catalogue, with the account of its reads.
    pub files: Vec<FileReport>,
    /// Files that lie there and are not indexed as they are now.
    pub not_indexed: Vec<NotIndexed>,
    /// Trouble: of the look just made, and of every file's reads.
    pub issues: Vec<FileIssue>,
    /// Trouble in files beyond what their accounts name.
    pub issues_not_named: u64,
}

/// One agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentReport {
    /// Its name.
    pub agent: String,
    /// Where its transcripts are looked for.
    pub roots: Vec<RootReport>,
    /// Sessions in the catalogue, hidden and missing ones included.
    pub sessions: u64,
}

/// One root.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RootReport {
    /// Where.
    pub path: PathBuf,
    /// Whether there is such a folder.
    pub exists: bool,
    /// Files found.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What could not be looked at.
    pub issues: Vec<FileIssue>,
    /// Files that are no transcripts, by reason.
    pub ignored: BTreeMap<&'static str, u64>,
}

/// A file and why it is not indexed as it is now.
pub type NotIndexed = (SourceFile, String);

pub(crate) fn examine(engine: &Engine) -> Result<DoctorReport, EngineError> {
    let parts = &engine.parts;
    let sight = discover::look(parts.sources, &parts.environment);
    let files = parts.catalogue.file_reports()?;
    let everything = SessionFilter {
        hidden: true,
        ..SessionFilter::default()
    };
    let mut sessions: HashMap<String, u64> = HashMap::new();
    for row in parts.catalogue.sessions(&everything)? {
        *sessions.entry(row.agent).or_default() += 1;
    }
    let mut agents: Vec<AgentReport> = Vec::new();
    for source in parts.sources {
        let agent = source.agent();
        let own = sight
            .roots
            .iter()
            .filter(|root| root.agent == agent)
            .map(root_report)
            .collect();
        let sessions = sessions.get(agent).copied().unwrap_or(0);
        agents.push(AgentReport {
            agent: agent.to_owned(),
            roots: own,
            sessions,
        });
    }
    let of_looks = agents
        .iter()
        .flat_map(|agent| &agent.roots)
        .flat_map(|root| root.issues.clone());
    let issues = of_looks.chain(files.iter().flat_map(file_issues)).collect();
    let issues_not_named = files.iter().map(not_named).sum();
    let not_indexed = not_indexed(&sight, &files);
    Ok(DoctorReport {
        agents,
        files,
        not_indexed,
        issues,
        issues_not_named,
    })
}

fn root_report(root: &RootSight) -> RootReport {
    let issues = root
        .found
        .issues
        .iter()
        .map(|issue| FileIssue::of_discovery(root.agent, issue))
        .collect();
    RootReport {
        path: root.root.clone(),
        exists: root.root.is_dir(),
        files: root.files,
        bytes: root.bytes,
        issues,
        ignored: root.found.ignored.clone(),
    }
}

fn file_issues(report: &FileReport) -> impl Iterator<Item = FileIssue> + '_ {
    report.account.issues.iter().map(|issue| FileIssue {
        agent: report.row.agent.clone(),
        path: report.row.path.clone(),
        // Line 0 stands for the file as a whole.
        line: (issue.line > 0).then_some(issue.line),
        code: issue.code,
        detail: issue.detail.clone(),
    })
}

fn not_named(report: &FileReport) -> u64 {
    let counted: u64 = report.account.issue_counts.values().sum();
    counted.saturating_sub(report.account.issues.len() as u64)
}

fn not_indexed(sight: &Sight, reports: &[FileReport]) -> Vec<NotIndexed> {
    let by_path: HashMap<(&str, &Path), &FileReport> = reports
        .iter()
        .map(|report| ((report.row.agent.as_str(), report.row.path.as_path()), report))
        .collect();
    let mut missing = Vec::new();
    for file in &sight.files {
        let report = by_path.get(&(file.agent.as_str(), file.path.as_path()));
        if let Some(reason) = reason(file, report.copied()) {
            missing.push((file.clone(), reason));
        }
    }
    missing
}

/// Why a file is not indexed as it is now; `None` when it is.
fn reason(file: &SourceFile, report: Option<&FileReport>) -> Option<String> {
    let Some(report) = report else {
        return Some("not read yet".to_owned());
    };
    match report.row.state {
        FileState::Failed => Some(
            report
                .error
                .clone()
                .unwrap_or_else(|| "could not be read".to_owned()),
        ),
        FileState::Due => Some("to be read again from the start".to_owned()),
        FileState::Current if changed(file, report) => Some("changed since it was read".to_owned()),
        FileState::Current => None,
    }
}

fn changed(file: &SourceFile, report: &FileReport) -> bool {
    let before = &report.row.stamp;
    (before.size, before.modified_ns) != (file.stamp.size, file.stamp.modified_ns)
}
