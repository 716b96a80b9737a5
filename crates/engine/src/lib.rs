//! The application: keeps an index in step with agents' transcripts, and answers queries from it.
//!
//! [`Engine`] is the facade. It reaches transcripts through
//! [`SessionSource`](lookback_model::SessionSource)s and the index through the ports of
//! [`lookback_model::ports`]; it knows neither a transcript format nor a store.
//!
//! A pass ([`Engine::reconcile`]) goes through these modules in turn:
//!
//! 1. `discover` lists every root of every source, and dedupes what several routes lead to.
//! 2. `plan` compares that with the catalogue, without opening a file: what is new, grown, moved, back.
//! 3. `presence` decides what is known of the files that were not found. Only proof makes one missing,
//!    and missing removes nothing.
//! 4. `ingest` reads what is to be read, newest first, in several threads, and commits in batches that
//!    never split a file; `feed` turns one file's events into documents.
//!
//! A pass over an unchanged corpus is a stat per file: no file is opened, nor the index for writing.
//!
//! # What a failed read leaves behind
//!
//! * A read **from the start** gives every session a new number. Only when it has succeeded are the old
//!   numbers retracted, in the same commit; when it fails its own are, and the old ones stay. So hits of a
//!   file that is being replaced are never lost, and never doubled.
//! * A read that **goes on** from a cursor adds to numbers that are committed already; a tail that was added
//!   cannot be taken back alone. When it fails half-way the tail stays, the file is recorded as failed, and
//!   a failed file is only ever read from the start, which replaces the tail with everything else.
//! * A failed file is tried again when its marks change; when the operating system refused it, as soon as
//!   it can be opened. The same failure again is not written again.

#![warn(missing_docs)]

mod discover;
mod doctor;
mod engine;
pub mod event_log;
mod feed;
mod grep;
mod ingest;
mod plan;
mod presence;
mod reconcile;
pub mod session_query;
mod status;
mod transcript;
pub mod transcript_persistence;

pub use doctor::{AgentReport, DoctorReport, NotIndexed, RootReport};
pub use engine::{Engine, EngineError, Parts};
pub use grep::pattern::{Case, Pattern, PatternError, PatternOptions};
pub use grep::{GrepHit, GrepReport, GrepRequest, SessionHits};
pub use lookback_readers::registry::SOURCES;
pub use reconcile::{FileIssue, Progress, ReconcileOptions, Reconciled};
pub use status::{Phase, Status};
pub use transcript::{ShownEvent, Transcript, WHOLE_LOG};
