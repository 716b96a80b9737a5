//! Opening the text index, without waiting for anybody.

use crate::columns::Columns;
use crate::error::{Cause, Result};
use crate::schema::{self, Fields};
use crate::types::{EventMark, EventTypes};
use lookback_model::event::owned_type_name;
use lookback_model::ports::StoredText;
use lookback_model::{SessionOrdinal, TextKind, Timestamp};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};
use tantivy::schema::Value;
use tantivy::{DocAddress, Index, ReloadPolicy, Searcher, TantivyDocument};

/// What each commit of the text index says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Payload {
    /// Identity of the data folder.
    pub index: String,
    /// Number of the commit.
    pub generation: u64,
    /// [`schema::TEXT_VERSION`] of its writer.
    #[serde(default)]
    pub version: u64,
}

/// A text index as of one commit.
pub(crate) struct TextSnapshot {
    /// What to search with.
    pub searcher: Searcher,
    /// Its fields.
    pub fields: Fields,
    columns: OnceLock<Vec<Columns>>,
}

impl TextSnapshot {
    /// The columns of its segments.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn columns(&self) -> Result<&[Columns]> {
        if let Some(columns) = self.columns.get() {
            return Ok(columns);
        }
        let readers = self.searcher.segment_readers().iter();
        let columns = readers.map(|reader| Columns::open(reader, &self.fields));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        Ok(self.columns.get_or_init(|| columns))
    }

    /// Unpacks what is read most, for a process that searches more than once.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn unpack(&self) -> Result<()> {
        for (columns, reader) in self.columns()?.iter().zip(self.searcher.segment_readers()) {
            columns.unpack(reader);
        }
        Ok(())
    }

    /// A session's text as it was indexed, in order.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn stored_text(&self, session: SessionOrdinal, types: &EventTypes) -> Result<Vec<StoredText>> {
        let term = self.fields.session_term(session);
        let query = tantivy::query::TermQuery::new(term, tantivy::schema::IndexRecordOption::Basic);
        let mut found = Vec::new();
        for address in self
            .searcher
            .search(&query, &tantivy::collector::DocSetCollector)?
        {
            let columns = self.searcher.segment_reader(address.segment_ord).fast_fields();
            let number = |name| -> Result<u64> { Ok(columns.u64(name)?.first(address.doc_id).unwrap_or(0)) };
            let time = Timestamp(columns.i64(schema::TIME)?.first(address.doc_id).unwrap_or(0));
            let Some((kind, text)) = self.text_of(address)? else {
                continue;
            };
            let (seq, chunk, copy_key) = (
                number(schema::SEQ)?,
                number(schema::CHUNK)?,
                number(schema::COPY_KEY)?,
            );
            let event = EventMark(number(schema::EVENT)?);
            found.push((
                chunk,
                StoredText {
                    seq,
                    time,
                    kind,
                    copy_key,
                    event_type: owned_type_name(types.name(event.code())),
                    has_marker: event.has_marker(),
                    text,
                },
            ));
        }
        found.sort_by_key(|(chunk, text)| (text.seq, text.kind, *chunk));
        Ok(found.into_iter().map(|(_, text)| text).collect())
    }

    /// The text of a document and whose words it is.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn text_of(&self, address: DocAddress) -> Result<Option<(TextKind, String)>> {
        let columns = self.columns()?.get(address.segment_ord as usize);
        let Some(kind) = columns.and_then(|columns| columns.kind(address.doc_id)) else {
            return Ok(None);
        };
        let document: TantivyDocument = self.searcher.doc(address)?;
        let text = document.get_first(self.fields.text(kind));
        Ok(text.and_then(|text| Some((kind, text.as_str()?.to_owned()))))
    }
}

/// How often opening is tried again when a writer removed files between the list and their opening.
const OPEN_TRIES: usize = 20;

