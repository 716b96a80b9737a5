//! The live override: sessions in memory, with the schema and the analysis of those on the disk.
//!
//! A session that grew hands in the documents it had, by the same pointers, and new ones after them; only those
//! are indexed, by the next search. What is indexed is a few segments, each in a directory of its own in memory.
//! Nothing is ever deleted from one: a session that is replaced gets a new number, and documents of numbers that
//! nobody has count for nothing. Small segments are made into larger ones as they come, so that there are never
//! many and no document is indexed often.

use super::facts;
use crate::columns::Columns;
use crate::error::Result;
use crate::schema::{self, Fields};
use crate::segments::Indexed;
use crate::types::{EventMark, EventTypes};
use lookback_model::document::{self, TextCaps};
use lookback_model::session_query::{EventDocument, SessionRecord, SessionSnapshot};
use lookback_model::{Document, SessionFacts, SessionOrdinal, TextKind};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use tantivy::indexer::{AddOperation, SegmentWriter};
use tantivy::schema::Value;
use tantivy::store::StoreReader;
use tantivy::{DocId, IndexBuilder, SegmentReader, TantivyDocument};

/// The sessions that are live.
pub(super) struct Live {
    caps: TextCaps,
    sessions: BTreeMap<String, LiveSession>,
    /// The id of the session that has a number; `None` when none has it any more.
    numbers: Vec<Option<String>>,
    segments: Vec<Arc<LiveSegment>>,
    /// Ids of sessions that have documents which no segment has.
    waiting: BTreeSet<String>,
    types: EventTypes,
    version: u64,
    analysed: u64,
}

/// A session that is live.
pub(super) struct LiveSession {
    /// Its number among live ones.
    pub(super) number: u32,
    /// What is told of it.
    pub(super) record: SessionRecord,
    /// What ranking needs of it.
    pub(super) facts: SessionFacts,
    /// Seqs that are shadowed.
    pub(super) shadowed: Vec<(u64, u64)>,
    /// Changes with every change of it, and never comes back.
    pub(super) version: u64,
    documents: Vec<Arc<EventDocument>>,
    /// So many of them are in segments.
    indexed: usize,
}

/// A part of the index in memory.
pub(crate) struct LiveSegment {
    /// Its terms.
    pub(crate) reader: SegmentReader,
    /// Its columns.
    pub(crate) columns: Columns,
    /// Its fields.
    pub(crate) fields: Fields,
    store: StoreReader,
    /// Whose events it holds.
    parts: Vec<Part>,
    events: usize,
}

/// Neighbouring events of a session.
#[derive(Clone, Debug)]
struct Part {
    number: u32,
    events: Range<usize>,
}

/// A segment of so many events is left as it is, so that no search has to wait for it to be made anew.
const LARGE: usize = 8_192;
/// A segment is made of about so many bytes of text at most.
const LARGE_TEXT: usize = 16 << 20;
/// Numbers that nobody has are taken back when there are more of them than this, and than sessions.
const FREE_NUMBERS: usize = 1_024;
/// What tantivy takes as a bound; its tables begin small with a small one.
const HEAP: usize = 1 << 20;

impl Live {
    pub(super) fn new(caps: TextCaps) -> Self {
        Self {
            caps,
            sessions: BTreeMap::new(),
            numbers: Vec::new(),
            segments: Vec::new(),
            waiting: BTreeSet::new(),
            types: EventTypes::default(),
            version: 0,
            analysed: 0,
        }
    }

    /// Puts a session in the place of what there is of the same id.
    pub(super) fn replace(&mut self, snapshot: &SessionSnapshot) {
        let id = &snapshot.header.id;
        self.version += 1;
        if let Some(held) = self.sessions.get_mut(id)
            && held.is_beginning_of(snapshot)
        {
            let before = held.documents.len();
            if held.go_on(snapshot) {
                held.version = self.version;
            } else {
                self.version -= 1;
            }
            if held.documents.len() > before {
                self.waiting.insert(id.clone());
            }
            return;
        }
        self.free(id);
        let number = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        self.numbers.push(Some(id.clone()));
        let session = LiveSession::of(snapshot, number, self.version);
        if !session.documents.is_empty() {
            self.waiting.insert(id.clone());
        }
        self.sessions.insert(id.clone(), session);
    }

    /// Takes a session away.
    pub(super) fn remove(&mut self, id: &str) {
        self.free(id);
        if self.sessions.remove(id).is_some() {
            self.version += 1;
        }
        self.waiting.remove(id);
    }

