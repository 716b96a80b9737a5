//! What anybody could use instead, over the same texts: SQLite's full-text search, and tantivy alone.

use crate::Failure;
use crate::queries::{Mixed, PAGE};
use crate::stored::StoredText;
use rusqlite::Connection;
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{STORED, Schema, TEXT};
use tantivy::{Index, Searcher, TantivyDocument, doc};
use tempfile::TempDir;

const HEAP_BYTES: usize = 100 << 20;

/// A table of SQLite's FTS5 with its default tokenizer, in a file of its own.
pub(crate) struct Fts5 {
    connection: Connection,
    _folder: TempDir,
}

impl Fts5 {
    /// Fills a table and merges its parts.
    pub(crate) fn of(texts: &[StoredText]) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let mut connection = Connection::open(folder.path().join("fts5.sqlite"))?;
        connection.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA mmap_size = 1073741824;
            PRAGMA cache_size = -262144; CREATE VIRTUAL TABLE texts USING fts5 (body);",
        )?;
        let filling = connection.transaction()?;
        {
            let mut insert = filling.prepare("INSERT INTO texts (body) VALUES (?1)")?;
            for stored in texts {
                insert.execute([&stored.text])?;
            }
        }
        filling.commit()?;
        connection.execute_batch("INSERT INTO texts (texts) VALUES ('optimize')")?;
        Ok(Self {
            connection,
            _folder: folder,
        })
    }

    /// The best documents.
    pub(crate) fn ranked(&self, mixed: &Mixed) -> Result<usize, Failure> {
        let sql = "SELECT rowid, '' FROM texts WHERE texts MATCH ?1 ORDER BY bm25(texts) LIMIT ?2";
        self.run(sql, mixed)
    }

    /// The best documents with snippets.
    pub(crate) fn page(&self, mixed: &Mixed) -> Result<usize, Failure> {
        let sql = "SELECT rowid, snippet(texts, 0, '[', ']', '…', 40)
            FROM texts WHERE texts MATCH ?1 ORDER BY bm25(texts) LIMIT ?2";
        self.run(sql, mixed)
    }

    fn run(&self, sql: &str, mixed: &Mixed) -> Result<usize, Failure> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query((expression(mixed), PAGE as i64))?;
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            bytes += row.get_ref(1)?.as_str()?.len();
        }
        Ok(bytes)
    }
}

/// The query in FTS5's words: each word quoted, so that none is an operator.
fn expression(mixed: &Mixed) -> String {
    if mixed.query.starts_with('"') {
        return mixed.query.to_owned();
    }
    let words = mixed.query.split_whitespace().map(|word| format!("\"{word}\""));
    let between = if mixed.is_any { " OR " } else { " AND " };
    words.collect::<Vec<_>>().join(between)
}

/// An index of one field with tantivy's default tokenizer.
pub(crate) struct Tantivy {
    searcher: Searcher,
    every: QueryParser,
    any: QueryParser,
    _folder: TempDir,
}

impl Tantivy {
    /// Writes an index.
    pub(crate) fn of(texts: &[StoredText]) -> Result<Self, Failure> {
        let mut builder = Schema::builder();
        let body = builder.add_text_field("body", TEXT | STORED);
        let folder = tempfile::tempdir()?;
        let directory = tantivy::directory::MmapDirectory::open(folder.path())?;
        let index = Index::create(directory, builder.build(), lookback_index::schema::settings())?;
        let mut writer = index.writer_with_num_threads::<TantivyDocument>(1, HEAP_BYTES)?;
        for stored in texts {
            writer.add_document(doc!(body => stored.text.as_str()))?;
        }
        writer.commit()?;
        writer.wait_merging_threads()?;
        let any = QueryParser::for_index(&index, vec![body]);
        let mut every = QueryParser::for_index(&index, vec![body]);
        every.set_conjunction_by_default();
        Ok(Self {
            searcher: index.reader()?.searcher(),
            every,
            any,
            _folder: folder,
        })
    }

    /// The best documents.
    pub(crate) fn ranked(&self, mixed: &Mixed) -> Result<usize, Failure> {
        let parser = if mixed.is_any { &self.any } else { &self.every };
        let query = parser.parse_query(mixed.query)?;
        let best = self
            .searcher
            .search(&query, &TopDocs::with_limit(PAGE).order_by_score())?;
        Ok(best.len())
    }
}
