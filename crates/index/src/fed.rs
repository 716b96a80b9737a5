//! Sessions that a session query feeds, on their way into the index that everything else is in as well.
//!
//! A session that an agent's transcript holds takes the place of what was read of it, and the transcript is owed
//! a read from the start, which takes its place in turn. Any other gets a row among files that stands for no file
//! at all. So no session is ever there twice, whoever writes it.

use crate::catalogue::{read, write};
use crate::error::Result;
use crate::writer::Writer;
use lookback_model::document::{self, TextCaps};
use lookback_model::ports::{FileId, SessionRead};
use lookback_model::session_query::SessionSnapshot;
use lookback_model::source::{FileRole, FileStamp, ReadSession, ResumeCommand, SourceFile};
use lookback_model::{Document, SessionFacts, SessionOrdinal};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use std::path::PathBuf;

/// The agent of sessions of which nobody says who wrote them.
const AGENT: &str = "harness";
/// So many documents are added at once.
const HANDFUL: usize = 256;

/// Where a fed session stands, with the scheme that no path of a transcript begins with.
fn place(id: &str) -> PathBuf {
    format!("session-query:{id}").into()
}

/// What one commit does to sessions that are fed.
#[derive(Default)]
pub(crate) struct Feeding {
    sessions: Vec<Fed>,
    /// Rows that stand for no file, and go.
    removed: Vec<FileId>,
    /// Sessions that go.
    pub(crate) gone: Vec<SessionOrdinal>,
}

/// A session to write.
struct Fed {
    /// The transcript that holds it.
    transcript: Option<FileId>,
    /// What was read of it from there.
    replaces: Option<SessionOrdinal>,
    agent: String,
    read: SessionRead,
    fingerprint: String,
    extractors: String,
    revision: Option<String>,
}

/// What the catalogue has of a session in an agent's transcript that is there.
struct Known {
    file: FileId,
    ordinal: SessionOrdinal,
    agent: String,
    facts: SessionFacts,
    resume: Option<ResumeCommand>,
}

impl Feeding {
    /// Adds the documents of sessions, and gives what is to be committed with them.
    ///
    /// # Errors
    /// When the index cannot be read or written.
    pub(crate) fn prepare(
        writer: &Writer,
        catalogue: &Connection,
        caps: TextCaps,
        sessions: &[SessionSnapshot],
        removed: &[String],
    ) -> Result<Self> {
        let mut feeding = Self::default();
        for id in removed {
            feeding.take_away(catalogue, id)?;
        }
        let agents = agents(catalogue)?;
        for snapshot in sessions {
            // What was fed before goes, whether or not it had a place of its own.
            feeding.take_away(catalogue, &snapshot.header.id)?;
            let known = known(catalogue, snapshot, &agents)?;
            let read = add(writer, caps, snapshot, known.as_ref())?;
            feeding.gone.extend(known.as_ref().map(|known| known.ordinal));
            feeding.sessions.push(Fed {
                transcript: known.as_ref().map(|known| known.file),
                replaces: known.as_ref().map(|known| known.ordinal),
                agent: known.map_or_else(|| agent_of(snapshot), |known| known.agent),
                read,
                fingerprint: snapshot.fingerprint.clone(),
                extractors: snapshot.extractors.clone(),
                revision: snapshot.revision.clone(),
            });
        }
        Ok(feeding)
    }

    fn take_away(&mut self, catalogue: &Connection, id: &str) -> Result<()> {
        if let Some(file) = write::fed_at(catalogue, &place(id))? {
            self.gone.extend(write::sessions_of(catalogue, file)?);
            self.removed.push(file);
        }
        Ok(())
    }

    /// Writes it as part of the commit `generation`.
    ///
    /// # Errors
    /// When the catalogue cannot be written.
    pub(crate) fn write(&self, transaction: &Transaction<'_>, generation: u64) -> Result<()> {
        for file in &self.removed {
            write::delete_file(transaction, *file)?;
        }
        for fed in &self.sessions {
            fed.write(transaction, generation)?;
        }
        Ok(())
    }
}

