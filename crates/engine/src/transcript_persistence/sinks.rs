//! What is kept of a file that is read: of all its sessions the ends, or of one session everything.

use lookback_model::Event;
use lookback_model::source::{EventSink, ReadSession, SideTitle, SinkClosed};

/// Keeps every session's header and facts, and no event.
pub(super) struct Summaries {
    sessions: Vec<ReadSession>,
}

impl Summaries {
    /// Goes on with the sessions of an earlier read of the file.
    pub(super) fn new(sessions: Vec<ReadSession>) -> Self {
        Self { sessions }
    }

    pub(super) fn finish(self) -> Vec<ReadSession> {
        self.sessions
    }
}

impl EventSink for Summaries {
    fn begin(&mut self, _: &str, _: bool) -> Result<(), SinkClosed> {
        Ok(())
    }

    fn event(&mut self, _: Event) -> Result<(), SinkClosed> {
        Ok(())
    }

    fn end(&mut self, session: ReadSession) -> Result<(), SinkClosed> {
        let id = &session.header.id;
        match self.sessions.iter_mut().find(|held| held.header.id == *id) {
            Some(held) => *held = session,
            None => self.sessions.push(session),
        }
        Ok(())
    }

    fn title(&mut self, _: SideTitle) {}

    fn tool_text_wanted(&self) -> usize {
        0
    }
}

/// Keeps the log of one session.
pub(super) struct Whole<'a> {
    session_id: &'a str,
    is_wanted: bool,
    is_found: bool,
    events: Vec<Event>,
}

impl<'a> Whole<'a> {
    pub(super) fn of(session_id: &'a str) -> Self {
        Self {
            session_id,
            is_wanted: false,
            is_found: false,
            events: Vec::new(),
        }
    }

    /// Its events; `None` when the file does not hold the session.
    pub(super) fn finish(self) -> Option<Vec<Event>> {
        self.is_found.then_some(self.events)
    }
}

impl EventSink for Whole<'_> {
    fn begin(&mut self, session_id: &str, resumed: bool) -> Result<(), SinkClosed> {
        self.is_wanted = session_id == self.session_id;
        if self.is_wanted && !resumed {
            self.events.clear();
        }
        Ok(())
    }

    fn wants(&self, session_id: &str) -> bool {
        session_id == self.session_id
    }

    fn event(&mut self, event: Event) -> Result<(), SinkClosed> {
        if self.is_wanted {
            self.events.push(event);
        }
        Ok(())
    }

    fn end(&mut self, _: ReadSession) -> Result<(), SinkClosed> {
        self.is_found |= self.is_wanted;
        Ok(())
    }

    fn title(&mut self, _: SideTitle) {}
}
