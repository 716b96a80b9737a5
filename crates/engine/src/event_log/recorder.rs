//! Writes live sessions through to the log: for whoever is told of what happens to them.

use super::{EventLog, LogError, LogWriter};
use crate::session_query::{LiveRecorder, RecordError};
use lookback_model::session_query::SessionLog;
use lookback_model::{Event, SessionHeader};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keeps a writer for each session that is running. A registry of live sessions calls it in the order of events;
/// different sessions may call at once.
#[derive(Debug)]
pub struct LogRecorder {
    log: Arc<EventLog>,
    writers: Mutex<HashMap<String, LogWriter>>,
}

impl LogRecorder {
    /// Records into `log`.
    pub fn new(log: Arc<EventLog>) -> Self {
        Self {
            log,
            writers: Mutex::default(),
        }
    }

    /// Opens a session of the log to go on with it, and gives its log, repairs included: the seed to begin it with.
    ///
    /// # Errors
    /// Those of [`EventLog::resume`].
    pub fn resume(&self, session_id: &str) -> Result<SessionLog, LogError> {
        let resumed = self.log.resume(session_id)?;
        self.writers().insert(session_id.to_owned(), resumed.writer);
        Ok(resumed.log)
    }

    /// A session begins, with the events it was seeded with. One that was resumed here goes on behind what the log
    /// holds.
    ///
    /// # Errors
    /// [`LogError::Exists`] when the log holds a session of this id that was not resumed,
    /// [`LogError::OutOfOrder`] when the seed is shorter than the log, and those of [`EventLog::create`] and
    /// [`LogWriter::append`].
    pub fn began(&self, header: &SessionHeader, seed: &[Event]) -> Result<(), LogError> {
        let resumed = self.writers().get(&header.id).cloned();
        let writer = match resumed {
            Some(writer) => writer,
            None => self.log.create(header)?,
        };
        let expected = writer.next_seq()?;
        let held = usize::try_from(expected).unwrap_or(usize::MAX);
        let rest = seed.get(held..).ok_or(LogError::OutOfOrder {
            expected,
            found: seed.len() as u64,
        })?;
        writer.append(rest)?;
        self.writers().insert(header.id.clone(), writer);
        Ok(())
    }

    /// Events were appended to a session.
    ///
    /// # Errors
    /// [`LogError::NotFound`] when it did not begin here, and those of [`LogWriter::append`].
    pub fn appended(&self, session_id: &str, events: &[Event]) -> Result<(), LogError> {
        let writer = self.writers().get(session_id).cloned();
        let writer = writer.ok_or_else(|| LogError::NotFound {
            id: session_id.to_owned(),
        })?;
        writer.append(events)
    }

    /// A session ended; one that did not begin here is no error.
    ///
    /// # Errors
    /// [`LogError::Io`] when the last sync failed.
    pub fn ended(&self, session_id: &str) -> Result<(), LogError> {
        let writer = self.writers().remove(session_id);
        writer.map_or(Ok(()), |writer| writer.close())
    }

    fn writers(&self) -> MutexGuard<'_, HashMap<String, LogWriter>> {
        self.writers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LiveRecorder for LogRecorder {
    fn began(&self, header: &SessionHeader, seed: &[Arc<Event>]) -> Result<(), RecordError> {
        let seed: Vec<Event> = seed.iter().map(|event| Event::clone(event)).collect();
        Ok(self.began(header, &seed)?)
    }

    fn appended(&self, session_id: &str, events: &[Arc<Event>]) -> Result<(), RecordError> {
        let events: Vec<Event> = events.iter().map(|event| Event::clone(event)).collect();
        Ok(self.appended(session_id, &events)?)
    }

    fn ended(&self, session_id: &str) -> Result<(), RecordError> {
        Ok(self.ended(session_id)?)
    }
}
