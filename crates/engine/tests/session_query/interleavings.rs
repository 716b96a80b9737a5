//! Random interleavings of everything that changes a corpus, against a plain model of it: a search sees every
//! event that was appended before its call, none of a session that has ended, and no session twice.

use crate::scripted::{Fault, ScriptedPersistence, World, events_with, header, say, sessions_with, user};
use lookback_engine::session_query::Mounted;
use lookback_model::Event;
use lookback_model::session_query::{AbortSignal, SessionQueryErrorCode, SessionSearchRequest};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A word that every event has.
const ALL: &str = "all";
const SESSIONS: u8 = 4;

#[derive(Clone, Debug)]
enum Step {
    Attach(u8),
    Append(u8, u8),
    /// The log is kept as it is; what is kept is announced or not.
    Keep(u8, bool),
    Detach(u8),
    Forget(u8),
    Mount,
    Unmount,
    Search(u8),
    SearchIn(u8),
    /// A search that is aborted before it, in its feeding, or in its query.
    Abort(u8, u8),
    /// The next call of a kind fails.
    Fail(u8, u8),
    /// The provider is unregistered and comes back.
    Return,
}

fn step() -> impl Strategy<Value = Step> {
    let id = 0..SESSIONS;
    prop_oneof![
        3 => id.clone().prop_map(Step::Attach),
        6 => (id.clone(), 1u8..4).prop_map(|(id, count)| Step::Append(id, count)),
        3 => (id.clone(), any::<bool>()).prop_map(|(id, announced)| Step::Keep(id, announced)),
        2 => id.clone().prop_map(Step::Detach),
        1 => id.clone().prop_map(Step::Forget),
        2 => Just(Step::Mount),
        1 => Just(Step::Unmount),
        6 => any::<u8>().prop_map(Step::Search),
        4 => id.clone().prop_map(Step::SearchIn),
        1 => (id.clone(), 0u8..3).prop_map(|(id, when)| Step::Abort(id, when)),
        2 => (id, 0u8..8).prop_map(|(id, call)| Step::Fail(id, call)),
        1 => Just(Step::Return),
    ]
}

fn name(id: u8) -> String {
    format!("s{id}")
}

/// What the corpus is, plainly: the words of each session.
#[derive(Default)]
struct Model {
    live: BTreeMap<String, Vec<String>>,
    kept: BTreeMap<String, Vec<String>>,
    is_mounted: bool,
    words: usize,
}

impl Model {
    fn visible(&self) -> BTreeMap<&String, &Vec<String>> {
        let mut visible: BTreeMap<_, _> = self.kept.iter().filter(|_| self.is_mounted).collect();
        visible.extend(&self.live);
        visible
    }

    /// The sessions that have an event with this word.
    fn with(&self, word: &str) -> Vec<String> {
        let visible = self.visible().into_iter();
        let with = visible.filter(|(_, words)| words.iter().any(|said| said.contains(word)));
        with.map(|(id, _)| id.clone()).collect()
    }
}

/// The service and its model, side by side.
struct Both {
    world: World,
    persistence: Arc<ScriptedPersistence>,
    mounted: Option<Mounted>,
    model: Model,
    /// Faults that may still strike.
    faults: usize,
}

