//! The archive: sessions whose transcripts are gone, one file each, apart from all that can be rebuilt.
//!
//! A file is zstd-compressed lines of JSON: first the session and where its transcript was, then its text
//! as it was indexed. Written before the catalogue calls the session missing, so that no damage to
//! catalogue or text index can lose it.

use crate::error::{Cause, Result};
use lookback_model::ports::{SessionRead, StoredText};
use lookback_model::source::{ReadSession, ResumeCommand, SourceFile};
use lookback_model::{SessionFacts, SessionHeader, SessionOrdinal};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The first line of an archive file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ArchivedSession {
    /// Where the transcript was.
    pub file: SourceFile,
    /// The session's header.
    pub header: SessionHeader,
    /// Its facts.
    pub facts: SessionFacts,
    /// Its shadowed seqs.
    pub shadowed: Vec<(u64, u64)>,
    /// How it was resumed.
    pub resume: Option<ResumeCommand>,
}

impl ArchivedSession {
    /// As a session that was read, under a new number.
    pub fn as_read(&self, ordinal: SessionOrdinal) -> SessionRead {
        let session = ReadSession {
            header: self.header.clone(),
            facts: self.facts.clone(),
            shadowed: self.shadowed.clone(),
        };
        SessionRead {
            ordinal,
            session,
            resume: self.resume.clone(),
        }
    }
}

/// The file of a session: named by a hash, since ids of agents may hold anything.
pub fn path_of(archive: &Path, agent: &str, transcript: &Path, session_id: &str) -> PathBuf {
    let mut key = transcript.as_os_str().as_encoded_bytes().to_vec();
    key.push(0);
    key.extend_from_slice(session_id.as_bytes());
    let agent: String = agent.chars().filter(char::is_ascii_alphanumeric).collect();
    archive
        .join(agent)
        .join(format!("{:032x}.jsonl.zst", xxhash_rust::xxh3::xxh3_128(&key)))
}

/// Writes a session; afterwards it is on the disk whole, or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, session: &ArchivedSession, texts: &[StoredText]) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let unfinished = path.with_extension("unfinished");
    let mut lines = zstd::Encoder::new(BufWriter::new(File::create(&unfinished)?), 9)?;
    serde_json::to_writer(&mut lines, session)?;
    for text in texts {
        lines.write_all(b"\n")?;
        serde_json::to_writer(&mut lines, text)?;
    }
    let file = lines
        .finish()?
        .into_inner()
        .map_err(|error| Cause::Io(error.into_error()))?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    // The rename itself must last; where folders cannot be opened it does by itself.
    if let Ok(folder) = File::open(folder) {
        folder.sync_all()?;
    }
    Ok(())
}

/// Reads a session.
///
/// # Errors
/// When the file cannot be read or is not whole.
pub fn read(path: &Path) -> Result<(ArchivedSession, Vec<StoredText>)> {
    let lines = BufReader::new(zstd::Decoder::new(File::open(path)?)?);
    let mut session = None;
    let mut texts = Vec::new();
    for line in lines.lines() {
        let line = line?;
        match session {
            None => session = Some(serde_json::from_str(&line)?),
            Some(_) => texts.push(serde_json::from_str(&line)?),
        }
    }
    let session = session.ok_or_else(|| Cause::Io(std::io::ErrorKind::UnexpectedEof.into()))?;
    Ok((session, texts))
}

/// All files of an archive, in order.
pub fn files(archive: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(archive).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = folders
        .flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten())
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "zst"))
        .collect();
    files.sort();
    files
}
