//! A transcript format for tests, a folder of such transcripts, and an engine over an index in memory.
//!
//! A transcript is lines of text. `@id` begins a session; every other line is a prompt of the session that
//! began last. A side file (`*.titles`) has lines `id=title`. Reading goes on after the last complete line
//! as long as everything before it still stands there. `*.rows.log` stands for a database: it is read from the start
//! each time.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "support of tests only"
)]

use lookback_engine::session_query::{LiveSessions, SessionQuery, SessionQueryConfig};
use lookback_engine::transcript_persistence::TranscriptPersistence;
use lookback_engine::{Engine, Parts, ReconcileOptions, Reconciled, Transcript, WHOLE_LOG};
use lookback_model::event::{EventData, Message};
use lookback_model::facts::TitleRank;
use lookback_model::hit::SessionRow;
use lookback_model::ports::SearchAnswer;
use lookback_model::source::{
    ContentGuard, Discovery, DiscoveryIssue, EventSink, FileRole, IssueCode, Position, ReadAccount,
    ReadCursor, ReadError, ReadOutcome, ReadSession, ResumeCommand, SideTitle, SourceFile,
};
use lookback_model::{
    Environment, Event, SearchRequest, SessionFacts, SessionHeader, SessionSource, SurfaceOp, Timestamp,
};
use lookback_readers::walk::{Class, Walk};
use lookback_testkit::memory::Memory;
use std::collections::HashMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

/// What goes wrong when a file is read, after this many lines of that read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    Io(usize, std::io::ErrorKind),
    Panic(usize),
    Stale,
}

type Hook = Box<dyn Fn(&Path) + Send + Sync>;

/// The format, with switches to make it fail.
#[derive(Default)]
pub(crate) struct Plain {
    pub(crate) faults: Mutex<HashMap<String, Fault>>,
    pub(crate) hidden: Mutex<Vec<PathBuf>>,
    pub(crate) reads: Mutex<Vec<(String, bool)>>,
    pub(crate) hook: Mutex<Option<Hook>>,
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

impl SessionSource for Plain {
    fn agent(&self) -> &'static str {
        "plain"
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        vec![environment.home.join("one"), environment.home.join("two")]
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let classify = |path: &Path| match path
            .extension()
            .and_then(|extension| extension.to_str())
            .unwrap_or_default()
        {
            "log" => Class::File(FileRole::Transcript),
            "titles" => Class::File(FileRole::Side),
            _ => Class::Other,
        };
        Walk {
            agent: self.agent(),
            root,
            depth: 3,
            classify: &classify,
            enter: &|_| true,
        }
        .run(found);
        for hidden in self
            .hidden
            .lock()
            .unwrap()
            .iter()
            .filter(|hidden| hidden.starts_with(root))
        {
            found.files.retain(|file| !file.path.starts_with(hidden));
            let (path, code) = (hidden.clone(), IssueCode::PermissionDenied);
            found.issues.push(DiscoveryIssue {
                path,
                code,
                detail: "locked".into(),
            });
        }
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        self.reads
            .lock()
            .unwrap()
            .push((name(&file.path), cursor.is_some()));
        if let Some(hook) = &*self.hook.lock().unwrap() {
            hook(&file.path);
        }
        let path = || file.path.clone();
        let bytes = fs::read(&file.path).map_err(|source| ReadError::Io { path: path(), source })?;
        let mut reading = Reading {
            path: path(),
            fault: self.fault(&file.path),
            ..Reading::default()
        };
        if let Some(cursor) = cursor {
            reading.go_on(cursor, &bytes, sink)?;
        }
        let text = String::from_utf8(bytes.clone()).unwrap();
        let complete = text.rfind('\n').map_or(0, |at| at + 1);
        for line in text[reading.offset..complete].lines() {
            reading.line(file.role, line, sink)?;
        }
        reading.close(sink)?;
        if file.role == FileRole::Transcript && reading.sessions == 0 {
            let code = if bytes.is_empty() {
                IssueCode::EmptyFile
            } else {
                IssueCode::NoSessionHeader
            };
            return Err(ReadError::NoSession {
                path: path(),
                code,
                detail: "no @".into(),
            });
        }
        Ok(reading.outcome(&bytes[..complete]))
    }

    fn resume(&self, session: &SessionHeader, _: &SessionFacts) -> Option<ResumeCommand> {
        Some(ResumeCommand {
            arguments: vec!["plain".into(), session.id.clone()],
            directory: None,
        })
    }
}

