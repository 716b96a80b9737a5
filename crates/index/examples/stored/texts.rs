//! What the examples measure with: the texts of a finished index.

use std::path::Path;
use tantivy::collector::DocSetCollector;
use tantivy::query::AllQuery;
use tantivy::schema::Value;
use tantivy::{Index, TantivyDocument};

/// A text as it is stored.
pub(crate) struct StoredText {
    /// The words.
    pub(crate) text: String,
    /// Whether they are a tool's.
    #[allow(dead_code, reason = "not every example asks")]
    pub(crate) is_tool: bool,
}

/// Every text in the data folder of an index.
pub(crate) fn texts(data: &Path) -> Result<Vec<StoredText>, Box<dyn std::error::Error>> {
    let index = Index::open_in_dir(data.join("text"))?;
    let (_, fields) = lookback_index::schema::schema();
    let searcher = index.reader()?.searcher();
    let mut addresses: Vec<_> = searcher
        .search(&AllQuery, &DocSetCollector)?
        .into_iter()
        .collect();
    addresses.sort();
    let mut texts = Vec::with_capacity(addresses.len());
    for address in addresses {
        let document: TantivyDocument = searcher.doc(address)?;
        let text = [(fields.prose, false), (fields.tools, true)]
            .into_iter()
            .find_map(|(field, is_tool)| {
                let text = document.get_first(field)?.as_str()?.to_owned();
                Some(StoredText { text, is_tool })
            });
        texts.extend(text);
    }
    Ok(texts)
}