    fn free(&mut self, id: &str) {
        let number = self.sessions.get(id).map(|session| session.number as usize);
        if let Some(place) = number.and_then(|number| self.numbers.get_mut(number)) {
            *place = None;
        }
    }

    /// Changes with every change, and never comes back.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// The session of an id.
    pub(super) fn get(&self, id: &str) -> Option<&LiveSession> {
        self.sessions.get(id)
    }

    /// The ids of all sessions.
    pub(super) fn ids(&self) -> impl Iterator<Item = &String> {
        self.sessions.keys()
    }

    /// The session of a number.
    pub(super) fn of_number(&self, number: u32) -> Option<&LiveSession> {
        let id = self.numbers.get(number as usize)?.as_ref()?;
        self.sessions.get(id)
    }

    /// How many numbers were given.
    pub(super) fn numbers(&self) -> u32 {
        u32::try_from(self.numbers.len()).unwrap_or(u32::MAX)
    }

    /// The numbers of event types.
    pub(super) fn types(&self) -> &EventTypes {
        &self.types
    }

    /// The segments; of everything when [`Self::prepare`] was called since the last change.
    pub(super) fn segments(&self) -> &[Arc<LiveSegment>] {
        &self.segments
    }

    /// How many events were analysed so far.
    #[cfg(test)]
    pub(super) fn analysed(&self) -> u64 {
        self.analysed
    }

    /// Indexes what is waiting.
    ///
    /// # Errors
    /// When it cannot be indexed; the next call begins anew.
    pub(super) fn prepare(&mut self) -> Result<()> {
        let free = self.numbers.len() - self.sessions.len();
        if free > FREE_NUMBERS.max(self.sessions.len()) {
            self.begin_anew();
        }
        if self.waiting.is_empty() {
            return Ok(());
        }
        let indexed = self.index_waiting();
        if indexed.is_err() {
            self.begin_anew();
        }
        indexed
    }

    /// Forgets all that is indexed, and numbers sessions from the first again.
    fn begin_anew(&mut self) {
        self.segments.clear();
        self.numbers.clear();
        self.waiting.clear();
        for (number, (id, session)) in (0..).zip(&mut self.sessions) {
            session.number = number;
            session.indexed = 0;
            self.numbers.push(Some(id.clone()));
            if !session.documents.is_empty() {
                self.waiting.insert(id.clone());
            }
        }
    }

    fn index_waiting(&mut self) -> Result<()> {
        let mut parts = Vec::new();
        for id in std::mem::take(&mut self.waiting) {
            if let Some(session) = self.sessions.get_mut(&id) {
                let events = session.indexed..session.documents.len();
                session.indexed = events.end;
                parts.push(Part {
                    number: session.number,
                    events,
                });
            }
        }
        self.take_back(&mut parts);
        for parts in self.in_groups(parts) {
            let segment = self.build(parts)?;
            self.segments.extend(segment.map(Arc::new));
        }
        Ok(())
    }

    /// Takes segments back that are to be made anew, together with what is new: those of which most is gone, and
    /// those that are not much larger.
    fn take_back(&mut self, parts: &mut Vec<Part>) {
        let (kept, worn): (Vec<_>, Vec<_>) = std::mem::take(&mut self.segments)
            .into_iter()
            .partition(|segment| count(&self.alive(segment)) * 2 >= segment.events);
        for segment in worn {
            parts.extend(self.alive(&segment));
        }
        self.segments = kept;
        self.segments
            .sort_by_key(|segment| std::cmp::Reverse(segment.events));
        while let Some(last) = self.segments.last() {
            if last.events >= LARGE || last.events > 2 * count(parts) {
                break;
            }
            parts.extend(self.alive(last));
            self.segments.pop();
        }
    }

    /// What a segment holds of sessions that are there.
    fn alive(&self, segment: &LiveSegment) -> Vec<Part> {
        let parts = segment.parts.iter();
        let alive = parts.filter(|part| self.of_number(part.number).is_some());
        alive.cloned().collect()
    }

