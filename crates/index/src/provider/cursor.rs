//! Page cursors of a session query: where the next page begins, bound to a request without its limit and to the
//! state of what it searched.
//!
//! A cursor is not signed: a forged one can name another offset of the caller's own answer, which is harmless,
//! and nothing else.

use lookback_model::session_query::{
    CursorRefusal, ProviderError, SessionEventSearchSpec, SessionSearchSpec, canonical,
};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// What a cursor is bound to.
pub(super) struct Bound {
    request: u64,
    generation: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PageCursor {
    request: String,
    generation: String,
    offset: usize,
}

/// A number that stands for a text.
pub(super) fn hash(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

impl Bound {
    /// To a search over all sessions and the state of all of them.
    pub(super) fn to_sessions(spec: &SessionSearchSpec, generation: u64) -> Self {
        let request = (&spec.query, &spec.session_filters, &spec.event_filters);
        Self::to("sessions", &request, generation)
    }

    /// To a search over a session's events and the state of that session.
    pub(super) fn to_events(spec: &SessionEventSearchSpec, generation: u64) -> Self {
        let request = (&spec.session_id, &spec.query, &spec.filters);
        Self::to("events", &request, generation)
    }

    fn to(scope: &str, request: &impl Serialize, generation: u64) -> Self {
        let mut bytes = scope.as_bytes().to_vec();
        // Filters are plain data, which JSON can always hold.
        canonical::write(&serde_json::to_value(request).unwrap_or_default(), &mut bytes);
        Self {
            request: xxh3_64(&bytes),
            generation,
        }
    }

    /// The offset that a cursor names; 0 without one.
    ///
    /// # Errors
    /// A [`CursorRefusal`] when it belongs to another request, or to another state.
    pub(super) fn offset(&self, cursor: Option<&str>) -> Result<usize, ProviderError> {
        let Some(text) = cursor else {
            return Ok(0);
        };
        let known = decode(text).filter(|cursor| cursor.request == name(self.request));
        let cursor = known.ok_or_else(|| ProviderError::other(CursorRefusal::Malformed))?;
        if cursor.generation != name(self.generation) {
            return Err(ProviderError::other(CursorRefusal::Stale));
        }
        Ok(cursor.offset)
    }

    /// A cursor for the page that begins at `offset`.
    pub(super) fn cursor(&self, offset: usize) -> String {
        let cursor = PageCursor {
            request: name(self.request),
            generation: name(self.generation),
            offset,
        };
        let json = serde_json::to_vec(&cursor).unwrap_or_default();
        base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, json)
    }
}

fn name(number: u64) -> String {
    format!("{number:016x}")
}

fn decode(text: &str) -> Option<PageCursor> {
    let json = base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, text).ok()?;
    serde_json::from_slice(&json).ok()
}
