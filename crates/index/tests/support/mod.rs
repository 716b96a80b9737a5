//! A vault for tests: an index in a folder of its own, and sessions told as a reader and the engine would.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    dead_code,
    reason = "support of several test programs, each of which needs a part of it"
)]

use lookback_index::{Index, Options};
use lookback_model::hit::Presence;
use lookback_model::ports::{
    Batch, Catalogue, FileRead, IndexSink, IndexWriter, SearchAnswer, SearchPage, SessionRead, SessionSearch,
    StoredText,
};
use lookback_model::query::SearchRequest;
use lookback_model::source::{
    FileRole, FileStamp, Position, ReadAccount, ReadCursor, ReadSession, SourceFile,
};
use lookback_model::{Document, SessionFacts, SessionHeader, SessionKind, TextKind, Timestamp, copies, text};
use std::path::Path;
use tempfile::TempDir;

pub(crate) struct Vault {
    pub(crate) folder: TempDir,
    pub(crate) index: Index,
}

impl Vault {
    pub(crate) fn new() -> Self {
        Self::with(Options::default())
    }

    pub(crate) fn with(options: Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::open(folder.path(), options).unwrap();
        Self { folder, index }
    }

    /// The same folder, as another process sees it.
    pub(crate) fn reopened(self) -> Self {
        let Self { folder, index } = self;
        drop(index);
        let index = Index::open(folder.path(), Options::default()).unwrap();
        Self { folder, index }
    }

    pub(crate) fn writer(&self) -> Box<dyn IndexWriter> {
        self.index.writer(0).unwrap().expect("nobody else writes")
    }

    pub(crate) fn commit(&self, reads: Vec<FileRead>) -> u64 {
        commit(&*self.writer(), reads)
    }

    pub(crate) fn page(&self, request: &SearchRequest) -> SearchPage {
        match self.index.search(request).unwrap() {
            SearchAnswer::Results(page) => page,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn found(&self, query: &str) -> Vec<String> {
        ids(&self.page(&SearchRequest::new(query)))
    }

    pub(crate) fn set_missing(&self, path: &str) {
        let rows = self.index.files().unwrap();
        let row = rows.iter().find(|row| row.path == Path::new(path)).unwrap();
        let presence = vec![(row.id, Presence::Missing)];
        self.writer()
            .commit(Batch {
                presence,
                ..Batch::default()
            })
            .unwrap();
    }
}

pub(crate) fn ids(page: &SearchPage) -> Vec<String> {
    let hits = page.hits.iter();
    hits.map(|hit| hit.session.session_id.clone()).collect()
}

pub(crate) fn commit(writer: &dyn IndexWriter, reads: Vec<FileRead>) -> u64 {
    writer
        .commit(Batch {
            read: reads,
            ..Batch::default()
        })
        .unwrap()
}

/// A session to be told to an index.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) agent: String,
    pub(crate) path: String,
    pub(crate) id: String,
    pub(crate) cwd: String,
    pub(crate) start: i64,
    pub(crate) driver: SessionKind,
    pub(crate) recalls: u64,
    /// The events, each of which may hold several kinds of text.
    pub(crate) events: Vec<Vec<(TextKind, String)>>,
}

impl Told {
    /// A session of prompts, each a minute after the other.
    pub(crate) fn new(path: &str, id: &str, start: i64, texts: &[&str]) -> Self {
        let event = |text: &&str| vec![(TextKind::User, (*text).to_owned())];
        Self {
            agent: "claude".into(),
            path: path.into(),
            id: id.into(),
            cwd: "/home/dev/shop".into(),
            start,
            driver: SessionKind::default(),
            recalls: 0,
            events: texts.iter().map(event).collect(),
        }
    }

    pub(crate) fn file(&self) -> SourceFile {
        SourceFile {
            agent: self.agent.clone(),
            root: "/root".into(),
            path: self.path.clone().into(),
            role: FileRole::Transcript,
            stamp: FileStamp {
                size: 1,
                modified_ns: 1,
                device: 1,
                inode: 1,
            },
        }
    }

    /// What a read that gave these sessions came to.
    pub(crate) fn read(&self, sessions: Vec<SessionRead>) -> FileRead {
        FileRead {
            id: None,
            file: self.file(),
            cursor: ReadCursor {
                position: Position::Whole,
                state: "state".into(),
            },
            account: ReadAccount {
                lines: self.events.len() as u64,
                ..ReadAccount::default()
            },
            sessions,
        }
    }

    /// Adds the words of the session; it is there once the read is committed.
    pub(crate) fn add(&self, writer: &dyn IndexWriter) -> FileRead {
        let ordinal = writer.new_session();
        let (mut copy_key, mut first_copy_key, mut turns) = (0, 0, 0);
        for (seq, event) in (0u64..).zip(&self.events) {
            let time = Timestamp(self.start + seq as i64 * 60_000);
            for (kind, words) in event {
                copy_key = copies::chained_key(copy_key, kind.role(), words);
                turns += u64::from(matches!(kind, TextKind::User | TextKind::Agent));
            }
            if seq == 1 {
                first_copy_key = copy_key;
            }
            for (kind, words) in event {
                let chunk = |(chunk, text): (u32, &str)| Document {
                    session: ordinal,
                    seq,
                    chunk,
                    time,
                    copy_key,
                    event_type: StoredText::usual_event(*kind).0,
                    has_marker: StoredText::usual_event(*kind).1,
                    kind: *kind,
                    text: text.to_owned(),
                };
                writer
                    .add((0u32..).zip(text::chunks(words)).map(chunk).collect())
                    .unwrap();
            }
        }
        let facts = SessionFacts {
            turns,
            recalls: self.recalls,
            kind: self.driver,
            created_at: Some(Timestamp(self.start)),
            updated_at: Some(Timestamp(self.start + self.events.len() as i64 * 60_000)),
            cwd: Some(self.cwd.clone()),
            first_copy_key,
            ..SessionFacts::default()
        };
        let mut header = SessionHeader::new(&self.id, Timestamp(self.start));
        header.cwd.clone_from(&facts.cwd);
        let session = ReadSession {
            header,
            facts,
            shadowed: vec![(0, 0)],
        };
        self.read(vec![SessionRead {
            ordinal,
            session,
            resume: None,
        }])
    }
}

/// Adds a session of prompts, each a minute after the other.
pub(crate) fn add(writer: &dyn IndexWriter, path: &str, id: &str, start: i64, texts: &[&str]) -> FileRead {
    Told::new(path, id, start, texts).add(writer)
}
