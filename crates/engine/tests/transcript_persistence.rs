//! Properties of transcripts as a persistence: a listing reads what changed and nothing else, and says what reading
//! everything would say; what cannot be read is not listed, and named; a restart loads nothing.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test binary; its functions that are no tests count otherwise"
)]

#[allow(dead_code, reason = "other test binaries use the rest of it")]
mod support;

use lookback_engine::SOURCES;
use lookback_engine::transcript_persistence::TranscriptPersistence;
use lookback_engine::{Engine, Parts, ReconcileOptions};
use lookback_model::ports::{Catalogue, SessionFilter};
use lookback_model::session_query::{
    PersistedSession, PersistenceError, SearchProvider, SessionLog, SessionPersistence, SessionSnapshot,
    canonical,
};
use lookback_model::{Environment, SessionSource, Timestamp};
use lookback_testkit::memory::Memory;
use lookback_testkit::session_query::{Calls, MemoryProvider};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use support::{Fault, World};

/// The transcripts of a world, as far as its catalogue knows them.
fn persistence(world: &World) -> TranscriptPersistence {
    over(world, &world.memory)
}

fn over(world: &World, catalogue: &Memory) -> TranscriptPersistence {
    TranscriptPersistence::new(
        Environment::at_home(world.home.path()),
        Box::leak(Box::new([world.source as &dyn SessionSource])),
        Arc::new(catalogue.clone()),
    )
}

fn ids(persistence: &TranscriptPersistence) -> Vec<String> {
    let listed = persistence.list().unwrap();
    listed.into_iter().map(|session| session.header.id).collect()
}

fn revision(persistence: &TranscriptPersistence, id: &str) -> String {
    let listed = persistence.list().unwrap();
    let session = listed.into_iter().find(|session| session.header.id == id);
    session.unwrap().revision.unwrap()
}

/// What people said in a session.
fn said(log: &SessionLog) -> Vec<String> {
    let words = |event| {
        lookback_model::text::pieces(event)
            .into_iter()
            .map(|piece| piece.text.into_owned())
    };
    log.events.iter().flat_map(words).collect()
}

/// Property: files that the catalogue knows as they are, are not read; others are read once for each change, from
/// where the last read ended.
#[test]
fn a_listing_reads_only_what_changed() {
    let world = World::new();
    world.write("one/a.log", "@a\nfirst\n");
    world.write("one/b.log", "@b\nfirst\n@c\nfirst\n");
    world.pass();
    world.reads();
    let persistence = persistence(&world);
    assert_eq!(ids(&persistence), ["a", "b", "c"]);
    assert_eq!(world.reads(), []);
    let before = (revision(&persistence, "a"), revision(&persistence, "b"));
    world.append("one/b.log", "second\n");
    assert_eq!(ids(&persistence), ["a", "b", "c"]);
    assert_eq!(world.reads(), [("b.log".to_owned(), false)]);
    assert_eq!(revision(&persistence, "a"), before.0);
    assert_ne!(revision(&persistence, "b"), before.1);
    assert_eq!(world.reads(), []);
    world.append("one/b.log", "@d\nthird\n");
    assert_eq!(ids(&persistence), ["a", "b", "c", "d"]);
    assert_eq!(world.reads(), [("b.log".to_owned(), true)]);
    world.pass();
    world.reads();
    assert_eq!(ids(&persistence), ["a", "b", "c", "d"]);
    assert_eq!(world.reads(), []);
}

/// Property: what the catalogue knows saves reads and changes nothing: with it, with an old one and without any the
/// same sessions are listed with the same headers and revisions.
#[test]
fn the_catalogue_saves_reads_and_changes_nothing() {
    let world = World::new();
    let steps: [&dyn Fn(); 8] = [
        &|| world.write("one/a.log", "@a\none\n"),
        &|| world.write("two/copy.log", "@a\none\ntwo\n@b\none\n"),
        &|| world.append("one/a.log", "two\nthree\n"),
        &|| world.write("two/copy.log", "@b\none\n"),
        &|| world.write("one/a.log", "@z\nrewritten\n"),
        &|| fs::remove_file(world.path("two/copy.log")).unwrap(),
        &|| world.write("two/back.log", "@b\none\ntwo\n"),
        &|| fs::rename(world.path("two/back.log"), world.path("one/moved.log")).unwrap(),
    ];
    let kept = persistence(&world);
    for (number, step) in steps.into_iter().enumerate() {
        step();
        let without = over(&world, &Memory::default()).list().unwrap();
        assert_eq!(
            kept.list().unwrap(),
            without,
            "step {number}, catalogue of before"
        );
        if number % 2 == 1 {
            world.pass();
            assert_eq!(kept.list().unwrap(), without, "step {number}, catalogue of now");
            assert_eq!(
                persistence(&world).list().unwrap(),
                without,
                "step {number}, restarted"
            );
        }
    }
}

