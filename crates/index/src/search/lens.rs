//! What a session query sees of a document: whether its event passes the filters, and as which hit it counts.
//!
//! Searching sessions and searching the events of one session are the same search. Only what documents are
//! grouped by differs, so that words that an event holds together, how rare a word is, and how long a thing is
//! mean the same for both.

use super::scope::Segment;
use crate::types::EventTypes;
use lookback_model::session_query::EventResultFilter;
use lookback_model::{SessionOrdinal, SurfaceState};
use tantivy::DocId;

/// What is known of sessions besides their text, by their number in the search at hand.
pub(crate) trait Members {
    /// The session's id.
    fn id(&self, session: SessionOrdinal) -> &str;

    /// Seqs that are shadowed, as inclusive ranges in ascending order.
    fn shadowed(&self, session: SessionOrdinal) -> &[(u64, u64)];
}

/// As which hit a document counts.
pub(super) enum Lens<'a> {
    /// As its session.
    Sessions(Filter<'a>),
    /// As its event, of one session.
    Events(Events),
}

/// Filters of events, and what they need to know.
pub(super) struct Filter<'a> {
    /// All of them must let an event through.
    pub filters: &'a [EventResultFilter],
    /// The numbers of types on the disk and in memory.
    pub types: (&'a EventTypes, &'a EventTypes),
    /// The number of the first session in memory.
    pub live_from: u32,
    /// The sessions.
    pub members: &'a dyn Members,
}

/// The events of a session that pass.
pub(super) struct Events {
    /// The session, by the number that its layer gives it.
    pub session: SessionOrdinal,
    /// Whether it is in memory.
    pub is_live: bool,
    /// Their seqs, ascending; an event is named by its place in here.
    pub seqs: Vec<u64>,
}

impl Lens<'_> {
    /// Whether hits are events.
    pub(super) fn finds_events(&self) -> bool {
        matches!(self, Self::Events(_))
    }

    /// The number of the hit that a document counts for; `None` when it counts for none.
    pub(super) fn place(
        &self,
        segment: &Segment<'_>,
        session: SessionOrdinal,
        document: DocId,
    ) -> Option<SessionOrdinal> {
        match self {
            Self::Sessions(filter) => {
                let session = filter.number(segment, session);
                filter.takes(segment, session, document).then_some(session)
            }
            Self::Events(events) => {
                if (events.session, events.is_live) != (session, segment.is_live()) {
                    return None;
                }
                let at = events.seqs.binary_search(&segment.seq(document)).ok()?;
                u32::try_from(at).ok().map(SessionOrdinal)
            }
        }
    }
}

impl Filter<'_> {
    /// A session's number in the search at hand, of the one that its layer gives it.
    fn number(&self, segment: &Segment<'_>, session: SessionOrdinal) -> SessionOrdinal {
        match segment.is_live() {
            true => SessionOrdinal(self.live_from.saturating_add(session.0)),
            false => session,
        }
    }

    /// Whether a document's event passes.
    pub(super) fn takes(&self, segment: &Segment<'_>, session: SessionOrdinal, document: DocId) -> bool {
        if self.filters.is_empty() {
            return true;
        }
        let (seq, time) = (segment.seq(document), segment.time(document));
        let code = Some(segment.event(document).code());
        let types = self.types_of(segment);
        let is_type = |name: &String| types.code(name) == code;
        let surface = || self.surface(segment, session, document);
        let mut filters = self.filters.iter();
        filters.all(|filter| filter.takes_parts(seq, time, &is_type, &surface))
    }

    /// Where a document's event stands.
    pub(super) fn surface(
        &self,
        segment: &Segment<'_>,
        session: SessionOrdinal,
        document: DocId,
    ) -> SurfaceState {
        let has_marker = segment.event(document).has_marker();
        SurfaceState::within(has_marker, segment.seq(document), self.members.shadowed(session))
    }

    /// The name of the type of a document's event.
    pub(super) fn type_name(&self, segment: &Segment<'_>, document: DocId) -> &str {
        self.types_of(segment).name(segment.event(document).code())
    }

    fn types_of(&self, segment: &Segment<'_>) -> &EventTypes {
        match segment.is_live() {
            true => self.types.1,
            false => self.types.0,
        }
    }
}
