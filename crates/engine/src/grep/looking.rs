//! Takes the events of one file, and keeps what matches.

use super::{GrepHit, GrepRequest, Search, SessionHits, lines};
use lookback_model::source::{EventSink, RawWords, ReadSession, SideTitle, SinkClosed, SourceFile};
use lookback_model::{Event, SessionSource, TextKind, Timestamp, text};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Titles by agent and session.
pub(super) type Titles = HashMap<(String, String), String>;

/// The hits of one session.
pub(super) struct Tally<'a> {
    request: &'a GrepRequest,
    pub(super) count: u64,
    pub(super) hits: Vec<GrepHit>,
}

impl<'a> Tally<'a> {
    pub(super) fn new(request: &'a GrepRequest) -> Self {
        Self {
            request,
            count: 0,
            hits: Vec::new(),
        }
    }

    fn is_full(&self) -> bool {
        self.count >= self.request.per_session
    }

    /// Looks through an event's words, which stand one piece below the other.
    pub(super) fn event<'t>(
        &mut self,
        seq: u64,
        time: Timestamp,
        pieces: impl Iterator<Item = (TextKind, &'t str)>,
    ) {
        let mut line = 1;
        for (kind, text) in pieces {
            if self.is_full() {
                return;
            }
            if self.request.view.kinds().contains(&kind) {
                self.piece((seq, time, kind), line, text);
            }
            line += lines::line_breaks(text) + 1;
        }
    }

    fn piece(&mut self, (seq, time, kind): (u64, Timestamp, TextKind), first_line: u64, text: &str) {
        let wanted = self.request.per_session - self.count;
        let found = lines::find(&self.request.pattern.expression, text, wanted);
        self.count += found.len() as u64;
        let Some((before, after)) = self.request.context else {
            return;
        };
        // No line is told twice: what comes after one hit does not come before the next.
        let mut told = 0;
        for (number, place) in found.iter().enumerate() {
            let before = lines::lines_before(text, told, place.range.start, before);
            let next = found.get(number + 1).map_or(text.len(), |next| next.range.start);
            let until_next = text
                .get(..next)
                .map_or(text, |text| text.strip_suffix('\n').unwrap_or(text));
            let after = lines::lines_after(until_next, place.range.end, after);
            told = place.range.end + 1 + after.iter().map(|line| line.len() + 1).sum::<usize>();
            let start = place.range.start;
            let length = place.range.len();
            let within = |at: usize| at.saturating_sub(start).min(length);
            self.hits.push(GrepHit {
                seq,
                time,
                kind,
                line: first_line + place.line,
                text: text.get(place.range.clone()).unwrap_or_default().to_owned(),
                matches: place
                    .matches
                    .iter()
                    .map(|matched| within(matched.start)..within(matched.end))
                    .collect(),
                before: before.into_iter().map(str::to_owned).collect(),
                after: after.into_iter().map(str::to_owned).collect(),
            });
        }
    }
}

/// Looks through one file.
pub(super) struct Looking<'a> {
    search: &'a Search<'a>,
    file: &'a SourceFile,
    /// Words of the reader's own, see [`RawWords`].
    added: &'static [&'static str],
    tally: Tally<'a>,
    /// Whether the record that is being read may hold a match.
    may_match: bool,
    found: Vec<SessionHits>,
}

impl<'a> Looking<'a> {
    pub(super) fn new(search: &'a Search<'a>, file: &'a SourceFile, raw: RawWords) -> Self {
        Self {
            search,
            file,
            added: raw.added,
            may_match: true,
            tally: Tally::new(search.request),
            found: Vec::new(),
        }
    }

    /// The sessions with hits.
    pub(super) fn finish(self) -> Vec<SessionHits> {
        self.found
    }

    fn title_of(&self, session: &ReadSession) -> Option<String> {
        let key = (self.file.agent.clone(), session.header.id.clone());
        let own = || Some(session.facts.title.as_ref()?.text.clone());
        self.search.titles().get(&key).cloned().or_else(own)
    }
}

impl EventSink for Looking<'_> {
    fn begin(&mut self, _: &str, _: bool) -> Result<(), SinkClosed> {
        self.tally = Tally::new(self.search.request);
        Ok(())
    }

    fn tool_text_wanted(&self) -> usize {
        // Of a session that has all hits that are wanted, only its facts are of use.
        if self.tally.is_full() || !self.may_match {
            0
        } else {
            usize::MAX
        }
    }

    fn record(&mut self, bytes: &[u8]) {
        // Most of a file with hits is tool output without any, and need not be decoded.
        self.may_match = self
            .search
            .request
            .pattern
            .needed
            .stands_in_record(self.added, bytes);
    }

    fn has_enough(&self) -> bool {
        // A session's folder and end must be known where they decide; its title is as good as it is so far.
        let filter = &self.search.request.filter;
        self.tally.is_full() && filter.since.is_none() && filter.paths.is_empty()
    }

    fn event(&mut self, event: Event) -> Result<(), SinkClosed> {
        if self.search.is_stopped() {
            return Err(SinkClosed);
        }
        if !self.tally.is_full() {
            let pieces = text::pieces(&event);
            let pieces = pieces.iter().map(|piece| (piece.kind, &*piece.text));
            self.tally.event(event.seq, event.time, pieces);
        }
        Ok(())
    }

    fn end(&mut self, session: ReadSession) -> Result<(), SinkClosed> {
        let tally = std::mem::replace(&mut self.tally, Tally::new(self.search.request));
        let (filter, scope) = (&self.search.request.filter, &self.search.scope);
        let cwd = session.header.cwd.as_deref();
        if tally.count == 0 || !filter.takes(scope, &self.file.agent, cwd, &session.facts) {
            return Ok(());
        }
        self.found.push(SessionHits {
            agent: self.file.agent.clone(),
            title: self.title_of(&session),
            session_id: session.header.id,
            cwd: session.header.cwd,
            path: self.file.path.clone(),
            from_archive: false,
            count: tally.count,
            hits: tally.hits,
        });
        Ok(())
    }

    fn title(&mut self, _: SideTitle) {}
}

/// Adds the titles of a side file. One that cannot be read leaves sessions with the titles they have.
pub(super) fn titles_of(source: &dyn SessionSource, file: &SourceFile, titles: &mut Titles) {
    struct Kept<'a>(&'a mut Titles);
    impl EventSink for Kept<'_> {
        fn begin(&mut self, _: &str, _: bool) -> Result<(), SinkClosed> {
            Ok(())
        }
        fn event(&mut self, _: Event) -> Result<(), SinkClosed> {
            Ok(())
        }
        fn end(&mut self, _: ReadSession) -> Result<(), SinkClosed> {
            Ok(())
        }
        fn title(&mut self, title: SideTitle) {
            let SideTitle {
                agent,
                session_id,
                title,
            } = title;
            if title.trim().is_empty() {
                self.0.remove(&(agent, session_id));
            } else {
                self.0.insert((agent, session_id), title);
            }
        }
    }
    let mut kept = Kept(titles);
    let _ = catch_unwind(AssertUnwindSafe(|| source.read(file, None, &mut kept)));
}
