//! Properties of a pass: reading a corpus as it grows equals reading it at its end; an unchanged corpus
//! costs no write; nothing is lost or doubled when files are replaced, fail, move or vanish.

#![allow(
    clippy::unwrap_used,
    reason = "a test binary; its functions that are no tests count otherwise"
)]

mod support;

use lookback_engine::{Engine, EngineError, Phase, ReconcileOptions};
use lookback_model::hit::Presence;
use lookback_model::source::IssueCode;
use lookback_testkit::memory::Memory;
use proptest::prelude::*;
use std::fs;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use support::{Fault, World};

/// One change to a corpus of few files.
#[derive(Clone, Debug)]
enum Change {
    Append(u8, String),
    Session(u8),
    Rewrite(u8, String),
    Move(u8, u8),
    Title(u8, String),
    Fault(u8, Option<Fault>),
}

fn file(at: u8) -> String {
    format!("one/f{at}.log")
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        Just(Fault::Stale),
        (0usize..3).prop_map(|after| Fault::Io(after, ErrorKind::Other)),
        (0usize..3).prop_map(|after| Fault::Io(after, ErrorKind::PermissionDenied)),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    let at = 0u8..4;
    prop_oneof![
        4 => (at.clone(), "[a-c]{1,3}( [a-c]{1,3})?\n?").prop_map(|(at, text)| Change::Append(at, text)),
        1 => at.clone().prop_map(Change::Session),
        1 => (at.clone(), "[a-c]{1,3}\n([a-c]{1,3}\n)?").prop_map(|(at, text)| Change::Rewrite(at, text)),
        1 => (at.clone(), at.clone()).prop_map(|(from, to)| Change::Move(from, to)),
        1 => (at.clone(), "[a-c]{0,3}").prop_map(|(at, title)| Change::Title(at, title)),
        1 => (at, prop::option::of(fault())).prop_map(|(at, fault)| Change::Fault(at, fault)),
    ]
}

fn apply(world: &World, change: &Change, count: usize) {
    match change {
        Change::Append(at, text) if world.path(&file(*at)).exists() => world.append(&file(*at), text),
        Change::Append(at, text) => world.write(&file(*at), &format!("@s{at}\n{text}")),
        Change::Session(at) if world.path(&file(*at)).exists() => {
            world.append(&file(*at), &format!("\n@n{count}\n"))
        }
        Change::Rewrite(at, text) => world.write(&file(*at), &format!("@r{count}\n{text}")),
        Change::Move(from, to) if world.path(&file(*from)).exists() => {
            fs::create_dir_all(world.path(&format!("two/m{count}"))).unwrap();
            fs::rename(
                world.path(&file(*from)),
                world.path(&format!("two/m{count}/f{to}.log")),
            )
            .unwrap();
        }
        Change::Title(at, title) => world.append("one/x.titles", &format!("s{at}={title}\n")),
        Change::Fault(at, fault) => world.fault(&format!("f{at}.log"), *fault),
        Change::Session(_) | Change::Move(..) => {}
    }
}

proptest! {
    #[test]
    fn reading_as_it_grows_equals_reading_at_the_end(
        passes in prop::collection::vec(prop::collection::vec(change(), 0..6), 1..6),
        workers in 1usize..4,
    ) {
        let mut world = World::with_workers(workers);
        world.engine = support::engine(world.home.path(), world.source, &world.memory, workers)
            .commit_after(Duration::from_micros(50));
        let mut count = 0;
        for changes in &passes {
            for change in changes {
                apply(&world, change, count);
                count += 1;
            }
            let result = world.pass();
            prop_assert!(result.complete && !result.writer_busy);
            prop_assert_eq!(result.files_seen, result.files_unchanged + result.files_read + result.files_failed);
        }
        world.source.faults.lock().unwrap().clear();
        world.pass();
        let fresh = Memory::default();
        support::engine(world.home.path(), world.source, &fresh, 1).reconcile(ReconcileOptions::default(), &()).unwrap();
        prop_assert_eq!(world.memory.image(), fresh.image());

        let asked = world.memory.writers_asked();
        let again = world.pass();
        prop_assert_eq!(world.memory.writers_asked(), asked, "an unchanged corpus needs no writer");
        prop_assert_eq!((again.files_read, again.documents_added), (0, 0));

        let verified = world.pass_with(ReconcileOptions { verify: true, ..ReconcileOptions::default() });
        prop_assert_eq!(verified.files_read, again.files_unchanged);
        prop_assert_eq!(world.memory.image(), fresh.image());
    }
}

