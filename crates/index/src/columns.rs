//! What a search reads of every document that it meets: columns, lengths and terms of a part of the index,
//! opened once for each state of it.

use crate::error::Result;
use crate::schema::{self, Fields};
use crate::types::EventMark;
use lookback_model::{SessionOrdinal, TextKind, Timestamp};
use std::sync::{Arc, OnceLock};
use tantivy::columnar::ColumnValues;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::{DocId, InvertedIndexReader, SegmentReader};

/// The columns and fields of a segment.
pub(crate) struct Columns {
    /// The field of prose.
    pub prose: FieldReader,
    /// The field of the text of tools.
    pub tools: FieldReader,
    session: Arc<dyn ColumnValues<u64>>,
    kind: Arc<dyn ColumnValues<u64>>,
    copy_key: Arc<dyn ColumnValues<u64>>,
    seq: Arc<dyn ColumnValues<u64>>,
    chunk: Arc<dyn ColumnValues<u64>>,
    time: Arc<dyn ColumnValues<i64>>,
    owners: OnceLock<Vec<Owner>>,
    prose_terms: OnceLock<TermList>,
    events: OnceLock<Arc<dyn ColumnValues<u64>>>,
    fields: Fields,
}

/// All terms of a field one after another, for looking inside them, which a dictionary is slow at.
pub(crate) struct TermList {
    /// Each term is followed by [`TermList::END`].
    text: Vec<u8>,
    /// Where the terms end, and how many documents hold each.
    terms: Vec<(usize, u32)>,
}

impl TermList {
    /// A byte that no text holds.
    const END: u8 = 0xFF;

    /// Reads a dictionary.
    ///
    /// # Errors
    /// When the index cannot be read.
    fn of(field: &FieldReader) -> Result<Self> {
        let mut list = Self {
            text: Vec::new(),
            terms: Vec::new(),
        };
        let mut stream = field.index.terms().stream()?;
        while stream.advance() {
            list.text.extend_from_slice(stream.key());
            list.terms.push((list.text.len(), stream.value().doc_freq));
            list.text.push(Self::END);
        }
        Ok(list)
    }

    /// The terms that have `part` inside, in order, with how many documents hold each.
    pub(crate) fn containing(&self, part: &str) -> impl Iterator<Item = (&str, u32)> {
        let finder = memchr::memmem::Finder::new(part.as_bytes()).into_owned();
        let mut from = 0;
        std::iter::from_fn(move || {
            loop {
                let at = from + finder.find(self.text.get(from..)?)?;
                let number = self.terms.partition_point(|(end, _)| *end <= at);
                let &(end, documents) = self.terms.get(number)?;
                let start = number.checked_sub(1).and_then(|before| self.terms.get(before));
                let start = start.map_or(0, |(end, _)| end + 1);
                from = end + 1;
                if let Ok(term) = std::str::from_utf8(self.text.get(start..end)?) {
                    return Some((term, documents));
                }
            }
        })
    }
}

/// Terms and lengths of a field of a segment.
pub(crate) struct FieldReader {
    /// Its terms and their postings.
    pub index: Arc<InvertedIndexReader>,
    lengths: FieldNormReader,
}

/// Whose words a document holds: its session and the code of its kind, in four bytes.
#[derive(Clone, Copy)]
struct Owner(u32);

impl Owner {
    const KIND_BITS: u32 = 3;
    /// A document that was deleted, or whose values make no sense.
    const NONE: Self = Self(u32::MAX);
    const SESSIONS: u32 = (1 << (32 - Self::KIND_BITS)) - 1;

    /// `None` when it does not fit.
    fn of(session: SessionOrdinal, kind: TextKind) -> Option<Self> {
        let kind = u32::try_from(kind.code()).ok()?;
        let fits = session.0 < Self::SESSIONS && kind < 1 << Self::KIND_BITS;
        fits.then_some(Self(session.0 << Self::KIND_BITS | kind))
    }

    #[inline]
    fn get(self) -> Option<(SessionOrdinal, TextKind)> {
        if self.0 == Self::NONE.0 {
            return None;
        }
        let kind = TextKind::from_code(u64::from(self.0 & ((1 << Self::KIND_BITS) - 1)))?;
        Some((SessionOrdinal(self.0 >> Self::KIND_BITS), kind))
    }
}

