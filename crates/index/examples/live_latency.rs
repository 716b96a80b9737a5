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

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments
        .next()
        .map_or_else(|| std::env::temp_dir().join("live-latency"), PathBuf::from);
    let events: usize = arguments.next().map_or(2_000, |count| count.parse().unwrap());
    let index = Arc::new(Index::open(&folder, Options::default()).unwrap());
    let provider = IndexProvider::new(index);
    provider.set_persisted_active(true).unwrap();
    let mut snapshots: Vec<SessionSnapshot> = (0..SESSIONS)
        .map(|session| SessionSnapshot {
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
        })
        .collect();
    let abort = AbortSignal::new();
    let mut sessions_spec = SessionSearchSpec {
        query: String::new(),
        session_filters: Vec::new(),
        event_filters: Vec::new(),
        limit: 20,
        cursor: None,
    };
    let mut first = Vec::new();
    let begun = Instant::now();
    for snapshot in &snapshots {
        provider.replace_live(snapshot).unwrap();
    }
    sessions_spec.query = "quokka number0x1".into();
    provider.search_sessions(&sessions_spec, &abort).unwrap();
    println!("first feed and search: {:?}", begun.elapsed());
    let (mut again, mut grown, mut in_session, mut over_all) = (vec![], vec![], vec![], vec![]);
    for step in 0..STEPS {
        let (Some(snapshot), session) = (snapshots.get_mut(step % SESSIONS), step % SESSIONS) else {
            return;
        };
        let timed = |times: &mut Vec<Duration>, run: &mut dyn FnMut()| {
            let begun = Instant::now();
            run();
            times.push(begun.elapsed());
        };
        timed(&mut again, &mut || provider.replace_live(snapshot).unwrap());
        let seq = snapshot.documents.len();
        snapshot.documents.push(document(session, seq));
        timed(&mut grown, &mut || provider.replace_live(snapshot).unwrap());
        let spec = SessionEventSearchSpec {
            session_id: snapshot.header.id.clone(),
            query: format!("number{session}x{seq}"),
            filters: Vec::new(),
            limit: 20,
            cursor: None,
        };
        timed(&mut in_session, &mut || {
            let page = provider.search_events(&spec, &abort).unwrap();
            assert_eq!(page.items.first().map(|hit| hit.event.seq), Some(seq as u64));
        });
        sessions_spec.query = format!("quokka number{session}x{seq}");
        timed(&mut over_all, &mut || {
            let page = provider.search_sessions(&sessions_spec, &abort).unwrap();
            assert!(!page.items.is_empty());
        });
        timed(&mut first, &mut || {
            provider.search_sessions(&sessions_spec, &abort).unwrap();
        });
    }
    println!("feed unchanged: {:?}", median(again));
    println!("feed grown: {:?}", median(grown));
    let slowest = in_session.iter().max().copied().unwrap_or_default();
    println!(
        "search what is new in the session: {:?}, at most {slowest:?}",
        median(in_session)
    );
    println!(
        "search everything: {:?}, again: {:?}",
        median(over_all),
        median(first)
    );
}
