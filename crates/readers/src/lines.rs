//! Lines of files of any size, in memory that does not grow with the file or the line.
//!
//! Ordinary lines are handed out as they lie in the buffer. A line above [`CONDENSE_ABOVE`] is condensed
//! on the way in: long runs of base64 are dropped (images and documents inside JSON), and a string is
//! cut at [`STRING_LIMIT`]. What remains is still the same JSON, with shorter strings.

use lookback_model::source::{ContentGuard, ReadError};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// Lines longer than this are condensed.
pub const CONDENSE_ABOVE: usize = 1 << 20;
/// No string of a condensed line is longer than this.
pub const STRING_LIMIT: usize = 16 << 20;
/// No condensed line is longer than this; further strings are emptied.
const LINE_LIMIT: usize = 64 << 20;
/// A run of base64 characters is cut after this many.
const BASE64_KEPT: usize = 1_024;
/// Bytes asked of the file at once.
const BLOCK: usize = 128 << 10;

/// Bytes asked of it first: who wants the beginning only need not pay for more.
const FIRST_BLOCK: usize = 32 << 10;

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its bytes, without the line feed.
    pub bytes: &'a [u8],
    /// Where it begins in the file.
    pub offset: u64,
    /// How many bytes of the file it covers, line feed included.
    pub length: u64,
    /// Whether a line feed ended it; without one it is the file's last and may still be growing.
    pub complete: bool,
    /// Bytes of text that were cut from it; dropped base64 does not count.
    pub cut: u64,
}

/// Splits what a reader gives into lines, by line feeds alone.
pub struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// Unread part of `buffer`.
    start: usize,
    end: usize,
    /// File offset of `start`.
    offset: u64,
    condensed: Vec<u8>,
    at_end: bool,
}

impl<R: Read> Lines<R> {
    /// Lines of `input`, whose first byte lies at `offset` of its file.
    pub fn new(input: R, offset: u64) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            offset,
            condensed: Vec::new(),
            at_end: false,
        }
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// What the input fails with.
    #[expect(
        clippy::should_implement_trait,
        reason = "a line borrows from the reader, which Iterator cannot say"
    )]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = self.start;
        loop {
            let unsearched = self.buffer.get(searched..self.end).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'\n', unsearched) {
                return Ok(Some(self.take(searched + at, true)));
            }
            searched = self.end;
            if self.end - self.start > CONDENSE_ABOVE {
                return self.condense().map(Some);
            }
            if self.at_end {
                return Ok((self.end > self.start).then(|| self.take(self.end, false)));
            }
            searched -= self.fill()?;
        }
    }

    /// Reads more; gives how far the unread part moved towards the front.
    fn fill(&mut self) -> io::Result<usize> {
        let moved = self.start;
        if moved > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= moved;
            self.start = 0;
        }
        let block = if self.buffer.is_empty() {
            FIRST_BLOCK
        } else {
            BLOCK
        };
        if self.buffer.len() < self.end + block {
            self.buffer.resize(self.end + block, 0);
        }
        let free = self.buffer.get_mut(self.end..).unwrap_or_default();
        let count = read_some(&mut self.input, free)?;
        self.end += count;
        self.at_end = count == 0;
        Ok(moved)
    }

    fn take(&mut self, line_end: usize, complete: bool) -> Line<'_> {
        let (start, offset) = (self.start, self.offset);
        let length = (line_end - start + usize::from(complete)) as u64;
        self.start = line_end + usize::from(complete);
        self.offset += length;
        let bytes = self.buffer.get(start..line_end).unwrap_or_default();
        Line {
            bytes,
            offset,
            length,
            complete,
            cut: 0,
        }
    }

    /// Takes a long line block by block.
    fn condense(&mut self) -> io::Result<Line<'_>> {
        let offset = self.offset;
        let mut condenser = Condenser::new(std::mem::take(&mut self.condensed));
        let mut complete = false;
        while !complete {
            let block = self.buffer.get(self.start..self.end).unwrap_or_default();
            let line_end = memchr::memchr(b'\n', block);
            let part = line_end.and_then(|at| block.get(..at)).unwrap_or(block);
            condenser.feed(part);
            let taken = part.len() + usize::from(line_end.is_some());
            complete = line_end.is_some();
            self.start += taken;
            self.offset += taken as u64;
            if !complete {
                self.fill()?;
                if self.at_end {
                    break;
                }
            }
        }
        self.condensed = condenser.kept;
        let length = self.offset - offset;
        Ok(Line {
            bytes: &self.condensed,
            offset,
            length,
            complete,
            cut: condenser.cut,
        })
    }
}

