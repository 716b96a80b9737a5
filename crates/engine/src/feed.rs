//! One file's events on their way into the index: sessions get numbers, events become documents.
//!
//! Documents go to the writer a handful at a time; only what the catalogue keeps of a session is collected.

use lookback_model::document::{self, TextCaps};
use lookback_model::ports::{IndexWriter, SessionRead, StoreError};
use lookback_model::source::{EventSink, ReadSession, SideTitle, SinkClosed};
use lookback_model::{Document, Event, SessionOrdinal, SessionSource};
use std::mem;

/// So many documents are handed to the writer at once, so that taking a segment up and putting it back costs
/// nothing against indexing them.
const HANDFUL: usize = 64;

/// Takes what a reader reads from one file.
pub(crate) struct Feed<'a> {
    writer: &'a dyn IndexWriter,
    source: &'a dyn SessionSource,
    caps: TextCaps,
    /// Sessions of the file's earlier reads; empty when it is read from the start.
    known: &'a [(String, SessionOrdinal)],
    /// Sessions that got their number in this read.
    fresh: Vec<(String, SessionOrdinal)>,
    current: Option<SessionOrdinal>,
    /// Sessions as they ended.
    pub(crate) sessions: Vec<SessionRead>,
    /// Titles of sessions elsewhere.
    pub(crate) titles: Vec<SideTitle>,
    /// Documents that the writer does not have yet.
    waiting: Vec<Document>,
    /// Documents made.
    pub(crate) documents: u64,
    /// Why the writer refused, when it did.
    pub(crate) refused: Option<StoreError>,
    /// The reader goes on with a session that the catalogue does not know of this file.
    pub(crate) unknown_session: bool,
}

impl<'a> Feed<'a> {
    pub(crate) fn new(
        writer: &'a dyn IndexWriter,
        source: &'a dyn SessionSource,
        caps: TextCaps,
        known: &'a [(String, SessionOrdinal)],
    ) -> Self {
        Self {
            writer,
            source,
            caps,
            known,
            fresh: Vec::new(),
            current: None,
            sessions: Vec::new(),
            titles: Vec::new(),
            waiting: Vec::new(),
            documents: 0,
            refused: None,
            unknown_session: false,
        }
    }

    /// Whether the file had words.
    pub(crate) fn has_documents(&self) -> bool {
        self.documents > 0 || !self.waiting.is_empty()
    }

    /// Gives the writer what it does not have yet.
    pub(crate) fn hand_over(&mut self) -> Result<(), SinkClosed> {
        self.documents += self.waiting.len() as u64;
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.writer.add(mem::take(&mut self.waiting)).map_err(|error| {
            self.refused = Some(error);
            SinkClosed
        })
    }

    /// Takes back the sessions that began in this read.
    pub(crate) fn withdraw(&mut self) -> Result<(), StoreError> {
        self.waiting.clear();
        self.fresh
            .iter()
            .try_for_each(|&(_, ordinal)| self.writer.retract(ordinal))
    }

    /// Sessions of earlier reads that this one did not mention.
    pub(crate) fn unmentioned(&self) -> impl Iterator<Item = &'a (String, SessionOrdinal)> {
        let replaced = |id: &str| self.fresh.iter().any(|(fresh, _)| fresh == id);
        let mentioned = |ordinal| self.sessions.iter().any(|read| read.ordinal == ordinal);
        self.known
            .iter()
            .filter(move |(id, ordinal)| !replaced(id) && !mentioned(*ordinal))
    }

    fn number(&mut self, session_id: &str, resumed: bool) -> Option<SessionOrdinal> {
        if resumed {
            let of_id = |(id, _): &&(String, SessionOrdinal)| id == session_id;
            let held = self
                .fresh
                .iter()
                .rfind(of_id)
                .or_else(|| self.known.iter().rfind(of_id));
            return held.map(|&(_, ordinal)| ordinal);
        }
        let ordinal = self.writer.new_session();
        self.fresh.push((session_id.to_owned(), ordinal));
        Some(ordinal)
    }
}

impl EventSink for Feed<'_> {
    fn begin(&mut self, session_id: &str, resumed: bool) -> Result<(), SinkClosed> {
        self.current = self.number(session_id, resumed);
        self.unknown_session |= self.current.is_none();
        self.current.map(|_| ()).ok_or(SinkClosed)
    }

    fn tool_text_wanted(&self) -> usize {
        self.caps.tool_text
    }

    fn event(&mut self, event: Event) -> Result<(), SinkClosed> {
        let session = self.current.ok_or(SinkClosed)?;
        let waiting = &mut self.waiting;
        document::documents(session, &event, self.caps, |document| waiting.push(document));
        if self.waiting.len() >= HANDFUL {
            self.hand_over()?;
        }
        Ok(())
    }

    fn end(&mut self, session: ReadSession) -> Result<(), SinkClosed> {
        let ordinal = self.current.ok_or(SinkClosed)?;
        let resume = self.source.resume(&session.header, &session.facts);
        let read = SessionRead {
            ordinal,
            session,
            resume,
        };
        match self.sessions.iter_mut().find(|held| held.ordinal == ordinal) {
            Some(held) => *held = read,
            None => self.sessions.push(read),
        }
        Ok(())
    }

    fn title(&mut self, title: SideTitle) {
        self.titles.push(title);
    }
}
