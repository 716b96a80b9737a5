//! The operations of a session query as programs call them: `sessionQuery.listSessions` and its siblings, each
//! with the shape of its parameters and of its result.
//!
//! What comes in is looked at field by field, because the other side may be written in a language that checks
//! nothing: a filter of another shape is `SESSION_QUERY_INVALID_FILTER`, as it is for a caller inside the
//! process, and a parameter that is missing, unknown or of another kind is an invalid parameter that is named.
//! An optional parameter may be `null`.
//!
//! The records themselves are those of [`lookback_model::session_query`], whose JSON is the contract's already.

pub mod fields;
pub mod filtering;
pub mod live;
pub mod reads;
pub mod refusal;
#[cfg(feature = "schema")]
pub mod schema;
pub mod searches;
pub mod traces;

use crate::rpc::Params;
use fields::Fields;
use serde::Serialize;

pub use filtering::{FilterEventResults, FilterSessionResults, Item};
pub use live::{AppendLive, AttachLive, DetachLive};
pub use reads::{ListEvents, ListSessions, ReadEvent, SessionRequest};
pub use refusal::{Refusal, SessionQueryErrorData, live_refused, query_failed};
pub use searches::{SearchEvents, SearchSessions};
pub use traces::{TraceEvent, TraceEventRequest, TraceSession};

/// An operation: its name, what it takes and what it gives.
pub trait Operation {
    /// The method's name on the wire.
    const NAME: &'static str;
    /// Its parameters.
    type Request;
    /// Its result.
    type Answer: Serialize;

    /// Takes the parameters it knows.
    ///
    /// # Errors
    /// When one is missing or of another shape.
    fn request(fields: &mut Fields) -> Result<Self::Request, Refusal>;
}

/// Reads the parameters of an operation.
///
/// # Errors
/// When they are not those of the operation; one that it does not know is refused as well, for a misspelled
/// filter would let everything through.
pub fn decode<O: Operation>(params: Params) -> Result<O::Request, Refusal> {
    let mut fields = Fields::of(params)?;
    let request = O::request(&mut fields)?;
    fields.end()?;
    Ok(request)
}

#[cfg(test)]
#[path = "session_query_tests.rs"]
mod tests;
