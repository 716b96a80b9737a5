//! What a search may look at: one state of the text index, some kinds of text, some sessions.
//!
//! Every document passes here before it counts for anything, so that no number that ranks, repairs or
//! expands a query tells of text outside the scope.

use super::sessions::SessionSet;
use crate::error::Result;
use crate::schema::{self, Fields};
use crate::text::TextSnapshot;
use lookback_model::{SessionOrdinal, TextKind, Timestamp, View};
use std::sync::Arc;
use tantivy::columnar::ColumnValues;
use tantivy::fastfield::AliveBitSet;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::SegmentPostings;
use tantivy::query::{EnableScoring, PhraseQuery, Query, Scorer};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, InvertedIndexReader, Searcher, SegmentReader, Term};

/// The text that may be looked at.
pub(super) struct Scope<'a> {
    /// The sessions that may be found.
    pub sessions: &'a SessionSet,
    /// The fields that hold its kinds of text.
    pub fields: Vec<FieldScope>,
    /// The parts of the text index.
    pub segments: Vec<Segment<'a>>,
    text: &'a TextSnapshot,
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
    searcher: &'a Searcher,
    reader: &'a SegmentReader,
    kinds: &'static [TextKind],
    alive: Option<&'a AliveBitSet>,
    session: Arc<dyn ColumnValues<u64>>,
    kind: Arc<dyn ColumnValues<u64>>,
    copy_key: Arc<dyn ColumnValues<u64>>,
    seq: Arc<dyn ColumnValues<u64>>,
    chunk: Arc<dyn ColumnValues<u64>>,
    time: Arc<dyn ColumnValues<i64>>,
    prose: FieldReader,
    tools: FieldReader,
}

/// Terms and lengths of a field of a segment.
pub(super) struct FieldReader {
    /// Its terms and their postings.
    pub index: Arc<InvertedIndexReader>,
    lengths: FieldNormReader,
}

impl<'a> Scope<'a> {
    /// Opens what a search reads.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn open(text: &'a TextSnapshot, view: View, sessions: &'a SessionSet) -> Result<Self> {
        let kinds = view.kinds();
        let Fields { prose, tools, .. } = text.fields;
        let holds = |field| kinds.iter().any(|&kind| text.fields.text(kind) == field);
        let fields = [(prose, true), (tools, false)]
            .into_iter()
            .filter(|&(field, _)| holds(field))
            .map(|(field, is_prose)| FieldScope { field, is_prose })
            .collect();
        let segments = (0..)
            .zip(text.searcher.segment_readers())
            .map(|(ord, reader)| Segment::open(ord, reader, text, kinds))
            .collect::<Result<_>>()?;
        Ok(Self {
            sessions,
            fields,
            segments,
            text,
        })
    }

    /// Whose words a document holds and which, when it can be read.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn text_of(&self, address: DocAddress) -> Result<Option<(TextKind, String)>> {
        self.text.text_of(address)
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
                let Some(mut postings) = segment.postings(*field, term, IndexRecordOption::Basic)? else {
                    continue;
                };
                let mut document = tantivy::DocSet::doc(&postings);
                while document != tantivy::TERMINATED {
                    count += usize::from(segment.open_to(self.sessions, document).is_some());
                    if count >= limit {
                        return Ok(count);
                    }
                    document = tantivy::DocSet::advance(&mut postings);
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
    fn open(
        ord: u32,
        reader: &'a SegmentReader,
        text: &'a TextSnapshot,
        kinds: &'static [TextKind],
    ) -> Result<Self> {
        let column = |name: &str, default| -> Result<_> {
            Ok(reader.fast_fields().u64(name)?.first_or_default_col(default))
        };
        let field = |field| -> Result<_> {
            Ok(FieldReader {
                index: reader.inverted_index(field)?,
                lengths: reader.get_fieldnorms_reader(field)?,
            })
        };
        Ok(Self {
            ord,
            searcher: &text.searcher,
            reader,
            kinds,
            alive: reader.alive_bitset(),
            session: column(schema::SESSION, u64::MAX)?,
            kind: column(schema::KIND, u64::MAX)?,
            copy_key: column(schema::COPY_KEY, 0)?,
            seq: column(schema::SEQ, 0)?,
            chunk: column(schema::CHUNK, 0)?,
            time: reader.fast_fields().i64(schema::TIME)?.first_or_default_col(0),
            prose: field(text.fields.prose)?,
            tools: field(text.fields.tools)?,
        })
    }

    /// A field's terms and lengths.
    pub(super) fn field(&self, field: FieldScope) -> &FieldReader {
        if field.is_prose { &self.prose } else { &self.tools }
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
        let weight = query.weight(EnableScoring::disabled_from_searcher(self.searcher))?;
        Ok(Some(weight.scorer(self.reader, 1.0)?))
    }

    /// The session and the kind of text of a document that is in scope.
    pub(super) fn open_to(
        &self,
        sessions: &SessionSet,
        document: DocId,
    ) -> Option<(SessionOrdinal, TextKind)> {
        if self.alive.is_some_and(|alive| alive.is_deleted(document)) {
            return None;
        }
        let session = u32::try_from(self.session.get_val(document))
            .ok()
            .map(SessionOrdinal)?;
        let kind = TextKind::from_code(self.kind.get_val(document))?;
        (sessions.allows(session) && self.kinds.contains(&kind)).then_some((session, kind))
    }

    /// The copy key of a document, 0 when it has none.
    pub(super) fn copy_key(&self, document: DocId) -> u64 {
        self.copy_key.get_val(document)
    }

    /// When a document's event happened.
    pub(super) fn time(&self, document: DocId) -> Timestamp {
        Timestamp(self.time.get_val(document))
    }

    /// Where a document stands in its session: event, kind and chunk. No two documents share it.
    pub(super) fn place(&self, document: DocId) -> (u64, u64, u64) {
        (
            self.seq.get_val(document),
            self.kind.get_val(document),
            self.chunk.get_val(document),
        )
    }
}

impl FieldReader {
    /// About how many terms a document has.
    pub(super) fn length(&self, document: DocId) -> u32 {
        self.lengths.fieldnorm(document)
    }
}