    /// Parts in order, in groups of a bounded length of text.
    fn in_groups(&self, mut parts: Vec<Part>) -> Vec<Vec<Part>> {
        parts.sort_by_key(|part| (part.number, part.events.start));
        let mut groups: Vec<Vec<Part>> = vec![Vec::new()];
        let mut length = 0;
        for part in parts {
            for at in part.events.clone() {
                if length >= LARGE_TEXT {
                    groups.push(Vec::new());
                    length = 0;
                }
                length += self
                    .document(part.number, at)
                    .map_or(0, |document| length_of(document));
                let Some(group) = groups.last_mut() else { continue };
                match group.last_mut() {
                    Some(last) if last.number == part.number && last.events.end == at => {
                        last.events.end = at + 1;
                    }
                    _ => group.push(Part {
                        number: part.number,
                        events: at..at + 1,
                    }),
                }
            }
        }
        groups
    }

    fn document(&self, number: u32, at: usize) -> Option<&Arc<EventDocument>> {
        self.of_number(number)?.documents.get(at)
    }

    /// A segment of some events; `None` when they hold no words.
    fn build(&mut self, parts: Vec<Part>) -> Result<Option<LiveSegment>> {
        let (schema, fields) = schema::schema();
        let index = IndexBuilder::new()
            .schema(schema)
            .settings(schema::settings())
            .create_in_ram()?;
        schema::register(&index);
        let segment = index.new_segment();
        let mut writer = SegmentWriter::for_segment(HEAP, segment.clone())?;
        let mut documents: Vec<Document> = Vec::new();
        for part in &parts {
            for at in part.events.clone() {
                if let Some(words) = self.document(part.number, at) {
                    let number = SessionOrdinal(part.number);
                    document::documents_of_words(number, words, self.caps, |document| {
                        documents.push(document)
                    });
                }
                for document in documents.drain(..) {
                    let event = EventMark::of(self.types.number(&document.event_type), document.has_marker);
                    writer.add_document(AddOperation {
                        opstamp: 0,
                        document: Indexed {
                            document,
                            event,
                            fields,
                        },
                    })?;
                }
            }
        }
        let events = count(&parts);
        self.analysed += events as u64;
        let max_doc = writer.max_doc();
        if max_doc == 0 {
            return Ok(None);
        }
        writer.finalize()?;
        let reader = SegmentReader::open(&segment.with_max_doc(max_doc))?;
        let columns = Columns::open(&reader, &fields)?;
        columns.unpack(&reader);
        Ok(Some(LiveSegment {
            store: reader.get_store_reader(STORE_BLOCKS)?,
            reader,
            columns,
            fields,
            parts,
            events,
        }))
    }
}

/// So many blocks of text are kept unpacked.
const STORE_BLOCKS: usize = 8;

fn count(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.events.len()).sum()
}

fn length_of(document: &EventDocument) -> usize {
    document.pieces.iter().map(|(_, text)| text.len()).sum()
}

impl LiveSession {
    fn of(snapshot: &SessionSnapshot, number: u32, version: u64) -> Self {
        let mut session = Self {
            number,
            record: record(snapshot),
            facts: facts::begin(&snapshot.header),
            shadowed: snapshot.shadowed.clone(),
            version,
            documents: Vec::new(),
            indexed: 0,
        };
        session.take_documents(snapshot);
        session
    }

    /// Whether a snapshot holds the same documents, and perhaps more after them.
    fn is_beginning_of(&self, snapshot: &SessionSnapshot) -> bool {
        let mut pairs = self.documents.iter().zip(&snapshot.documents);
        self.documents.len() <= snapshot.documents.len()
            && pairs.all(|(held, given)| Arc::ptr_eq(held, given) || held == given)
    }

    /// Takes over what is new; says whether anything is.
    fn go_on(&mut self, snapshot: &SessionSnapshot) -> bool {
        let (header, shadowed) = (&self.record.header, &self.shadowed);
        let is_same = snapshot.documents.len() == self.documents.len()
            && (self.record.live, self.record.persisted) == (snapshot.live, snapshot.persisted)
            && *shadowed == snapshot.shadowed
            && *header == snapshot.header;
        if is_same {
            return false;
        }
        if *header != snapshot.header {
            self.facts = facts::begin(&snapshot.header);
            let documents = self.documents.iter();
            documents.for_each(|document| facts::add(&mut self.facts, document));
        }
        self.record = record(snapshot);
        self.shadowed.clone_from(&snapshot.shadowed);
        self.take_documents(snapshot);
        true
    }

    fn take_documents(&mut self, snapshot: &SessionSnapshot) {
        for document in snapshot.documents.iter().skip(self.documents.len()) {
            facts::add(&mut self.facts, document);
            self.documents.push(Arc::clone(document));
        }
    }
}

