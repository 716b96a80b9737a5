//! Reading files into the index in several threads, with commits that never split a file.
//!
//! Workers take files in the order of the plan. A worker holds the gate open, as one of many, from a file's
//! first document until its outcome is in the batch; the committer closes the gate. So whatever a commit
//! makes visible belongs to files that the same commit says are read.

use crate::engine::EngineError;
use crate::feed::Feed;
use crate::plan::Task;
use crate::presence;
use crate::reconcile::{FileIssue, Progress, Tally};
use lookback_model::document::TextCaps;
use lookback_model::hit::Presence;
use lookback_model::ports::{
    Batch, Catalogue, FileCursor, FileFailure, FileId, FileRead, IndexWriter, SessionRead, StoreError,
};
use lookback_model::source::{
    IssueCode, Position, ReadAccount, ReadCursor, ReadError, ReadOutcome, ReadSession,
};
use lookback_model::{SessionOrdinal, SessionSource, Timestamp};
use std::collections::HashMap;
use std::error::Error;
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

/// The longest interval between commits, in first intervals.
const LONGEST_INTERVAL: u32 = 8;
/// How much longer than the one before each interval is. Every commit costs the index a set of segments, so
/// only the first comes soon.
const GROWTH: u32 = 4;

/// What reading files needs.
pub(crate) struct Ingest<'a> {
    pub(crate) sources: &'a [&'static dyn SessionSource],
    pub(crate) catalogue: &'a dyn Catalogue,
    pub(crate) writer: &'a dyn IndexWriter,
    pub(crate) caps: TextCaps,
    pub(crate) workers: usize,
    pub(crate) clock: fn() -> Timestamp,
    pub(crate) first_commit: Duration,
    pub(crate) deadline: Option<Instant>,
    /// A complete pass is committed even when it changed nothing.
    pub(crate) owes_sweep: bool,
    /// The presence of files that were taken for moved ones, should they not be.
    pub(crate) left_behind: &'a HashMap<FileId, Presence>,
    pub(crate) progress: &'a dyn Progress,
}

/// What reading files came to.
pub(crate) struct Ingested {
    pub(crate) tally: Tally,
    /// The generation of the last commit, when there was one.
    pub(crate) generation: Option<u64>,
    /// Whether every file was taken.
    pub(crate) complete: bool,
}

/// How reading a file ended.
enum Outcome {
    /// Read, with these titles of sessions elsewhere.
    Read(Box<FileRead>, Vec<lookback_model::source::SideTitle>),
    Failed(Box<FileFailure>, IssueCode),
    /// Gone between the look and the read; the next look will tell.
    Vanished,
}

impl Outcome {
    /// Whether it is of a file that the catalogue does not know.
    fn is_of_new_file(&self) -> bool {
        match self {
            Self::Read(read, _) => read.id.is_none(),
            Self::Failed(failure, _) => failure.id.is_none(),
            Self::Vanished => false,
        }
    }
}

/// How one attempt at a file ended.
enum Attempt<'a> {
    Done(Box<Feed<'a>>, ReadOutcome),
    /// It must be read from the start.
    Stale,
    Failed(Failed),
}

/// Why an attempt failed.
struct Failed {
    text: String,
    code: IssueCode,
    /// The file is not there any more.
    vanished: bool,
    /// Documents had been added, so the reader had recognised the file.
    added: bool,
}

/// The state that workers and committer share.
struct Run<'a> {
    ingest: &'a Ingest<'a>,
    tasks: &'a [Task],
    next: AtomicUsize,
    stopped: AtomicBool,
    gate: RwLock<()>,
    pending: Mutex<Pending>,
    finished: Condvar,
}

#[derive(Default)]
struct Pending {
    batch: Batch,
    tally: Tally,
    workers_left: usize,
    failed: Option<EngineError>,
}

