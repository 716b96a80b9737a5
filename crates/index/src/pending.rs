//! Documents on their way from those who read files to those who build postings.
//!
//! tantivy bounds this way by a number of batches, which says nothing of memory. Here every batch holds its
//! place in a [`Room`] of so many bytes until an indexing thread has taken over its last document; who comes
//! with more waits.

use crate::schema::Fields;
use lookback_model::Document;
use std::iter::Empty;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tantivy::schema::Field;
use tantivy::schema::document::{ReferenceValue, ReferenceValueLeaf, Value};

/// Text may wait up to this many bytes.
const CAPACITY: usize = 8 << 20;
/// An indexing thread that failed frees nothing; who waits looks again, and meets the failure when adding.
const PATIENCE: Duration = Duration::from_secs(1);

/// How much text is on its way.
#[derive(Debug, Default)]
pub(crate) struct Room {
    used: Mutex<usize>,
    freed: Condvar,
}

impl Room {
    fn used(&self) -> MutexGuard<'_, usize> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes documents in, after waiting while there is too much before them.
    pub(crate) fn admit(self: &Arc<Self>, documents: Vec<Document>, fields: Fields) -> Vec<Pending> {
        let bytes = documents.iter().map(size).sum();
        let is_full = |used: &mut usize| *used > CAPACITY;
        let waited = self.freed.wait_timeout_while(self.used(), PATIENCE, is_full);
        let (mut used, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *used += bytes;
        let place = Arc::new(Place {
            bytes,
            room: Arc::clone(self),
        });
        let admit = |document| Pending {
            document,
            fields,
            _place: Arc::clone(&place),
        };
        documents.into_iter().map(admit).collect()
    }
}

fn size(document: &Document) -> usize {
    size_of::<Pending>() + document.text.len()
}

/// What a batch takes up, until the last of it is gone.
#[derive(Debug)]
struct Place {
    bytes: usize,
    room: Arc<Room>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut used = self.room.used();
        let before = *used;
        *used = before.saturating_sub(self.bytes);
        // Waking costs more than looking whether somebody can be waiting.
        if before > CAPACITY && *used <= CAPACITY {
            self.room.freed.notify_all();
        }
    }
}

/// A document that is not indexed yet.
#[derive(Debug)]
pub(crate) struct Pending {
    document: Document,
    fields: Fields,
    _place: Arc<Place>,
}

impl tantivy::schema::document::Document for Pending {
    type Value<'a> = FieldValue<'a>;
    type FieldsValuesIter<'a> = std::array::IntoIter<(Field, FieldValue<'a>), 7>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        self.fields.values(&self.document).into_iter()
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
    use crate::schema;
    use lookback_model::{SessionOrdinal, TextKind, Timestamp};

    fn documents(count: usize) -> Vec<Document> {
        let document = |at| Document {
            session: SessionOrdinal(1),
            seq: at as u64,
            chunk: 0,
            time: Timestamp(0),
            copy_key: 0,
            kind: TextKind::User,
            text: "x".repeat(1_000),
        };
        (0..count).map(document).collect()
    }

    /// Property: what was admitted is given back to the last byte, and who comes to a full room waits for it.
    #[test]
    fn room_is_given_back() {
        let (_, fields) = schema::schema();
        let room = Arc::new(Room::default());
        let first = room.admit(documents(9_000), fields);
        assert!(*room.used() > CAPACITY);
        let second = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| room.admit(documents(1), fields));
            drop(first);
            waiting.join().unwrap()
        });
        assert_eq!(*room.used(), size(&second[0].document));
        drop(second);
        assert_eq!(*room.used(), 0);
    }
}
