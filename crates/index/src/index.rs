//! A data folder as a whole: opening it for reading and for writing, and the ports it implements.

use crate::catalogue::{self, read};
use crate::error::{Cause, Layout, Result};
use crate::schema::TEXT_VERSION;
use crate::search::Kept;
use crate::text::{self, TextSnapshot};
use crate::types::EventTypes;
use crate::writer::Writer;
use lookback_model::SessionOrdinal;
use lookback_model::document::TextCaps;
use lookback_model::hit::{Presence, SessionRow};
use lookback_model::ports::{
    Catalogue, CatalogueCounts, FileCursor, FileId, FileReport, FileRow, FileState, IndexAge, IndexSink,
    IndexWriter, SearchAnswer, SessionFilter, SessionSearch, StoreError, StoredText,
};
use lookback_model::query::SearchRequest;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// How an index is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Threads that add documents at the same time; each builds postings of its own.
    pub threads: usize,
    /// Memory for postings under construction, of all threads together, in bytes.
    pub heap_bytes: usize,
    /// How much text of tools the documents hold. An index of documents that held another amount is owed
    /// all reads.
    pub caps: TextCaps,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 1,
            heap_bytes: 64 << 20,
            caps: TextCaps::default(),
        }
    }
}

impl Options {
    /// Below this many bytes one thread with little memory is done before more have begun.
    const SMALL: u64 = 16 << 20;

    fn for_reading(self, bytes: u64) -> Self {
        if bytes > Self::SMALL {
            self
        } else {
            Self {
                threads: 1,
                heap_bytes: 15 << 20,
                ..self
            }
        }
    }
}

/// An index in a data folder. Nothing is opened before it is needed.
pub struct Index {
    layout: Layout,
    options: Options,
    catalogue: Mutex<Option<Opened>>,
    text: Mutex<Option<Commit>>,
}

/// A catalogue that is opened, and what is kept of it between searches.
struct Opened {
    connection: Connection,
    kept: Kept,
}

impl From<Connection> for Opened {
    fn from(connection: Connection) -> Self {
        Self {
            connection,
            kept: Kept::default(),
        }
    }
}

/// A commit of the text index that is opened.
struct Commit {
    /// Its list of segments, as it stands on disk. Segments are never changed and never named anew, so that
    /// the same list is the same text.
    list: Vec<u8>,
    snapshot: Arc<TextSnapshot>,
}

impl Index {
    /// The index of a data folder, which need not exist yet.
    ///
    /// # Errors
    /// [`StoreError::Newer`] when a newer lookback wrote it.
    pub fn open(root: &Path, options: Options) -> std::result::Result<Self, StoreError> {
        let layout = Layout {
            root: root.to_owned(),
        };
        // A catalogue that cannot be read is the writer's to mend, or the first question's to report.
        let opened = catalogue::open_reader(&layout.catalogue()).ok().flatten();
        if let Some(connection) = &opened {
            let found = catalogue::version(connection).map_err(|error| error.reading(root))?;
            if found > catalogue::VERSION {
                return Err(StoreError::Newer {
                    path: root.to_owned(),
                    found,
                    known: catalogue::VERSION,
                });
            }
        }
        Ok(Self {
            layout,
            options,
            catalogue: Mutex::new(opened.map(Opened::from)),
            text: Mutex::default(),
        })
    }

    /// The data folder.
    pub fn root(&self) -> &Path {
        &self.layout.root
    }

    /// How it is written.
    pub(crate) fn options(&self) -> Options {
        self.options
    }

    /// The catalogue's file.
    pub(crate) fn catalogue_path(&self) -> PathBuf {
        self.layout.catalogue()
    }

    /// The one writer, or `None` while another process has it, for about so many bytes.
    pub(crate) fn writer_for(&self, bytes: u64) -> std::result::Result<Option<Writer>, StoreError> {
        let opened = self.open_writer(self.options.for_reading(bytes));
        opened.map_err(|error| error.writing(&self.layout.root))
    }

