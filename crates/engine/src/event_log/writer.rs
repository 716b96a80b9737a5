//! Appending to a log file: whole batches, in order of seq, by one writer at a time.

use super::error::LogError;
use super::{Fsync, spelled};
use lookback_model::Event;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Appends to one session. Clones write to the same log and may be used at once; each append is whole.
#[derive(Clone, Debug)]
pub struct LogWriter {
    path: Arc<PathBuf>,
    fsync: Fsync,
    open: Arc<Mutex<Option<Open>>>,
}

/// The file as long as it is open. It is locked, so that nobody else writes to it.
#[derive(Debug)]
struct Open {
    file: File,
    /// Where the next record begins: everything before it is whole.
    length: u64,
    next: u64,
    unsynced: u64,
    synced_at: Instant,
}

/// What Windows answers when a file has another writer.
const SHARING_VIOLATION: i32 = 32;

/// Opens a file for its only writer; makes it when `create` says so.
pub(super) fn open(path: &Path, create: bool) -> Result<File, LogError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(create).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // A lock would keep readers out there; others may read and not write.
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, 1);
    let file = options.open(path).map_err(|error| match error.raw_os_error() {
        Some(SHARING_VIOLATION) if cfg!(windows) => LogError::InUse {
            path: path.to_owned(),
        },
        _ => LogError::io(path, error),
    })?;
    #[cfg(not(windows))]
    file.try_lock().map_err(|error| match error {
        std::fs::TryLockError::WouldBlock => LogError::InUse {
            path: path.to_owned(),
        },
        std::fs::TryLockError::Error(error) => LogError::io(path, error),
    })?;
    Ok(file)
}

impl LogWriter {
    /// A writer of a new session: the file gets `header` and nothing else.
    pub(super) fn begin(file: File, path: PathBuf, fsync: Fsync, header: &[u8]) -> Result<Self, LogError> {
        let writer = Self::go_on(file, path, fsync, 0, 0)?;
        let mut open = writer.lock();
        writer.write(&mut open, header, 0)?;
        drop(open);
        Ok(writer)
    }

    /// A writer that goes on after `length` bytes, with event `next`; what stands behind is cut off.
    pub(super) fn go_on(
        file: File,
        path: PathBuf,
        fsync: Fsync,
        length: u64,
        next: u64,
    ) -> Result<Self, LogError> {
        let fail = |error| LogError::io(&path, error);
        if file.metadata().map_err(fail)?.len() != length {
            file.set_len(length).map_err(fail)?;
        }
        let open = Open {
            file,
            length,
            next,
            // What an earlier writer left unsynced is unknown: all of it may be.
            unsynced: length,
            synced_at: Instant::now(),
        };
        Ok(Self {
            path: Arc::new(path),
            fsync,
            open: Arc::new(Mutex::new(Some(open))),
        })
    }

    /// Appends events, all or none; syncs them when the policy says so. None at all is no error.
    ///
    /// # Errors
    /// Nothing was appended: [`LogError::OutOfOrder`] when the first is not the next one or others do not follow it,
    /// [`LogError::NotJson`] and [`LogError::TooLong`] for events that could not be read back, [`LogError::Closed`],
    /// or [`LogError::Io`], for instance when the disk is full. When only the sync failed the writer is closed, since
    /// nobody knows what the disk holds; the events may be there.
    pub fn append(&self, events: &[Event]) -> Result<(), LogError> {
        let mut open = self.lock();
        let next = open.as_ref().ok_or_else(|| self.closed())?.next;
        let mut bytes = Vec::new();
        for (expected, event) in (next..).zip(events) {
            if event.seq != expected {
                let found = event.seq;
                return Err(LogError::OutOfOrder { expected, found });
            }
            let line = spelled(event)?;
            // What is kept must be readable, or the whole session would not be.
            serde_json::from_slice::<Event>(&line).map_err(|error| LogError::unwritable(event.seq, error))?;
            bytes.extend_from_slice(&line);
            bytes.push(b'\n');
        }
        if bytes.is_empty() {
            return Ok(());
        }
        self.write(&mut open, &bytes, events.len() as u64)
    }

    /// The seq that is next.
    ///
    /// # Errors
    /// [`LogError::Closed`].
    pub fn next_seq(&self) -> Result<u64, LogError> {
        Ok(self.lock().as_ref().ok_or_else(|| self.closed())?.next)
    }

    /// How many bytes of the file were not synced by this writer: at most these are lost with the power.
    ///
    /// # Errors
    /// [`LogError::Closed`].
    pub fn unsynced(&self) -> Result<u64, LogError> {
        Ok(self.lock().as_ref().ok_or_else(|| self.closed())?.unsynced)
    }

    /// Forces what was appended onto the disk, whatever the policy.
    ///
    /// # Errors
    /// [`LogError::Closed`], or [`LogError::Io`]; the writer is closed then.
    pub fn sync(&self) -> Result<(), LogError> {
        let mut open = self.lock();
        let held = open.as_mut().ok_or_else(|| self.closed())?;
        let synced = held.sync();
        self.close_on_error(&mut open, synced)
    }

    /// Ends writing, also by clones; syncs unless the policy is never to. A second time does nothing.
    ///
    /// # Errors
    /// [`LogError::Io`] when the sync failed; it is closed all the same.
    pub fn close(&self) -> Result<(), LogError> {
        let Some(mut held) = self.lock().take() else {
            return Ok(());
        };
        if self.fsync == Fsync::Never {
            return Ok(());
        }
        held.sync().map_err(|error| LogError::io(&self.path, error))
    }

    fn write(
        &self,
        open: &mut MutexGuard<'_, Option<Open>>,
        bytes: &[u8],
        events: u64,
    ) -> Result<(), LogError> {
        let held = open.as_mut().ok_or_else(|| self.closed())?;
        if let Err(error) = held.write(bytes) {
            // Half a record must not stay in front of the next one.
            if held.file.set_len(held.length).is_err() {
                **open = None;
            }
            return Err(LogError::io(&self.path, error));
        }
        held.next += events;
        let is_due = match self.fsync {
            Fsync::Never => false,
            Fsync::EachAppend => true,
            Fsync::Every(interval) => held.synced_at.elapsed() >= interval,
            Fsync::EachBytes(limit) => held.unsynced >= limit,
        };
        let synced = if is_due { held.sync() } else { Ok(()) };
        self.close_on_error(open, synced)
    }

    fn close_on_error(
        &self,
        open: &mut MutexGuard<'_, Option<Open>>,
        result: io::Result<()>,
    ) -> Result<(), LogError> {
        result.map_err(|error| {
            // A failed sync may have dropped what it could not write, and a second one would not tell.
            **open = None;
            LogError::io(&self.path, error)
        })
    }

    fn closed(&self) -> LogError {
        LogError::Closed {
            path: self.path.to_path_buf(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.length))?;
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        self.unsynced += bytes.len() as u64;
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        self.unsynced = 0;
        self.synced_at = Instant::now();
        Ok(())
    }
}
