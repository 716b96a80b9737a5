//! The full-text schema: one field for each kind of text, so that a search names what it may look into,
//! and columns for what ranking and grouping need.

use crate::analyze::{Analyzer, BULK, SPOKEN};
use lookback_model::{Document, SessionOrdinal, TextKind, View};
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{IndexSettings, TantivyDocument, Term};

/// Raised whenever an index written before can no longer be searched as it should be: by a change of the
/// schema or of the analysis.
pub const TEXT_VERSION: u64 = 1;

/// The fields by name.
#[derive(Clone, Copy, Debug)]
pub struct Fields {
    texts: [Field; TextKind::ALL.len()],
    /// Session ordinal.
    pub session: Field,
    seq: Field,
    chunk: Field,
    copy_key: Field,
    kind: Field,
    time: Field,
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

/// The schema, and its fields.
pub fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let texts = TextKind::ALL.map(|kind| {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(if has_wholes(kind) { SPOKEN } else { BULK })
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let text = TextOptions::default().set_indexing_options(indexing).set_stored();
        builder.add_text_field(field_name(kind), text)
    });
    let session = builder.add_u64_field(SESSION, INDEXED | FAST);
    let [seq, chunk, copy_key, kind] =
        [SEQ, CHUNK, COPY_KEY, KIND].map(|column| builder.add_u64_field(column, FAST));
    let time = builder.add_i64_field(TIME, FAST);
    (
        builder.build(),
        Fields {
            texts,
            session,
            seq,
            chunk,
            copy_key,
            kind,
            time,
        },
    )
}

/// Whether identifiers of several parts are also terms as a whole in text of this kind.
pub fn has_wholes(kind: TextKind) -> bool {
    !matches!(kind, TextKind::Call | TextKind::Result)
}

fn field_name(kind: TextKind) -> &'static str {
    match kind {
        TextKind::User => "user",
        TextKind::Agent => "agent",
        TextKind::Reasoning => "reasoning",
        TextKind::Call => "call",
        TextKind::Result => "result",
        TextKind::Context => "context",
    }
}

/// How the index is kept: text compressed by zstd in blocks of 64 KiB, which a snippet unpacks one of.
pub fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::Zstd(ZstdCompressor {
            compression_level: Some(3),
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
        let [user, agent, reasoning, call, result, context] = self.texts;
        match kind {
            TextKind::User => user,
            TextKind::Agent => agent,
            TextKind::Reasoning => reasoning,
            TextKind::Call => call,
            TextKind::Result => result,
            TextKind::Context => context,
        }
    }

    /// The fields of a view.
    pub fn view(&self, view: View) -> Vec<(TextKind, Field)> {
        view.kinds().iter().map(|&kind| (kind, self.text(kind))).collect()
    }

    /// The term that every document of a session has.
    pub fn session_term(&self, session: SessionOrdinal) -> Term {
        Term::from_field_u64(self.session, u64::from(session.0))
    }

    /// A document in tantivy's form.
    pub fn document(&self, document: &Document) -> TantivyDocument {
        let mut stored = TantivyDocument::new();
        stored.add_text(self.text(document.kind), &document.text);
        stored.add_u64(self.session, u64::from(document.session.0));
        stored.add_u64(self.seq, document.seq);
        stored.add_u64(self.chunk, u64::from(document.chunk));
        stored.add_u64(self.copy_key, document.copy_key);
        stored.add_u64(self.kind, document.kind.code());
        stored.add_i64(self.time, document.time.0);
        stored
    }
}