impl Ingest<'_> {
    /// Reads `tasks`, and commits what they give together with `batch`.
    pub(crate) fn run(&self, tasks: &[Task], batch: Batch) -> Result<Ingested, EngineError> {
        let workers = self.workers.clamp(1, tasks.len().max(1));
        let pending = Pending {
            batch,
            workers_left: workers,
            ..Pending::default()
        };
        let run = Run {
            ingest: self,
            tasks,
            next: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            gate: RwLock::new(()),
            pending: Mutex::new(pending),
            finished: Condvar::new(),
        };
        let mut generation = thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| run.work());
            }
            run.commit_at_intervals()
        })?;
        if let Some(error) = run.pending().failed.take() {
            return Err(error);
        }
        let complete = run.next.load(Ordering::Relaxed) >= tasks.len();
        generation = run.commit(complete)?.or(generation);
        let tally = mem::take(&mut run.pending().tally);
        Ok(Ingested {
            tally,
            generation,
            complete,
        })
    }
}

/// Tells the committer that a worker is gone, however it went; else it would wait for ever.
struct Leaves<'a>(&'a Run<'a>);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.pending().workers_left -= 1;
        self.0.finished.notify_all();
    }
}

impl Run<'_> {
    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let _leaves = Leaves(self);
        while let Some(task) = self.take() {
            if let Err(error) = self.read(task) {
                self.stopped.store(true, Ordering::Relaxed);
                self.pending().failed.get_or_insert(error.into());
                break;
            }
            self.ingest.progress.advanced(1, task.file.stamp.size);
        }
    }

    fn take(&self) -> Option<&Task> {
        let late = self
            .ingest
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline);
        if late || self.stopped.load(Ordering::Relaxed) {
            return None;
        }
        self.tasks.get(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Commits while workers are at work; gives the last generation.
    fn commit_at_intervals(&self) -> Result<Option<u64>, EngineError> {
        let longest = self.ingest.first_commit * LONGEST_INTERVAL;
        let (mut interval, mut generation) = (self.ingest.first_commit, None);
        while !self.wait(interval) {
            match self.commit(false) {
                Ok(committed) => generation = committed.or(generation),
                Err(error) => {
                    self.stopped.store(true, Ordering::Relaxed);
                    return Err(error.into());
                }
            }
            interval = (interval * GROWTH).min(longest);
        }
        Ok(generation)
    }

    /// Waits until no worker is left, but not longer than `interval`; says whether none is.
    fn wait(&self, interval: Duration) -> bool {
        let wait = self
            .finished
            .wait_timeout_while(self.pending(), interval, |pending| pending.workers_left > 0);
        let (pending, _) = wait.unwrap_or_else(PoisonError::into_inner);
        pending.workers_left == 0
    }

    fn commit(&self, sweep_completed: bool) -> Result<Option<u64>, StoreError> {
        let _closed = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        let (mut batch, read) = {
            let mut pending = self.pending();
            (mem::take(&mut pending.batch), pending.tally.files_read)
        };
        if batch.is_empty() && !(sweep_completed && (read > 0 || self.ingest.owes_sweep)) {
            return Ok(None);
        }
        batch.time = (self.ingest.clock)();
        batch.sweep_completed = sweep_completed;
        let generation = self.ingest.writer.commit(batch)?;
        self.ingest.progress.committed(generation);
        Ok(Some(generation))
    }

    fn read(&self, task: &Task) -> Result<(), StoreError> {
        let _open = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        let Some(source) = self
            .ingest
            .sources
            .iter()
            .find(|source| source.agent() == task.file.agent)
        else {
            return Ok(());
        };
        let (outcome, mut tally) = self.ingest.read_file(*source, task)?;
        let mut pending = self.pending();
        if let Some(id) = task.id.filter(|_| task.moved && outcome.is_of_new_file()) {
            let presence = self.ingest.left_behind.get(&id);
            pending
                .batch
                .presence
                .extend(presence.map(|presence| (id, *presence)));
        }
        match outcome {
            Outcome::Read(read, titles) => {
                pending.batch.read.push(*read);
                pending.batch.titles.extend(titles);
            }
            Outcome::Failed(failure, code) => {
                tally.files_failed = 1;
                let detail = failure.error.clone();
                tally.issue(FileIssue::of_file(&task.file, None, code, detail));
                // The catalogue says so already; saying it again would only make cursors stale.
                if !(task.retry && presence::hides_files(code)) {
                    pending.batch.failed.push(*failure);
                }
            }
            Outcome::Vanished => tally.files_failed = 1,
        }
        pending.tally.add(tally);
        Ok(())
    }
}

