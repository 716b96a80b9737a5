//! The index as a provider of session queries. What any provider must do is held against it elsewhere; here is
//! what this one promises besides: one feed with the index of the vault, and one search over disk and memory.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod support;

use lookback_index::{Index, IndexProvider, Options, WriterBusy};
use lookback_model::document::TextCaps;
use lookback_model::hit::Presence;
use lookback_model::ports::{Batch, Catalogue, FileState, IndexSink, SessionFilter};
use lookback_model::session_query::filter::{filter_event_results, filter_session_results};
use lookback_model::session_query::{
    AbortSignal, Availability, EventDocument, EventHit, EventRecord, EventResultFilter, InventoryEntry,
    ProviderError, SearchProvider, SessionEventSearchSpec, SessionHit, SessionQueryErrorCode, SessionRecord,
    SessionResultFilter, SessionSearchSpec, SessionSnapshot,
};
use lookback_model::source::FileRole;
use lookback_model::{SessionHeader, SurfaceState, TextKind, Timestamp};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use support::{Told, Vault, commit};

/// A provider over a folder, as another process would open it.
fn provider(folder: &Path) -> IndexProvider {
    let index = Index::open(folder, Options::default()).unwrap();
    IndexProvider::new(Arc::new(index)).with_patience(Duration::ZERO)
}

fn document(seq: u64, kind: TextKind, text: &str) -> EventDocument {
    let (type_name, has_marker) = lookback_model::ports::StoredText::usual_event(kind);
    EventDocument {
        seq,
        time: Timestamp(seq as i64 * 60_000),
        type_name: type_name.into_owned(),
        has_marker,
        copy_key: 0,
        pieces: vec![(kind, text.to_owned())],
    }
}

/// A session of the base.
fn session(id: &str, said: &[(TextKind, &str)]) -> SessionSnapshot {
    let documents = (0..)
        .zip(said)
        .map(|(seq, (kind, text))| document(seq, *kind, text));
    SessionSnapshot {
        header: SessionHeader::new(id, Timestamp(0)),
        agent: "claude".into(),
        live: false,
        persisted: true,
        fingerprint: format!("of {id}"),
        revision: Some("7-7-7".into()),
        extractors: String::new(),
        events: said.len() as u64,
        documents: documents.map(Arc::new).collect(),
        shadowed: Vec::new(),
    }
}

fn prompts(id: &str, said: &[&str]) -> SessionSnapshot {
    let said: Vec<_> = said.iter().map(|text| (TextKind::User, *text)).collect();
    session(id, &said)
}

/// The same session as one that is live.
fn live(snapshot: &SessionSnapshot) -> SessionSnapshot {
    SessionSnapshot {
        live: true,
        fingerprint: String::new(),
        revision: None,
        ..snapshot.clone()
    }
}

fn over_all(query: &str) -> SessionSearchSpec {
    SessionSearchSpec {
        query: query.into(),
        session_filters: Vec::new(),
        event_filters: Vec::new(),
        limit: 100,
        cursor: None,
    }
}

fn over_events(id: &str, query: &str) -> SessionEventSearchSpec {
    SessionEventSearchSpec {
        session_id: id.into(),
        query: query.into(),
        filters: Vec::new(),
        limit: 100,
        cursor: None,
    }
}

fn hits(provider: &IndexProvider, spec: &SessionSearchSpec) -> Vec<SessionHit> {
    provider.search_sessions(spec, &AbortSignal::new()).unwrap().items
}

fn events(provider: &IndexProvider, spec: &SessionEventSearchSpec) -> Vec<EventHit> {
    provider.search_events(spec, &AbortSignal::new()).unwrap().items
}

fn found(provider: &IndexProvider, query: &str) -> Vec<String> {
    let hits = hits(provider, &over_all(query)).into_iter();
    let mut ids: Vec<_> = hits.map(|hit| hit.session.header.id).collect();
    ids.sort();
    ids
}

fn feed(provider: &IndexProvider, snapshots: &[SessionSnapshot]) {
    provider.set_persisted_active(false).unwrap();
    snapshots
        .iter()
        .for_each(|snapshot| provider.replace_persisted(snapshot).unwrap());
    provider.set_persisted_active(true).unwrap();
}

