//! The composition root: which index and which readers the engine gets.

use crate::environment;
use crate::error::CommandError;
use crate::when;
use lookback_engine::session_query::{LiveSessions, Mounted, Registration, SessionQuery, SessionQueryConfig};
use lookback_engine::transcript_persistence::TranscriptPersistence;
use lookback_engine::{Engine, Parts, SOURCES};
use lookback_index::{Index, IndexProvider, Options};
use lookback_model::Environment;
use lookback_model::ports::Catalogue;
use std::path::Path;
use std::sync::Arc;

/// More threads than this only compete for the disk.
const MAX_THREADS: usize = 8;

/// Memory for postings under construction. More makes fewer and larger segments, which are quicker to search;
/// a segment that is not full when all is read is written while the catalogue is.
const HEAP_BYTES: usize = 190 << 20;

/// The engine, and the catalogue it works on.
pub(crate) struct Library {
    /// All operations.
    pub(crate) engine: Engine,
    /// Plain counts, without the engine's look at every file.
    pub(crate) catalogue: Arc<dyn Catalogue>,
    /// The index itself, for what else it can do.
    index: Arc<Index>,
}

/// A library of the transcripts under `environment` with its index in `data_dir`.
pub(crate) fn library(environment: &Environment, data_dir: &Path) -> Result<Library, CommandError> {
    let caps = environment::text_caps(environment)?;
    let options = Options {
        threads: threads(),
        heap_bytes: HEAP_BYTES,
        caps,
    };
    let index = Arc::new(Index::open(data_dir, options)?);
    let engine = Engine::new(Parts {
        environment: environment.clone(),
        sources: SOURCES,
        catalogue: index.clone(),
        provider: index.clone(),
        sink: index.clone(),
        caps,
        workers: threads(),
        clock: when::now,
    });
    Ok(Library {
        engine,
        catalogue: index.clone(),
        index,
    })
}

/// Sessions as one corpus, and what holds it together: when this goes, nothing is mounted or registered any more.
pub(crate) struct Corpus {
    /// The service.
    pub(crate) service: SessionQuery,
    _transcripts: Mounted,
    _provider: Registration,
}

/// The corpus of the transcripts under `environment`, the library's index of them, and the sessions that run in
/// this process.
pub(crate) fn session_query(
    environment: &Environment,
    library: &Library,
    config: SessionQueryConfig,
) -> Result<Corpus, CommandError> {
    let service = SessionQuery::new(config, LiveSessions::new())?;
    let provider = service.register_search_provider(Arc::new(IndexProvider::new(library.index.clone())))?;
    let transcripts =
        TranscriptPersistence::new(environment.clone(), SOURCES, Arc::clone(&library.catalogue));
    Ok(Corpus {
        _transcripts: service.mount(Arc::new(transcripts)),
        _provider: provider,
        service,
    })
}

/// Threads that are worth having.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get().min(MAX_THREADS))
}