impl Both {
    fn new(has_revisions: bool) -> Self {
        let persistence = match has_revisions {
            true => ScriptedPersistence::with_revisions(),
            false => ScriptedPersistence::new(),
        };
        Self {
            world: World::new(),
            persistence,
            mounted: None,
            model: Model::default(),
            faults: 0,
        }
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Attach(id) => self.attach(&name(id)),
            Step::Append(id, count) => self.append(&name(id), count),
            Step::Keep(id, announced) => self.keep(&name(id), announced),
            Step::Detach(id) => {
                if let Some(session) = self.world.live.get(&name(id)) {
                    session.end();
                    self.model.live.remove(&name(id));
                }
            }
            Step::Forget(id) => {
                self.persistence.forget(&name(id));
                self.model.kept.remove(&name(id));
            }
            Step::Mount => {
                self.mounted = Some(self.world.query.mount(self.persistence.clone()));
                self.model.is_mounted = true;
            }
            Step::Unmount => {
                self.mounted = None;
                self.model.is_mounted = false;
            }
            Step::Search(pick) => self.search(pick),
            Step::SearchIn(id) => self.search_in(&name(id)),
            Step::Abort(id, when) => self.abort(&name(id), when),
            Step::Fail(id, call) => self.fail(&name(id), call),
            Step::Return => {
                self.world.registration.take().unwrap().drain().wait();
                let provider = self.world.provider.clone();
                self.world.registration = Some(self.world.query.register_search_provider(provider).unwrap());
            }
        }
    }

    /// A session goes on from what is kept of it.
    fn attach(&mut self, id: &str) {
        if self.model.live.contains_key(id) {
            return;
        }
        let seed = self.persistence.events(id).unwrap_or_default();
        self.world.live.create(header(id), seed).unwrap();
        let words = self.model.kept.get(id).cloned().unwrap_or_default();
        self.model.live.insert(id.to_owned(), words);
    }

    fn append(&mut self, id: &str, count: u8) {
        let Some(session) = self.world.live.get(id) else {
            return;
        };
        for _ in 0..count {
            let word = format!("{ALL} w{}.", self.model.words);
            self.model.words += 1;
            say(&session, &word);
            self.model.live.get_mut(id).unwrap().push(word);
        }
    }

    fn keep(&mut self, id: &str, announced: bool) {
        let Some(words) = self.model.live.get(id) else {
            return;
        };
        self.persistence.keep(header(id), log_of(words));
        self.model.kept.insert(id.to_owned(), words.clone());
        if let Some(mounted) = self.mounted.as_ref().filter(|_| announced) {
            mounted.announce(self.persistence.persisted(id));
        }
    }

    /// Calls until no fault strikes; each strikes once.
    fn until_sound<T>(
        &mut self,
        call: impl Fn(&World) -> Result<T, lookback_model::session_query::SessionQueryError>,
    ) -> Result<T, SessionQueryErrorCode> {
        loop {
            match call(&self.world).map_err(|error| error.code) {
                Err(SessionQueryErrorCode::IndexFailed | SessionQueryErrorCode::ProviderError) => {
                    assert!(self.faults > 0, "a failure without a fault");
                    self.faults -= 1;
                }
                outcome => return outcome,
            }
        }
    }

    fn search(&mut self, pick: u8) {
        let word = match self.model.words {
            0 => ALL.to_owned(),
            words => format!("w{}.", usize::from(pick) % words),
        };
        for word in [word.as_str(), ALL] {
            let page = self.until_sound(|world| world.search(word)).unwrap();
            let mut found: Vec<String> = page
                .items
                .iter()
                .map(|hit| hit.session.header.id.clone())
                .collect();
            found.sort();
            assert_eq!(found, self.model.with(word));
            for hit in &page.items {
                let id = &hit.session.header.id;
                assert_eq!(hit.session.live, self.model.live.contains_key(id));
                let is_kept = self.model.is_mounted && self.model.kept.contains_key(id);
                assert_eq!(hit.session.persisted, is_kept);
            }
        }
        let listed = self.world.query.list_sessions().unwrap().into_iter();
        let listed: BTreeSet<String> = listed.map(|record| record.header.id).collect();
        let visible: BTreeSet<String> = self.model.visible().into_keys().cloned().collect();
        assert_eq!(listed, visible);
    }

    fn search_in(&mut self, id: &str) {
        let request = events_with(id, ALL);
        let page = self.until_sound(|world| world.query.search_events(&request, &AbortSignal::new()));
        match self.model.visible().get(&id.to_owned()) {
            None => assert_eq!(page.unwrap_err(), SessionQueryErrorCode::SessionNotFound),
            Some(words) => {
                let page = page.unwrap();
                let found: Vec<String> = page.items.iter().map(|hit| hit.snippet.clone()).collect();
                // A page has 20 hits when nobody says otherwise.
                let first: Vec<String> = words.iter().take(20).cloned().collect();
                assert_eq!(found, first);
            }
        }
    }

    fn abort(&mut self, id: &str, when: u8) {
        let signal = AbortSignal::new();
        match when {
            0 => signal.abort(),
            1 => {
                self.world
                    .provider
                    .fail(&format!("live {id}"), Fault::Abort(signal.clone()));
                // Should that call not come, the query will.
                self.world.provider.fail("query", Fault::Abort(signal.clone()));
            }
            _ => self.world.provider.fail("query", Fault::Abort(signal.clone())),
        }
        let request = sessions_with(ALL);
        let outcome = self.until_sound(|world| world.query.search_sessions(&request, &signal));
        assert_eq!(outcome.unwrap_err(), SessionQueryErrorCode::Aborted);
    }

    fn fail(&mut self, id: &str, call: u8) {
        let call = match call {
            0 => "inventory".to_owned(),
            1 => "activate".to_owned(),
            2 => "deactivate".to_owned(),
            3 => format!("replace {id}"),
            4 => format!("remove {id}"),
            5 => format!("live {id}"),
            6 => format!("unlive {id}"),
            _ => "query".to_owned(),
        };
        let fault = if self.faults.is_multiple_of(2) {
            Fault::Own("scripted")
        } else {
            Fault::Panic
        };
        self.world.provider.fail(&call, fault);
        self.faults += 1;
    }
}

