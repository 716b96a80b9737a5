//! Looking through every word of every transcript, as it lies on the disk now.
//!
//! The index keeps only the beginning of long tool output. This finds the rest without any index: files are
//! read in several threads, newest first, and each that has hits hands them on together as soon as it is
//! read. `pattern` says what is looked for. Decoding is slow and most files hold nothing, so that `needed`
//! first looks at the bytes as they are for what a match cannot do without. `lines` finds the lines of an
//! event, and `looking` takes the events of one file.
//!
//! Of sessions whose transcripts are gone, the catalogue still has the words that were indexed.

mod lines;
mod looking;
mod needed;
pub(crate) mod pattern;

use crate::discover::{self, Sight};
use crate::engine::Engine;
use crate::plan;
use crate::reconcile::{FileIssue, look_and_recall};
use lookback_model::hit::SessionRow;
use lookback_model::paths::PathScope;
use lookback_model::ports::{FileRow, SessionFilter, StoreError};
use lookback_model::source::{FileRole, IssueCode, RawWords, ReadError, SourceFile};
use lookback_model::{TextKind, Timestamp, View};
use looking::{Looking, Titles};
use pattern::Pattern;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::ops::{ControlFlow, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

/// Files whose hits wait to be taken, so that a slow taker does not fill the memory.
const WAITING: usize = 64;

/// What is looked for, and where.
#[derive(Clone, Debug)]
pub struct GrepRequest {
    /// What.
    pub pattern: Pattern,
    /// In whose words.
    pub view: View,
    /// In which sessions.
    pub filter: SessionFilter,
    /// How many hits of a session are looked for.
    pub per_session: u64,
    /// How many lines before each hit are handed on, and after it. `None` hands on no hit at all, only their
    /// number.
    pub context: Option<(usize, usize)>,
    /// Threads; 0 counts as 1.
    pub workers: usize,
}

/// A session in which something was found.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionHits {
    /// Agent that wrote it.
    pub agent: String,
    /// The agent's id of it.
    pub session_id: String,
    /// Its title, where it has one.
    pub title: Option<String>,
    /// Its working directory, where it is known.
    pub cwd: Option<String>,
    /// Where its transcript is, or was.
    pub path: PathBuf,
    /// Whether the transcript is gone, so that only what was indexed was looked through.
    pub from_archive: bool,
    /// How many hits it has.
    pub count: u64,
    /// The hits, in order; none when only their number was asked for.
    pub hits: Vec<GrepHit>,
}

/// Lines on which a pattern matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepHit {
    /// The event.
    pub seq: u64,
    /// When it happened.
    pub time: Timestamp,
    /// Whose words.
    pub kind: TextKind,
    /// The first line, counted from 1 in all the event's words.
    pub line: u64,
    /// The lines; several when a match goes across them.
    pub text: String,
    /// The matches in the text.
    pub matches: Vec<Range<usize>>,
    /// The lines before.
    pub before: Vec<String>,
    /// The lines after.
    pub after: Vec<String>,
}

/// What was looked through.
#[derive(Debug, Default)]
pub struct GrepReport {
    /// Transcripts that are there.
    pub files: u64,
    /// Sessions whose transcripts are gone, and whose indexed words were looked through.
    pub gone: u64,
    /// Transcripts that had to be decoded.
    pub files_decoded: u64,
    /// Files and folders that could not be looked at.
    pub issues: Vec<FileIssue>,
    /// Why sessions whose transcripts are gone were not looked through, when they were not.
    pub not_recalled: Option<StoreError>,
}

/// One thing to look through.
enum Place<'a> {
    File(&'a SourceFile),
    /// A session whose transcript is gone.
    Gone(&'a SessionRow),
}

/// What the threads share.
pub(crate) struct Search<'a> {
    engine: &'a Engine,
    request: &'a GrepRequest,
    scope: PathScope,
    titles: OnceLock<Titles>,
    side_files: Vec<&'a SourceFile>,
    places: Vec<Place<'a>>,
    next: AtomicUsize,
    stopped: AtomicBool,
    decoded: AtomicUsize,
    issues: Mutex<Vec<FileIssue>>,
}