    /// Runs on a read connection; `absent` stands in when nothing was ever indexed.
    fn read<T>(
        &self,
        absent: T,
        run: impl FnOnce(&Connection) -> Result<T>,
    ) -> std::result::Result<T, StoreError> {
        self.with_opened(absent, |opened| run(&opened.connection))
    }

    fn with_opened<T>(
        &self,
        absent: T,
        run: impl FnOnce(&mut Opened) -> Result<T>,
    ) -> std::result::Result<T, StoreError> {
        let mut held = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.layout.catalogue();
        if held.is_none() {
            let connection = catalogue::open_reader(&path).map_err(|error| error.reading(&path))?;
            *held = connection.map(Opened::from);
        }
        let Some(opened) = held.as_mut() else {
            return Ok(absent);
        };
        run(opened).map_err(|error| error.reading(&path))
    }

    /// Moves what is damaged aside, so that a new one can be begun; nothing is deleted.
    fn set_aside(&self, path: &Path) -> Result<()> {
        for number in 0..1_000_u32 {
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".damaged-{number}"));
            let aside = PathBuf::from(name);
            if !aside.exists() && path.exists() {
                fs::rename(path, aside)?;
                return Ok(());
            }
        }
        Ok(())
    }

    /// Opens for writing; what turns out to be damaged is set aside and begun anew, from the sources and
    /// the archive.
    fn open_writer(&self, options: Options) -> Result<Option<Writer>> {
        create_private_folder(&self.layout.root)?;
        let Some(lock) = take_lock(&self.layout.lock())? else {
            return Ok(None);
        };
        let error = match Writer::open(&self.layout, options, lock) {
            Err(error) if error.is_damage() => error,
            other => return other.map(Some),
        };
        self.catalogue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        self.text.lock().unwrap_or_else(PoisonError::into_inner).take();
        match error {
            // Whole, and of no use to anybody any more.
            Cause::Outdated => fs::remove_dir_all(self.layout.text())?,
            _ => self.set_aside(&self.layout.text())?,
        }
        let Some(lock) = take_lock(&self.layout.lock())? else {
            return Ok(None);
        };
        let whole = catalogue::open_writer(&self.layout.catalogue())
            .and_then(|connection| catalogue::write::owe_all_reads(&connection));
        if whole.is_err() {
            for suffix in ["", "-wal", "-shm"] {
                let mut path = self.layout.catalogue().into_os_string();
                path.push(suffix);
                self.set_aside(Path::new(&path))?;
            }
        }
        Writer::open(&self.layout, options, lock).map(Some)
    }

    /// The number of the text index's last commit; 0 when it cannot be told, is another's, or is to be built
    /// anew.
    pub(crate) fn text_generation(&self, identity: &str) -> u64 {
        let payload = text::payload_in(&self.layout.text()).unwrap_or_default();
        if payload.index == identity && payload.version >= TEXT_VERSION {
            payload.generation
        } else {
            0
        }
    }

    /// The last commit of the text index, opened; the one that was opened last when there is none since.
    pub(crate) fn snapshot(&self) -> std::result::Result<Option<Arc<TextSnapshot>>, StoreError> {
        let path = self.layout.text();
        let mut held = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(list) = fs::read(path.join("meta.json")) else {
            *held = None;
            // Whatever is there but cannot be read is for the opening to report.
            return match path.join("meta.json").exists() {
                true => open_text(&path).map(Some),
                false => Ok(None),
            };
        };
        if let Some(commit) = held.as_ref().filter(|commit| commit.list == list) {
            let snapshot = Arc::clone(&commit.snapshot);
            snapshot.unpack().map_err(|error| error.reading(&path))?;
            return Ok(Some(snapshot));
        }
        let snapshot = open_text(&path)?;
        // A commit between the two looks is told by the next search, which finds another list.
        *held = Some(Commit {
            list,
            snapshot: Arc::clone(&snapshot),
        });
        Ok(Some(snapshot))
    }
}

fn open_text(path: &Path) -> std::result::Result<Arc<TextSnapshot>, StoreError> {
    let snapshot = text::open_snapshot(path).map_err(|error| error.reading(path))?;
    Ok(Arc::new(snapshot))
}

