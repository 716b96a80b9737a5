//! The port to agents' transcripts: finding them, and reading them from where the last read ended.

use crate::{Environment, Event, SessionFacts, SessionHeader, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One agent's transcripts. There is one implementation, in one file, for each format.
pub trait SessionSource: Send + Sync {
    /// The agent's name in all contracts, such as `claude`.
    fn agent(&self) -> &'static str;

    /// The folders in which this agent keeps transcripts under `environment`, whether or not they exist.
    fn roots(&self, environment: &Environment) -> Vec<PathBuf>;

    /// Finds every transcript and side file under a root. What cannot be listed is reported as an issue,
    /// and the rest is found all the same.
    fn discover(&self, root: &std::path::Path, found: &mut Discovery);

    /// Reads a file from `cursor`, or from its start when there is none, and hands on what it holds.
    /// Damage costs the damaged record and is counted in the outcome.
    ///
    /// # Errors
    /// [`ReadError::StaleCursor`] when the file must be read from the start instead: it was replaced,
    /// rewritten or shortened, or what was appended changes what was read before.
    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError>;

    /// How the words of a file's events stand in its bytes, for who wants to know without reading it
    /// whether some words can be in it.
    fn raw_words(&self, _file: &SourceFile) -> RawWords {
        RawWords::default()
    }

    /// How a person goes on with a session; `None` when the agent cannot resume it.
    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand>;
}

/// How the words of a file's events stand in its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawWords {
    /// They are JSON: what JSON never escapes stands there as it is. Not so in a compressed file.
    pub is_json: bool,
    /// Words that the reader puts into events by itself, and that need not stand there.
    pub added: &'static [&'static str],
}

/// A command that resumes a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumeCommand {
    /// Program and arguments.
    pub arguments: Vec<String>,
    /// The folder in which to run it, where that matters.
    pub directory: Option<String>,
}

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileRole {
    /// Holds sessions.
    Transcript,
    /// Holds titles of sessions that are elsewhere; never makes one.
    Side,
}

impl FileRole {
    /// The lower-case name used in storage and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Transcript => "transcript",
            Self::Side => "side",
        }
    }
}

/// A file's outer marks, as the operating system gives them: what tells a changed file from an unchanged
/// one without opening it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileStamp {
    /// Length in bytes.
    pub size: u64,
    /// Time of the last change of content, in nanoseconds since the epoch.
    pub modified_ns: i64,
    /// Device; 0 where the system has none.
    pub device: u64,
    /// Inode; 0 where the system has none.
    pub inode: u64,
}

impl FileStamp {
    /// Time of the last change of content.
    pub fn modified(&self) -> Timestamp {
        Timestamp(self.modified_ns / 1_000_000)
    }

    /// Whether both name the same file of the same file system. Unknown inodes are never the same.
    pub fn same_file(&self, other: &Self) -> bool {
        self.inode != 0 && (self.device, self.inode) == (other.device, other.inode)
    }
}

/// A file that discovery found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Agent that wrote it.
    pub agent: String,
    /// The configured folder it was found under.
    pub root: PathBuf,
    /// Where it is.
    pub path: PathBuf,
    /// What it is for.
    pub role: FileRole,
    /// Its marks when it was found.
    pub stamp: FileStamp,
}

/// What discovery found and what it could not look at.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    /// Files, in no order.
    pub files: Vec<SourceFile>,
    /// What went wrong on the way.
    pub issues: Vec<DiscoveryIssue>,
    /// Files that lie there and are no transcripts, by reason.
    pub ignored: BTreeMap<&'static str, u64>,
}

/// Why a folder or file was not looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoveryIssue {
    /// Where.
    pub path: PathBuf,
    /// Machine-readable kind, see the constants of [`IssueCode`].
    pub code: IssueCode,
    /// What the operating system said.
    pub detail: String,
}

/// Kinds of trouble with files and records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueCode {
    /// Listing or opening was refused.
    PermissionDenied,
    /// A link that leads nowhere.
    DanglingLink,
    /// Another error of the operating system.
    IoError,
    /// Neither file nor folder: a pipe, socket or device.
    NotAFile,
    /// The last record is still being written.
    PartialTail,
    /// A record that is no JSON, even after repair.
    NotJson,
    /// A line that is JSON but no record.
    NotARecord,
    /// Runs of zero bytes, as a crashed machine leaves them.
    NulBytes,
    /// A record had to be mended (bad escapes, bad UTF-8) and was read.
    Repaired,
    /// A file without a byte.
    EmptyFile,
    /// A file that never says which session it is.
    NoSessionHeader,
    /// Text of a record was cut because of its length.
    TextCut,
    /// A database, or a part of it, that is no longer one.
    DamagedDatabase,
    /// A database that cannot be looked at without writing to it.
    UnreadableDatabase,
    /// Something in an encoding that this reader does not know.
    Unsupported,
}