/// Looks everywhere; `each` takes the sessions with hits as they are found, and may end the search.
pub(crate) fn run(
    engine: &Engine,
    request: &GrepRequest,
    each: &mut dyn FnMut(SessionHits) -> ControlFlow<()>,
) -> GrepReport {
    let (sight, rows) = look_and_recall(engine);
    let mut report = GrepReport {
        issues: issues_of(&sight),
        ..GrepReport::default()
    };
    let gone = rows.and_then(|rows| gone(engine, rows, &sight, &request.filter));
    let gone = gone.unwrap_or_else(|error| {
        report.not_recalled = Some(error);
        Vec::new()
    });
    let agents = &request.filter.agents;
    let wanted = |file: &&SourceFile| agents.is_empty() || agents.contains(&file.agent);
    let (transcripts, side_files): (Vec<_>, Vec<_>) = sight
        .files
        .iter()
        .filter(wanted)
        .partition(|file| file.role == FileRole::Transcript);
    report.files = transcripts.len() as u64;
    report.gone = gone.len() as u64;
    let places = transcripts.into_iter().map(Place::File);
    let search = Search {
        engine,
        request,
        scope: PathScope::of(&request.filter.paths),
        titles: OnceLock::new(),
        side_files,
        places: places.chain(gone.iter().map(Place::Gone)).collect(),
        next: AtomicUsize::new(0),
        stopped: AtomicBool::new(false),
        decoded: AtomicUsize::new(0),
        issues: Mutex::default(),
    };
    search.run(each);
    report.files_decoded = search.decoded.load(Ordering::Relaxed) as u64;
    report
        .issues
        .extend(search.issues.into_inner().unwrap_or_else(PoisonError::into_inner));
    report
}

/// The sessions of files that the catalogue knows and that are not there, noticed before or not.
fn gone(
    engine: &Engine,
    rows: Vec<FileRow>,
    sight: &Sight,
    filter: &SessionFilter,
) -> Result<Vec<SessionRow>, StoreError> {
    let plan = plan::compare(rows, &sight.files, false, &|_| false);
    let unseen: HashSet<PathBuf> = plan.unseen.into_iter().map(|row| row.path).collect();
    if unseen.is_empty() {
        return Ok(Vec::new());
    }
    let mut sessions = engine.parts.catalogue.sessions(filter)?;
    sessions.retain(|session| unseen.contains(&session.path));
    Ok(sessions)
}

fn issues_of(sight: &Sight) -> Vec<FileIssue> {
    let losses = |root: &discover::RootSight| {
        let agent = root.agent;
        let issues = root.found.issues.iter().filter(|issue| issue.code.is_loss());
        issues
            .map(|issue| FileIssue::of_discovery(agent, issue))
            .collect::<Vec<_>>()
    };
    sight.roots.iter().flat_map(losses).collect()
}