fn log_of(words: &[String]) -> Vec<Event> {
    crate::scripted::log(words.iter().map(|word| user(word)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Property: whatever happened before, a search answers as the model does; failures and aborts cost the
    /// searches they strike and nothing else.
    #[test]
    fn every_search_answers_as_the_model_does(
        steps in prop::collection::vec(step(), 1..60),
        has_revisions in any::<bool>(),
    ) {
        let mut both = Both::new(has_revisions);
        for step in &steps {
            both.take(step);
        }
        both.search(0);
    }
}

/// What is known of a session that another thread changes.
#[derive(Clone, Default)]
struct Known {
    /// Words that have been appended.
    appended: Vec<String>,
    /// It may have ended.
    is_ending: bool,
    has_ended: bool,
    /// Its whole log is kept.
    is_kept: bool,
}

type Shared = Mutex<BTreeMap<String, Known>>;

/// One life of a session after the other, each kept at its end or not.
fn live_through(
    world: &World,
    persistence: &ScriptedPersistence,
    shared: &Shared,
    thread: usize,
    plan: &[(u8, bool)],
) {
    for (life, &(events, kept)) in plan.iter().enumerate() {
        let id = format!("t{thread}l{life}");
        let session = world.live.create(header(&id), Vec::new()).unwrap();
        let note = |note: &dyn Fn(&mut Known)| note(shared.lock().unwrap().entry(id.clone()).or_default());
        let mut words = Vec::new();
        for event in 0..events {
            let word = format!("{ALL} {id}e{event}.");
            say(&session, &word);
            words.push(word);
            note(&|known| known.appended.clone_from(&words));
        }
        if kept {
            persistence.keep(header(&id), log_of(&words));
            note(&|known| known.is_kept = true);
        }
        note(&|known| known.is_ending = true);
        session.end();
        note(&|known| known.has_ended = true);
    }
}

/// Searches, and compares with what was known before the call and after it.
fn check_a_search(world: &World, shared: &Shared) {
    let before = shared.lock().unwrap().clone();
    let request = SessionSearchRequest {
        limit: Some(100.0),
        ..sessions_with(ALL)
    };
    let page = world
        .query
        .search_sessions(&request, &AbortSignal::new())
        .unwrap();
    let after = shared.lock().unwrap().clone();
    let found: Vec<&String> = page.items.iter().map(|hit| &hit.session.header.id).collect();
    let distinct: BTreeSet<&String> = found.iter().copied().collect();
    assert_eq!(distinct.len(), found.len(), "a session twice");
    for (id, known) in &before {
        let is_gone = known.has_ended && !known.is_kept;
        assert!(!(is_gone && distinct.contains(id)), "{id} had ended");
        let must_be_found = !known.appended.is_empty() && (known.is_kept || !after[id].is_ending);
        assert!(!must_be_found || distinct.contains(id), "{id} is missing");
    }
    let Some((id, known)) = before.iter().find(|(_, known)| !known.has_ended) else {
        return;
    };
    let events = lookback_model::session_query::SessionEventSearchRequest {
        limit: Some(100.0),
        ..events_with(id, ALL)
    };
    match world.query.search_events(&events, &AbortSignal::new()) {
        Ok(page) => {
            let seqs: Vec<u64> = page.items.iter().map(|hit| hit.event.seq).collect();
            assert_eq!(seqs, (0..seqs.len() as u64).collect::<Vec<_>>());
            assert!(seqs.len() >= known.appended.len(), "an event is missing");
        }
        Err(error) => {
            assert_eq!(error.code, SessionQueryErrorCode::SessionNotFound);
            let now = &shared.lock().unwrap()[id];
            assert!(now.is_ending && !known.is_kept);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

    /// Property: the same while sessions live, grow, are kept and end on other threads than those that search.
    #[test]
    fn searches_on_other_threads_see_what_was_before_them(
        plans in prop::collection::vec(prop::collection::vec((0u8..6, any::<bool>()), 1..8), 1..4),
        has_revisions in any::<bool>(),
    ) {
        let both = Both::new(has_revisions);
        let (world, persistence) = (&both.world, &both.persistence);
        let _mounted = world.query.mount(persistence.clone());
        let (shared, running) = (Shared::default(), AtomicUsize::new(plans.len()));
        thread::scope(|scope| {
            for (at, plan) in plans.iter().enumerate() {
                let (shared, running) = (&shared, &running);
                scope.spawn(move || {
                    let _counted = Counted(running);
                    live_through(world, persistence, shared, at, plan);
                });
            }
            for _ in 0..2 {
                scope.spawn(|| {
                    while running.load(Ordering::SeqCst) > 0 {
                        check_a_search(world, &shared);
                    }
                });
            }
        });
        check_a_search(world, &shared);
    }
}

/// Counts a thread down when it ends, in whatever way.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
