//! Contract B, the vocabulary of a session query: records, filters, requests, pages, traces and errors.
//!
//! The engine's `SessionQuery` speaks these types to its callers, and the traits in [`provider`] and
//! [`persistence`] are what it is given: something that finds text, and something that keeps logs.

pub mod abort;
pub mod canonical;
pub mod error;
pub mod filter;
pub mod fingerprint;
pub mod persistence;
pub mod provider;
pub mod record;
pub mod request;
pub mod trace;
pub mod validate;

pub use abort::AbortSignal;
pub use error::{SessionQueryError, SessionQueryErrorCode};
pub use filter::{Availability, EventResultFilter, SessionResultFilter};
pub use fingerprint::{ExtractorVersions, fingerprint};
pub use persistence::{PersistedSession, PersistenceError, SessionLog, SessionPersistence};
pub use provider::{
    CursorRefusal, EventDocument, InventoryEntry, ProviderError, ProviderStatus, SearchProvider,
    SessionSnapshot, UnavailableReason,
};
pub use record::{EventRecord, SessionRecord};
pub use request::{
    EventHit, ReadEventRequest, ReadEventResult, SearchPage, SessionEventSearchRequest,
    SessionEventSearchSpec, SessionHit, SessionSearchRequest, SessionSearchSpec,
};
pub use trace::{EventTrace, SessionNode, SessionTrace};
pub use validate::{HeaderError, LogError, LogState, fold_log, validate_header, validate_log, validate_next};