#[test]
fn an_unchanged_corpus_is_neither_read_nor_written() {
    let world = World::new();
    world.write("one/a.log", "@a\nfirst\n");
    world.write("one/empty.log", "");
    let first = world.pass();
    assert_eq!(
        (first.files_read, first.files_failed, first.documents_added),
        (1, 1, 1)
    );
    world.reads();
    let (asked, batches) = (world.memory.writers_asked(), world.memory.batches().len());
    let second = world.pass();
    assert_eq!(
        (second.files_unchanged, second.files_failed, second.generation),
        (1, 1, first.generation)
    );
    assert_eq!(world.reads(), []);
    assert_eq!(
        (world.memory.writers_asked(), world.memory.batches().len()),
        (asked, batches)
    );
}

#[test]
fn looking_at_nothing_for_the_first_time_is_noted_once() {
    let world = World::new();
    assert_eq!(world.engine.status().unwrap().phase, Phase::Idle);
    world.pass();
    world.pass();
    assert_eq!(world.engine.status().unwrap().phase, Phase::Current);
    assert_eq!(world.memory.batches().len(), 1);
}

#[test]
fn newest_files_are_read_first_and_grown_ones_go_on() {
    let world = World::with_workers(1);
    for name in ["b", "a", "c"] {
        world.write(&format!("one/{name}.log"), &format!("@{name}\nfirst\n"));
    }
    world.pass();
    let order = |reads: Vec<(String, bool)>| reads.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(order(world.reads()), ["c.log", "a.log", "b.log"]);
    world.append("one/b.log", "second\n");
    let grown = world.pass();
    assert_eq!(world.reads(), [("b.log".to_owned(), true)]);
    assert_eq!((grown.documents_added, grown.bytes_read), (1, 7));
    assert_eq!(world.session("b").facts.events, 2);
}

#[test]
fn sessions_that_a_later_read_does_not_mention_stay() {
    let world = World::new();
    world.write("one/a.log", "@early\nalpha\n@late\nbeta\n");
    world.pass();
    world.append("one/a.log", "gamma\n");
    world.pass();
    assert_eq!(world.reads().last().unwrap(), &("a.log".to_owned(), true));
    assert_eq!(world.search("alpha"), ["early"]);
    assert_eq!(world.search("gamma"), ["late"]);
}

#[test]
fn a_rewritten_file_leaves_no_old_document() {
    let world = World::new();
    world.write("one/a.log", "@a\nold words\nmore\n");
    world.pass();
    let before = world.session("a").ordinal;
    world.write("one/a.log", "@a\nnew\n");
    world.pass();
    assert_ne!(world.session("a").ordinal, before, "numbers are never used again");
    assert_eq!(world.search("old"), Vec::<String>::new());
    assert_eq!(
        (world.search("new"), world.memory.document_count()),
        (vec!["a".to_owned()], 1)
    );
}

#[test]
fn hits_are_never_lost_or_doubled_while_a_file_is_replaced() {
    let mut world = World::new();
    world.engine = support::engine(world.home.path(), world.source, &world.memory, 2)
        .commit_after(Duration::from_micros(20));
    let write = |round: usize| {
        for name in ["a", "b", "c"] {
            world.write(
                &format!("one/{name}.log"),
                &format!("@{name}\nanchor\n{}", "x\n".repeat(round)),
            );
        }
    };
    write(1);
    world.pass();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 2..30 {
                write(30 - round);
                world.pass_with(ReconcileOptions {
                    verify: round % 3 == 0,
                    ..ReconcileOptions::default()
                });
            }
            done.store(true, Ordering::SeqCst);
        });
        let mut looks = 0;
        while !done.load(Ordering::SeqCst) || looks == 0 {
            assert_eq!(world.search("anchor"), ["a", "b", "c"]);
            looks += 1;
        }
    });
}

