//! The ports by which the engine reaches an index: reading the catalogue, searching, and writing.

use crate::Timestamp;
use crate::document::{Document, SessionOrdinal};
use crate::facts::SessionFacts;
use crate::hit::{Hit, Presence, SessionRow};
use crate::paths::PathScope;
use crate::query::SearchRequest;
use crate::session::SessionKind;
use crate::source::{
    FileRole, FileStamp, ReadAccount, ReadCursor, ReadSession, ResumeCommand, SideTitle, SourceFile,
};
use crate::text::TextKind;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Why a store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The data folder was written by a newer lookback.
    #[error("{path} has format {found}, this lookback reads up to {known}")]
    Newer {
        /// The data folder.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The newest format known here.
        known: u64,
    },
    /// The data folder cannot be written.
    #[error("cannot write to {path}")]
    Write {
        /// The data folder.
        path: PathBuf,
        /// What the store said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The stored data cannot be read.
    #[error("cannot read {path}")]
    Read {
        /// The data folder.
        path: PathBuf,
        /// What the store said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Answers a search over the sessions an index holds.
pub trait SessionSearch: Send + Sync {
    /// Runs a request.
    ///
    /// # Errors
    /// [`StoreError`] when the index cannot be read. A bad cursor is an answer, not an error.
    fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, StoreError>;
}

/// What a provider answers.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchAnswer {
    /// A page of hits.
    Results(SearchPage),
    /// The index has moved since the cursor was given, or while this page was made.
    StaleCursor {
        /// The index's generation now.
        generation: u64,
        /// The generation the cursor was given for.
        expected: Option<u64>,
    },
    /// The cursor is none, or belongs to another query.
    MalformedCursor,
}

/// A page of hits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchPage {
    /// The hits, best or newest first.
    pub hits: Vec<Hit>,
    /// Where the next page begins; `None` when this is the last.
    pub cursor: Option<String>,
    /// The index's generation.
    pub generation: u64,
    /// Candidates were cut before ranking.
    pub candidates_cut: bool,
    /// Snippets that could not show all of their match.
    pub snippets_cut: u64,
    /// The query was longer than is searched.
    pub query_cut: bool,
    /// How the answer was found: `phrase`, `and`, `or`, …
    pub route: String,
    /// The words searched for, when some were repaired.
    pub repaired_terms: Option<Vec<String>>,
}

/// The catalogue's number of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileId(pub i64);

/// What the catalogue knows of a file, as far as a freshness check needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow {
    /// Its number.
    pub id: FileId,
    /// Agent that wrote it.
    pub agent: String,
    /// The root it was found under.
    pub root: PathBuf,
    /// Where it is, or was.
    pub path: PathBuf,
    /// What it is for.
    pub role: FileRole,
    /// Its marks when it was last read.
    pub stamp: FileStamp,
    /// How that went.
    pub state: FileState,
    /// Whether it is there.
    pub presence: Presence,
}

/// Whether a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// Read to its last complete record.
    Current,
    /// To be read from the start.
    Due,
    /// Could not be read; tried again when it changes, or when the error may have passed.
    Failed,
}

impl FileState {
    /// The lower-case name used in storage and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Due => "due",
            Self::Failed => "failed",
        }
    }

    /// The state of a name written by [`Self::as_str`]; anything else is owed a read.
    pub fn from_name(name: &str) -> Self {
        match name {
            "current" => Self::Current,
            "failed" => Self::Failed,
            _ => Self::Due,
        }
    }
}

/// A file's last read in full, for `doctor`.
#[derive(Clone, Debug, PartialEq)]
pub struct FileReport {
    /// What the catalogue knows of it.
    pub row: FileRow,
    /// What was read, skipped and lost since it was last read from the start.
    pub account: ReadAccount,
    /// Why it failed, when it did.
    pub error: Option<String>,
    /// The sessions it holds.
    pub sessions: Vec<SessionRow>,
}

/// Which sessions a list shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionFilter {
    /// Agents; empty means all.
    pub agents: Vec<String>,
    /// Working directories, by path segments; empty means all.
    pub paths: Vec<String>,
    /// Not last active before this.
    pub since: Option<Timestamp>,
    /// Kinds; empty means all.
    pub kinds: Vec<SessionKind>,
    /// Include what agents mark as machine-made.
    pub hidden: bool,
}