fn read_some(input: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Copies JSON while shortening its strings.
#[derive(Default)]
pub(crate) struct Condenser {
    kept: Vec<u8>,
    in_string: bool,
    escaped: bool,
    /// Length of the string so far, as kept.
    string: usize,
    /// Length of the current run of base64 characters.
    run: usize,
    /// Bytes of text that were cut.
    cut: u64,
}

impl Condenser {
    /// One that copies into a buffer, which is emptied first.
    pub(crate) fn new(mut kept: Vec<u8>) -> Self {
        kept.clear();
        Self {
            kept,
            ..Self::default()
        }
    }

    /// Takes the next bytes.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) {
        while let Some((&byte, rest)) = bytes.split_first() {
            if self.in_string && !self.escaped && self.run > BASE64_KEPT {
                let length = bytes
                    .iter()
                    .position(|&byte| !is_base64(byte))
                    .unwrap_or(bytes.len());
                if length > 0 {
                    bytes = bytes.get(length..).unwrap_or_default();
                    continue;
                }
            }
            self.byte(byte);
            bytes = rest;
        }
    }

    /// What was copied, and how many bytes of text were cut.
    pub(crate) fn finish(self) -> (Vec<u8>, u64) {
        (self.kept, self.cut)
    }

    fn byte(&mut self, byte: u8) {
        if !self.in_string {
            self.in_string = byte == b'"';
            (self.string, self.run) = (0, 0);
            // Only what is no JSON has so much beside its strings.
            if self.kept.len() < 2 * LINE_LIMIT {
                self.kept.push(byte);
            } else {
                self.cut += 1;
            }
            return;
        }
        if !self.escaped && byte == b'"' {
            self.in_string = false;
            self.kept.push(byte);
            return;
        }
        self.run = if is_base64(byte) { self.run + 1 } else { 0 };
        // An escape is kept or dropped as a whole, so a limit never splits one; the four digits of a
        // \u escape may be split, which mending repairs.
        let full = self.string >= STRING_LIMIT || self.kept.len() >= LINE_LIMIT;
        if full && !self.escaped {
            self.cut += 1;
            self.escaped = byte == b'\\';
            if self.escaped {
                self.string = usize::MAX / 2;
            }
            return;
        }
        if full && self.string >= usize::MAX / 2 {
            self.cut += 1;
        } else {
            self.kept.push(byte);
            self.string += 1;
        }
        self.escaped = !self.escaped && byte == b'\\';
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

/// A whole JSON document, condensed when it is long.
///
/// # Errors
/// What the input fails with.
pub fn document(input: impl Read) -> io::Result<(Vec<u8>, u64)> {
    let mut condenser = Condenser::default();
    let mut input = input;
    let mut block = vec![0; BLOCK];
    loop {
        let count = read_some(&mut input, &mut block)?;
        if count == 0 {
            return Ok((condenser.kept, condenser.cut));
        }
        condenser.feed(block.get(..count).unwrap_or_default());
    }
}

/// Hashes of what stands before `offset`, see [`ContentGuard`].
///
/// # Errors
/// What the file fails with; `UnexpectedEof` when it is shorter than `offset`.
pub fn guard(file: &mut File, offset: u64) -> io::Result<ContentGuard> {
    let length = offset.min(ContentGuard::SPAN);
    Ok(ContentGuard {
        head: hash_at(file, 0, length)?,
        head_length: length,
        tail: hash_at(file, offset - length, length)?,
        tail_length: length,
    })
}

/// Whether `file` still holds before `offset` what `guard` saw there.
///
/// # Errors
/// What the file fails with, other than being shorter.
pub fn guard_holds(file: &mut File, offset: u64, expected: ContentGuard) -> io::Result<bool> {
    let tail_start = offset.saturating_sub(expected.tail_length);
    let seen = hash_at(file, 0, expected.head_length)
        .and_then(|head| Ok((head, hash_at(file, tail_start, expected.tail_length)?)));
    match seen {
        Ok(seen) => Ok(seen == (expected.head, expected.tail)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn hash_at(file: &mut File, offset: u64, length: u64) -> io::Result<u64> {
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(&mut bytes)?;
    Ok(xxh3_64(&bytes))
}

/// Opens a file for reading, naming it in the error.
///
/// # Errors
/// [`ReadError::Io`].
pub fn open(path: &Path) -> Result<File, ReadError> {
    File::open(path).map_err(|source| io_error(path, source))
}

/// An error of the operating system with the file it belongs to.
pub fn io_error(path: &Path, source: io::Error) -> ReadError {
    ReadError::Io {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
