//! How long an append to a live session takes while eight threads search a hundred of them.
//!
//! `cargo bench -p lookback-engine --bench appending`. The first line is without searches, for comparison. An
//! append may wait for the processor as everything else may; what it must not wait for is a search, so that the
//! figures are to be read beside the time of one.

#![allow(clippy::print_stdout, reason = "its only output")]

use lookback_engine::session_query::{LiveSession, LiveSessions, NewEvent, SessionQuery, SessionQueryConfig};
use lookback_model::event::{EventData, Message};
use lookback_model::session_query::{
    AbortSignal, EventHit, EventRecord, InventoryEntry, ProviderError, ProviderStatus, SearchPage,
    SearchProvider, SessionEventSearchSpec, SessionHit, SessionRecord, SessionSearchRequest,
    SessionSearchSpec, SessionSnapshot,
};
use lookback_model::{SessionHeader, Timestamp};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const SESSIONS: usize = 100;
const APPENDS: usize = 10_000;
const SEARCHING: usize = 8;
/// Appends between two looks at how far the searches are: they all run all the time.
const BURST: usize = 20;
const WORDS: &str = "The spooler waits until its queue has room, which never happens while the lock is held. Let me \
    look at how often we retry, and whether the second ticket is printed at all.";

fn main() -> Result<(), Failure> {
    // Tests of all targets start this as well, without the word that `cargo bench` passes.
    if !std::env::args().any(|word| word == "--bench") {
        return Ok(());
    }
    println!("| threads that search | appends | p50 | p99 | longest | searches | p50 of a search |");
    println!("|---|---|---|---|---|---|---|");
    for searching in [0, SEARCHING] {
        measure(searching)?;
    }
    Ok(())
}

fn measure(searching: usize) -> Result<(), Failure> {
    let live = LiveSessions::new();
    let query = SessionQuery::new(SessionQueryConfig::default(), live.clone())?;
    let _registered = query.register_search_provider(Arc::new(Scan::default()))?;
    let sessions: Result<Vec<LiveSession>, _> = (0..SESSIONS)
        .map(|at| live.create(SessionHeader::new(format!("s{at:03}"), Timestamp(0)), Vec::new()))
        .collect();
    let sessions = sessions?;
    let progress = Progress::default();
    let (mut appends, mut searches) = thread::scope(|scope| {
        let searchers: Vec<_> = (0..searching)
            .map(|_| scope.spawn(|| search_until(&progress, &query)))
            .collect();
        let appends = append_to(&sessions, (searching > 0).then_some(&progress));
        progress.is_done.store(true, Ordering::SeqCst);
        let mut searches = Vec::new();
        for searcher in searchers {
            searches.extend(searcher.join().map_err(|_| "a search panicked")??);
        }
        Ok::<_, Failure>((appends?, searches))
    })?;
    let [half, most, longest] = [0.5, 0.99, 1.0].map(|part| quantile(&mut appends, part));
    let (count, search) = (searches.len(), quantile(&mut searches, 0.5));
    println!(
        "| {searching} | {APPENDS} | {half:.1} µs | {most:.1} µs | {longest:.1} µs | {count} | {search:.1} µs |"
    );
    Ok(())
}

/// Microseconds of each append, to one session after the other. A burst of them waits, unmeasured, until another
/// search has ended, so that they meet searches at all their stages.
fn append_to(sessions: &[LiveSession], progress: Option<&Progress>) -> Result<Vec<f64>, Failure> {
    let mut times = Vec::with_capacity(APPENDS);
    for (at, session) in sessions.iter().cycle().take(APPENDS).enumerate() {
        if let Some(progress) = progress.filter(|_| at % BURST == 0) {
            progress.wait_for_a_search();
        }
        let message = Message::text(format!("{WORDS} w{at}"));
        let event = NewEvent::new(Timestamp(at as i64), EventData::AssistantMessage(message));
        let began = Instant::now();
        session.append(event)?;
        times.push(microseconds(began.elapsed()));
    }
    Ok(times)
}