impl SessionFilter {
    /// Whether it lets a session through. `scope` is that of its paths, made once for all sessions.
    pub fn takes(&self, scope: &PathScope, agent: &str, cwd: Option<&str>, facts: &SessionFacts) -> bool {
        (self.agents.is_empty() || self.agents.iter().any(|wanted| wanted == agent))
            && (self.hidden || !facts.hidden)
            && (self.kinds.is_empty() || self.kinds.contains(&facts.kind))
            && self
                .since
                .is_none_or(|since| facts.updated_at.is_some_and(|updated| updated >= since))
            && scope.holds(cwd)
    }
}

/// Counts of the catalogue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CatalogueCounts {
    /// Files read.
    pub files_current: u64,
    /// Files owed a read.
    pub files_due: u64,
    /// Files that failed.
    pub files_failed: u64,
    /// Sessions.
    pub sessions: u64,
    /// Sessions whose transcript is gone.
    pub sessions_missing: u64,
    /// When the index was last brought up to date.
    pub age: IndexAge,
}

/// When an index was last brought up to date. Cheap to ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexAge {
    /// The index's generation.
    pub generation: u64,
    /// When a pass last ended.
    pub last_reconcile_at: Option<Timestamp>,
    /// When a pass over everything last ended.
    pub last_sweep_completed_at: Option<Timestamp>,
}

/// Text as it was indexed, for sessions whose transcript is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredText {
    /// The event.
    pub seq: u64,
    /// When it happened.
    pub time: Timestamp,
    /// Whose words.
    pub kind: TextKind,
    /// Its copy key.
    #[serde(default)]
    pub copy_key: u64,
    /// The event's type; empty where it was not kept.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub event_type: Cow<'static, str>,
    /// Whether the event entered the surface; `false` where its type was not kept.
    #[serde(default)]
    pub has_marker: bool,
    /// The words, as far as they were indexed.
    pub text: String,
}

impl StoredText {
    /// The type of an event of which only words of this kind are left, and whether it entered the surface.
    pub fn usual_event(kind: TextKind) -> (Cow<'static, str>, bool) {
        let (name, has_marker) = match kind {
            TextKind::User => ("user/message", true),
            TextKind::Agent | TextKind::Reasoning => ("assistant/message", true),
            TextKind::Call => ("tool/call", false),
            TextKind::Result => ("tool/result", true),
            TextKind::Context => ("context/message", true),
        };
        (Cow::Borrowed(name), has_marker)
    }
}

/// Reads the catalogue. Never waits for a writer.
pub trait Catalogue: Send + Sync {
    /// All files.
    ///
    /// # Errors
    /// [`StoreError`] when the catalogue cannot be read.
    fn files(&self) -> Result<Vec<FileRow>, StoreError>;

    /// A file's cursor, and the session ordinals it gave.
    ///
    /// # Errors
    /// [`StoreError`] when the catalogue cannot be read.
    fn cursor(&self, file: FileId) -> Result<FileCursor, StoreError>;

    /// Files with the account of their reads, in order of path.
    ///
    /// # Errors
    /// [`StoreError`] when the catalogue cannot be read.
    fn file_reports(&self) -> Result<Vec<FileReport>, StoreError>;

    /// Sessions, last active first; of several files that hold one session only the fullest.
    ///
    /// # Errors
    /// [`StoreError`] when the catalogue cannot be read.
    fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionRow>, StoreError>;

    /// Sessions whose id is, or begins with, `id`; an exact one alone.
    ///
    /// # Errors
    /// [`StoreError`] when the catalogue cannot be read.
    fn find_sessions(&self, id: &str) -> Result<Vec<SessionRow>, StoreError>;

    /// The session of a number, whether or not another file has a fuller one of the same id.
    ///
    /// # Errors
    /// [`StoreError`] when the catalogue cannot be read.
    fn session(&self, session: SessionOrdinal) -> Result<Option<SessionRow>, StoreError>;

    /// When the index was last brought up to date.
    ///
    /// # Errors
    /// [`StoreError`] when the catalogue cannot be read.
    fn age(&self) -> Result<IndexAge, StoreError>;

