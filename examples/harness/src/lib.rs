//! A harness that runs agents and remembers: what an embedder of lookback writes, and no more.
//!
//! [`Harness::open`] puts the parts together: an event log that keeps what happens, a registry of sessions that run,
//! an index that finds words, and the service over all three. [`Harness::ask`] is a turn of an agent that looks into
//! its history before it answers. The agent itself is a stand-in: it repeats what it found.

use lookback_engine::event_log::{EventLog, Fsync, LogRecorder};
use lookback_engine::session_query::{
    LiveSession, LiveSessions, Mounted, NewEvent, Registration, SessionQuery, SessionQueryConfig,
};
use lookback_index::{Index, IndexProvider, Options};
use lookback_model::event::{EventData, Message, SurfaceOp, TurnEnd, TurnEndReason};
use lookback_model::session_query::{AbortSignal, SessionSearchRequest};
use lookback_model::{SessionHeader, Timestamp};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Whatever went wrong; a harness tells it to its person.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Runs sessions, keeps them, and finds what was said in them.
pub struct Harness {
    service: SessionQuery,
    clock: fn() -> Timestamp,
    /// As long as these are held, the log is read and the index is asked.
    _mounted: Mounted,
    _provider: Registration,
}

impl Harness {
    /// A harness that keeps everything in `folder`.
    ///
    /// # Errors
    /// When the folder cannot be written, or a newer lookback wrote it.
    pub fn open(folder: &Path, clock: fn() -> Timestamp) -> Result<Self, Failure> {
        // What happens is on the disk within a second, and survives the end of the process at once.
        let log = Arc::new(EventLog::open(
            folder.join("sessions"),
            Fsync::Every(Duration::from_secs(1)),
        )?);
        let live = LiveSessions::recorded_by(Arc::new(LogRecorder::new(Arc::clone(&log))));
        let service = SessionQuery::new(SessionQueryConfig::default(), live)?;
        let index = Index::open(&folder.join("index"), Options::default())?;
        let provider = service.register_search_provider(Arc::new(IndexProvider::new(Arc::new(index))))?;
        let mounted = service.mount(log);
        Ok(Self {
            service,
            clock,
            _mounted: mounted,
            _provider: provider,
        })
    }

    /// Everything that can be asked of sessions.
    pub fn sessions(&self) -> &SessionQuery {
        &self.service
    }

    /// Begins a session.
    ///
    /// # Errors
    /// When there is one of this id, or it cannot be kept.
    pub fn begin(&self, id: &str) -> Result<LiveSession, Failure> {
        let header = SessionHeader::new(id, (self.clock)());
        Ok(self.service.live().create(header, Vec::new())?)
    }

    /// A turn: the person says something, the agent looks whether it was spoken of before, and answers.
    ///
    /// # Errors
    /// When the session has ended, or the history cannot be searched.
    pub fn ask(&self, session: &LiveSession, prompt: &str) -> Result<String, Failure> {
        // Asked before the prompt is in the log, which would find itself.
        let recalled = self.recall(prompt)?;
        let answer = match recalled {
            Some((id, words)) => format!("We spoke of that in {id}: {words}"),
            None => "That is new to me.".to_owned(),
        };
        let now = (self.clock)();
        let completed = TurnEnd {
            turn: None,
            reason: TurnEndReason {
                kind: "completed".to_owned(),
                ..TurnEndReason::default()
            },
        };
        session.append_all(vec![
            NewEvent::new(now, EventData::UserMessage(Message::text(prompt))),
            NewEvent::new(now, EventData::AssistantMessage(Message::text(answer.as_str()))),
            NewEvent::new(now, EventData::TurnEnd(completed)),
        ])?;
        Ok(answer)
    }

    /// The session that speaks most of something, and its words.
    ///
    /// # Errors
    /// When the history cannot be searched.
    pub fn recall(&self, words: &str) -> Result<Option<(String, String)>, Failure> {
        let request = SessionSearchRequest {
            query: words.to_owned(),
            limit: Some(1.0),
            ..SessionSearchRequest::default()
        };
        // Whoever may interrupt the agent keeps a clone of the signal.
        let page = self.service.search_sessions(&request, &AbortSignal::new())?;
        let best = page.items.into_iter().next();
        Ok(best.map(|hit| (hit.session.header.id, hit.best_match.snippet)))
    }

    /// Replaces all that was said so far by a summary. The log keeps it: it is shadowed, and still found.
    ///
    /// # Errors
    /// When the session has ended.
    pub fn compact(&self, session: &LiveSession, summary: &str) -> Result<(), Failure> {
        let events = self.service.list_events(session.id())?;
        let current = events
            .iter()
            .filter(|event| event.surface == lookback_model::SurfaceState::Current);
        let seqs: Vec<u64> = current.map(|event| event.seq).collect();
        let (Some(&start), Some(&end)) = (seqs.first(), seqs.last()) else {
            return Ok(());
        };
        let message = Message::text(summary).from_source("compaction");
        session.append(NewEvent {
            surface_op: Some(SurfaceOp::Replace { start, end }),
            source_event_seqs: Some(seqs),
            ..NewEvent::new((self.clock)(), EventData::UserMessage(message))
        })?;
        Ok(())
    }
}