impl Ingest<'_> {
    fn read_file(&self, source: &dyn SessionSource, task: &Task) -> Result<(Outcome, Tally), StoreError> {
        let known = match task.id {
            Some(id) => self.catalogue.cursor(id)?,
            None => FileCursor::default(),
        };
        if let Some(cursor) = known.cursor.as_ref().filter(|_| !task.whole) {
            let attempt = self.attempt(source, task, Some(cursor), &known.sessions)?;
            match attempt {
                Attempt::Done(feed, outcome) => {
                    return self.done(task, &known, *feed, outcome, Some(&known.account));
                }
                Attempt::Failed(error) if !task.moved || error.added => {
                    return Ok((error.outcome(task), Tally::default()));
                }
                // It only has the same inode: a new file, and the row stays with the old one.
                _ if task.moved => return self.read_whole(source, &task.as_new(), &FileCursor::default()),
                _ => {}
            }
        }
        self.read_whole(source, task, &known)
    }

    fn read_whole(
        &self,
        source: &dyn SessionSource,
        task: &Task,
        known: &FileCursor,
    ) -> Result<(Outcome, Tally), StoreError> {
        match self.attempt(source, task, None, &[])? {
            Attempt::Done(feed, outcome) => self.done(task, known, *feed, outcome, None),
            Attempt::Failed(error) => Ok((error.outcome(task), Tally::default())),
            Attempt::Stale => {
                // A reader that finds the start stale contradicts itself.
                let text = "the reader asks for a read from the start during one".to_owned();
                let error = Failed {
                    text,
                    code: IssueCode::IoError,
                    vanished: false,
                    added: false,
                };
                Ok((error.outcome(task), Tally::default()))
            }
        }
    }

    /// Reads once. When that does not succeed, what began in it is taken back.
    fn attempt<'f>(
        &'f self,
        source: &'f dyn SessionSource,
        task: &Task,
        cursor: Option<&ReadCursor>,
        known: &'f [(String, lookback_model::SessionOrdinal)],
    ) -> Result<Attempt<'f>, StoreError> {
        let mut feed = Feed::new(self.writer, source, self.caps, known);
        // A reader that fails on one file must not take the others with it.
        let result = catch_unwind(AssertUnwindSafe(|| source.read(&task.file, cursor, &mut feed)));
        let recognised = feed.has_documents();
        if matches!(result, Ok(Ok(_))) {
            // A refusal is looked at below, like one during the read.
            let _ = feed.hand_over();
        }
        if let Some(error) = feed.refused.take() {
            return Err(error);
        }
        let attempt = match result {
            Ok(Ok(outcome)) if self.carry_over(&mut feed)? => {
                return Ok(Attempt::Done(Box::new(feed), outcome));
            }
            Ok(Ok(_)) => Attempt::Stale,
            Ok(Err(_)) if feed.unknown_session => Attempt::Stale,
            Ok(Err(ReadError::StaleCursor { .. })) => Attempt::Stale,
            Ok(Err(error)) => Attempt::Failed(Failed::of(&error, recognised)),
            Err(_) => {
                let text = "the reader failed".to_owned();
                Attempt::Failed(Failed {
                    text,
                    code: IssueCode::IoError,
                    vanished: false,
                    added: recognised,
                })
            }
        };
        feed.withdraw()?;
        Ok(attempt)
    }

    /// Adds the sessions that a read which went on did not mention, as the catalogue has them. `false`
    /// when it does not have one of them.
    fn carry_over(&self, feed: &mut Feed<'_>) -> Result<bool, StoreError> {
        let unmentioned: Vec<_> = feed.unmentioned().collect();
        for (_, ordinal) in unmentioned {
            let Some(session) = self.as_it_was(*ordinal)? else {
                return Ok(false);
            };
            feed.sessions.push(session);
        }
        Ok(true)
    }

    /// A session as the catalogue has it.
    fn as_it_was(&self, ordinal: SessionOrdinal) -> Result<Option<SessionRead>, StoreError> {
        let row = self.catalogue.session(ordinal)?;
        Ok(row.map(|row| SessionRead {
            ordinal,
            session: ReadSession {
                header: row.header,
                facts: row.facts,
                shadowed: row.shadowed,
            },
            resume: row.resume,
        }))
    }

    fn done(
        &self,
        task: &Task,
        known: &FileCursor,
        mut feed: Feed<'_>,
        outcome: ReadOutcome,
        earlier: Option<&ReadAccount>,
    ) -> Result<(Outcome, Tally), StoreError> {
        let mut tally = Tally {
            files_read: 1,
            sessions_read: feed.sessions.len() as u64,
            documents_added: feed.documents,
            bytes_read: outcome.account.bytes,
            lines_lost: outcome.account.lost,
            ..Tally::default()
        };
        for issue in &outcome.account.issues {
            tally.issue(FileIssue::of_file(
                &task.file,
                Some(issue.line),
                issue.code,
                issue.detail.clone(),
            ));
        }
        self.settle_unread(known, &mut feed, &outcome)?;
        let account = match earlier {
            Some(earlier) => {
                let mut account = earlier.clone();
                account.add(&outcome.account);
                account
            }
            None => outcome.account,
        };
        let read = FileRead {
            id: task.id,
            file: task.file.clone(),
            cursor: outcome.cursor,
            account,
            sessions: feed.sessions,
        };
        Ok((Outcome::Read(Box::new(read), feed.titles), tally))
    }
}

