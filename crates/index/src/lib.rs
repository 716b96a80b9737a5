//! The embedded index: a full-text index and a catalogue in one data folder.
//!
//! [`Index`] implements the ports of `lookback_model`: it answers searches, lists sessions and files, and
//! hands out the one writer. Text lives in tantivy ([`schema`], [`analyze`]), facts in SQLite
//! ([`catalogue`]), sessions whose transcripts are gone also in the [`archive`]; `writer` keeps them in
//! step.

pub mod analyze;
pub mod archive;
pub mod catalogue;
mod columns;
mod error;
mod fed;
mod index;
mod provider;
pub mod schema;
mod search;
mod segments;
mod text;
mod types;
mod writer;

pub use index::{Index, Options};
pub use provider::{IndexProvider, PROVIDER_ID, WriterBusy};
