//! Reading a log file: line by line, in memory bounded by the length of a line, never beyond the last line break.

use super::error::{Damage, LogError};
use super::{HeaderLine, LINE_LIMIT, VERSION};
use lookback_model::session_query::SessionLog;
use lookback_model::{Event, SessionHeader};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// A file that was read.
pub(super) struct WholeLog {
    pub(super) log: SessionLog,
    /// Bytes up to and with the last line break.
    pub(super) committed: u64,
    /// Bytes after it.
    pub(super) torn: u64,
}

/// Hands out whole lines.
struct Lines<'a> {
    path: &'a Path,
    file: BufReader<File>,
    buffer: Vec<u8>,
    line: u64,
    committed: u64,
    torn: u64,
}

impl<'a> Lines<'a> {
    /// `None` when there is no file.
    fn open(path: &'a Path) -> Result<Option<Self>, LogError> {
        match File::open(path) {
            Ok(file) => Ok(Some(Self {
                path,
                file: BufReader::with_capacity(64 * 1024, file),
                buffer: Vec::new(),
                line: 0,
                committed: 0,
                torn: 0,
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LogError::io(path, error)),
        }
    }

    /// The next whole line without its line break; `None` at the end, and at a torn tail.
    fn next(&mut self) -> Result<Option<&[u8]>, LogError> {
        self.buffer.clear();
        let room = LINE_LIMIT as u64 + 1;
        let mut limited = self.file.by_ref().take(room);
        let length = limited
            .read_until(b'\n', &mut self.buffer)
            .map_err(|error| LogError::io(self.path, error))? as u64;
        if self.buffer.last() != Some(&b'\n') {
            if length == room {
                return self.beyond_limit(length);
            }
            self.torn = length;
            return Ok(None);
        }
        self.buffer.pop();
        self.line += 1;
        self.committed += length;
        Ok(Some(&self.buffer))
    }

    /// A line that is too long is damage when it is whole; torn, it is a tail like any other.
    fn beyond_limit(&mut self, read: u64) -> Result<Option<&[u8]>, LogError> {
        let mut length = read;
        loop {
            let (skipped, is_whole) = {
                let held = self
                    .file
                    .fill_buf()
                    .map_err(|error| LogError::io(self.path, error))?;
                (held.len(), held.contains(&b'\n'))
            };
            if is_whole {
                return Err(LogError::damaged(self.path, self.line + 1, Damage::TooLong));
            }
            if skipped == 0 {
                self.torn = length;
                return Ok(None);
            }
            self.file.consume(skipped);
            length += skipped as u64;
        }
    }

    /// The header; `None` when it was never written whole.
    fn header(&mut self) -> Result<Option<SessionHeader>, LogError> {
        let path = self.path;
        let Some(line) = self.next()? else {
            return Ok(None);
        };
        let read: HeaderLine = serde_json::from_slice(line)
            .map_err(|error| LogError::damaged(path, 1, Damage::NotARecord(error)))?;
        match [read.v, read.header.version]
            .into_iter()
            .find(|&version| version != VERSION)
        {
            Some(found) => Err(LogError::Version {
                path: path.to_owned(),
                found,
            }),
            None => Ok(Some(read.header)),
        }
    }
}

/// The first line of a file, when there is a whole one.
pub(super) fn first_line(path: &Path) -> Result<Option<Vec<u8>>, LogError> {
    let Some(mut lines) = Lines::open(path)? else {
        return Ok(None);
    };
    Ok(lines.next()?.map(<[u8]>::to_vec))
}

/// The header, and the length of header and first event; `None` when either is not there.
pub(super) fn beginning(path: &Path) -> Result<Option<(SessionHeader, u64)>, LogError> {
    let Some(mut lines) = Lines::open(path)? else {
        return Ok(None);
    };
    let Some(header) = lines.header()? else {
        return Ok(None);
    };
    if lines.next()?.is_none() {
        return Ok(None);
    }
    Ok(Some((header, lines.committed)))
}

/// A session's whole file; `None` when there is none, or its header was never written whole.
pub(super) fn whole(path: &Path, session_id: &str) -> Result<Option<WholeLog>, LogError> {
    let Some(mut lines) = Lines::open(path)? else {
        return Ok(None);
    };
    let Some(header) = lines.header()? else {
        return Ok(None);
    };
    if header.id != session_id {
        let found = header.id;
        return Err(LogError::damaged(path, 1, Damage::OtherSession { found }));
    }
    let mut events = Vec::new();
    let mut expected = 0;
    while let Some(line) = lines.next()? {
        let event: Result<Event, _> = serde_json::from_slice(line);
        let damage = match event {
            Ok(event) if event.seq == expected => {
                events.push(event);
                expected += 1;
                continue;
            }
            Ok(event) => Damage::Gap {
                expected,
                found: event.seq,
            },
            Err(error) => Damage::NotARecord(error),
        };
        return Err(LogError::damaged(path, lines.line, damage));
    }
    Ok(Some(WholeLog {
        log: SessionLog { header, events },
        committed: lines.committed,
        torn: lines.torn,
    }))
}