impl Plain {
    fn fault(&self, path: &Path) -> Option<Fault> {
        self.faults.lock().unwrap().get(&name(path)).copied()
    }
}

#[derive(Default)]
struct Reading {
    path: PathBuf,
    fault: Option<Fault>,
    offset: usize,
    line: u64,
    lines: usize,
    sessions: usize,
    session: Option<(String, SessionFacts)>,
    account: ReadAccount,
}

impl Reading {
    fn go_on(
        &mut self,
        cursor: &ReadCursor,
        bytes: &[u8],
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        let Position::Lines { offset, line, guard } = &cursor.position else {
            return Err(ReadError::StaleCursor {
                path: self.path.clone(),
            });
        };
        let stands = bytes
            .get(..usize::try_from(*offset).unwrap())
            .is_some_and(|read| hash(read) == guard.head);
        if !stands || matches!(self.fault, Some(Fault::Stale)) {
            return Err(ReadError::StaleCursor {
                path: self.path.clone(),
            });
        }
        (self.offset, self.line) = (*offset as usize, *line);
        if let Some((id, facts)) = cursor.state.split_once(' ') {
            let facts: SessionFacts = facts_of_text(facts);
            sink.begin(id, true)?;
            self.sessions = 1;
            self.session = Some((id.to_owned(), facts));
        }
        Ok(())
    }

    fn line(&mut self, role: FileRole, line: &str, sink: &mut dyn EventSink) -> Result<(), ReadError> {
        self.fail()?;
        (self.line, self.lines) = (self.line + 1, self.lines + 1);
        (self.account.lines, self.account.records) = (self.account.lines + 1, self.account.records + 1);
        if role == FileRole::Side {
            let (session_id, title) = line.split_once('=').unwrap();
            sink.title(SideTitle {
                agent: "plain".into(),
                session_id: session_id.into(),
                title: title.into(),
            });
            return Ok(());
        }
        if let Some(id) = line.strip_prefix('@') {
            self.close(sink)?;
            sink.begin(id, false)?;
            self.sessions += 1;
            self.session = Some((id.to_owned(), SessionFacts::default()));
            return Ok(());
        }
        let Some((_, facts)) = &mut self.session else {
            self.account.lost += 1;
            self.account
                .note(self.line, IssueCode::NotARecord, "no session yet");
            return Ok(());
        };
        let seq = facts.events;
        facts.events += 1;
        facts.updated_at = Some(Timestamp(seq as i64));
        facts.offer_title(line, TitleRank::Prompt);
        sink.event(event(seq, line))?;
        Ok(())
    }

    fn fail(&self) -> Result<(), ReadError> {
        match self.fault {
            Some(Fault::Io(after, kind)) if after == self.lines => Err(ReadError::Io {
                path: self.path.clone(),
                source: kind.into(),
            }),
            Some(Fault::Panic(after)) if after == self.lines => {
                panic!("a defect of the reader, for the test")
            }
            _ => Ok(()),
        }
    }

    fn close(&self, sink: &mut dyn EventSink) -> Result<(), ReadError> {
        if let Some((id, facts)) = &self.session {
            let header = SessionHeader::new(id.clone(), Timestamp(0));
            sink.end(ReadSession {
                header,
                facts: facts.clone(),
                shadowed: Vec::new(),
            })?;
        }
        Ok(())
    }

    fn outcome(mut self, read: &[u8]) -> ReadOutcome {
        self.account.bytes = (read.len() - self.offset) as u64;
        let guard = ContentGuard {
            head: hash(read),
            ..ContentGuard::default()
        };
        let position = Position::Lines {
            offset: read.len() as u64,
            line: self.line,
            guard,
        };
        let is_database = self.path.to_str().is_some_and(|path| path.ends_with(".rows.log"));
        let position = match is_database {
            true => Position::Rows {
                sessions: self.sessions as u64,
            },
            false => position,
        };
        let state = self
            .session
            .map(|(id, facts)| format!("{id} {}", facts_text(&facts)))
            .unwrap_or_default();
        ReadOutcome {
            cursor: ReadCursor { position, state },
            account: self.account,
        }
    }
}

fn facts_text(facts: &SessionFacts) -> String {
    let title = facts.title.as_ref().map_or("", |title| &title.text);
    format!("{} {title}", facts.events)
}