#[test]
fn one_bad_file_leaves_all_others() {
    for fault in [
        Fault::Panic(1),
        Fault::Io(1, ErrorKind::Other),
        Fault::Io(0, ErrorKind::PermissionDenied),
    ] {
        let world = World::new();
        for name in ["a", "b", "c", "d"] {
            world.write(&format!("one/{name}.log"), &format!("@{name}\nword\n"));
        }
        world.fault("b.log", Some(fault));
        let result = world.pass();
        assert_eq!((result.files_read, result.files_failed), (3, 1), "{fault:?}");
        assert_eq!(result.issues.len(), 1);
        assert_eq!(world.search("word"), ["a", "c", "d"]);
        assert_eq!(world.engine.status().unwrap().phase, Phase::Degraded);
        assert_eq!(
            world.memory.document_count(),
            3,
            "what the failed read had added is taken back"
        );
    }
}

#[test]
fn a_replaced_file_that_fails_keeps_what_was_indexed() {
    let world = World::new();
    world.write("one/a.log", "@a\nkept\n");
    world.pass();
    world.write("one/a.log", "@z\nother\nthings\n");
    world.fault("a.log", Some(Fault::Io(2, ErrorKind::Other)));
    world.pass();
    assert_eq!(
        (world.search("kept"), world.search("other")),
        (vec!["a".to_owned()], vec![])
    );
    world.fault("a.log", None);
    world.pass();
    assert_eq!(
        (world.search("kept"), world.search("other")),
        (vec![], vec!["z".to_owned()])
    );
}

#[test]
fn a_tail_that_fails_half_way_is_neither_lost_nor_doubled() {
    let world = World::new();
    world.write("one/a.log", "@a\nfirst\n");
    world.pass();
    world.append("one/a.log", "second\nthird\n");
    world.fault("a.log", Some(Fault::Io(1, ErrorKind::Other)));
    world.pass();
    assert_eq!(world.search("first"), ["a"]);
    world.fault("a.log", None);
    world.reads();
    world.pass();
    assert_eq!(
        world.reads(),
        [("a.log".to_owned(), false)],
        "a failed file is read from the start"
    );
    assert_eq!(
        (world.memory.document_count(), world.session("a").facts.events),
        (3, 3)
    );
}

#[test]
fn what_the_system_refused_is_tried_every_time_and_written_once() {
    let world = World::new();
    world.write("one/a.log", "@a\nword\n");
    world.fault("a.log", Some(Fault::Io(0, ErrorKind::PermissionDenied)));
    let first = world.pass();
    assert_eq!(first.issues[0].code, IssueCode::PermissionDenied);
    world.reads();
    let second = world.pass();
    assert_eq!(
        (world.reads().len(), second.files_failed, second.generation),
        (1, 1, first.generation)
    );
    world.fault("a.log", None);
    assert_eq!(world.pass().files_read, 1);
    assert_eq!(world.search("word"), ["a"]);
}

#[test]
fn a_failure_of_another_kind_is_written() {
    let world = World::new();
    world.write("one/a.log", "stray\n");
    world.fault("a.log", Some(Fault::Io(0, ErrorKind::PermissionDenied)));
    world.pass();
    world.fault("a.log", None);
    world.pass();
    world.reads();
    world.pass();
    assert_eq!(world.reads(), [], "that it holds no session is known by now");
}

#[test]
fn what_holds_no_session_is_tried_again_only_when_it_changes() {
    let world = World::new();
    world.write("one/a.log", "stray\n");
    assert_eq!(world.pass().issues[0].code, IssueCode::NoSessionHeader);
    world.reads();
    world.pass();
    assert_eq!(world.reads(), []);
    world.append("one/a.log", "@a\nword\n");
    world.pass();
    assert_eq!(world.search("word"), ["a"]);
}

