//! The index as a search provider, held against what any provider must pass.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use lookback_index::{Index, IndexProvider, Options};
use lookback_model::session_query::SearchProvider;
use lookback_testkit::session_query::conformance::Subject;
use std::path::Path;
use std::sync::Arc;

struct Embedded;

impl Subject for Embedded {
    fn open(&self, folder: &Path) -> Box<dyn SearchProvider> {
        let index = Index::open(folder, Options::default()).unwrap();
        Box::new(IndexProvider::new(Arc::new(index)))
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn snippet_bound(&self) -> usize {
        480
    }
}

lookback_testkit::session_query_conformance!(Embedded);
