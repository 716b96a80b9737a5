//! Test support for lookback. No product crate depends on it.
//!
//! [`fuzzing`] holds what must be true of any bytes, for fuzz targets and tests.
//! [`memory`] is a catalogue, an index and a search provider that live in memory, for tests of what uses them.
//! [`samples`] finds files of real agents and checks that they are read.
//! [`reading`] runs a format over files and says what it saw, and proves that reading in parts equals
//! reading whole.
//! [`session_query`] is a search provider that lives in memory, and what any provider must pass.

pub mod fuzzing;
pub mod memory;
pub mod reading;
pub mod samples;
pub mod session_query;
pub mod transcripts;
