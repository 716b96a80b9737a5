//! What a search may look at: one state of the text index, some kinds of text, some sessions.
//!
//! Every document passes here before it counts for anything, so that no number that ranks, repairs or
//! expands a query tells of text outside the scope.

use super::lens::Lens;
use super::sessions::SessionSet;
use crate::columns::{Columns, FieldReader, TermList};
use crate::error::Result;
use crate::provider::LiveSegment;
use crate::schema::Fields;
use crate::text::TextSnapshot;
use crate::types::EventMark;
use lookback_model::{SessionOrdinal, TextKind, Timestamp, View};
use std::sync::Arc;
use tantivy::postings::{BlockSegmentPostings, SegmentPostings};
use tantivy::query::{EnableScoring, PhraseQuery, Query, Scorer};
use tantivy::schema::{Field, IndexRecordOption, Schema};
use tantivy::{DocAddress, DocId, SegmentReader, Term};

/// The text that may be looked at.
pub(super) struct Scope<'a> {
    /// The sessions that may be found.
    pub sessions: &'a SessionSet,
    /// The fields that hold its kinds of text.
    pub fields: Vec<FieldScope>,
    /// The parts of the text index.
    pub segments: Vec<Segment<'a>>,
    /// Whether hits are events.
    pub finds_events: bool,
}

/// Where the text of a segment is.
#[derive(Clone, Copy)]
enum Texts<'a> {
    /// On the disk, as which segment of it.
    Disk(&'a TextSnapshot, u32),
    /// In memory.
    Live(&'a LiveSegment),
}

/// A field that is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FieldScope {
    /// The field.
    pub field: Field,
    /// Whether it holds what people, agents and their programs say.
    pub is_prose: bool,
}

/// A part of the text index.
pub(super) struct Segment<'a> {
    /// Its number.
    pub ord: u32,
    texts: Texts<'a>,
    schema: &'a Schema,
    reader: &'a SegmentReader,
    /// What hits are, when they are not the sessions that documents belong to.
    lens: Option<&'a Lens<'a>>,
    /// A bit for each kind of text that is searched, by its code.
    kinds: u64,
    columns: &'a Columns,
}

impl<'a> Scope<'a> {
    /// Opens what a search reads.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn open(text: &'a Arc<TextSnapshot>, view: View, sessions: &'a SessionSet) -> Result<Self> {
        Self::of_layers(Some(text), &[], view, sessions, None)
    }

    /// The same of what is on the disk and what is in memory, as one. `lens` says what its hits are.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn of_layers(
        disk: Option<&'a Arc<TextSnapshot>>,
        live: &'a [Arc<LiveSegment>],
        view: View,
        sessions: &'a SessionSet,
        lens: Option<&'a Lens<'a>>,
    ) -> Result<Self> {
        let kinds = view.kinds();
        let all = match (disk, live.first()) {
            (Some(text), _) => text.fields,
            (None, Some(segment)) => segment.fields,
            (None, None) => crate::schema::schema().1,
        };
        let Fields { prose, tools, .. } = all;
        let holds = |field| kinds.iter().any(|&kind| all.text(kind) == field);
        let fields = [(prose, true), (tools, false)]
            .into_iter()
            .filter(|&(field, _)| holds(field))
            .map(|(field, is_prose)| FieldScope { field, is_prose })
            .collect();
        let bits = kinds.iter().fold(0, |bits, kind| bits | 1 << kind.code());
        let mut segments = Vec::new();
        if let Some(text) = disk {
            let parts = text.searcher.segment_readers().iter().zip(text.columns()?);
            segments.extend((0..).zip(parts).map(|(ord, (reader, columns))| Segment {
                ord,
                texts: Texts::Disk(text, ord),
                schema: text.searcher.schema(),
                reader,
                lens,
                kinds: bits,
                columns,
            }));
        }
        for segment in live {
            segments.push(Segment {
                ord: u32::try_from(segments.len()).unwrap_or(u32::MAX),
                texts: Texts::Live(segment),
                schema: segment.reader.schema(),
                reader: &segment.reader,
                lens,
                kinds: bits,
                columns: &segment.columns,
            });
        }
        if lens.is_some() {
            for segment in &segments {
                segment.columns.events(segment.reader)?;
            }
        }
        Ok(Self {
            sessions,
            fields,
            segments,
            finds_events: lens.is_some_and(Lens::finds_events),
        })
    }

    /// Whose words a document holds and which, when it can be read.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn text_of(&self, address: DocAddress) -> Result<Option<(TextKind, String)>> {
        match self.segment_of(address).map(|segment| segment.texts) {
            None => Ok(None),
            Some(Texts::Disk(text, ord)) => text.text_of(DocAddress::new(ord, address.doc_id)),
            Some(Texts::Live(segment)) => segment.text_of(address.doc_id),
        }
    }

    /// The segment of a document.
    pub(super) fn segment_of(&self, address: DocAddress) -> Option<&Segment<'a>> {
        self.segments.get(address.segment_ord as usize)
    }

    /// The field of prose, when it is searched.
    pub(super) fn prose(&self) -> Option<FieldScope> {
        self.fields.iter().copied().find(|field| field.is_prose)
    }

    /// In how many documents of the scope a term stands in these fields, counted up to `limit`.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn live_documents(&self, fields: &[FieldScope], term: &str, limit: usize) -> Result<usize> {
        let mut count = 0;
        for segment in &self.segments {
            for field in fields {
                let Some(mut blocks) = segment.blocks(*field, term, IndexRecordOption::Basic)? else {
                    continue;
                };
                while !blocks.docs().is_empty() {
                    for &document in blocks.docs() {
                        count += usize::from(segment.open_to(self.sessions, document).is_some());
                        if count >= limit {
                            return Ok(count);
                        }
                    }
                    blocks.advance();
                }
            }
        }
        Ok(count)
    }

    /// Whether any document of the scope has the term.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn is_known(&self, term: &str) -> Result<bool> {
        Ok(self.live_documents(&self.fields, term, 1)? > 0)
    }
}

