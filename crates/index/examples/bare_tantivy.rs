//! The baseline of the indexing benchmark: the same texts that a finished index holds, fed from memory to
//! tantivy alone, with its default analyzer and stored text.
//!
//! `cargo run --release -p lookback-index --example bare_tantivy -- DATA_FOLDER` prints one line of JSON:
//! `{"seconds":…,"documents":…,"textBytes":…,"indexBytes":…}`. The time runs from the first document to
//! the last merge; reading the texts beforehand is not part of it.

#[path = "stored/texts.rs"]
mod stored;

use std::path::Path;
use std::time::Instant;
use tantivy::schema::{STORED, Schema, TEXT};
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{Index, IndexSettings, TantivyDocument, doc};

/// As much as lookback gives its own first index.
const HEAP_BYTES: usize = 100 << 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os()
        .nth(1)
        .ok_or("name the data folder of a finished index")?;
    let texts = stored::texts(Path::new(&folder))?;
    let text_bytes: usize = texts.iter().map(|stored| stored.text.len()).sum();

    let mut builder = Schema::builder();
    let body = builder.add_text_field("body", TEXT | STORED);
    let target = tempfile::tempdir()?;
    let started = Instant::now();
    let index = Index::create(
        tantivy::directory::MmapDirectory::open(target.path())?,
        builder.build(),
        settings(),
    )?;
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut writer = index.writer_with_num_threads::<TantivyDocument>(threads, HEAP_BYTES)?;
    for stored in &texts {
        writer.add_document(doc!(body => stored.text.as_str()))?;
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    let seconds = started.elapsed().as_secs_f64();

    let mut index_bytes = 0;
    for file in std::fs::read_dir(target.path())? {
        index_bytes += file?.metadata()?.len();
    }
    let line = serde_json::json!({
        "seconds": seconds, "documents": texts.len(), "textBytes": text_bytes, "indexBytes": index_bytes,
    });
    #[expect(clippy::print_stdout, reason = "its only output")]
    {
        println!("{line}");
    }
    Ok(())
}

/// tantivy's own choices for text that is stored compressed by zstd.
fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::Zstd(ZstdCompressor::default()),
        ..IndexSettings::default()
    }
}