/// How far the searches are.
#[derive(Default)]
struct Progress {
    is_done: AtomicBool,
    searches: AtomicUsize,
}

impl Progress {
    fn wait_for_a_search(&self) {
        let before = self.searches.load(Ordering::SeqCst);
        while self.searches.load(Ordering::SeqCst) == before && !self.is_done.load(Ordering::SeqCst) {
            thread::yield_now();
        }
    }
}

/// Microseconds of each search, at least one.
fn search_until(progress: &Progress, query: &SessionQuery) -> Result<Vec<f64>, Failure> {
    let request = SessionSearchRequest {
        query: "ticket".to_owned(),
        ..SessionSearchRequest::default()
    };
    let mut times = Vec::new();
    while times.is_empty() || !progress.is_done.load(Ordering::SeqCst) {
        let began = Instant::now();
        if let Err(error) = query.search_sessions(&request, &AbortSignal::new()) {
            progress.is_done.store(true, Ordering::SeqCst);
            return Err(error.into());
        }
        times.push(microseconds(began.elapsed()));
        progress.searches.fetch_add(1, Ordering::SeqCst);
    }
    Ok(times)
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// The value that this part of them does not exceed; 0 of none.
fn quantile(times: &mut [f64], part: f64) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    let last = times.len().saturating_sub(1);
    times
        .get((last as f64 * part) as usize)
        .copied()
        .unwrap_or_default()
}

/// A provider that looks through every document it was given.
#[derive(Default)]
struct Scan {
    live: Mutex<BTreeMap<String, SessionSnapshot>>,
}

impl Scan {
    fn live(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, SessionSnapshot>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SearchProvider for Scan {
    fn id(&self) -> &str {
        "scan"
    }

    fn status(&self) -> ProviderStatus {
        ProviderStatus::Available
    }

    fn persisted_inventory(&self) -> Result<Vec<InventoryEntry>, ProviderError> {
        Ok(Vec::new())
    }

    fn replace_persisted(&self, _: &SessionSnapshot) -> Result<(), ProviderError> {
        Ok(())
    }

    fn remove_persisted(&self, _: &str) -> Result<(), ProviderError> {
        Ok(())
    }

    fn set_persisted_active(&self, _: bool) -> Result<(), ProviderError> {
        Ok(())
    }

    fn replace_live(&self, snapshot: &SessionSnapshot) -> Result<(), ProviderError> {
        self.live().insert(snapshot.header.id.clone(), snapshot.clone());
        Ok(())
    }

    fn remove_live(&self, session_id: &str) -> Result<(), ProviderError> {
        self.live().remove(session_id);
        Ok(())
    }

    fn search_sessions(
        &self,
        spec: &SessionSearchSpec,
        _: &AbortSignal,
    ) -> Result<SearchPage<SessionHit>, ProviderError> {
        let mut items = Vec::new();
        for snapshot in self.live().values() {
            let mut best = None;
            for document in &snapshot.documents {
                if document.pieces.iter().any(|(_, text)| text.contains(&spec.query)) {
                    best = Some(document);
                }
            }
            items.extend(best.map(|document| SessionHit {
                session: SessionRecord {
                    header: snapshot.header.clone(),
                    live: true,
                    persisted: false,
                },
                best_match: EventHit {
                    event: EventRecord {
                        session_id: snapshot.header.id.clone(),
                        seq: document.seq,
                        time: document.time,
                        r#type: document.type_name.clone(),
                        surface: snapshot.surface(document),
                    },
                    snippet: String::new(),
                },
            }));
        }
        items.truncate(spec.limit);
        Ok(SearchPage {
            provider_id: "scan".to_owned(),
            items,
            next_cursor: None,
        })
    }

    fn search_events(
        &self,
        _: &SessionEventSearchSpec,
        _: &AbortSignal,
    ) -> Result<SearchPage<EventHit>, ProviderError> {
        Err(ProviderError::other("sessions are searched here"))
    }
}