/// Makes the data folder, which holds what people said, for nobody but its owner.
fn create_private_folder(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    Ok(builder.create(path)?)
}

/// The lock of a data folder; `None` while another process holds it. The system lets it go when its
/// holder ends, however it ends.
fn take_lock(path: &Path) -> Result<Option<File>> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(Cause::Io(error)),
    }
}

impl Catalogue for Index {
    fn files(&self) -> std::result::Result<Vec<FileRow>, StoreError> {
        self.read(Vec::new(), |connection| {
            let text_generation = catalogue::meta_number(connection, "text_generation")?;
            let identity = catalogue::meta(connection, "identity")?.unwrap_or_default();
            let rows = read::files(connection)?;
            // Looked at after the catalogue: a commit that is just being made is then no gap.
            let held = match catalogue::text_caps(connection)? == self.options.caps {
                true => self.text_generation(&identity),
                // Documents of another length are as good as none.
                false => 0,
            };
            if held >= text_generation {
                return Ok(rows.into_iter().map(|(row, _)| row).collect());
            }
            // A crash, or damage: the text index never got, or lost, what these rows say is read.
            let owed = |(mut row, generation): (FileRow, u64)| {
                if generation > held && row.state == FileState::Current && row.presence != Presence::Missing {
                    row.state = FileState::Due;
                }
                row
            };
            Ok(rows.into_iter().map(owed).collect())
        })
    }

    fn cursor(&self, file: FileId) -> std::result::Result<FileCursor, StoreError> {
        self.read(FileCursor::default(), |connection| read::cursor(connection, file))
    }

    fn file_reports(&self) -> std::result::Result<Vec<FileReport>, StoreError> {
        self.read(Vec::new(), read::file_reports)
    }

    fn sessions(&self, filter: &SessionFilter) -> std::result::Result<Vec<SessionRow>, StoreError> {
        self.read(Vec::new(), |connection| read::sessions(connection, filter))
    }

    fn find_sessions(&self, id: &str) -> std::result::Result<Vec<SessionRow>, StoreError> {
        self.read(Vec::new(), |connection| read::find_sessions(connection, id))
    }

    fn session(&self, session: SessionOrdinal) -> std::result::Result<Option<SessionRow>, StoreError> {
        self.read(None, |connection| read::session(connection, session))
    }

    fn age(&self) -> std::result::Result<IndexAge, StoreError> {
        self.read(IndexAge::default(), read::age)
    }

    fn counts(&self) -> std::result::Result<CatalogueCounts, StoreError> {
        self.read(CatalogueCounts::default(), read::counts)
    }

    fn sessions_by_agent(&self) -> std::result::Result<BTreeMap<String, u64>, StoreError> {
        self.read(BTreeMap::new(), read::sessions_by_agent)
    }

    fn stored_text(&self, session: SessionOrdinal) -> std::result::Result<Vec<StoredText>, StoreError> {
        let Some(snapshot) = self.snapshot()? else {
            return Ok(Vec::new());
        };
        let types = self.read(EventTypes::default(), EventTypes::read)?;
        snapshot
            .stored_text(session, &types)
            .map_err(|error| error.reading(&self.layout.text()))
    }
}

impl SessionSearch for Index {
    fn search(&self, request: &SearchRequest) -> std::result::Result<SearchAnswer, StoreError> {
        // The text index first: the catalogue is never behind it, so every document found has its row.
        let snapshot = self.snapshot()?;
        self.with_opened(SearchAnswer::Results(Default::default()), |opened| {
            let Opened { connection, kept } = opened;
            crate::search::run(connection, kept, snapshot.as_ref(), request)
        })
    }
}

impl IndexSink for Index {
    fn writer(&self, bytes: u64) -> std::result::Result<Option<Box<dyn IndexWriter>>, StoreError> {
        let writer = self.writer_for(bytes)?;
        Ok(writer.map(|writer| Box::new(writer) as Box<dyn IndexWriter>))
    }
}
