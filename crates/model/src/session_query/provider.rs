//! The port to what finds text: two layers of documents that the service feeds, and searches over both
//! (contract B, B.8 to B.10).
//!
//! The *persisted base* is durable: it outlives the process, each session with the fingerprint it was made
//! from. The *live override* lives as long as the provider does; a session that is in it hides every persisted
//! document of the same id, and shows them again when it is taken away.

use super::abort::AbortSignal;
use super::error::SessionQueryError;
use super::request::{EventHit, SearchPage, SessionEventSearchSpec, SessionHit, SessionSearchSpec};
use crate::{SessionHeader, SurfaceState, TextKind, Timestamp};
use std::error::Error;
use std::sync::Arc;

/// A full-text provider. Every call may come from any thread; the service never makes two of the feeding calls
/// at once, nor one during a search.
pub trait SearchProvider: Send + Sync {
    /// Its id, unique among registered providers and always the same.
    fn id(&self) -> &str;

    /// Whether it can be asked. Cheap: it is looked at before every search.
    fn status(&self) -> ProviderStatus;

    /// What the persisted base holds.
    ///
    /// # Errors
    /// When the base cannot be read.
    fn persisted_inventory(&self) -> Result<Vec<InventoryEntry>, ProviderError>;

    /// Puts a session into the persisted base, in the place of what it held of the same id.
    ///
    /// # Errors
    /// When the base cannot be written; it then holds the old documents or none of this session.
    fn replace_persisted(&self, snapshot: &SessionSnapshot) -> Result<(), ProviderError>;

    /// Takes a session out of the persisted base. Absent ones are no error.
    ///
    /// # Errors
    /// When the base cannot be written.
    fn remove_persisted(&self, session_id: &str) -> Result<(), ProviderError>;

    /// Whether searches see the persisted base. It begins inactive, and nothing is removed by this.
    ///
    /// # Errors
    /// When the base cannot be opened.
    fn set_persisted_active(&self, active: bool) -> Result<(), ProviderError>;

    /// Puts a session into the live override, in the place of what it held of the same id. The next search sees
    /// it.
    ///
    /// # Errors
    /// When the documents cannot be taken; the override then holds the old ones or none of this session.
    fn replace_live(&self, snapshot: &SessionSnapshot) -> Result<(), ProviderError>;

    /// Takes a session out of the live override. Absent ones are no error.
    ///
    /// # Errors
    /// When the override cannot be changed.
    fn remove_live(&self, session_id: &str) -> Result<(), ProviderError>;

    /// Finds sessions, each once, with its best event.
    ///
    /// # Errors
    /// The provider's own; a refused cursor is a [`CursorRefusal`].
    fn search_sessions(
        &self,
        spec: &SessionSearchSpec,
        abort: &AbortSignal,
    ) -> Result<SearchPage<SessionHit>, ProviderError>;

    /// Finds events of one session.
    ///
    /// # Errors
    /// The provider's own; a refused cursor is a [`CursorRefusal`].
    fn search_events(
        &self,
        spec: &SessionEventSearchSpec,
        abort: &AbortSignal,
    ) -> Result<SearchPage<EventHit>, ProviderError>;
}

/// Why a provider failed. Its own error is kept as it is, so that a caller can look for it in the chain.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// An error that is the caller's to see as it is.
    #[error(transparent)]
    Query(#[from] SessionQueryError),
    /// Anything else.
    #[error(transparent)]
    Other(Box<dyn Error + Send + Sync>),
}

impl ProviderError {
    /// A provider's own error.
    pub fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }
}

/// Why a provider does not go on from a cursor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CursorRefusal {
    /// What it was given for has changed since.
    #[error("the cursor is of an older state of what is searched")]
    Stale,
    /// It is none of this provider's, or belongs to another request.
    #[error("the cursor belongs to another request")]
    Malformed,
}

impl CursorRefusal {
    /// The reason as programs read it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Stale => "stale-cursor",
            Self::Malformed => "malformed-cursor",
        }
    }
}

/// Whether a provider can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderStatus {
    /// It can.
    Available,
    /// It cannot.
    Unavailable(UnavailableReason),
}

/// Why a provider cannot be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnavailableReason {
    /// Its configuration is wrong.
    Misconfigured,
    /// What it needs is not there.
    Unavailable,
}

/// A session in the persisted base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InventoryEntry {
    /// Its id.
    pub session_id: String,
    /// The fingerprint it was made from, lower-case hex; empty when the base was written without one.
    pub fingerprint: String,
    /// The backend's revision it was made from, where it was known.
    pub revision: Option<String>,
    /// Which extractors made its text, see [`SessionSnapshot::extractors`].
    pub extractors: String,
}

/// A session as a provider is fed it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSnapshot {
    /// Its header.
    pub header: SessionHeader,
    /// The agent that wrote it; empty when unknown.
    pub agent: String,
    /// Whether it is running.
    pub live: bool,
    /// Whether the mounted persistence has it.
    pub persisted: bool,
    /// SHA-256 over canonical header, events and extractor versions, lower-case hex. Empty in a live one.
    pub fingerprint: String,
    /// The backend's revision, where it was known.
    pub revision: Option<String>,
    /// The registered extractors beyond the core ones, as `type@version` for event types and `[type]@version` for
    /// content blocks, sorted and joined by commas: a change says that an equal revision no longer means equal
    /// text. A core extractor is named from its second version on. Empty when there are none.
    pub extractors: String,
    /// How many events the log has, with and without text.
    pub events: u64,
    /// One for each event that has text, in order of seq. A live session that only grew gives the same
    /// documents again, by the same pointers, and new ones after them.
    pub documents: Vec<Arc<EventDocument>>,
    /// Seqs that are shadowed, as inclusive ranges in ascending order.
    pub shadowed: Vec<(u64, u64)>,
}

impl SessionSnapshot {
    /// Where a document's event stands.
    pub fn surface(&self, document: &EventDocument) -> SurfaceState {
        if !document.has_marker {
            return SurfaceState::LogOnly;
        }
        let after = self.shadowed.partition_point(|&(_, last)| last < document.seq);
        match self.shadowed.get(after) {
            Some(&(first, _)) if first <= document.seq => SurfaceState::Shadowed,
            _ => SurfaceState::Current,
        }
    }
}

/// The text of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventDocument {
    /// The event.
    pub seq: u64,
    /// When it happened.
    pub time: Timestamp,
    /// The type's name.
    pub type_name: String,
    /// Whether the event entered the surface, by a type that may and a marker.
    pub has_marker: bool,
    /// Its copy key, see [`crate::copies`].
    pub copy_key: u64,
    /// Its words by kind; never empty, none of them blank.
    pub pieces: Vec<(TextKind, String)>,
}

impl EventDocument {
    /// All its words, one piece a line.
    pub fn text(&self) -> String {
        let pieces: Vec<&str> = self.pieces.iter().map(|(_, text)| text.as_str()).collect();
        pieces.join("\n")
    }
}
