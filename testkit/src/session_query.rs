//! Session queries in tests: a provider that lives in memory, and what any provider must pass.
//!
//! [`MemoryProvider`] does what the port promises in the simplest way, so that what uses a provider can be
//! tested without an index. [`conformance`] holds the promises themselves, one property a function: a provider
//! is held against all of them by `session_query_conformance!`.

pub mod conformance;
mod memory_provider;

pub use memory_provider::{Calls, MemoryProvider};

#[cfg(test)]
mod tests {
    use super::MemoryProvider;
    use super::conformance::Subject;
    use lookback_model::session_query::SearchProvider;
    use std::path::Path;

    struct InMemory;

    impl Subject for InMemory {
        fn open(&self, _: &Path) -> Box<dyn SearchProvider> {
            Box::new(MemoryProvider::new("memory"))
        }

        fn is_durable(&self) -> bool {
            false
        }

        fn snippet_bound(&self) -> usize {
            MemoryProvider::SNIPPET_BOUND
        }
    }

    crate::session_query_conformance!(InMemory);
}