/// Property: of several files with one session the fullest is listed and read; when it is gone the next one is.
#[test]
fn the_fullest_copy_stands() {
    let world = World::new();
    world.write("one/short.log", "@s\none\n");
    world.write("two/full.log", "@s\none\ntwo\n");
    world.pass();
    let persistence = persistence(&world);
    assert_eq!(said(&persistence.inspect("s").unwrap()), ["one", "two"]);
    fs::remove_file(world.path("two/full.log")).unwrap();
    assert_eq!(ids(&persistence), ["s"]);
    assert_eq!(said(&persistence.inspect("s").unwrap()), ["one"]);
    world.pass();
    assert_eq!(ids(&persistence), ["s"]);
    assert_eq!(said(&persistence.inspect("s").unwrap()), ["one"]);
}

/// Property: a session whose transcript is gone is neither listed nor read, though the index keeps it.
#[test]
fn what_is_gone_is_not_listed() {
    let world = World::new();
    world.write("one/a.log", "@a\nfirst\n");
    world.write("one/b.log", "@b\nfirst\n");
    world.pass();
    let persistence = persistence(&world);
    fs::remove_file(world.path("one/a.log")).unwrap();
    for _ in 0..2 {
        assert_eq!(ids(&persistence), ["b"]);
        assert!(matches!(
            persistence.inspect("a"),
            Err(PersistenceError::NotFound { session_id }) if session_id == "a"
        ));
        world.pass();
    }
    assert_eq!(world.search("first"), ["a", "b"]);
}

/// Property: a session that vanishes between listing and reading is not found, and breaks nothing.
#[test]
fn a_session_may_vanish_after_the_listing() {
    let world = World::new();
    world.write("one/a.log", "@a\nfirst\n");
    world.write("one/b.log", "@b\nfirst\n");
    let persistence = persistence(&world);
    assert_eq!(ids(&persistence), ["a", "b"]);
    fs::remove_file(world.path("one/a.log")).unwrap();
    world.write("one/b.log", "@other\nfirst\n");
    for id in ["a", "b"] {
        let read = persistence.inspect(id);
        assert!(matches!(read, Err(PersistenceError::NotFound { .. })), "{read:?}");
    }
}

/// Property: a file that cannot be read, or breaks its reader, costs its own sessions; it is named, and read again
/// when it can be.
#[test]
fn an_unreadable_file_costs_its_own_sessions() {
    let world = World::new();
    world.write("one/a.log", "@a\nfirst\n");
    world.write("one/b.log", "@b\nfirst\n");
    world.write("one/none.log", "no session\n");
    let persistence = persistence(&world);
    for fault in [Fault::Io(0, ErrorKind::PermissionDenied), Fault::Panic(0)] {
        world.fault("a.log", Some(fault));
        assert_eq!(ids(&persistence), ["b"]);
        let unread = persistence.unread();
        assert_eq!(unread.len(), 1, "{unread:?}");
        assert_eq!(unread[0].path, world.path("one/a.log"));
        world.fault("a.log", None);
        assert_eq!(ids(&persistence), ["a", "b"]);
        assert_eq!(persistence.unread().len(), 0);
        world.append("one/a.log", "more\n");
    }
    world.fault("a.log", Some(Fault::Io(1, ErrorKind::Other)));
    assert!(matches!(
        persistence.inspect("a"),
        Err(PersistenceError::Other(_))
    ));
}

/// Property: sessions in a folder that cannot be looked at stay listed as they were known.
#[test]
fn a_folder_that_cannot_be_looked_at_proves_nothing() {
    let world = World::new();
    world.write("one/a.log", "@a\nfirst\n");
    world.write("two/b.log", "@b\nfirst\n");
    world.pass();
    let persistence = persistence(&world);
    let before = persistence.list().unwrap();
    world.source.hidden.lock().unwrap().push(world.path("two"));
    assert_eq!(persistence.list().unwrap(), before);
    world.pass();
    assert_eq!(persistence.list().unwrap(), before);
}

/// Counts how many logs are loaded.
struct Counted<'a> {
    persistence: &'a TranscriptPersistence,
    loads: u64,
}

impl Counted<'_> {
    /// What a session query does before a search: compares the listing with the provider's inventory, loads what has
    /// another revision, and replaces what has another fingerprint.
    fn reconcile(&mut self, provider: &MemoryProvider) {
        provider.set_persisted_active(false).unwrap();
        let inventory = provider.persisted_inventory().unwrap();
        let mut left: BTreeMap<_, _> = inventory
            .into_iter()
            .map(|entry| (entry.session_id.clone(), entry))
            .collect();
        for listed in self.persistence.list().unwrap() {
            let held = left.remove(&listed.header.id);
            let is_known = |revision: &Option<String>| revision.is_some() && *revision == listed.revision;
            if held.as_ref().is_some_and(|held| is_known(&held.revision)) {
                continue;
            }
            self.loads += 1;
            let log = self.persistence.inspect(&listed.header.id).unwrap();
            let snapshot = snapshot(&listed, &log);
            if held.is_none_or(|held| held.fingerprint != snapshot.fingerprint) {
                provider.replace_persisted(&snapshot).unwrap();
            }
        }
        for id in left.keys() {
            provider.remove_persisted(id).unwrap();
        }
        provider.set_persisted_active(true).unwrap();
    }
}

