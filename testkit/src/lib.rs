//! Test support for lookback. No product crate depends on it.
//!
//! [`memory`] is a catalogue, an index and a search provider that live in memory, for tests of what uses them.
//! [`reading`] runs a format over files and says what it saw, and proves that reading in parts equals
//! reading whole.

pub mod memory;
pub mod reading;