    /// Counts.
    ///
    /// # Errors
    /// [`StoreError`] when the catalogue cannot be read.
    fn counts(&self) -> Result<CatalogueCounts, StoreError>;

    /// How many sessions each agent has, by its name.
    ///
    /// # Errors
    /// [`StoreError`] when the catalogue cannot be read.
    fn sessions_by_agent(&self) -> Result<BTreeMap<String, u64>, StoreError>;

    /// A session's text as it was indexed, in order.
    ///
    /// # Errors
    /// [`StoreError`] when the index cannot be read.
    fn stored_text(&self, session: SessionOrdinal) -> Result<Vec<StoredText>, StoreError>;
}

/// Where a file's last read ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileCursor {
    /// Where to go on; `None` reads from the start.
    pub cursor: Option<ReadCursor>,
    /// The account so far.
    pub account: ReadAccount,
    /// The sessions it gave.
    pub sessions: Vec<(String, SessionOrdinal)>,
}

/// Opens an index for writing.
pub trait IndexSink: Send + Sync {
    /// The one writer, or `None` while another process has it. `bytes` is about how much will be read, so
    /// that a small change does not pay for the memory and threads of a large one.
    ///
    /// # Errors
    /// [`StoreError`] when the data folder cannot be written.
    fn writer(&self, bytes: u64) -> Result<Option<Box<dyn IndexWriter>>, StoreError>;
}

/// The one writer of an index. Shared by the workers that read files; what they add becomes visible,
/// all at once, with [`IndexWriter::commit`].
pub trait IndexWriter: Send + Sync {
    /// A new number for a session.
    fn new_session(&self) -> SessionOrdinal;

    /// Adds documents.
    ///
    /// # Errors
    /// [`StoreError`] when the index cannot take them.
    fn add(&self, documents: Vec<Document>) -> Result<(), StoreError>;

    /// Takes back everything of a session, whether committed or only added.
    ///
    /// # Errors
    /// [`StoreError`] when the index cannot do it.
    fn retract(&self, session: SessionOrdinal) -> Result<(), StoreError>;

    /// Makes what was added, and what the batch says, visible together; gives the new generation.
    /// Nothing must be added meanwhile. A crash at any instant leaves the old state or the new one, or
    /// marks the files of the batch as due.
    ///
    /// # Errors
    /// [`StoreError`] when the data folder cannot be written; the old state stays.
    fn commit(&self, batch: Batch) -> Result<u64, StoreError>;
}

/// What a commit says of files and sessions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Files that were read.
    pub read: Vec<FileRead>,
    /// Files that could not be read.
    pub failed: Vec<FileFailure>,
    /// Files that have the same content at another place or with other marks.
    pub restamped: Vec<(FileId, SourceFile)>,
    /// Files that are gone, or that could not be looked for.
    pub presence: Vec<(FileId, Presence)>,
    /// Titles that side files give.
    pub titles: Vec<SideTitle>,
    /// When this was, for status.
    pub time: Timestamp,
    /// Whether everything has been looked at.
    pub sweep_completed: bool,
}

impl Batch {
    /// Whether committing it would change nothing.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty()
            && self.failed.is_empty()
            && self.restamped.is_empty()
            && self.presence.is_empty()
            && self.titles.is_empty()
    }
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct FileRead {
    /// The catalogue's number, when it has one.
    pub id: Option<FileId>,
    /// The file, with its marks from before the read.
    pub file: SourceFile,
    /// Where the read ended.
    pub cursor: ReadCursor,
    /// The account since it was last read from the start.
    pub account: ReadAccount,
    /// The sessions it holds now; those it held before and that are not here are taken away.
    pub sessions: Vec<SessionRead>,
}

/// A session as far as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRead {
    /// Its number.
    pub ordinal: SessionOrdinal,
    /// What was read.
    pub session: ReadSession,
    /// How to go on with it.
    pub resume: Option<ResumeCommand>,
}

/// A file that could not be read.
#[derive(Clone, Debug, PartialEq)]
pub struct FileFailure {
    /// The catalogue's number, when it has one.
    pub id: Option<FileId>,
    /// The file.
    pub file: SourceFile,
    /// Why, in one line.
    pub error: String,
    /// Trouble of a known kind.
    pub account: ReadAccount,
}
