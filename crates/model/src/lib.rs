//! The domain of lookback: plain types, the rules over them, and the ports other crates implement.
//!
//! Nothing here opens a file, reads a clock or starts a task. A coding agent's transcript becomes an
//! immutable [`SessionHeader`] and an append-only log of [`Event`]s; [`surface`] says which of them an
//! agent would still send, [`text`] says what words each event holds, [`query`] turns typed text into a
//! [`Plan`], and [`ports`] are the traits by which the engine reaches readers, index and stores.

#![warn(missing_docs)]

pub mod copies;
pub mod document;
pub mod environment;
pub mod event;
pub mod facts;
pub mod hit;
pub mod paths;
pub mod ports;
pub mod query;
pub mod recall;
pub mod session;
pub mod session_query;
pub mod source;
pub mod surface;
pub mod text;
pub mod time;

pub use document::{Document, SessionOrdinal};
pub use environment::Environment;
pub use event::{ContentBlock, Event, EventData, SurfaceOp};
pub use facts::SessionFacts;
pub use hit::{Evidence, Hit, Snippet};
pub use query::{Plan, SearchRequest};
pub use session::{SessionHeader, SessionKind};
pub use source::{ReadCursor, SessionSource, SourceFile};
pub use surface::{Surface, SurfaceState};
pub use text::{TextKind, View};
pub use time::Timestamp;