fn facts_of_text(text: &str) -> SessionFacts {
    let (events, title) = text.split_once(' ').unwrap();
    let events: u64 = events.parse().unwrap();
    let mut facts = SessionFacts {
        events,
        ..SessionFacts::default()
    };
    facts.updated_at = events.checked_sub(1).map(|seq| Timestamp(seq as i64));
    facts.offer_title(title, TitleRank::Prompt);
    facts
}

fn event(seq: u64, text: &str) -> Event {
    Event {
        seq,
        time: Timestamp(seq as i64),
        data: EventData::UserMessage(Message::text(text)),
        surface_op: Some(SurfaceOp::Append),
        source_event_seqs: None,
        native_id: None,
        copy_key: 0,
    }
}

/// A home folder with transcripts, and an engine over it.
pub(crate) struct World {
    pub(crate) home: tempfile::TempDir,
    pub(crate) source: &'static Plain,
    pub(crate) memory: Memory,
    pub(crate) engine: Engine,
    seconds: Mutex<u64>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_workers(2)
    }

    pub(crate) fn with_workers(workers: usize) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("one")).unwrap();
        let source: &'static Plain = Box::leak(Box::default());
        let memory = Memory::default();
        let engine = engine(home.path(), source, &memory, workers);
        Self {
            home,
            source,
            memory,
            engine,
            seconds: Mutex::new(0),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Writes a file, with a time later than that of every write before.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let mut seconds = self.seconds.lock().unwrap();
        *seconds += 1;
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + *seconds);
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(time)
            .unwrap();
    }

    pub(crate) fn append(&self, name: &str, text: &str) {
        let before = fs::read_to_string(self.path(name)).unwrap_or_default();
        self.write(name, &(before + text));
    }

    /// A session's events, as a service over this world's transcripts reads them.
    pub(crate) fn transcript(&self, id: &str) -> Transcript {
        let config = SessionQueryConfig {
            read_window_max: WHOLE_LOG,
            ..SessionQueryConfig::default()
        };
        let service = SessionQuery::new(config, LiveSessions::new()).unwrap();
        let _mounted = service.mount(Arc::new(TranscriptPersistence::new(
            Environment::at_home(self.home.path()),
            Box::leak(Box::new([self.source as &dyn SessionSource])),
            Arc::new(self.memory.clone()),
        )));
        self.engine.transcript(&service, &self.session(id)).unwrap()
    }

    pub(crate) fn pass(&self) -> Reconciled {
        self.pass_with(ReconcileOptions::default())
    }

    pub(crate) fn pass_with(&self, options: ReconcileOptions) -> Reconciled {
        let result = self.engine.reconcile(options, &()).unwrap();
        assert_eq!(self.memory.violations(), Vec::<String>::new());
        result
    }

    pub(crate) fn fault(&self, name: &str, fault: Option<Fault>) {
        let mut faults = self.source.faults.lock().unwrap();
        match fault {
            Some(fault) => faults.insert(name.to_owned(), fault),
            None => faults.remove(name),
        };
    }

    /// Names of the files read since the last call, and whether the read went on from a cursor.
    pub(crate) fn reads(&self) -> Vec<(String, bool)> {
        std::mem::take(&mut self.source.reads.lock().unwrap())
    }

    /// Ids of the sessions that hold all words.
    pub(crate) fn search(&self, words: &str) -> Vec<String> {
        search(&self.engine, words)
    }

    pub(crate) fn session(&self, id: &str) -> SessionRow {
        self.engine.session(id).unwrap()
    }
}

pub(crate) fn search(engine: &Engine, words: &str) -> Vec<String> {
    let SearchAnswer::Results(page) = engine.search(&SearchRequest::new(words)).unwrap() else {
        panic!("no results");
    };
    let mut ids: Vec<_> = page.hits.into_iter().map(|hit| hit.session.session_id).collect();
    ids.sort();
    ids
}

pub(crate) fn engine(home: &Path, source: &'static Plain, memory: &Memory, workers: usize) -> Engine {
    let memory = Arc::new(memory.clone());
    Engine::new(Parts {
        environment: Environment::at_home(home),
        sources: Box::leak(Box::new([source as &dyn SessionSource])),
        catalogue: memory.clone(),
        provider: memory.clone(),
        sink: memory,
        caps: Default::default(),
        workers,
        clock: || Timestamp(1),
    })
}
