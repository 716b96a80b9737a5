//! One pass: look, compare, read, commit.

use crate::discover::{self, Sight};
use crate::engine::{Engine, EngineError};
use crate::ingest::{Ingest, Ingested};
use crate::plan::{self, Plan};
use crate::presence;
use crate::status;
use lookback_model::hit::Presence;
use lookback_model::ports::{Batch, FileId, FileRow, StoreError};
use lookback_model::source::{DiscoveryIssue, IssueCode, SourceFile};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

/// How a pass is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReconcileOptions {
    /// No file is begun after this. What was read is committed.
    pub deadline: Option<Instant>,
    /// Read every file from the start, whatever its marks say.
    pub verify: bool,
}

/// Hears how a pass gets on, from several threads.
pub trait Progress: Sync {
    /// So much is to be read.
    fn planned(&self, files: u64, bytes: u64);
    /// So much more has been read, or given up.
    fn advanced(&self, files: u64, bytes: u64);
    /// A batch can be searched.
    fn committed(&self, _generation: u64) {}
}

/// Hears nothing.
impl Progress for () {
    fn planned(&self, _: u64, _: u64) {}
    fn advanced(&self, _: u64, _: u64) {}
}

/// What a pass came to. `files_seen` is the sum of unchanged, read and failed ones when it was complete.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reconciled {
    /// Files found.
    pub files_seen: u64,
    /// Files that needed no read, moved ones included.
    pub files_unchanged: u64,
    /// Files read, whole or from where the last read ended.
    pub files_read: u64,
    /// Files that cannot be read, tried now or before.
    pub files_failed: u64,
    /// Sessions in the files read.
    pub sessions_read: u64,
    /// Documents added to the index.
    pub documents_added: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Lines that could not be read.
    pub lines_lost: u64,
    /// The index's generation after the pass.
    pub generation: u64,
    /// How long it took.
    pub duration: Duration,
    /// Whether everything was done; `false` when the deadline cut it or another process writes.
    pub complete: bool,
    /// Another process holds the writer, and there was something to read: nothing was.
    pub writer_busy: bool,
    /// Trouble that was met, the first [`Reconciled::ISSUES_KEPT`].
    pub issues: Vec<FileIssue>,
    /// Trouble beyond that.
    pub issues_dropped: u64,
}

impl Reconciled {
    /// How many places of trouble are named.
    pub const ISSUES_KEPT: usize = 1_000;
}

/// Trouble with a file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileIssue {
    /// Agent it belongs to.
    pub agent: String,
    /// Where.
    pub path: PathBuf,
    /// Line, counted from 1, where it has one.
    pub line: Option<u64>,
    /// Kind of trouble.
    pub code: IssueCode,
    /// What was wrong.
    pub detail: String,
}

impl FileIssue {
    pub(crate) fn of_file(file: &SourceFile, line: Option<u64>, code: IssueCode, detail: String) -> Self {
        Self {
            agent: file.agent.clone(),
            path: file.path.clone(),
            line,
            code,
            detail,
        }
    }

    pub(crate) fn of_discovery(agent: &str, issue: &DiscoveryIssue) -> Self {
        let (path, detail) = (issue.path.clone(), issue.detail.clone());
        Self {
            agent: agent.to_owned(),
            path,
            line: None,
            code: issue.code,
            detail,
        }
    }
}

/// Sums of a pass, or of one file.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) files_read: u64,
    pub(crate) files_failed: u64,
    pub(crate) sessions_read: u64,
    pub(crate) documents_added: u64,
    pub(crate) bytes_read: u64,
    pub(crate) lines_lost: u64,
    pub(crate) issues: Vec<FileIssue>,
    pub(crate) issues_dropped: u64,
}

impl Tally {
    pub(crate) fn issue(&mut self, issue: FileIssue) {
        if self.issues.len() < Reconciled::ISSUES_KEPT {
            self.issues.push(issue);
        } else {
            self.issues_dropped += 1;
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.files_read += other.files_read;
        self.files_failed += other.files_failed;
        self.sessions_read += other.sessions_read;
        self.documents_added += other.documents_added;
        self.bytes_read += other.bytes_read;
        self.lines_lost += other.lines_lost;
        self.issues_dropped += other.issues_dropped;
        other.issues.into_iter().for_each(|issue| self.issue(issue));
    }
}

/// What is to be done.
struct Work {
    plan: Plan,
    presence: Vec<(FileId, Presence)>,
    /// The presence of files that were taken for moved ones, should they not be.
    left_behind: HashMap<FileId, Presence>,
}

impl Work {
    fn is_empty(&self) -> bool {
        self.plan.read.is_empty() && self.plan.restamp.is_empty() && self.presence.is_empty()
    }