impl Ingest<'_> {
    /// Takes back the sessions of earlier reads that this one did not give, but for those that an agent took out of
    /// a database among others: they are found no more, and must not be lost.
    fn settle_unread(
        &self,
        known: &FileCursor,
        feed: &mut Feed<'_>,
        outcome: &ReadOutcome,
    ) -> Result<(), StoreError> {
        let holds_many = matches!(outcome.cursor.position, Position::Rows { .. });
        for (id, ordinal) in &known.sessions {
            if feed.sessions.iter().any(|read| read.ordinal == *ordinal) {
                continue;
            }
            let is_read = feed.sessions.iter().any(|read| read.session.header.id == *id);
            match self.as_it_was(*ordinal)?.filter(|_| holds_many && !is_read) {
                Some(session) => feed.sessions.push(session),
                None => self.writer.retract(*ordinal)?,
            }
        }
        Ok(())
    }
}

impl Failed {
    fn of(error: &ReadError, added: bool) -> Self {
        Self {
            text: in_one_line(error),
            code: code(error),
            vanished: has_vanished(error),
            added,
        }
    }

    fn outcome(self, task: &Task) -> Outcome {
        if self.vanished {
            return Outcome::Vanished;
        }
        let mut account = ReadAccount::default();
        account.note(0, self.code, self.text.clone());
        let failure = FileFailure {
            id: task.id,
            file: task.file.clone(),
            error: self.text,
            account,
        };
        Outcome::Failed(Box::new(failure), self.code)
    }
}

/// What kind of trouble an error is.
fn code(error: &ReadError) -> IssueCode {
    match error {
        ReadError::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
            IssueCode::PermissionDenied
        }
        ReadError::NoSession { code, .. } => *code,
        ReadError::Io { .. }
        | ReadError::StaleCursor { .. }
        | ReadError::Changed { .. }
        | ReadError::Closed(_) => IssueCode::IoError,
    }
}

fn has_vanished(error: &ReadError) -> bool {
    matches!(error, ReadError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
}

/// An error with all its causes.
fn in_one_line(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        line.push_str(": ");
        line.push_str(&error.to_string());
        cause = error.source();
    }
    line.replace(['\n', '\r'], " ")
}
