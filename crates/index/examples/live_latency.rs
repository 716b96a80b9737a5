//! How long a live session takes to be fed and found while it grows, beside an index and other live sessions.
//!
//! `cargo run --release -p lookback-index --example live_latency -- [DATA_DIR] [EVENTS]`: a data folder that
//! `lookback index` wrote, or an empty one, and how many events each of eight live sessions begins with.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints, and stops at the first failure"
)]

use lookback_index::{Index, IndexProvider, Options};
use lookback_model::session_query::{
    AbortSignal, EventDocument, SearchProvider, SessionEventSearchSpec, SessionSearchSpec, SessionSnapshot,
};
use lookback_model::{SessionHeader, TextKind, Timestamp};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SESSIONS: usize = 8;
const STEPS: usize = 200;

fn document(session: usize, seq: usize) -> Arc<EventDocument> {
    let words = [
        "retry", "quokka", "index", "pool", "timeout", "commit", "parser", "socket",
    ];
    let chosen = (0..60).filter_map(|at| words.get((seq * 7 + at * at + session) % words.len()));
    let text = chosen.copied().collect::<Vec<_>>().join(" ");
    Arc::new(EventDocument {
        seq: seq as u64,
        time: Timestamp(seq as i64),
        type_name: "user/message".into(),
        has_marker: true,
        copy_key: 0,
        pieces: vec![(TextKind::User, format!("{text} number{session}x{seq}"))],
    })
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn session(session: usize, events: usize) -> SessionSnapshot {
    SessionSnapshot {
        header: SessionHeader::new(format!("live-{session}"), Timestamp(0)),
        agent: String::new(),
        live: true,
        persisted: false,
        fingerprint: String::new(),
        revision: None,
        extractors: String::new(),
        events: events as u64,
        documents: (0..events).map(|seq| document(session, seq)).collect(),
        shadowed: Vec::new(),
    }
}

fn over_all(query: String) -> SessionSearchSpec {
    SessionSearchSpec {
        query,
        session_filters: Vec::new(),
        event_filters: Vec::new(),
        limit: 20,
        cursor: None,
    }
}

#[derive(Default)]
struct Times {
    unchanged: Vec<Duration>,
    grown: Vec<Duration>,
    in_session: Vec<Duration>,
    over_all: Vec<Duration>,
    again: Vec<Duration>,
}

/// One more event: fed, found in its session, found among all.
fn step(provider: &IndexProvider, snapshot: &mut SessionSnapshot, session: usize, times: &mut Times) {
    let abort = AbortSignal::new();
    let timed = |times: &mut Vec<Duration>, run: &mut dyn FnMut()| {
        let begun = Instant::now();
        run();
        times.push(begun.elapsed());
    };
    timed(&mut times.unchanged, &mut || {
        provider.replace_live(snapshot).unwrap()
    });
    let seq = snapshot.documents.len();
    snapshot.documents.push(document(session, seq));
    timed(&mut times.grown, &mut || provider.replace_live(snapshot).unwrap());
    let spec = SessionEventSearchSpec {
        session_id: snapshot.header.id.clone(),
        query: format!("number{session}x{seq}"),
        filters: Vec::new(),
        limit: 20,
        cursor: None,
    };
    timed(&mut times.in_session, &mut || {
        let page = provider.search_events(&spec, &abort).unwrap();
        assert!(page.items.iter().any(|hit| hit.event.seq == seq as u64));
    });
    let spec = over_all(format!("quokka number{session}x{seq}"));
    for times in [&mut times.over_all, &mut times.again] {
        timed(times, &mut || {
            assert!(!provider.search_sessions(&spec, &abort).unwrap().items.is_empty());
        });
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments
        .next()
        .map_or_else(|| std::env::temp_dir().join("live-latency"), PathBuf::from);
    let events: usize = arguments.next().map_or(2_000, |count| count.parse().unwrap());
    let index = Arc::new(Index::open(&folder, Options::default()).unwrap());
    let provider = IndexProvider::new(index);
    provider.set_persisted_active(true).unwrap();
    let mut snapshots: Vec<_> = (0..SESSIONS).map(|number| session(number, events)).collect();
    let begun = Instant::now();
    for snapshot in &snapshots {
        provider.replace_live(snapshot).unwrap();
    }
    let spec = over_all("quokka number0x1".to_owned());
    provider.search_sessions(&spec, &AbortSignal::new()).unwrap();
    println!("first feed and search: {:?}", begun.elapsed());
    let mut times = Times::default();
    for number in 0..STEPS {
        if let Some(snapshot) = snapshots.get_mut(number % SESSIONS) {
            step(&provider, snapshot, number % SESSIONS, &mut times);
        }
    }
    println!("feed unchanged: {:?}", median(times.unchanged));
    println!("feed grown: {:?}", median(times.grown));
    let slowest = times.in_session.iter().max().copied().unwrap_or_default();
    println!(
        "search in the session: {:?}, at most {slowest:?}",
        median(times.in_session)
    );
    println!(
        "search everything: {:?}, again {:?}",
        median(times.over_all),
        median(times.again)
    );
}