fn record(snapshot: &SessionSnapshot) -> SessionRecord {
    SessionRecord {
        header: snapshot.header.clone(),
        live: snapshot.live,
        persisted: snapshot.persisted,
    }
}

impl LiveSegment {
    /// Whose words a document holds and which.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn text_of(&self, document: DocId) -> Result<Option<(TextKind, String)>> {
        let Some(kind) = self.columns.kind(document) else {
            return Ok(None);
        };
        let stored: TantivyDocument = self.store.get(document)?;
        let text = stored.get_first(self.fields.text(kind));
        Ok(text.and_then(|text| Some((kind, text.as_str()?.to_owned()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookback_model::{SessionHeader, Timestamp};

    fn event(seq: u64, text: &str) -> Arc<EventDocument> {
        Arc::new(EventDocument {
            seq,
            time: Timestamp(0),
            type_name: "user/message".into(),
            has_marker: true,
            copy_key: 0,
            pieces: vec![(TextKind::User, text.to_owned())],
        })
    }

    fn snapshot(id: &str, documents: &[Arc<EventDocument>]) -> SessionSnapshot {
        SessionSnapshot {
            header: SessionHeader::new(id, Timestamp(0)),
            agent: String::new(),
            live: true,
            persisted: false,
            fingerprint: String::new(),
            revision: None,
            extractors: String::new(),
            events: documents.len() as u64,
            documents: documents.to_vec(),
            shadowed: Vec::new(),
        }
    }

    /// Feeds a session and indexes it; gives how many events were analysed for it.
    fn fed(live: &mut Live, snapshot: &SessionSnapshot) -> u64 {
        let before = live.analysed();
        live.replace(snapshot);
        live.prepare().unwrap();
        live.analysed() - before
    }

    /// Property: of a session that grew only what is new is indexed, and nothing when nothing is.
    #[test]
    fn only_what_is_new_is_indexed() {
        let mut live = Live::new(TextCaps::default());
        let mut documents: Vec<_> = (0..100).map(|seq| event(seq, "quokka")).collect();
        assert_eq!(fed(&mut live, &snapshot("a", &documents)), 100);
        let version = live.version();
        assert_eq!(fed(&mut live, &snapshot("a", &documents)), 0);
        assert_eq!(live.version(), version, "nothing changed");
        documents.extend((100..110).map(|seq| event(seq, "quokka")));
        assert_eq!(fed(&mut live, &snapshot("a", &documents)), 10);
        assert_ne!(live.version(), version);
        let changed = event(0, "pelican");
        documents[0] = changed;
        assert_eq!(
            fed(&mut live, &snapshot("a", &documents)),
            110,
            "another beginning"
        );
    }

    /// Property: however often a session grows by a little, there are few segments, and no event is analysed more
    /// often than the logarithm of their number.
    #[test]
    fn many_small_steps_stay_cheap() {
        let mut live = Live::new(TextCaps::default());
        let mut documents = Vec::new();
        for seq in 0..256 {
            documents.push(event(seq, "quokka"));
            fed(&mut live, &snapshot("a", &documents));
            assert!(live.segments().len() <= 9);
            let held: usize = live.segments().iter().map(|segment| segment.events).sum();
            assert_eq!(held, documents.len());
        }
        assert!(live.analysed() <= 256 * 9, "{}", live.analysed());
    }

    /// Property: what was replaced or removed is let go, and its numbers are given again.
    #[test]
    fn what_is_gone_is_let_go() {
        let mut live = Live::new(TextCaps::default());
        fed(&mut live, &snapshot("stays", &[event(0, "quokka")]));
        for round in 0..3_000 {
            let id = format!("s{}", round % 7);
            live.replace(&snapshot(&id, &[event(0, &format!("pelican {round}"))]));
            if round % 100 == 0 {
                live.prepare().unwrap();
            }
        }
        (0..7).for_each(|id| live.remove(&format!("s{id}")));
        fed(&mut live, &snapshot("last", &[event(0, "okapi")]));
        assert!((live.numbers() as usize) < 2 * FREE_NUMBERS, "{}", live.numbers());
        let held: usize = live.segments().iter().map(|segment| segment.events).sum();
        assert!(held <= 3, "{held}");
        for id in ["stays", "last"] {
            let number = live.get(id).unwrap().number;
            assert_eq!(live.of_number(number).unwrap().record.header.id, id);
        }
    }
}