#[test]
fn a_moved_file_is_not_read_again() {
    let world = World::new();
    world.write("one/a.log", "@a\nword\n");
    world.pass();
    world.reads();
    fs::create_dir_all(world.path("two/deep")).unwrap();
    fs::rename(world.path("one/a.log"), world.path("two/deep/b.log")).unwrap();
    let result = world.pass();
    assert_eq!((world.reads(), result.files_unchanged), (vec![], 1));
    let row = world.session("a");
    assert_eq!(
        (row.path, row.presence, row.copies),
        (world.path("two/deep/b.log"), Presence::Present, 0)
    );
}

#[test]
fn a_file_that_grew_and_moved_is_read_on() {
    let world = World::new();
    world.write("one/a.log", "@a\nword\n");
    world.pass();
    world.append("one/a.log", "more\n");
    fs::create_dir_all(world.path("two")).unwrap();
    fs::rename(world.path("one/a.log"), world.path("two/b.log")).unwrap();
    assert_eq!(world.pass().documents_added, 1);
    let row = world.session("a");
    assert_eq!(
        (row.facts.events, row.presence, row.copies),
        (2, Presence::Present, 0)
    );
}

#[test]
fn an_inode_that_is_used_again_takes_no_session_away() {
    let world = World::new();
    world.write("one/a.log", "@a\nword\n");
    world.write("one/z.log", "@z\nword\n");
    world.pass();
    // The same inode with other content at another place.
    fs::rename(world.path("one/a.log"), world.path("one/b.log")).unwrap();
    world.write("one/b.log", "@b\nother\n");
    world.pass();
    assert_eq!(world.search("other"), ["b"]);
    assert_eq!(world.search("word"), ["a", "z"]);
    world.pass();
    assert_eq!(world.session("a").presence, Presence::Missing);
}

#[test]
fn a_vanished_file_stays_as_missing_and_returns() {
    let world = World::new();
    world.write("one/a.log", "@a\nword\n");
    world.write("one/b.log", "@b\nother\n");
    world.pass();
    let text = fs::read_to_string(world.path("one/a.log")).unwrap();
    fs::remove_file(world.path("one/a.log")).unwrap();
    world.pass();
    let row = world.session("a");
    assert_eq!((row.presence, row.resume), (Presence::Missing, None));
    assert_eq!(world.search("word"), ["a"]);
    let generation = world.engine.status().unwrap().counts.age.generation;
    assert_eq!(world.pass().generation, generation, "missing is said once");
    world.write("one/a.log", &text);
    world.pass();
    assert_eq!(world.session("a").presence, Presence::Present);
    assert_eq!(world.memory.document_count(), 2);
}

#[test]
fn an_emptied_root_gets_one_pass_of_grace() {
    let world = World::new();
    world.write("one/a.log", "@a\nword\n");
    world.pass();
    let away = world.path("away");
    fs::rename(world.path("one"), &away).unwrap();
    world.pass();
    assert_eq!(world.session("a").presence, Presence::Unverifiable);
    let status = world.engine.status().unwrap();
    assert_eq!((status.phase, status.degraded_roots.len()), (Phase::Degraded, 1));
    world.pass();
    assert_eq!(world.session("a").presence, Presence::Missing);
    world.reads();
    fs::rename(&away, world.path("one")).unwrap();
    world.pass();
    assert_eq!(
        (world.session("a").presence, world.reads()),
        (Presence::Present, vec![])
    );
}