    fn batch(&mut self) -> Batch {
        let restamped = std::mem::take(&mut self.plan.restamp);
        let mut presence = std::mem::take(&mut self.presence);
        presence.extend(restamped.iter().map(|&(id, _)| (id, Presence::Present)));
        Batch {
            restamped,
            presence,
            ..Batch::default()
        }
    }
}

pub(crate) fn run(
    engine: &Engine,
    options: ReconcileOptions,
    progress: &dyn Progress,
) -> Result<Reconciled, EngineError> {
    let started = Instant::now();
    let parts = &engine.parts;
    // Before the rows, so that a commit in between is noticed.
    let age = parts.catalogue.age()?;
    let (sight, rows) = look_and_recall(engine);
    engine.set_degraded(status::degraded_by(&sight));
    let mut work = survey(engine, &sight, rows?, options.verify);
    let mut result = Reconciled {
        files_seen: sight.files.len() as u64,
        complete: true,
        ..Reconciled::default()
    };
    result.generation = age.generation;

    // The first whole look is committed even when it found nothing, so that status can tell.
    let owes_sweep = age.last_sweep_completed_at.is_none();
    if work.is_empty() && !owes_sweep {
        return Ok(finish(result, &work, Tally::from_sight(&sight), started));
    }
    // The files as they are, not what is new in them: a bound that is at hand.
    let bytes = work.plan.read.iter().map(|task| task.file.stamp.size).sum();
    let Some(writer) = parts.sink.writer(bytes)? else {
        result.writer_busy = true;
        result.complete = false;
        return Ok(finish(result, &work, Tally::from_sight(&sight), started));
    };
    // Another process may have committed before the writer was ours.
    let now = parts.catalogue.age()?;
    let mut owes_sweep = owes_sweep;
    if now.generation != age.generation {
        work = survey(engine, &sight, parts.catalogue.files()?, options.verify);
        result.generation = now.generation;
        owes_sweep = now.last_sweep_completed_at.is_none();
        if work.is_empty() && !owes_sweep {
            return Ok(finish(result, &work, Tally::from_sight(&sight), started));
        }
    }
    let bytes = work.plan.read.iter().map(|task| task.file.stamp.size).sum();
    progress.planned(work.plan.read.len() as u64, bytes);
    let batch = work.batch();
    let ingest = Ingest {
        sources: parts.sources,
        catalogue: &*parts.catalogue,
        writer: &*writer,
        caps: parts.caps,
        workers: parts.workers,
        clock: parts.clock,
        first_commit: engine.first_commit,
        deadline: options.deadline,
        owes_sweep,
        left_behind: &work.left_behind,
        progress,
    };
    let Ingested {
        tally,
        generation,
        complete,
    } = ingest.run(&work.plan.read, batch)?;
    result.generation = generation.unwrap_or(result.generation);
    result.complete = complete;
    let mut all = Tally::from_sight(&sight);
    all.add(tally);
    Ok(finish(result, &work, all, started))
}

/// Compares what was found with what the catalogue knows.
fn survey(engine: &Engine, sight: &Sight, rows: Vec<FileRow>, verify: bool) -> Work {
    let plan = plan::compare(rows, &sight.files, verify, &|row| may_have_passed(engine, row));
    let presence = presence::changes(&plan.unseen, sight);
    let left_behind = presence::changes(&plan.doubtful, sight).into_iter().collect();
    Work {
        plan,
        presence,
        left_behind,
    }
}

/// What lies on the disk and what the catalogue knows, at once: each takes about as long as the other.
pub(crate) fn look_and_recall(engine: &Engine) -> (Sight, Result<Vec<FileRow>, StoreError>) {
    let parts = &engine.parts;
    thread::scope(|scope| {
        let rows = scope.spawn(|| parts.catalogue.files());
        let sight = discover::look(parts.sources, &parts.environment);
        (sight, rows.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Whether a file that the operating system refused can be opened now.
fn may_have_passed(engine: &Engine, row: &FileRow) -> bool {
    let Ok(cursor) = engine.parts.catalogue.cursor(row.id) else {
        return true;
    };
    let refused = [IssueCode::PermissionDenied, IssueCode::IoError];
    let was_refused = refused
        .iter()
        .any(|code| cursor.account.issue_counts.contains_key(code.as_str()));
    was_refused
        && File::open(&row.path)
            .and_then(|mut file| file.read(&mut [0]))
            .is_ok()
}

impl Tally {
    fn from_sight(sight: &Sight) -> Self {
        let mut tally = Self::default();
        for root in &sight.roots {
            root.found
                .issues
                .iter()
                .for_each(|issue| tally.issue(FileIssue::of_discovery(root.agent, issue)));
        }
        tally
    }
}

fn finish(mut result: Reconciled, work: &Work, tally: Tally, started: Instant) -> Reconciled {
    result.files_unchanged = work.plan.unchanged;
    result.files_failed = work.plan.failed + tally.files_failed;
    result.files_read = tally.files_read;
    result.sessions_read = tally.sessions_read;
    result.documents_added = tally.documents_added;
    result.bytes_read = tally.bytes_read;
    result.lines_lost = tally.lines_lost;
    result.issues = tally.issues;
    result.issues_dropped = tally.issues_dropped;
    result.duration = started.elapsed();
    result
}