impl Columns {
    /// Opens those of a segment.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn open(reader: &SegmentReader, fields: &Fields) -> Result<Self> {
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
            session: column(schema::SESSION, u64::MAX)?,
            kind: column(schema::KIND, u64::MAX)?,
            copy_key: column(schema::COPY_KEY, 0)?,
            seq: column(schema::SEQ, 0)?,
            chunk: column(schema::CHUNK, 0)?,
            time: reader.fast_fields().i64(schema::TIME)?.first_or_default_col(0),
            prose: field(fields.prose)?,
            tools: field(fields.tools)?,
            owners: OnceLock::new(),
            prose_terms: OnceLock::new(),
            events: OnceLock::new(),
            fields: *fields,
        })
    }

    /// Unpacks the owners of all documents, for a process that searches more than once.
    pub(crate) fn unpack(&self, reader: &SegmentReader) {
        if self.owners.get().is_some() {
            return;
        }
        let owner = |document| match self.read_owner(document) {
            Some((session, kind)) if !reader.is_deleted(document) => Owner::of(session, kind),
            _ => Some(Owner::NONE),
        };
        if let Some(owners) = (0..reader.max_doc()).map(owner).collect() {
            // Another thread may have been quicker, with the same.
            let _ = self.owners.set(owners);
        }
    }

    /// The terms of prose as a list; `None` in a process that searches once, for which making it is more work
    /// than walking over the dictionary.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn prose_terms(&self) -> Result<Option<&TermList>> {
        if self.owners.get().is_none() || self.prose_terms.get().is_some() {
            return Ok(self.prose_terms.get());
        }
        let list = TermList::of(&self.prose)?;
        Ok(Some(self.prose_terms.get_or_init(|| list)))
    }

    /// The session and the kind of text of a document; `None` when it was deleted or makes no sense.
    #[inline]
    pub(crate) fn owner(
        &self,
        reader: &SegmentReader,
        document: DocId,
    ) -> Option<(SessionOrdinal, TextKind)> {
        match self.owners.get() {
            Some(owners) => owners.get(document as usize)?.get(),
            None if reader.is_deleted(document) => None,
            None => self.read_owner(document),
        }
    }

    fn read_owner(&self, document: DocId) -> Option<(SessionOrdinal, TextKind)> {
        let session = u32::try_from(self.session.get_val(document)).ok()?;
        Some((SessionOrdinal(session), self.kind(document)?))
    }

    /// Whose words a document holds.
    pub(crate) fn kind(&self, document: DocId) -> Option<TextKind> {
        TextKind::from_code(self.kind.get_val(document))
    }

    /// About how many terms a document of this kind has.
    pub(crate) fn length(&self, kind: TextKind, document: DocId) -> u32 {
        let is_tool = self.fields.text(kind) == self.fields.tools;
        let field = if is_tool { &self.tools } else { &self.prose };
        field.lengths.fieldnorm(document)
    }

    /// The copy key of a document, 0 when it has none.
    pub(crate) fn copy_key(&self, document: DocId) -> u64 {
        self.copy_key.get_val(document)
    }

    /// When a document's event happened.
    pub(crate) fn time(&self, document: DocId) -> Timestamp {
        Timestamp(self.time.get_val(document))
    }

    /// The number of a document's event in its session.
    pub(crate) fn seq(&self, document: DocId) -> u64 {
        self.seq.get_val(document)
    }

    /// The column of events, which few searches ask for, so that it is opened by the first.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn events(&self, reader: &SegmentReader) -> Result<&Arc<dyn ColumnValues<u64>>> {
        if let Some(events) = self.events.get() {
            return Ok(events);
        }
        let column = reader.fast_fields().u64(schema::EVENT)?.first_or_default_col(0);
        Ok(self.events.get_or_init(|| column))
    }

    /// The type and marker of a document's event; of no type before [`Self::events`] was asked for.
    pub(crate) fn event(&self, document: DocId) -> EventMark {
        EventMark(self.events.get().map_or(0, |events| events.get_val(document)))
    }

    /// Where a document stands in its session: event, kind and chunk. No two documents share it.
    pub(crate) fn place(&self, document: DocId) -> (u64, u64, u64) {
        (
            self.seq.get_val(document),
            self.kind.get_val(document),
            self.chunk.get_val(document),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: packing loses nothing, and what does not fit is told.
    #[test]
    fn owners_come_back_as_they_were() {
        for kind in TextKind::ALL {
            for session in [0, 1, 4_000, Owner::SESSIONS - 1].map(SessionOrdinal) {
                assert_eq!(Owner::of(session, kind).unwrap().get(), Some((session, kind)));
            }
            assert!(Owner::of(SessionOrdinal(Owner::SESSIONS), kind).is_none());
        }
        assert_eq!(Owner::NONE.get(), None);
    }

    /// Property: every term that has the part inside is given once, and no match runs over two terms.
    #[test]
    fn a_list_is_looked_into_term_by_term() {
        let mut list = TermList {
            text: Vec::new(),
            terms: Vec::new(),
        };
        for (documents, term) in (1..).zip(["aba", "abab", "b", "ca", "xyz"]) {
            list.text.extend_from_slice(term.as_bytes());
            list.terms.push((list.text.len(), documents));
            list.text.push(TermList::END);
        }
        let found = |part| list.containing(part).collect::<Vec<_>>();
        assert_eq!(found("ab"), [("aba", 1), ("abab", 2)]);
        assert_eq!(found("z"), [("xyz", 5)]);
        assert_eq!(found("bc"), []);
    }
}