impl<'a> Segment<'a> {
    /// A field's terms and lengths.
    pub(super) fn field(&self, field: FieldScope) -> &FieldReader {
        match field.is_prose {
            true => &self.columns.prose,
            false => &self.columns.tools,
        }
    }

    /// The terms of prose as a list, when there is one.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn prose_terms(&self) -> Result<Option<&'a TermList>> {
        self.columns.prose_terms()
    }

    /// The documents of a term; `None` when there is none.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn postings(
        &self,
        field: FieldScope,
        term: &str,
        option: IndexRecordOption,
    ) -> Result<Option<SegmentPostings>> {
        let term = Term::from_field_text(field.field, term);
        Ok(self.field(field).index.read_postings(&term, option)?)
    }

    /// The same in blocks, for reading all of them.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn blocks(
        &self,
        field: FieldScope,
        term: &str,
        option: IndexRecordOption,
    ) -> Result<Option<BlockSegmentPostings>> {
        let term = Term::from_field_text(field.field, term);
        Ok(self.field(field).index.read_block_postings(&term, option)?)
    }

    /// The documents in which terms stand at these positions relative to one another; `None` when there is
    /// none, or fewer than two terms.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn phrase(
        &self,
        field: FieldScope,
        sequence: &[(usize, String)],
    ) -> Result<Option<Box<dyn Scorer>>> {
        if sequence.len() < 2 {
            return Ok(None);
        }
        let terms = sequence
            .iter()
            .map(|(at, text)| (*at, Term::from_field_text(field.field, text)));
        let query = PhraseQuery::new_with_offset(terms.collect());
        let weight = query.weight(EnableScoring::disabled_from_schema(self.schema))?;
        Ok(Some(weight.scorer(self.reader, 1.0)?))
    }

    /// The session and the kind of text of a document that is in scope. What counts as a session is for the
    /// lens to say, when there is one.
    #[inline]
    pub(super) fn open_to(
        &self,
        sessions: &SessionSet,
        document: DocId,
    ) -> Option<(SessionOrdinal, TextKind)> {
        let (mut session, kind) = self.columns.owner(self.reader, document)?;
        if let Some(lens) = self.lens {
            session = lens.place(self, session, document)?;
        }
        (sessions.allows(session) && self.kinds & (1 << kind.code()) != 0).then_some((session, kind))
    }

    /// Whether it is in memory.
    pub(super) fn is_live(&self) -> bool {
        matches!(self.texts, Texts::Live(_))
    }

    /// The type and marker of a document's event. Only known where there is a lens.
    pub(super) fn event(&self, document: DocId) -> EventMark {
        self.columns.event(document)
    }

    /// The documents of a session, by the number that its layer gives it.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn of_session(&self, fields: &Fields, session: SessionOrdinal) -> Result<Vec<DocId>> {
        let index = self.reader.inverted_index(fields.session)?;
        let term = fields.session_term(session);
        let Some(mut blocks) = index.read_block_postings(&term, IndexRecordOption::Basic)? else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        while !blocks.docs().is_empty() {
            let kept = blocks
                .docs()
                .iter()
                .filter(|document| !self.reader.is_deleted(**document));
            found.extend(kept);
            blocks.advance();
        }
        Ok(found)
    }

    /// One more than the largest document.
    pub(super) fn documents(&self) -> usize {
        self.reader.max_doc() as usize
    }

    /// About how many terms a document of this kind has.
    pub(super) fn length(&self, kind: TextKind, document: DocId) -> u32 {
        self.columns.length(kind, document)
    }

    /// The copy key of a document, 0 when it has none.
    pub(super) fn copy_key(&self, document: DocId) -> u64 {
        self.columns.copy_key(document)
    }

    /// When a document's event happened.
    pub(super) fn time(&self, document: DocId) -> Timestamp {
        self.columns.time(document)
    }

    /// The number of a document's event in its session.
    pub(super) fn seq(&self, document: DocId) -> u64 {
        self.columns.seq(document)
    }

    /// Where a document stands in its session: event, kind and chunk. No two documents share it.
    pub(super) fn place(&self, document: DocId) -> (u64, u64, u64) {
        self.columns.place(document)
    }
}