#[test]
fn a_locked_folder_makes_its_sessions_unverifiable() {
    let world = World::new();
    world.write("one/x/a.log", "@a\nword\n");
    world.write("one/y/b.log", "@b\nword\n");
    world.pass();
    *world.source.hidden.lock().unwrap() = vec![world.path("one/x")];
    for _ in 0..3 {
        let result = world.pass();
        assert_eq!(result.issues[0].code, IssueCode::PermissionDenied);
        assert_eq!(world.session("a").presence, Presence::Unverifiable);
        assert_eq!(world.session("b").presence, Presence::Present);
    }
    assert_eq!(
        world.engine.status().unwrap().degraded_roots[0].0,
        world.path("one")
    );
    world.source.hidden.lock().unwrap().clear();
    world.pass();
    assert_eq!(world.session("a").presence, Presence::Present);
    assert_eq!(world.engine.status().unwrap().phase, Phase::Current);
}

#[test]
fn the_deadline_stops_taking_files_and_keeps_what_was_read() {
    let world = World::with_workers(1);
    for name in ["a", "b", "c"] {
        world.write(&format!("one/{name}.log"), &format!("@{name}\nword\n"));
    }
    let deadline = Instant::now() + Duration::from_millis(100);
    *world.source.hook.lock().unwrap() = Some(Box::new(move |_| while Instant::now() < deadline {}));
    let result = world.pass_with(ReconcileOptions {
        deadline: Some(deadline),
        ..ReconcileOptions::default()
    });
    assert!(!result.complete);
    assert_eq!(
        (result.files_read, world.search("word")),
        (1, vec!["c".to_owned()])
    );
    assert_eq!(world.engine.status().unwrap().phase, Phase::Indexing);
    assert!(world.pass().complete);
    assert_eq!(
        (world.search("word").len(), world.engine.status().unwrap().phase),
        (3, Phase::Current)
    );
}

#[test]
fn while_another_writes_nothing_is_read_and_searching_goes_on() {
    let world = World::new();
    world.write("one/a.log", "@a\nword\n");
    world.pass();
    world.append("one/a.log", "later\n");
    world.memory.hold_lock(true);
    world.reads();
    let result = world.pass();
    assert!(result.writer_busy && !result.complete);
    assert_eq!(
        (world.reads(), world.search("word")),
        (vec![], vec!["a".to_owned()])
    );
    world.memory.hold_lock(false);
    world.pass();
    assert_eq!(world.search("later"), ["a"]);
}

#[test]
fn a_store_that_fails_ends_the_pass_and_nothing_of_it_shows() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.write(&format!("one/{name}.log"), &format!("@{name}\nword\nword\n"));
    }
    world.memory.refuse_after(3);
    let result = world.engine.reconcile(ReconcileOptions::default(), &());
    assert!(matches!(result, Err(EngineError::Store(_))));
    assert_eq!(world.search("word"), Vec::<String>::new());
    world.memory.refuse_after(100);
    world.pass();
    assert_eq!(world.search("word").len(), 3);
}

#[test]
fn side_files_title_sessions_and_their_loss_changes_nothing() {
    let world = World::new();
    world.write("one/a.log", "@a\nprompt\n");
    world.write("one/x.titles", "a=Given\n");
    world.pass();
    assert_eq!(world.session("a").title, "Given");
    world.append("one/x.titles", "a=Better\n");
    world.pass();
    assert_eq!(world.session("a").title, "Better");
    fs::remove_file(world.path("one/x.titles")).unwrap();
    let generation = world.engine.status().unwrap().counts.age.generation;
    assert_eq!(world.pass().generation, generation);
    assert_eq!(world.session("a").title, "Better");
}

#[test]
fn a_file_that_grows_while_it_is_read_is_seen_by_the_next_pass() {
    let world = World::with_workers(1);
    world.write("one/a.log", "@a\nfirst\n");
    let path = world.path("one/a.log");
    let once = AtomicBool::new(true);
    *world.source.hook.lock().unwrap() = Some(Box::new(move |_| {
        if once.swap(false, Ordering::SeqCst) {
            fs::write(&path, "@a\nfirst\nsecond\n").unwrap();
        }
    }));
    world.pass();
    let next = world.pass();
    assert_eq!((next.files_read, next.documents_added), (1, 0));
    assert_eq!(
        (world.pass().files_unchanged, world.memory.document_count()),
        (1, 2)
    );
}

