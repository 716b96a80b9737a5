//! Segments under construction: whoever reads a file also builds the postings of its documents.
//!
//! tantivy's own writer hands documents to threads of its own. Here the reading threads are as many as there
//! are processors already, so that more threads would only pass text from one cache to another. A reading
//! thread takes a segment that nobody else is at, adds to it, and puts it back; a segment that is large enough
//! is written.

use crate::error::{Cause, Result};
use crate::schema::Fields;
use crate::types::{self, EventMark, EventTypes};
use lookback_model::Document;
use std::iter::Empty;
use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use tantivy::indexer::{AddOperation, SegmentWriter};
use tantivy::schema::Field;
use tantivy::schema::document::{ReferenceValue, ReferenceValueLeaf, Value};
use tantivy::{Index, Segment, SegmentMeta};

/// The segments of one writer.
pub(crate) struct Segments {
    index: Index,
    fields: Fields,
    /// A segment that is as large as this is written.
    budget: usize,
    types: Mutex<EventTypes>,
    idle: Mutex<Idle>,
}

/// What nobody is at.
#[derive(Default)]
struct Idle {
    open: Vec<Building>,
    written: Vec<SegmentMeta>,
    /// A segment was lost with all that was in it, so that nothing of it may be committed.
    lost: bool,
}

/// A segment that can be added to.
struct Building {
    segment: Segment,
    writer: SegmentWriter,
}

impl Segments {
    /// None yet. `types` are the numbers that were given to event types before.
    pub(crate) fn new(index: &Index, fields: Fields, budget: usize, types: EventTypes) -> Self {
        Self {
            index: index.clone(),
            fields,
            budget,
            types: Mutex::new(types),
            idle: Mutex::default(),
        }
    }

    /// The numbers of event types.
    pub(crate) fn types(&self) -> MutexGuard<'_, EventTypes> {
        self.types.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the column of events holds of a document.
    fn mark(&self, document: &Document) -> EventMark {
        let name = &document.event_type;
        let code = types::known(name).unwrap_or_else(|| self.types().number(name));
        EventMark::of(code, document.has_marker)
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds documents to one segment, in their order.
    ///
    /// # Errors
    /// When the segment cannot be written; nothing can be committed then.
    pub(crate) fn add(&self, documents: Vec<Document>) -> Result<()> {
        let mut lease = Lease::take(self)?;
        let Some(building) = lease.building.as_mut() else {
            return Ok(());
        };
        for document in documents {
            building.writer.add_document(AddOperation {
                // Deletions come after all additions of a commit, so that there is no order to keep.
                opstamp: 0,
                document: Indexed {
                    event: self.mark(&document),
                    document,
                    fields: self.fields,
                },
            })?;
        }
        lease.put_back()
    }

    /// Writes what is open; gives the segments since the last time.
    ///
    /// # Errors
    /// When one cannot be written, or one was lost before.
    pub(crate) fn take_written(&self) -> Result<Vec<SegmentMeta>> {
        let Idle {
            open,
            mut written,
            lost,
        } = std::mem::take(&mut *self.idle());
        if lost {
            return Err(Cause::LostSegment);
        }
        let finished: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = open
                .into_iter()
                .filter(|building| building.writer.max_doc() > 0)
                .map(|building| scope.spawn(|| building.finish()))
                .collect();
            let results = threads.into_iter().map(thread::ScopedJoinHandle::join);
            results
                .map(|result| result.unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        });
        for meta in finished {
            written.push(meta?);
        }
        Ok(written)
    }
}

impl Building {
    fn finish(self) -> Result<SegmentMeta> {
        let max_doc = self.writer.max_doc();
        self.writer.finalize()?;
        let meta = self.segment.with_max_doc(max_doc).meta().clone();
        // The store has its final name now.
        meta.untrack_temp_docstore();
        Ok(meta)
    }
}

/// The right of one thread to a segment. One that is not put back is lost.
struct Lease<'a> {
    segments: &'a Segments,
    building: Option<Building>,
}