fn inventory(provider: &IndexProvider) -> Vec<InventoryEntry> {
    let mut inventory = provider.persisted_inventory().unwrap();
    inventory.sort_by(|one, other| one.session_id.cmp(&other.session_id));
    inventory
}

/// Property: what an ingest read is in the base, with the revision of its file and no fingerprint, and its hits
/// have types and states.
#[test]
fn what_was_ingested_is_in_the_base() {
    let vault = Vault::new();
    let writer = vault.writer();
    let mut told = Told::new("/root/a", "a", 5, &["first words", "the quokka"]);
    told.events.push(vec![(TextKind::Call, "run quokka".into())]);
    let read = told.add(&*writer);
    commit(&*writer, vec![read]);
    drop(writer);
    let provider = provider(vault.folder.path());
    let expected = InventoryEntry {
        session_id: "a".into(),
        fingerprint: String::new(),
        revision: Some(told.file().stamp.revision()),
        extractors: String::new(),
    };
    assert_eq!(inventory(&provider), [expected]);
    assert_eq!(found(&provider, "quokka"), Vec::<String>::new(), "not active yet");
    provider.set_persisted_active(true).unwrap();
    let hits = hits(&provider, &over_all("quokka"));
    assert_eq!(hits.len(), 1);
    assert_eq!((hits[0].session.live, hits[0].session.persisted), (false, true));
    let seen = |query: &str| {
        let events = events(&provider, &over_events("a", query)).into_iter();
        let mut seen: Vec<_> = events
            .map(|hit| (hit.event.seq, hit.event.r#type, hit.event.surface))
            .collect();
        seen.sort_by_key(|(seq, ..)| *seq);
        seen
    };
    let (shadowed, current) = (SurfaceState::Shadowed, SurfaceState::Current);
    assert_eq!(seen("words"), [(0, "user/message".into(), shadowed)]);
    assert_eq!(
        seen("quokka"),
        [
            (1, "user/message".into(), current),
            (2, "tool/call".into(), SurfaceState::LogOnly)
        ]
    );
}

/// Property: a session that a transcript holds is replaced in its place, its file is owed a read, and after that
/// read it is there once, as read.
#[test]
fn a_transcripts_session_is_replaced_in_its_place() {
    let vault = Vault::new();
    let told = Told::new("/root/a", "a", 5, &["the quokka"]);
    let writer = vault.writer();
    let reads = vec![told.add(&*writer)];
    commit(&*writer, reads);
    drop(writer);
    let provider = provider(vault.folder.path());
    for agent in ["claude", ""] {
        let agent = agent.to_owned();
        let snapshot = SessionSnapshot {
            agent,
            ..prompts("a", &["the pelican", "and the okapi"])
        };
        feed(&provider, &[snapshot]);
        assert_eq!(vault.index.sessions(&SessionFilter::default()).unwrap().len(), 1);
        assert_eq!(vault.found("quokka"), Vec::<String>::new());
        assert_eq!(
            vault.found("pelican"),
            ["a"],
            "searches of the vault see it as well"
        );
        assert_eq!(found(&provider, "pelican"), ["a"]);
        let files = vault.index.files().unwrap();
        assert_eq!((files.len(), files[0].state), (1, FileState::Due));
        assert_eq!(vault.index.cursor(files[0].id).unwrap().cursor, None);
        assert_eq!(inventory(&provider)[0].fingerprint, "of a");
    }
    let writer = vault.writer();
    let mut read = told.add(&*writer);
    read.id = Some(vault.index.files().unwrap()[0].id);
    commit(&*writer, vec![read]);
    drop(writer);
    assert_eq!(found(&provider, "pelican"), Vec::<String>::new());
    assert_eq!(found(&provider, "quokka"), ["a"]);
    assert_eq!(inventory(&provider)[0].fingerprint, "");
    assert_eq!(vault.index.files().unwrap()[0].state, FileState::Current);
}

/// Property: a session of no transcript gets a row of its own, which goes when a transcript turns out to hold it,
/// or when it is removed.
#[test]
fn a_session_of_no_transcript_has_a_place_of_its_own() {
    let vault = Vault::new();
    let provider = provider(vault.folder.path());
    let nameless = SessionSnapshot {
        agent: String::new(),
        ..prompts("b", &["the quokka"])
    };
    feed(&provider, &[prompts("a", &["the quokka", "once more"]), nameless]);
    let mut rows = vault.index.sessions(&SessionFilter::default()).unwrap();
    rows.sort_by(|one, other| one.session_id.cmp(&other.session_id));
    let named: Vec<_> = rows
        .iter()
        .map(|row| (row.agent.as_str(), row.title.as_str()))
        .collect();
    assert_eq!(named, [("claude", "the quokka"), ("harness", "the quokka")]);
    assert_eq!((rows[0].facts.turns, rows[0].facts.events), (2, 2));
    let files = vault.index.files().unwrap();
    assert!(
        files
            .iter()
            .all(|file| file.role == FileRole::Fed && file.state == FileState::Current)
    );
    let counts = vault.index.counts().unwrap();
    assert_eq!(
        (counts.sessions, counts.files_current),
        (2, 0),
        "they are no files"
    );
    assert_eq!(counts.age.last_reconcile_at, None, "nor was there a pass");

    let writer = vault.writer();
    let reads = vec![Told::new("/root/a", "a", 5, &["the pelican"]).add(&*writer)];
    commit(&*writer, reads);
    drop(writer);
    assert_eq!(vault.found("quokka"), ["b"]);
    assert_eq!(found(&provider, "pelican"), ["a"]);
    provider.remove_persisted("b").unwrap();
    assert_eq!(found(&provider, "quokka"), Vec::<String>::new());
    assert_eq!(vault.found("quokka"), Vec::<String>::new());
    assert_eq!(vault.index.files().unwrap().len(), 1);
}

/// Property: taking a transcript's session out hides it from this provider alone, until it is fed again.
#[test]
fn the_vault_keeps_what_is_taken_out() {
    let vault = Vault::new();
    let writer = vault.writer();
    let reads = vec![Told::new("/root/a", "a", 5, &["the quokka"]).add(&*writer)];
    commit(&*writer, reads);
    drop(writer);
    vault.set_missing("/root/a");
    let provider = provider(vault.folder.path());
    provider.set_persisted_active(true).unwrap();
    assert_eq!(found(&provider, "quokka"), ["a"]);
    provider.remove_persisted("a").unwrap();
    assert_eq!(found(&provider, "quokka"), Vec::<String>::new());
    assert_eq!(events(&provider, &over_events("a", "quokka")), []);
    assert_eq!(inventory(&provider), []);
    assert_eq!(vault.found("quokka"), ["a"]);
    let other = crate::provider(vault.folder.path());
    other.set_persisted_active(true).unwrap();
    assert_eq!(found(&other, "quokka"), ["a"]);

    // What vanished cannot be read again, so that what is fed stands beside it.
    feed(&provider, &[prompts("a", &["the quokka and the pelican"])]);
    assert_eq!(found(&provider, "quokka"), ["a"]);
    assert_eq!(found(&provider, "pelican"), ["a"]);
    provider.remove_persisted("a").unwrap();
    let rows = vault.index.sessions(&SessionFilter::default()).unwrap();
    assert_eq!((rows.len(), rows[0].presence), (1, Presence::Missing));
    assert_eq!(vault.found("quokka"), ["a"]);
}

/// Property: an index that is begun anew, or holds text of another length, forgets what sessions were made from,
/// so that they are fed again.
#[test]
fn another_length_of_text_is_fed_again() {
    let folder = tempfile::tempdir().unwrap();
    let fed = [prompts("a", &["the quokka"])];
    feed(&provider(folder.path()), &fed);
    let options = Options {
        caps: TextCaps { tool_text: 10 },
        ..Options::default()
    };
    let index = Arc::new(Index::open(folder.path(), options).unwrap());
    let provider = IndexProvider::new(Arc::clone(&index));
    let forgotten = |provider: &IndexProvider| {
        let entry = inventory(provider).pop().unwrap();
        (entry.session_id, entry.fingerprint, entry.revision)
    };
    assert_eq!(forgotten(&provider), ("a".into(), String::new(), None));
    drop(index.writer(0).unwrap());
    assert_eq!(forgotten(&provider), ("a".into(), String::new(), None));
    assert_eq!(
        index.files().unwrap()[0].state,
        FileState::Current,
        "nothing can read it"
    );
    feed(&provider, &fed);
    assert_eq!(inventory(&provider)[0].fingerprint, "of a");
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Property: after a crash between the commits of catalogue and text, the base claims nothing that it does not
/// hold, and a session that is fed again is there once.
#[test]
fn a_commit_that_was_cut_off_is_fed_again() {
    let vault = Vault::new();
    let folder = vault.folder.path().to_owned();
    feed(
        &provider(&folder),
        &[prompts("a", &["the quokka"]), prompts("b", &["the okapi"])],
    );
    copy_folder(&folder.join("text"), &folder.join("before"));
    let later = prompts("a", &["the pelican"]);
    feed(&provider(&folder), std::slice::from_ref(&later));
    fs::remove_dir_all(folder.join("text")).unwrap();
    fs::rename(folder.join("before"), folder.join("text")).unwrap();

    let provider = provider(&folder);
    let ids = |provider: &IndexProvider| {
        let entries = inventory(provider).into_iter();
        entries.map(|entry| entry.session_id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&provider), ["b"]);
    feed(&provider, &[later]);
    assert_eq!(ids(&provider), ["a", "b"]);
    assert_eq!(found(&provider, "pelican"), ["a"]);
    assert_eq!(found(&provider, "quokka"), Vec::<String>::new());
    assert_eq!(found(&provider, "okapi"), ["b"]);
    assert_eq!(vault.found("pelican"), ["a"]);
    assert_eq!(vault.index.sessions(&SessionFilter::default()).unwrap().len(), 2);
}

/// Property: an index of an earlier version is brought up to this one by being asked, not only by being fed.
#[test]
fn an_earlier_index_is_brought_up() {
    let vault = Vault::new();
    let writer = vault.writer();
    let reads = vec![Told::new("/root/a", "a", 5, &["the quokka"]).add(&*writer)];
    commit(&*writer, reads);
    drop(writer);
    let meta = vault.folder.path().join("text/meta.json");
    let version = |version| format!(r#"\"version\":{version}"#);
    let current = version(lookback_index::schema::TEXT_VERSION);
    let written = fs::read_to_string(&meta).unwrap();
    assert!(written.contains(&current));
    fs::write(&meta, written.replace(&current, &version(1))).unwrap();

    let provider = provider(vault.folder.path());
    assert_eq!(inventory(&provider), []);
    provider.set_persisted_active(true).unwrap();
    assert_eq!(found(&provider, "quokka"), Vec::<String>::new());
    assert_eq!(vault.index.files().unwrap()[0].state, FileState::Due);
}

/// Property: another process that writes is waited for no longer than was said, and is named; afterwards the same
/// call succeeds.
#[test]
fn a_busy_writer_is_named() {
    let vault = Vault::new();
    let provider = provider(vault.folder.path());
    let writer = vault.writer();
    provider
        .replace_persisted(&prompts("a", &["the quokka"]))
        .unwrap();
    let Err(ProviderError::Other(error)) = provider.set_persisted_active(true) else {
        panic!("the other one holds the lock");
    };
    let busy = error.downcast_ref::<WriterBusy>().unwrap();
    assert_eq!(busy.path, vault.folder.path());
    assert_eq!(found(&provider, "quokka"), Vec::<String>::new());
    drop(writer);
    feed(&provider, &[prompts("a", &["the quokka"])]);
    assert_eq!(found(&provider, "quokka"), ["a"]);
}

/// Property: an aborted search says so by the contract's code.
#[test]
fn an_aborted_search_says_so() {
    let vault = Vault::new();
    let provider = provider(vault.folder.path());
    provider
        .replace_live(&live(&prompts("a", &["the quokka"])))
        .unwrap();
    let abort = AbortSignal::new();
    abort.abort();
    let sessions = provider.search_sessions(&over_all("quokka"), &abort).map(|_| ());
    let events = provider
        .search_events(&over_events("a", "quokka"), &abort)
        .map(|_| ());
    for answer in [sessions, events] {
        let Err(ProviderError::Query(error)) = answer else {
            panic!("{answer:?}");
        };
        assert_eq!(error.code, SessionQueryErrorCode::Aborted);
    }
}

/// Property: copies of a fork are hits each, subagents and what agents hide are found, and operators of the vault
/// are words.
#[test]
fn nothing_is_folded_and_nothing_withheld() {
    let vault = Vault::new();
    let writer = vault.writer();
    let mut reads = Vec::new();
    for (path, id) in [("/root/a", "a"), ("/root/b", "b")] {
        reads.push(Told::new(path, id, 5, &["hello", "the quokka path:shop"]).add(&*writer));
    }
    reads[1].sessions[0].session.facts.hidden = true;
    commit(&*writer, reads);
    drop(writer);
    let provider = provider(vault.folder.path());
    provider.set_persisted_active(true).unwrap();
    assert_eq!(found(&provider, "quokka"), ["a", "b"]);
    assert_eq!(found(&provider, "path:shop"), ["a", "b"]);
    assert_eq!(vault.found("quokka"), ["a"]);
}

/// What a made-up event says: a kind, words, its time, and whether its type is another one's.
type Said = (usize, String, i64, bool);

fn said() -> impl Strategy<Value = Vec<Said>> {
    let words =
        prop::collection::vec("(quokka|pelican|okapi|gnu|x{3})", 1..4).prop_map(|words| words.join(" "));
    prop::collection::vec((0..TextKind::ALL.len(), words, 0i64..9, any::<bool>()), 1..8)
}

fn made(id: &str, said: &[Said]) -> SessionSnapshot {
    let mut snapshot = session(id, &[]);
    for (seq, (kind, words, time, is_other)) in (0..).zip(said) {
        let mut document = document(seq, TextKind::from_code(*kind as u64).unwrap(), words);
        document.time = Timestamp(*time);
        if *is_other {
            document.type_name = format!("vendor/{}", kind % 2);
            document.has_marker = false;
        }
        snapshot.documents.push(Arc::new(document));
    }
    snapshot.events = said.len() as u64;
    snapshot.header.created_at = Timestamp(said.len() as i64);
    snapshot.header.cwd = said.len().is_multiple_of(2).then(|| "/work".to_owned());
    snapshot.shadowed = vec![(1, 2), (5, 5)];
    snapshot
}

fn record(snapshot: &SessionSnapshot, document: &EventDocument) -> EventRecord {
    EventRecord {
        session_id: snapshot.header.id.clone(),
        seq: document.seq,
        time: document.time,
        r#type: document.type_name.clone(),
        surface: snapshot.surface(document),
    }
}

fn bounds() -> impl Strategy<Value = (Option<f64>, Option<f64>)> {
    let bound = || prop::option::of((0i32..16).prop_map(|half| f64::from(half) / 2.0));
    (bound(), bound()).prop_map(|(from, to)| match (from, to) {
        (Some(from), Some(to)) if from > to => (Some(to), Some(from)),
        other => other,
    })
}

fn event_filter() -> impl Strategy<Value = EventResultFilter> {
    let types = [
        "user/message",
        "assistant/message",
        "tool/call",
        "vendor/0",
        "vendor/1",
        "nobody's",
    ];
    let states = [
        SurfaceState::Current,
        SurfaceState::Shadowed,
        SurfaceState::LogOnly,
    ];
    prop_oneof![
        bounds().prop_map(|(from, to)| EventResultFilter::Seq { from, to }),
        bounds().prop_map(|(from, to)| EventResultFilter::Time { from, to }),
        prop::sample::subsequence(types.map(str::to_owned).to_vec(), 0..=types.len())
            .prop_map(|values| EventResultFilter::Type { values }),
        prop::sample::subsequence(states.to_vec(), 0..=states.len())
            .prop_map(|values| EventResultFilter::Surface { values }),
    ]
}

fn session_filter() -> impl Strategy<Value = SessionResultFilter> {
    let places = [Availability::Live, Availability::Persisted];
    prop_oneof![
        bounds().prop_map(|(from, to)| SessionResultFilter::CreatedAt { from, to }),
        prop::sample::subsequence(vec![None, Some("/work".to_owned())], 0..=2)
            .prop_map(|values| SessionResultFilter::Cwd { values }),
        prop::sample::subsequence(places.to_vec(), 0..=2)
            .prop_map(|values| SessionResultFilter::Availability { values }),
    ]
}

/// Sessions by turns live, persisted and both, fed to a provider.
fn layered(provider: &IndexProvider, sessions: &[Vec<Said>]) -> Vec<SessionSnapshot> {
    let mut snapshots = Vec::new();
    for (number, said) in sessions.iter().enumerate() {
        let snapshot = made(&format!("s{number}"), said);
        let is_live = number % 3 != 0;
        let snapshot = SessionSnapshot {
            live: is_live,
            persisted: number % 3 != 1,
            ..snapshot
        };
        if number % 3 == 2 {
            // What is in the base is hidden.
            let hidden = prompts(&snapshot.header.id, &["quokka pelican okapi gnu"]);
            provider.replace_persisted(&hidden).unwrap();
        }
        match is_live {
            true => provider.replace_live(&snapshot).unwrap(),
            false => provider.replace_persisted(&snapshot).unwrap(),
        }
        snapshots.push(snapshot);
    }
    provider.set_persisted_active(true).unwrap();
    snapshots
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Property: a search finds exactly what the filters' pure functions leave of all that has the word, in pages
    /// of any size each hit once, and each hit's record is the event's.
    #[test]
    fn filters_come_before_ranking(
        sessions in prop::collection::vec(said(), 1..7),
        session_filters in prop::collection::vec(session_filter(), 0..3),
        event_filters in prop::collection::vec(event_filter(), 0..3),
        sizes in prop::collection::vec(1usize..4, 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let provider = provider(folder.path());
        let snapshots = layered(&provider, &sessions);
        let all = |snapshot: &SessionSnapshot| -> Vec<EventRecord> {
            let holds = |document: &&Arc<EventDocument>| document.text().contains("quokka");
            let documents = snapshot.documents.iter().filter(holds);
            documents.map(|document| record(snapshot, document)).collect()
        };
        let mut expected_sessions = BTreeSet::new();
        for snapshot in &snapshots {
            let own = SessionRecord {
                header: snapshot.header.clone(),
                live: snapshot.live,
                persisted: snapshot.persisted,
            };
            let expected = filter_event_results(all(snapshot), &event_filters).unwrap();
            let mut spec = over_events(&snapshot.header.id, "quokka");
            spec.filters.clone_from(&event_filters);
            let mut seen = Vec::new();
            for limit in sizes.iter().cycle() {
                spec.limit = *limit;
                let page = provider.search_events(&spec, &AbortSignal::new()).unwrap();
                prop_assert!(page.items.len() == *limit || page.next_cursor.is_none());
                seen.extend(page.items.into_iter().map(|hit| hit.event));
                spec.cursor = page.next_cursor;
                if spec.cursor.is_none() {
                    break;
                }
            }
            seen.sort_by_key(|event| event.seq);
            prop_assert_eq!(&seen, &expected);
            let passes = !filter_session_results([own], &session_filters).unwrap().is_empty();
            if passes && !expected.is_empty() {
                expected_sessions.insert(snapshot.header.id.clone());
            }
        }
        let mut spec = SessionSearchSpec { session_filters, event_filters, ..over_all("quokka") };
        let whole = hits(&provider, &spec);
        let mut paged = Vec::new();
        for limit in sizes.iter().cycle() {
            spec.limit = *limit;
            let page = provider.search_sessions(&spec, &AbortSignal::new()).unwrap();
            paged.extend(page.items);
            spec.cursor = page.next_cursor;
            if spec.cursor.is_none() {
                break;
            }
        }
        prop_assert_eq!(&paged, &whole);
        let ids: BTreeSet<String> = whole.iter().map(|hit| hit.session.header.id.clone()).collect();
        prop_assert_eq!((ids.len(), &ids), (whole.len(), &expected_sessions));
        for hit in &whole {
            let snapshot = snapshots.iter().find(|snapshot| snapshot.header.id == hit.session.header.id).unwrap();
            let kept = filter_event_results(all(snapshot), &spec.event_filters).unwrap();
            prop_assert!(kept.contains(&hit.best_match.event));
        }
    }

    /// Property: however a live session grew, whatever was searched meanwhile and whichever layer it is in,
    /// searches answer the same.
    #[test]
    fn how_sessions_came_to_be_does_not_show(
        sessions in prop::collection::vec(said(), 1..5),
        steps in prop::collection::vec((0usize..5, 1usize..4, any::<bool>()), 0..12),
    ) {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [grown, whole, stored] = folders.each_ref().map(|folder| provider(folder.path()));
        let snapshots: Vec<_> = sessions.iter().enumerate().map(|(number, said)| made(&format!("s{number}"), said)).collect();
        let mut lengths = vec![0; snapshots.len()];
        let part = |number: usize, length: usize| {
            let mut snapshot = live(&snapshots[number]);
            snapshot.documents.truncate(length);
            snapshot
        };
        for (number, more, is_searched) in steps {
            let number = number % snapshots.len();
            lengths[number] += more;
            grown.replace_live(&part(number, lengths[number])).unwrap();
            if is_searched {
                hits(&grown, &over_all("pelican"));
            }
        }
        for snapshot in &snapshots {
            grown.replace_live(&live(snapshot)).unwrap();
            whole.replace_live(&live(snapshot)).unwrap();
            stored.replace_persisted(snapshot).unwrap();
        }
        stored.set_persisted_active(true).unwrap();
        for query in ["quokka", "quokka pelican", "\"okapi gnu\"", "quoka", "what did the quokka say to the gnu", "pelic"] {
            let expected = hits(&whole, &over_all(query));
            prop_assert_eq!(&hits(&grown, &over_all(query)), &expected, "{}", query);
            let mut from_disk = hits(&stored, &over_all(query));
            from_disk.iter_mut().for_each(|hit| hit.session.live = true);
            prop_assert_eq!(&from_disk, &expected, "{}", query);
            for snapshot in &snapshots {
                let spec = over_events(&snapshot.header.id, query);
                let expected = events(&whole, &spec);
                prop_assert_eq!(&events(&grown, &spec), &expected, "{}", query);
                prop_assert_eq!(&events(&stored, &spec), &expected, "{}", query);
            }
        }
    }
}

/// Property: a commit of the vault that concerns other sessions keeps the cursor of an event search, and makes
/// that of a search over all stale.
#[test]
fn cursors_are_bound_to_what_was_searched() {
    let vault = Vault::new();
    let provider = provider(vault.folder.path());
    feed(
        &provider,
        &[
            prompts("a", &["quokka one", "quokka two"]),
            prompts("b", &["quokka"]),
        ],
    );
    let mut spec = SessionEventSearchSpec {
        limit: 1,
        ..over_events("a", "quokka")
    };
    let mut over_all = SessionSearchSpec {
        limit: 1,
        ..over_all("quokka")
    };
    let abort = AbortSignal::new();
    spec.cursor = provider.search_events(&spec, &abort).unwrap().next_cursor;
    over_all.cursor = provider.search_sessions(&over_all, &abort).unwrap().next_cursor;
    assert!(spec.cursor.is_some() && over_all.cursor.is_some());
    let other = crate::provider(vault.folder.path());
    other.set_persisted_active(true).unwrap();
    assert_eq!(
        hits(&other, &over_all).len(),
        1,
        "the same state in another process"
    );
    let writer = vault.writer();
    writer
        .commit(Batch {
            read: vec![Told::new("/root/c", "c", 5, &["hello"]).add(&*writer)],
            ..Batch::default()
        })
        .unwrap();
    drop(writer);
    assert_eq!(events(&provider, &spec).len(), 1);
    assert!(provider.search_sessions(&over_all, &abort).is_err());
}