fn snapshot(listed: &PersistedSession, log: &SessionLog) -> SessionSnapshot {
    let mut fingerprint = Vec::new();
    canonical::write(
        &json!({"header": log.header, "events": log.events}),
        &mut fingerprint,
    );
    SessionSnapshot {
        header: log.header.clone(),
        agent: listed.agent.clone(),
        live: false,
        persisted: true,
        fingerprint: String::from_utf8(fingerprint).unwrap(),
        revision: listed.revision.clone(),
        extractors: String::new(),
        events: log.events.len() as u64,
        documents: Vec::new(),
        shadowed: Vec::new(),
    }
}

/// The base as an index has it that was made from the catalogue's own reads: revisions, and no fingerprints.
fn base_of(world: &World, provider: &MemoryProvider) {
    let files = world.memory.files().unwrap();
    let all = SessionFilter {
        hidden: true,
        ..SessionFilter::default()
    };
    for row in world.memory.sessions(&all).unwrap() {
        let file = files.iter().find(|file| file.path == row.path).unwrap();
        let listed = PersistedSession {
            header: row.header.clone(),
            agent: row.agent,
            revision: Some(file.stamp.revision()),
        };
        let log = SessionLog {
            header: row.header,
            events: Vec::new(),
        };
        let snapshot = SessionSnapshot {
            fingerprint: String::new(),
            ..snapshot(&listed, &log)
        };
        provider.replace_persisted(&snapshot).unwrap();
    }
}

/// Property: after a restart nothing is loaded and nothing replaced; a changed file costs one load and at most one
/// replacement, none when it was only touched.
#[test]
fn a_restart_loads_and_replaces_nothing() {
    const SESSIONS: usize = 300;
    let world = World::new();
    for number in 0..SESSIONS {
        world.write(
            &format!("one/{}/s{number}.log", number % 7),
            &format!("@s{number}\nfirst of {number}\nsecond\n"),
        );
    }
    world.pass();
    world.reads();
    let provider = MemoryProvider::new("memory");
    base_of(&world, &provider);
    provider.take_calls();
    let persistence = persistence(&world);
    let mut counted = Counted {
        persistence: &persistence,
        loads: 0,
    };
    let quiet = Calls {
        inventories: 1,
        set_active: vec![false, true],
        ..Calls::default()
    };
    for _ in 0..2 {
        counted.reconcile(&provider);
        assert_eq!((counted.loads, provider.take_calls()), (0, quiet.clone()));
        assert_eq!(world.reads(), []);
    }
    assert_eq!(provider.persisted_inventory().unwrap().len(), SESSIONS);
    provider.take_calls();

    world.append("one/3/s10.log", "third\n");
    counted.reconcile(&provider);
    let replaced = Calls {
        replaced_persisted: vec!["s10".to_owned()],
        ..quiet.clone()
    };
    assert_eq!((counted.loads, provider.take_calls()), (1, replaced));
    counted.reconcile(&provider);
    assert_eq!((counted.loads, provider.take_calls()), (1, quiet.clone()));

    // The same content with another time: loaded, and found to be the same.
    world.append("one/3/s10.log", "");
    counted.reconcile(&provider);
    assert_eq!((counted.loads, provider.take_calls()), (2, quiet));
}

/// Property: in every home of the readers' corpus the catalogue changes nothing of a listing, and every listed
/// session has a log, with events numbered from 0.
#[test]
fn every_corpus_home_lists_and_reads() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../readers/tests/corpus");
    let mut sessions = 0;
    for source in SOURCES {
        for case in fs::read_dir(corpus.join(source.agent())).unwrap() {
            let home = case.unwrap().path().join("home");
            let environment = Environment::at_home(&home);
            let memory = Memory::default();
            let engine = Engine::new(Parts {
                environment: environment.clone(),
                sources: SOURCES,
                catalogue: Arc::new(memory.clone()),
                provider: Arc::new(memory.clone()),
                sink: Arc::new(memory.clone()),
                caps: Default::default(),
                workers: 1,
                clock: || Timestamp(1),
            });
            engine.reconcile(ReconcileOptions::default(), &()).unwrap();
            let without =
                TranscriptPersistence::new(environment.clone(), SOURCES, Arc::new(Memory::default()));
            let with = TranscriptPersistence::new(environment, SOURCES, Arc::new(memory));
            let listed = without.list().unwrap();
            assert_eq!(with.list().unwrap(), listed, "{}", home.display());
            for session in listed {
                let log = with.inspect(&session.header.id).unwrap();
                assert!((0..).zip(&log.events).all(|(seq, event)| event.seq == seq));
                sessions += 1;
            }
        }
    }
    assert!(sessions > 60, "only {sessions} sessions were seen");
}
