//! Made-up snapshots, as the service would feed them.

use lookback_model::session_query::{EventDocument, SessionSnapshot};
use lookback_model::{SessionHeader, TextKind, Timestamp};
use std::sync::Arc;

/// When made-up sessions begin, in milliseconds.
pub(super) const BEGIN: i64 = 1_780_000_000_000;

/// A session of the persisted base without events.
pub(super) fn persisted(id: &str) -> SessionSnapshot {
    SessionSnapshot {
        header: SessionHeader::new(id, Timestamp(BEGIN)),
        agent: "claude".to_owned(),
        live: false,
        persisted: true,
        fingerprint: format!("{:064x}", id.len()),
        revision: Some("1".to_owned()),
        extractors: String::new(),
        events: 0,
        documents: Vec::new(),
        shadowed: Vec::new(),
    }
}

/// A live session without events, that no persistence has.
pub(super) fn live(id: &str) -> SessionSnapshot {
    SessionSnapshot {
        live: true,
        persisted: false,
        fingerprint: String::new(),
        revision: None,
        ..persisted(id)
    }
}

/// A snapshot that is built up event by event.
pub(super) trait Grow: Sized {
    /// With an event of one piece on the surface.
    fn saying(self, kind: TextKind, text: &str) -> Self;

    /// With an event as it is; its seq is set.
    fn with(self, document: EventDocument) -> Self;

    /// With an event that has no text.
    fn silent(self) -> Self;
}

impl Grow for SessionSnapshot {
    fn saying(self, kind: TextKind, text: &str) -> Self {
        self.with(document(kind, text))
    }

    fn with(mut self, mut document: EventDocument) -> Self {
        document.seq = self.events;
        document.time = Timestamp(self.header.created_at.0 + 1_000 * i64::try_from(self.events).unwrap());
        self.events += 1;
        self.documents.push(Arc::new(document));
        self
    }

    fn silent(mut self) -> Self {
        self.events += 1;
        self
    }
}

/// An event of one piece on the surface; seq and time are set when it is put into a snapshot.
pub(super) fn document(kind: TextKind, text: &str) -> EventDocument {
    let (type_name, has_marker) = match kind {
        TextKind::User => ("user/message", true),
        TextKind::Agent | TextKind::Reasoning => ("assistant/message", true),
        TextKind::Call => ("tool/call", false),
        TextKind::Result => ("tool/result", true),
        TextKind::Context => ("context/message", true),
    };
    EventDocument {
        seq: 0,
        time: Timestamp(0),
        type_name: type_name.to_owned(),
        has_marker,
        copy_key: 0,
        pieces: vec![(kind, text.to_owned())],
    }
}