#[test]
fn two_files_of_one_session_are_both_read_and_shown_once() {
    let world = World::new();
    world.write("one/a.log", "@s\nword\n");
    world.write("one/b.log", "@s\nword\nlonger\n");
    assert_eq!(world.pass().files_read, 2);
    let row = world.session("s");
    assert_eq!((row.facts.events, row.copies), (2, 1));
}

#[test]
fn sessions_are_found_by_a_beginning_that_only_they_have() {
    let world = World::new();
    world.write("one/a.log", "@abc\nx\n@abd\ny\n@ab\nz\n");
    world.pass();
    assert_eq!(world.session("abc").session_id, "abc");
    assert_eq!(world.session("ab").session_id, "ab");
    let ambiguous = world.engine.session("a");
    assert!(
        matches!(ambiguous, Err(EngineError::AmbiguousSession { candidates, .. }) if candidates.len() == 3)
    );
    for id in ["zz", ""] {
        assert!(
            matches!(world.engine.session(id), Err(EngineError::NoSuchSession { .. })),
            "{id:?}"
        );
    }
}

#[test]
fn a_transcript_comes_from_its_file_and_then_from_what_was_indexed() {
    let world = World::new();
    world.write("one/a.log", "@other\nx\n@a\nfirst\nsecond\n");
    world.pass();
    let live = world.transcript("a");
    fs::remove_file(world.path("one/a.log")).unwrap();
    let before_the_next_look = world.transcript("a");
    world.pass();
    world.pass();
    let archived = world.transcript("a");
    assert_eq!((live.from_archive, archived.from_archive), (false, true));
    assert_eq!(live.events, archived.events);
    assert_eq!(before_the_next_look, archived);
    assert_eq!(
        live.events
            .iter()
            .map(|event| event.text.as_str())
            .collect::<Vec<_>>(),
        ["first", "second"]
    );
}

#[test]
fn doctor_names_what_is_not_indexed_and_why() {
    let world = World::new();
    world.write("one/a.log", "@a\nword\n");
    world.write("one/b.log", "stray\n");
    world.pass();
    world.write("one/c.log", "@c\nword\n");
    let report = world.engine.doctor().unwrap();
    let names: Vec<_> = report
        .not_indexed
        .iter()
        .map(|(file, reason)| (file.path.file_name().unwrap().to_str().unwrap(), reason.as_str()))
        .collect();
    assert_eq!(names[0], ("c.log", "not read yet"));
    assert!(names[1].0 == "b.log" && names[1].1.contains("no @"), "{names:?}");
    let agent = &report.agents[0];
    assert_eq!((agent.sessions, agent.roots.len()), (1, 2));
    assert_eq!(
        (agent.roots[0].files, agent.roots[0].exists, agent.roots[1].exists),
        (3, true, false)
    );
    assert_eq!(
        report.issues.iter().map(|issue| issue.code).collect::<Vec<_>>(),
        [IssueCode::NoSessionHeader]
    );
}

/// The engine is shared by threads of a server.
#[test]
fn the_engine_can_be_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Engine>();
}

#[test]
fn a_session_that_was_taken_out_of_a_database_stays() {
    let world = World::new();
    world.write("one/all.rows.log", "@a\nfirst words\n@b\nother words\n");
    world.pass();
    world.write("one/all.rows.log", "@b\nother words\nmore\n");
    for verify in [false, true] {
        world.pass_with(ReconcileOptions {
            verify,
            ..ReconcileOptions::default()
        });
        assert_eq!(world.search("first"), ["a"]);
        assert_eq!(world.search("words"), ["a", "b"]);
        assert_eq!(world.search("more"), ["b"]);
    }
    world.write("one/all.rows.log", "@a\nback again\n");
    world.pass();
    assert_eq!(world.search("first"), Vec::<String>::new());
    assert_eq!(world.search("back"), ["a"]);
    assert_eq!(world.search("more"), ["b"]);
}