impl Search<'_> {
    fn run(&self, each: &mut dyn FnMut(SessionHits) -> ControlFlow<()>) {
        let workers = self.request.workers.clamp(1, self.places.len().max(1));
        let (sender, receiver) = sync_channel(WAITING);
        thread::scope(|scope| {
            for _ in 0..workers {
                let sender = sender.clone();
                scope.spawn(move || self.work(&sender));
            }
            drop(sender);
            for found in receiver {
                if each(found).is_break() {
                    self.stopped.store(true, Ordering::Relaxed);
                    // The receiver goes, so that nobody waits for room in it.
                    break;
                }
            }
        });
    }

    fn work(&self, sender: &SyncSender<SessionHits>) {
        let mut block = Vec::new();
        while !self.is_stopped() {
            let found = match self.places.get(self.next.fetch_add(1, Ordering::Relaxed)) {
                None => return,
                Some(Place::File(file)) => self.file(file, &mut block),
                Some(Place::Gone(session)) => self.gone(session).into_iter().collect(),
            };
            for session in found {
                if sender.send(session).is_err() {
                    return;
                }
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// The sessions of a file that have hits.
    fn file(&self, file: &SourceFile, block: &mut Vec<u8>) -> Vec<SessionHits> {
        let Some(source) = self.engine.source(&file.agent) else {
            return Vec::new();
        };
        let raw = source.raw_words(file);
        if !self.may_match(file, raw, block) {
            return Vec::new();
        }
        self.decoded.fetch_add(1, Ordering::Relaxed);
        let mut looking = Looking::new(self, file, raw);
        // A reader that fails on one file must not take the others with it.
        let result = catch_unwind(AssertUnwindSafe(|| source.read(file, None, &mut looking)));
        let issue = |code, detail| self.note(FileIssue::of_file(file, None, code, detail));
        match result {
            Ok(Ok(_) | Err(ReadError::Closed(_) | ReadError::NoSession { .. })) => {}
            Ok(Err(ReadError::Io { source, .. })) if source.kind() == std::io::ErrorKind::NotFound => {}
            Ok(Err(error @ ReadError::Io { .. })) => issue(IssueCode::IoError, cause_of(&error)),
            Ok(Err(error)) => issue(IssueCode::IoError, error.to_string()),
            Err(_) => issue(IssueCode::IoError, "the reader failed".to_owned()),
        }
        looking.finish()
    }

    /// Whether a file's bytes allow for a match. One that cannot be looked at is left to its reader.
    fn may_match(&self, file: &SourceFile, raw: RawWords, block: &mut Vec<u8>) -> bool {
        let needed = &self.request.pattern.needed;
        if !raw.is_json || !needed.rules_out(raw.added) {
            return true;
        }
        let open = || File::open(&file.path);
        needed.stands_in(raw.added, block, open).unwrap_or(true)
    }

    /// A session whose transcript is gone, when what was indexed of it has hits.
    fn gone(&self, session: &SessionRow) -> Option<SessionHits> {
        let stored = self.engine.parts.catalogue.stored_text(session.ordinal);
        let events = match stored {
            Ok(stored) => crate::transcript::from_stored(stored, &session.shadowed),
            Err(error) => {
                let (agent, path) = (session.agent.clone(), session.path.clone());
                self.note(FileIssue {
                    agent,
                    path,
                    line: None,
                    code: IssueCode::IoError,
                    detail: cause_of(&error),
                });
                return None;
            }
        };
        let mut tally = looking::Tally::new(self.request);
        for event in &events {
            let pieces = event.pieces.iter().map(|(kind, text)| (*kind, text.as_str()));
            tally.event(event.seq, event.time, pieces);
        }
        (tally.count > 0).then(|| SessionHits {
            agent: session.agent.clone(),
            session_id: session.session_id.clone(),
            title: Some(session.title.clone()).filter(|title| *title != session.session_id),
            cwd: session.header.cwd.clone(),
            path: session.path.clone(),
            from_archive: true,
            count: tally.count,
            hits: tally.hits,
        })
    }

    /// Titles that side files give; read when the first session was found.
    fn titles(&self) -> &Titles {
        self.titles.get_or_init(|| {
            let mut titles = HashMap::new();
            for file in &self.side_files {
                if let Some(source) = self.engine.source(&file.agent) {
                    looking::titles_of(source, file, &mut titles);
                }
            }
            titles
        })
    }

    fn note(&self, issue: FileIssue) {
        self.issues
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(issue);
    }
}

/// The innermost cause of an error, which the path stands beside already.
fn cause_of(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

#[cfg(test)]
#[path = "grep_tests.rs"]
mod tests;