impl IssueCode {
    /// The snake-case name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PermissionDenied => "permission_denied",
            Self::DanglingLink => "dangling_link",
            Self::IoError => "io_error",
            Self::NotAFile => "not_a_file",
            Self::PartialTail => "partial_tail",
            Self::NotJson => "not_json",
            Self::NotARecord => "not_a_record",
            Self::NulBytes => "nul_bytes",
            Self::Repaired => "repaired",
            Self::EmptyFile => "empty_file",
            Self::NoSessionHeader => "no_session_header",
            Self::TextCut => "text_cut",
            Self::DamagedDatabase => "damaged_database",
            Self::UnreadableDatabase => "unreadable_database",
            Self::Unsupported => "unsupported",
        }
    }

    /// Whether something of the person's was lost, as against noted.
    pub fn is_loss(self) -> bool {
        !matches!(
            self,
            Self::PartialTail
                | Self::Repaired
                | Self::EmptyFile
                | Self::DanglingLink
                | Self::NotARecord
                | Self::TextCut
        )
    }
}

/// Where a read ended, and all a reader needs to go on from there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadCursor {
    /// Where it ended.
    pub position: Position,
    /// The reader's own state, written and read only by it.
    pub state: String,
}

/// Where a read ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Position {
    /// After the last complete line of an append-only file.
    Lines {
        /// Bytes before it.
        offset: u64,
        /// Lines before it.
        line: u64,
        /// What stood before it.
        guard: ContentGuard,
    },
    /// At the end of a file that is always read whole.
    Whole,
    /// At the last row of a database that holds several sessions, each of which is read on or read anew by
    /// itself. Sessions that such a read does not mention are as they were.
    Rows {
        /// How many sessions it held.
        sessions: u64,
    },
}

/// Hashes of the first and the last bytes that were read: tells an appended file from a rewritten one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentGuard {
    /// Hash of the first [`ContentGuard::SPAN`] bytes, or of all there were.
    pub head: u64,
    /// How many bytes that were.
    pub head_length: u64,
    /// Hash of the [`ContentGuard::SPAN`] bytes before the end, or of all there were.
    pub tail: u64,
    /// How many bytes that were.
    pub tail_length: u64,
}

impl ContentGuard {
    /// How many bytes each hash covers at most.
    pub const SPAN: u64 = 1_024;
}

/// Takes what a reader reads.
pub trait EventSink {
    /// A session's events follow. `resumed` says that they continue what was read before.
    ///
    /// # Errors
    /// [`SinkClosed`] when nothing more is wanted; the reader then stops.
    fn begin(&mut self, session_id: &str, resumed: bool) -> Result<(), SinkClosed>;

    /// The next event of the session that began last.
    ///
    /// # Errors
    /// [`SinkClosed`] when nothing more is wanted; the reader then stops.
    fn event(&mut self, event: Event) -> Result<(), SinkClosed>;

    /// The session that began last has no more events for now.
    ///
    /// # Errors
    /// [`SinkClosed`] when nothing more is wanted; the reader then stops.
    fn end(&mut self, session: ReadSession) -> Result<(), SinkClosed>;

    /// A side file names a session that is elsewhere.
    fn title(&mut self, title: SideTitle);

    /// How much of each tool's answer is of use to the receiver, in UTF-16 units. A reader may leave out
    /// what is beyond it; events are the same in number and order all the same.
    fn tool_text_wanted(&self) -> usize {
        usize::MAX
    }

    /// A record comes next that stands as these bytes in the file. A receiver that can tell from them that
    /// a tool's answer is of no use to it may say so by [`EventSink::tool_text_wanted`]. Not every reader tells.
    fn record(&mut self, _bytes: &[u8]) {}

    /// Whether the receiver has all it wants of this file. A reader may then end the session as far as it
    /// knows it, and leave the rest unread; what it says of where it ended is of no use to anybody.
    fn has_enough(&self) -> bool {
        false
    }
}

