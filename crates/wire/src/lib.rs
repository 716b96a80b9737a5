//! What lookback says to programs: the data transfer objects of `--json` output and of contract A.
//!
//! Names, nesting and nullability are fixed by the contract, so they live apart from the domain: a field
//! of the model can change without changing a word on the wire. Everything here is plain encoding and
//! decoding; decoding drops fields it does not know, because the other side may be newer.

#![warn(missing_docs)]

pub mod convert;
pub mod doctor;
pub mod grep;
pub mod hit;
pub mod index;
pub mod marks;
pub mod rpc;
pub mod search;
pub mod session;
pub mod session_query;
pub mod shell;
pub mod status;

pub use hit::{Evidence, Hit, Presence, Role, Source};
pub use search::{Page, Results, SearchResponse, Truncated};
pub use session::{SessionEvents, SessionList, SessionSummary};
pub use status::SearchStatus;
