//! Live sessions that are recorded: what happens is kept in its order, and what is not kept is told.

use lookback_engine::event_log::{EventLog, Fsync, LogRecorder};
use lookback_engine::session_query::{LiveError, LiveRecorder, LiveSessions, NewEvent, RecordError};
use lookback_model::event::{EventData, Message};
use lookback_model::session_query::SessionPersistence;
use lookback_model::{Event, SessionHeader, Timestamp};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A recorder that writes into an event log, and fails when it is told to.
struct Failing {
    recorder: LogRecorder,
    fails: AtomicBool,
}

impl LiveRecorder for Failing {
    fn began(&self, header: &SessionHeader, seed: &[Arc<Event>]) -> Result<(), RecordError> {
        LiveRecorder::began(&self.recorder, header, seed)
    }

    fn appended(&self, session_id: &str, events: &[Arc<Event>]) -> Result<(), RecordError> {
        if self.fails.load(Ordering::SeqCst) {
            return Err("the disk is full".into());
        }
        LiveRecorder::appended(&self.recorder, session_id, events)
    }

    fn ended(&self, session_id: &str) -> Result<(), RecordError> {
        LiveRecorder::ended(&self.recorder, session_id)
    }
}

/// Property: what is appended by several threads at once stands in the event log in the order of the live log.
#[test]
fn what_happens_is_recorded_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let log = Arc::new(EventLog::open(folder.path(), Fsync::Never).unwrap());
    let live = LiveSessions::recorded_by(Arc::new(LogRecorder::new(Arc::clone(&log))));
    let session = live
        .create(SessionHeader::new("s", Timestamp(1)), Vec::new())
        .unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let session = &session;
            scope.spawn(move || {
                for number in 0..25 {
                    let said = Message::text(format!("{writer} says {number}"));
                    session
                        .append(NewEvent::new(Timestamp(2), EventData::UserMessage(said)))
                        .unwrap();
                }
            });
        }
    });
    let kept = log.inspect("s").unwrap().events;
    assert_eq!(kept.len(), 100);
    session.end().unwrap();
    let seqs: Vec<u64> = kept.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (0..100).collect::<Vec<_>>());
}

/// Property: a recorder that fails says so to whoever appends, and the event is live all the same.
#[test]
fn a_recorder_that_fails_is_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let log = Arc::new(EventLog::open(folder.path(), Fsync::EachAppend).unwrap());
    let failing = Arc::new(Failing {
        recorder: LogRecorder::new(log),
        fails: AtomicBool::new(false),
    });
    let live = LiveSessions::recorded_by(failing.clone());
    let session = live
        .create(SessionHeader::new("s", Timestamp(1)), Vec::new())
        .unwrap();
    let said = || NewEvent::new(Timestamp(2), EventData::UserMessage(Message::text("words")));
    session.append(said()).unwrap();
    failing.fails.store(true, Ordering::SeqCst);
    let error = session.append(said()).unwrap_err();
    assert_eq!(error.to_string(), "session s is not kept: the disk is full");
    assert_eq!(session.event_count(), 2);
    session.end().unwrap();
    // The log has the id already, so that another session cannot begin under it.
    let again = live.create(SessionHeader::new("s", Timestamp(1)), Vec::new());
    assert!(matches!(again, Err(LiveError::NotKept { .. })), "{again:?}");
    assert!(live.get("s").is_none());
}
