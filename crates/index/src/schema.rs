//! The full-text schema: a field for what is said and one for the text of tools, and columns for what
//! filtering, ranking and grouping need.
//!
//! Whose words a document holds is a column and no field of its own: the fewer fields there are, the fewer
//! terms are kept twice, which makes an index quicker to write and to search. A search of one kind of text
//! reads the column of each document it meets.

use crate::analyze::{Analyzer, BULK, SPOKEN};
use crate::segments::FieldValue;
use crate::types::EventMark;
use lookback_model::{Document, SessionOrdinal, TextKind};
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{IndexSettings, Term};

/// Raised whenever an index written before can no longer be searched as it should be: by a change of the
/// schema or of the analysis.
pub const TEXT_VERSION: u64 = 3;

/// The fields by name.
#[derive(Clone, Copy, Debug)]
pub struct Fields {
    /// What people, agents and their programs say.
    pub prose: Field,
    /// What tools are told and answer.
    pub tools: Field,
    /// Session ordinal.
    pub session: Field,
    seq: Field,
    chunk: Field,
    copy_key: Field,
    kind: Field,
    time: Field,
    event: Field,
}

/// Column of session ordinals.
pub const SESSION: &str = "session";
/// Column of event seqs.
pub const SEQ: &str = "seq";
/// Column of chunk numbers.
pub const CHUNK: &str = "chunk";
/// Column of event times, in milliseconds.
pub const TIME: &str = "time";
/// Column of copy keys.
pub const COPY_KEY: &str = "copy_key";
/// Column of text kinds, by their codes.
pub const KIND: &str = "kind";

/// Column of events' types and surface markers, see [`crate::types`].
pub const EVENT: &str = "event";

/// The schema, and its fields.
pub fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let [prose, tools] = [("prose", SPOKEN), ("tools", BULK)].map(|(name, tokenizer)| {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(tokenizer)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let text = TextOptions::default().set_indexing_options(indexing).set_stored();
        builder.add_text_field(name, text)
    });
    let session = builder.add_u64_field(SESSION, INDEXED | FAST);
    let [seq, chunk, copy_key, kind, event] =
        [SEQ, CHUNK, COPY_KEY, KIND, EVENT].map(|column| builder.add_u64_field(column, FAST));
    let time = builder.add_i64_field(TIME, FAST);
    (
        builder.build(),
        Fields {
            prose,
            tools,
            session,
            seq,
            chunk,
            copy_key,
            kind,
            time,
            event,
        },
    )
}

/// How the index is kept: text compressed by zstd in blocks of 64 KiB, which a snippet unpacks one of.
pub fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::Zstd(ZstdCompressor {
            compression_level: Some(1),
        }),
        docstore_compress_dedicated_thread: false,
        docstore_blocksize: 64 << 10,
        ..IndexSettings::default()
    }
}

/// Makes the analyzers known to an index.
pub fn register(index: &tantivy::Index) {
    use tantivy::tokenizer::TextAnalyzer;
    index
        .tokenizers()
        .register(SPOKEN, TextAnalyzer::from(Analyzer::default()));
    index
        .tokenizers()
        .register(BULK, TextAnalyzer::from(Analyzer::without_wholes()));
}

impl Fields {
    /// The field of a kind of text.
    pub fn text(&self, kind: TextKind) -> Field {
        match kind {
            TextKind::Call | TextKind::Result => self.tools,
            TextKind::User | TextKind::Agent | TextKind::Reasoning | TextKind::Context => self.prose,
        }
    }

    /// The term that every document of a session has.
    pub fn session_term(&self, session: SessionOrdinal) -> Term {
        Term::from_field_u64(self.session, u64::from(session.0))
    }

    /// A document's values; its event's type comes as a number.
    pub(crate) fn values<'a>(
        &self,
        document: &'a Document,
        event: EventMark,
    ) -> [(Field, FieldValue<'a>); 8] {
        let Document {
            session,
            seq,
            chunk,
            time,
            copy_key,
            kind,
            text,
            event_type: _,
            has_marker: _,
        } = document;
        [
            (self.text(*kind), FieldValue::Text(text)),
            (self.session, FieldValue::Unsigned(session.0.into())),
            (self.seq, FieldValue::Unsigned(*seq)),
            (self.chunk, FieldValue::Unsigned((*chunk).into())),
            (self.copy_key, FieldValue::Unsigned(*copy_key)),
            (self.kind, FieldValue::Unsigned(kind.code())),
            (self.time, FieldValue::Signed(time.0)),
            (self.event, FieldValue::Unsigned(event.0)),
        ]
    }
}