/// Opens the last commit for searching.
///
/// # Errors
/// When there is none, or it is damaged.
pub(crate) fn open_snapshot(path: &Path) -> Result<TextSnapshot> {
    let directory = UnlockedDirectory(MmapDirectory::open(path)?);
    let index = Index::open(directory)?;
    schema::register(&index);
    let (schema, fields) = schema::schema();
    if index.schema() != schema {
        check_version(payload(&index)?.version)?;
        return Err(Cause::Foreign);
    }
    let mut tries = 0;
    loop {
        let payload = payload(&index)?;
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into();
        let reader: tantivy::IndexReader = match reader {
            Ok(reader) => reader,
            Err(error) if tries < OPEN_TRIES && is_missing_file(&error) => {
                tries += 1;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        if payload == self::payload(&index)? || tries >= OPEN_TRIES {
            return Ok(TextSnapshot {
                searcher: reader.searcher(),
                fields,
                columns: OnceLock::new(),
            });
        }
        tries += 1;
    }
}

fn is_missing_file(error: &tantivy::TantivyError) -> bool {
    matches!(
        error,
        tantivy::TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(_))
    )
}

/// What the last commit says of itself; the default before the first.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn payload(index: &Index) -> Result<Payload> {
    match index.load_metas()?.payload {
        Some(payload) => Ok(serde_json::from_str(&payload)?),
        None => Ok(Payload::default()),
    }
}

/// Tells an index of another version from one that is damaged; 0 is of none, as it is new.
fn check_version(version: u64) -> Result<()> {
    match version {
        version if version > schema::TEXT_VERSION => Err(Cause::NewerText(version)),
        version if version < schema::TEXT_VERSION && version > 0 => Err(Cause::Outdated),
        _ => Ok(()),
    }
}

/// The same of an index that is not opened, from the list of its files alone.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn payload_in(path: &Path) -> Result<Payload> {
    #[derive(Deserialize)]
    struct Meta {
        payload: Option<String>,
    }
    let meta: Meta = serde_json::from_slice(&std::fs::read(path.join("meta.json"))?)?;
    match meta.payload {
        Some(payload) => Ok(serde_json::from_str(&payload)?),
        None => Ok(Payload::default()),
    }
}

/// Opens for writing, or makes an empty one.
///
/// # Errors
/// When it cannot be written or is damaged.
pub(crate) fn open_or_create(path: &Path) -> Result<Index> {
    std::fs::create_dir_all(path)?;
    let directory = MmapDirectory::open(path)?;
    let (schema, _) = schema::schema();
    let index = if Index::exists(&directory).map_err(tantivy::TantivyError::from)? {
        Index::open(directory)?
    } else {
        Index::create(directory, schema.clone(), schema::settings())?
    };
    check_version(payload(&index)?.version)?;
    if index.schema() != schema {
        return Err(Cause::Foreign);
    }
    schema::register(&index);
    Ok(index)
}

/// A directory whose readers take no lock, so that they neither wait for a writer nor write themselves.
///
/// Tantivy's readers lock so that no file vanishes between the list of files and their opening. Here a
/// file that has vanished means that there is a newer list, and opening starts anew.
#[derive(Clone, Debug)]
struct UnlockedDirectory(MmapDirectory);

impl Directory for UnlockedDirectory {
    fn get_file_handle(&self, path: &Path) -> std::result::Result<Arc<dyn FileHandle>, OpenReadError> {
        self.0.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> std::result::Result<(), DeleteError> {
        self.0.delete(path)
    }

    fn exists(&self, path: &Path) -> std::result::Result<bool, OpenReadError> {
        self.0.exists(path)
    }

    fn open_write(&self, path: &Path) -> std::result::Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::IoError {
            io_error: Arc::new(std::io::ErrorKind::ReadOnlyFilesystem.into()),
            filepath: PathBuf::from(path),
        })
    }

    fn atomic_read(&self, path: &Path) -> std::result::Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }

    fn atomic_write(&self, _: &Path, _: &[u8]) -> std::io::Result<()> {
        Ok(())
    }

    fn sync_directory(&self) -> std::io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _: &Lock) -> std::result::Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