impl<'a> Lease<'a> {
    fn take(segments: &'a Segments) -> Result<Self> {
        let open = segments.idle().open.pop();
        let building = match open {
            Some(building) => building,
            None => {
                let segment = segments.index.new_segment();
                let writer = SegmentWriter::for_segment(segments.budget, segment.clone())?;
                Building { segment, writer }
            }
        };
        Ok(Self {
            segments,
            building: Some(building),
        })
    }

    fn put_back(mut self) -> Result<()> {
        let is_full = |building: &mut Building| building.writer.mem_usage() >= self.segments.budget;
        if let Some(full) = self.building.take_if(is_full) {
            let finished = full.finish();
            let mut idle = self.segments.idle();
            idle.lost |= finished.is_err();
            idle.written.push(finished?);
            return Ok(());
        }
        let mut idle = self.segments.idle();
        idle.open.extend(self.building.take());
        Ok(())
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if self.building.is_some() {
            self.segments.idle().lost = true;
        }
    }
}

/// A document in the form in which tantivy takes it.
#[derive(Debug)]
pub(crate) struct Indexed {
    pub document: Document,
    pub event: EventMark,
    pub fields: Fields,
}

impl tantivy::schema::document::Document for Indexed {
    type Value<'a> = FieldValue<'a>;
    type FieldsValuesIter<'a> = std::array::IntoIter<(Field, FieldValue<'a>), 8>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        self.fields.values(&self.document, self.event).into_iter()
    }
}

/// A value of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FieldValue<'a> {
    Text(&'a str),
    Unsigned(u64),
    Signed(i64),
}

impl<'a> Value<'a> for FieldValue<'a> {
    type ArrayIter = Empty<Self>;
    type ObjectIter = Empty<(&'a str, Self)>;

    fn as_value(&self) -> ReferenceValue<'a, Self> {
        ReferenceValue::Leaf(match *self {
            Self::Text(text) => ReferenceValueLeaf::Str(text),
            Self::Unsigned(number) => ReferenceValueLeaf::U64(number),
            Self::Signed(number) => ReferenceValueLeaf::I64(number),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{schema, text};
    use lookback_model::{SessionOrdinal, TextKind, Timestamp};

    fn documents(count: u64) -> Vec<Document> {
        let document = |seq| Document {
            session: SessionOrdinal(1),
            seq,
            chunk: 0,
            time: Timestamp(0),
            copy_key: 0,
            event_type: "user/message".into(),
            has_marker: true,
            kind: TextKind::User,
            text: format!("word{seq} and some more"),
        };
        (0..count).map(document).collect()
    }

    fn segments(folder: &tempfile::TempDir, budget: usize) -> Segments {
        let index = text::open_or_create(folder.path()).unwrap();
        let (_, fields) = schema::schema();
        Segments::new(&index, fields, budget, EventTypes::default())
    }

    /// Property: whatever is added by however many threads is in the segments that are taken, once.
    #[test]
    fn all_that_is_added_is_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let segments = segments(&folder, 16 << 20);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..20).for_each(|_| segments.add(documents(7)).unwrap()));
            }
        });
        let written = segments.take_written().unwrap();
        let total: u32 = written.iter().map(SegmentMeta::max_doc).sum();
        assert_eq!((total, written.len() <= 3), (420, true));
        assert!(segments.take_written().unwrap().is_empty());
    }

    /// Property: a segment that is large enough is written without being asked for.
    #[test]
    fn large_segments_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let segments = segments(&folder, 1_000_000);
        segments.add(documents(3)).unwrap();
        segments.add(documents(4)).unwrap();
        assert_eq!(segments.idle().written.len(), 2);
    }

    /// Property: after a thread failed amid a segment nothing can be committed, as the segment may have held
    /// what other threads added.
    #[test]
    fn a_lost_segment_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let segments = segments(&folder, 16 << 20);
        segments.add(documents(3)).unwrap();
        drop(Lease::take(&segments).unwrap());
        assert!(matches!(segments.take_written(), Err(Cause::LostSegment)));
    }
}