/// The receiver wants nothing more: it was cancelled, or its store failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("reading was stopped by the receiver")]
pub struct SinkClosed;

/// A session as far as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadSession {
    /// Its immutable header.
    pub header: SessionHeader,
    /// Its changing facts.
    pub facts: SessionFacts,
    /// Seqs that are shadowed, as inclusive ranges in ascending order.
    pub shadowed: Vec<(u64, u64)>,
}

/// A title from a side file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideTitle {
    /// Agent of the session.
    pub agent: String,
    /// Id of the session.
    pub session_id: String,
    /// The title; empty withdraws it.
    pub title: String,
}

/// How a read ended.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOutcome {
    /// Where to go on next time.
    pub cursor: ReadCursor,
    /// What was read, skipped and lost in this read.
    pub account: ReadAccount,
}

/// The account of a read: every line is in exactly one of `records`, `bookkeeping`, `blank` and `lost`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReadAccount {
    /// Bytes read.
    pub bytes: u64,
    /// Lines or records seen, complete ones.
    pub lines: u64,
    /// Those that gave events.
    pub records: u64,
    /// Those that hold the agent's state and no part of the conversation.
    pub bookkeeping: u64,
    /// Those without content.
    pub blank: u64,
    /// Those that could not be read.
    pub lost: u64,
    /// Bookkeeping of types this reader does not know, by type.
    pub unknown_types: BTreeMap<String, u64>,
    /// How often each kind of trouble was met.
    pub issue_counts: BTreeMap<String, u64>,
    /// The first [`ReadAccount::ISSUES_KEPT`] places of trouble.
    pub issues: Vec<LineIssue>,
}

impl ReadAccount {
    /// How many places of trouble are named; all are counted.
    pub const ISSUES_KEPT: usize = 50;
    /// How many unknown types are named.
    const TYPES_KEPT: usize = 50;

    /// Notes trouble at a line, counted from 1.
    pub fn note(&mut self, line: u64, code: IssueCode, detail: impl Into<String>) {
        *self.issue_counts.entry(code.as_str().to_owned()).or_default() += 1;
        if self.issues.len() < Self::ISSUES_KEPT {
            self.issues.push(LineIssue {
                line,
                code,
                detail: detail.into(),
            });
        }
    }

    /// Notes a record of a type this reader does not know.
    pub fn note_unknown(&mut self, name: &str) {
        if let Some(count) = self.unknown_types.get_mut(name) {
            *count += 1;
        } else if self.unknown_types.len() < Self::TYPES_KEPT {
            self.unknown_types.insert(name.chars().take(80).collect(), 1);
        }
    }

    /// Adds a later read of the same file.
    pub fn add(&mut self, later: &Self) {
        self.bytes += later.bytes;
        self.lines += later.lines;
        self.records += later.records;
        self.bookkeeping += later.bookkeeping;
        self.blank += later.blank;
        self.lost += later.lost;
        for (name, count) in &later.unknown_types {
            *self.unknown_types.entry(name.clone()).or_default() += count;
        }
        // A tail that was partial is complete or partial again by now; only the latest word counts.
        let partial = IssueCode::PartialTail;
        self.issue_counts.remove(partial.as_str());
        self.issues.retain(|issue| issue.code != partial);
        for (name, count) in &later.issue_counts {
            *self.issue_counts.entry(name.clone()).or_default() += count;
        }
        let room = Self::ISSUES_KEPT.saturating_sub(self.issues.len());
        self.issues.extend(later.issues.iter().take(room).cloned());
    }
}

/// Trouble at a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineIssue {
    /// Line, counted from 1; the record's number in formats without lines.
    pub line: u64,
    /// Kind of trouble.
    pub code: IssueCode,
    /// What was wrong.
    pub detail: String,
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The operating system refused.
    #[error("cannot read {path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        #[source]
        source: std::io::Error,
    },
    /// What was read before no longer stands there; read from the start.
    #[error("{path} is no longer what was read before")]
    StaleCursor {
        /// The file.
        path: PathBuf,
    },
    /// The file became shorter while it was read; try again.
    #[error("{path} changed while it was read")]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The file holds no session.
    #[error("{path} holds no session: {detail}")]
    NoSession {
        /// The file.
        path: PathBuf,
        /// Kind of trouble.
        code: IssueCode,
        /// What is missing.
        detail: String,
    },
    /// The receiver wanted nothing more.
    #[error(transparent)]
    Closed(#[from] SinkClosed),
}