impl Fed {
    fn write(&self, transaction: &Transaction<'_>, generation: u64) -> Result<()> {
        let id = &self.read.session.header.id;
        let file = match self.transcript {
            Some(file) => {
                write::owe_read(transaction, file, generation)?;
                file
            }
            None => {
                let file = SourceFile {
                    agent: self.agent.clone(),
                    root: PathBuf::new(),
                    path: place(id),
                    role: FileRole::Fed,
                    stamp: FileStamp::default(),
                };
                write::add_fed_file(transaction, &file, generation)?
            }
        };
        write::write_session_of(transaction, file, &self.agent, &self.read, self.replaces)?;
        let sql = "UPDATE sessions SET fingerprint = ?2, extractors = ?3, revision = ?4 WHERE ordinal = ?1";
        transaction.prepare_cached(sql)?.execute(params![
            self.read.ordinal.0,
            self.fingerprint,
            self.extractors,
            self.revision
        ])?;
        Ok(())
    }
}

/// Adds a session's documents; gives what the catalogue is to have of it.
fn add(
    writer: &Writer,
    caps: TextCaps,
    snapshot: &SessionSnapshot,
    known: Option<&Known>,
) -> Result<SessionRead> {
    let ordinal = writer.next_session();
    let mut documents: Vec<Document> = Vec::new();
    for words in &snapshot.documents {
        document::documents_of_words(ordinal, words, caps, |document| documents.push(document));
        if documents.len() >= HANDFUL {
            writer.add_documents(std::mem::take(&mut documents))?;
        }
    }
    if !documents.is_empty() {
        writer.add_documents(documents)?;
    }
    let facts = known.map(|known| known.facts.clone());
    let session = ReadSession {
        header: snapshot.header.clone(),
        facts: crate::provider::facts_of(snapshot, facts),
        shadowed: snapshot.shadowed.clone(),
    };
    Ok(SessionRead {
        ordinal,
        session,
        resume: known.and_then(|known| known.resume.clone()),
    })
}

fn agent_of(snapshot: &SessionSnapshot) -> String {
    match snapshot.agent.as_str() {
        "" => AGENT.to_owned(),
        agent => agent.to_owned(),
    }
}

/// The agents that have transcripts.
fn agents(catalogue: &Connection) -> Result<Vec<String>> {
    let sql = "SELECT DISTINCT agent FROM files WHERE role = 'transcript' ORDER BY agent";
    let mut statement = catalogue.prepare_cached(sql)?;
    let agents = statement.query_map([], |row| row.get(0))?;
    Ok(agents.collect::<rusqlite::Result<_>>()?)
}

/// The session in a transcript that is there. What a vanished one held stays as it is: nothing could bring it
/// back. Where nobody says which agent wrote it, any may have.
fn known(catalogue: &Connection, snapshot: &SessionSnapshot, agents: &[String]) -> Result<Option<Known>> {
    let sql = "SELECT ordinal, files.id FROM sessions JOIN files ON files.id = sessions.file
        WHERE sessions.agent = ?1 AND sessions.session_id = ?2 AND role = 'transcript' AND presence = 'present'
        ORDER BY leader <> ordinal, ordinal LIMIT 1";
    let mut statement = catalogue.prepare_cached(sql)?;
    for agent in agents {
        if !(snapshot.agent.is_empty() || snapshot.agent == *agent) {
            continue;
        }
        let found = statement
            .query_row(params![agent, snapshot.header.id], |row| {
                Ok((SessionOrdinal(row.get(0)?), FileId(row.get(1)?)))
            })
            .optional()?;
        let Some((ordinal, file)) = found else { continue };
        if let Some(row) = read::session(catalogue, ordinal)? {
            return Ok(Some(Known {
                file,
                ordinal,
                agent: agent.clone(),
                facts: row.facts,
                resume: row.resume,
            }));
        }
    }
    Ok(None)
}
