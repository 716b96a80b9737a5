//! The index behind its ports. Properties: what a commit says becomes visible whole or not at all; a
//! crash between the two stores heals without loss or duplicates; damage to either store loses no session
//! whose transcript is gone; copies are one hit; cursors are honoured exactly as long as they are true.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod support;

use lookback_index::{Index, Options};
use lookback_model::hit::Presence;
use lookback_model::ports::{
    Batch, Catalogue, FileState, IndexSink, SearchAnswer, SessionFilter, SessionSearch, StoreError,
};
use lookback_model::query::{SearchRequest, Sort};
use lookback_model::{Document, TextKind, Timestamp};
use std::fs;
use std::path::{Path, PathBuf};
use support::{Vault, add};

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn nothing_is_seen_before_its_commit_and_all_after() {
    let vault = Vault::new();
    let writer = vault.writer();
    let read = add(&*writer, "/root/a", "a", 0, &["find the quokka", "again"]);
    assert!(vault.found("quokka").is_empty());
    assert!(
        vault
            .index
            .sessions(&SessionFilter::default())
            .unwrap()
            .is_empty()
    );
    writer
        .commit(Batch {
            read: vec![read],
            ..Batch::default()
        })
        .unwrap();
    assert_eq!(vault.found("quokka"), ["a"]);
    let cursor = vault.index.cursor(vault.index.files().unwrap()[0].id).unwrap();
    assert_eq!(cursor.cursor.unwrap().state, "state");
    assert_eq!(cursor.sessions[0].0, "a");
    assert_eq!(cursor.account.lines, 2);
}

#[test]
fn what_was_only_added_is_gone_when_the_writer_goes() {
    let vault = Vault::new();
    add(&*vault.writer(), "/root/a", "a", 0, &["never committed quokka"]);
    let vault = vault.reopened();
    let read = add(&*vault.writer(), "/root/b", "b", 0, &["other"]);
    vault.commit(vec![read]);
    assert!(vault.found("quokka").is_empty());
}

#[test]
fn there_is_one_writer_and_its_place_is_free_when_it_goes() {
    let vault = Vault::new();
    let other = Index::open(vault.folder.path(), Options::default()).unwrap();
    let writer = vault.writer();
    assert!(other.writer(0).unwrap().is_none());
    drop(writer);
    assert!(other.writer(0).unwrap().is_some());
}

#[test]
fn a_session_read_anew_leaves_nothing_of_its_old_self() {
    let vault = Vault::new();
    let writer = vault.writer();
    let read = add(&*writer, "/root/a", "a", 0, &["old quokka"]);
    writer
        .commit(Batch {
            read: vec![read],
            ..Batch::default()
        })
        .unwrap();
    let row = vault.index.files().unwrap().remove(0);
    let mut read = add(&*writer, "/root/a", "a", 0, &["new wombat"]);
    read.id = Some(row.id);
    writer
        .commit(Batch {
            read: vec![read],
            ..Batch::default()
        })
        .unwrap();
    assert!(vault.found("quokka").is_empty());
    assert_eq!(vault.found("wombat"), ["a"]);
}

/// The catalogue's commit was made and the text index's was not: the only state a crash can leave.
#[test]
fn a_catalogue_that_is_one_commit_ahead_heals() {
    let vault = Vault::new();
    let writer = vault.writer();
    let keep = add(&*writer, "/root/keep", "keep", 0, &["keep the quokka"]);
    let change = add(&*writer, "/root/change", "change", 0, &["before wombat"]);
    writer
        .commit(Batch {
            read: vec![keep, change],
            ..Batch::default()
        })
        .unwrap();
    let text = vault.folder.path().join("text");
    let saved = tempfile::tempdir().unwrap();
    copy_folder(&text, saved.path());

    let rows = vault.index.files().unwrap();
    let changed = rows.iter().find(|row| row.path.ends_with("change")).unwrap().id;
    let mut change = add(&*writer, "/root/change", "change", 0, &["after numbat"]);
    change.id = Some(changed);
    let new = add(&*writer, "/root/new", "new", 0, &["new potoroo"]);
    writer
        .commit(Batch {
            read: vec![change, new],
            ..Batch::default()
        })
        .unwrap();
    drop(writer);
    fs::remove_dir_all(&text).unwrap();
    copy_folder(saved.path(), &text);

    let vault = vault.reopened();
    assert_eq!(vault.found("quokka"), ["keep"]);
    let writer = vault.writer();
    let due: Vec<_> = vault
        .index
        .files()
        .unwrap()
        .into_iter()
        .filter(|row| row.state == FileState::Due)
        .collect();
    assert_eq!(due.len(), 2, "{due:?}");
    assert!(
        due.iter()
            .all(|row| vault.index.cursor(row.id).unwrap().cursor.is_none())
    );
    let reads = due
        .iter()
        .map(|row| {
            let name = row.path.file_name().unwrap().to_str().unwrap();
            let text = if name == "change" {
                "after numbat"
            } else {
                "new potoroo"
            };
            let mut read = add(&*writer, row.path.to_str().unwrap(), name, 0, &[text]);
            read.id = Some(row.id);
            read
        })
        .collect();
    writer
        .commit(Batch {
            read: reads,
            ..Batch::default()
        })
        .unwrap();
    assert!(vault.found("wombat").is_empty());
    for (query, session) in [("quokka", "keep"), ("numbat", "change"), ("potoroo", "new")] {
        assert_eq!(vault.found(query), [session], "{query}");
    }
}

#[test]
fn a_vanished_session_outlives_damage_to_either_store() {
    for damage in ["text/meta.json", "text", "catalogue.sqlite"] {
        let vault = Vault::new();
        let writer = vault.writer();
        let gone = add(
            &*writer,
            "/root/gone",
            "gone",
            0,
            &["the vanished quokka", "said twice"],
        );
        let there = add(&*writer, "/root/there", "there", 0, &["still here wombat"]);
        writer
            .commit(Batch {
                read: vec![gone, there],
                ..Batch::default()
            })
            .unwrap();
        drop(writer);
        vault.set_missing("/root/gone");
        assert_eq!(vault.found("quokka"), ["gone"]);

        let vault = vault.reopened();
        let path = vault.folder.path().join(damage);
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        } else {
            fs::write(&path, "this is no index").unwrap();
        }
        drop(vault.writer());
        let vault = vault.reopened();
        assert_eq!(vault.found("quokka"), ["gone"], "{damage}");
        let row = vault.index.find_sessions("gone").unwrap().remove(0);
        assert_eq!(
            (row.presence, row.facts.turns),
            (Presence::Missing, 2),
            "{damage}"
        );
        let texts = vault.index.stored_text(row.ordinal).unwrap();
        let words: Vec<_> = texts.iter().map(|text| (text.seq, text.text.as_str())).collect();
        assert_eq!(words, [(0, "the vanished quokka"), (1, "said twice")], "{damage}");
        // The other file is owed a read, if it is known at all.
        let files = vault.index.files().unwrap();
        let there = files.iter().find(|row| row.path.ends_with("there"));
        assert!(there.is_none_or(|row| row.state == FileState::Due), "{damage}");
    }
}

/// A vault with a session whose transcript is gone and one whose is there.
fn vault_of_two() -> Vault {
    let vault = Vault::new();
    let writer = vault.writer();
    let texts = ["the vanished quokka", "said twice"];
    let gone = add(&*writer, "/root/gone", "gone", 0, &texts);
    let there = add(&*writer, "/root/there", "there", 0, &["still here wombat"]);
    writer
        .commit(Batch {
            read: vec![gone, there],
            ..Batch::default()
        })
        .unwrap();
    drop(writer);
    vault.set_missing("/root/gone");
    vault
}

/// A catalogue of an earlier version is as good as none to a reader, and whole again after a writer.
#[test]
fn an_earlier_catalogue_is_migrated_by_the_next_writer() {
    let vault = vault_of_two();
    let catalogue = rusqlite::Connection::open(vault.folder.path().join("catalogue.sqlite")).unwrap();
    catalogue
        .execute_batch(
            "DROP TABLE event_types;
            DROP INDEX files_fed;
            ALTER TABLE sessions DROP COLUMN revision;
            ALTER TABLE sessions DROP COLUMN extractors;
            ALTER TABLE sessions DROP COLUMN fingerprint;
            DROP INDEX sessions_for_ranking;
            ALTER TABLE sessions DROP COLUMN recalls;
            CREATE INDEX sessions_for_ranking
                ON sessions (hidden, ordinal, leader, updated_at, created_at, kind, first_copy_key);
            PRAGMA user_version = 1;",
        )
        .unwrap();
    drop(catalogue);
    let vault = vault.reopened();
    assert_eq!(vault.index.files().unwrap(), []);
    drop(vault.writer());
    assert_eq!(vault.found("wombat"), ["there"]);
    assert_eq!(vault.found("quokka"), ["gone"]);
}

fn due(vault: &Vault) -> Vec<PathBuf> {
    let rows = vault.index.files().unwrap().into_iter();
    rows.filter(|row| row.state == FileState::Due)
        .map(|row| row.path)
        .collect()
}

/// Writes another version into what the last commit says of itself.
fn set_version(vault: &Vault, version: u64) {
    let meta = vault.folder.path().join("text/meta.json");
    let written = fs::read_to_string(&meta).unwrap();
    let current = format!(r#"\"version\":{}"#, lookback_index::schema::TEXT_VERSION);
    assert!(written.contains(&current));
    let changed = written.replace(&current, &format!(r#"\"version\":{version}"#));
    fs::write(&meta, changed).unwrap();
}

/// Puts a text index of other fields in the place of the vault's, with the same word of itself.
fn set_other_schema(vault: &Vault) {
    let text = vault.folder.path().join("text");
    let written: serde_json::Value =
        serde_json::from_slice(&fs::read(text.join("meta.json")).unwrap()).unwrap();
    fs::remove_dir_all(&text).unwrap();
    fs::create_dir(&text).unwrap();
    let mut builder = tantivy::schema::Schema::builder();
    let body = builder.add_text_field("body", tantivy::schema::TEXT);
    let index = tantivy::Index::create_in_dir(&text, builder.build()).unwrap();
    let mut writer = index
        .writer_with_num_threads::<tantivy::TantivyDocument>(1, 15 << 20)
        .unwrap();
    writer.add_document(tantivy::doc!(body => "quokka")).unwrap();
    let mut commit = writer.prepare_commit().unwrap();
    commit.set_payload(written["payload"].as_str().unwrap());
    commit.commit().unwrap();
}

/// The text index of an earlier version is rebuilt, whether its fields are the same or others: files are
/// owed a read, archived sessions come back. One of a later version is left alone.
#[test]
fn a_text_index_of_another_version_loses_nothing() {
    for has_other_schema in [false, true] {
        let vault = vault_of_two();
        if has_other_schema {
            set_other_schema(&vault);
        }
        set_version(&vault, 1);
        let vault = vault.reopened();
        if !has_other_schema {
            assert_eq!(vault.found("wombat"), ["there"], "it answers until it is rebuilt");
        }
        assert_eq!(due(&vault), [Path::new("/root/there")]);
        drop(vault.writer());
        let vault = vault.reopened();
        assert_eq!(vault.found("quokka"), ["gone"]);
        assert_eq!(due(&vault), [Path::new("/root/there")]);

        if has_other_schema {
            set_other_schema(&vault);
        }
        set_version(&vault, 99);
        let refused = vault.index.writer(0).err().unwrap();
        let cause = std::error::Error::source(&refused).unwrap().to_string();
        assert!(cause.contains("99"), "{cause}");
        assert!(vault.folder.path().join("text/meta.json").exists());
    }
}

#[test]
fn a_vanished_copy_of_a_present_session_leaves_the_session_once() {
    let vault = Vault::new();
    let writer = vault.writer();
    let old = add(&*writer, "/root/old/s", "s", 0, &["a quokka", "one reply"]);
    let new = add(
        &*writer,
        "/root/new/s",
        "s",
        0,
        &["a quokka", "one reply", "went on"],
    );
    writer
        .commit(Batch {
            read: vec![old, new],
            ..Batch::default()
        })
        .unwrap();
    drop(writer);
    assert_eq!(vault.found("quokka"), ["s"]);
    vault.set_missing("/root/old/s");
    assert_eq!(vault.found("quokka"), ["s"]);
    let rows = vault.index.find_sessions("s").unwrap();
    assert_eq!(
        (rows.len(), rows[0].presence, rows[0].copies),
        (1, Presence::Present, 0)
    );
}

#[test]
fn copied_history_is_found_where_it_was_said_first() {
    let vault = Vault::new();
    let writer = vault.writer();
    let first = add(&*writer, "/root/a", "a", 0, &["find the kowari", "race fixed"]);
    let fork = add(
        &*writer,
        "/root/b",
        "b",
        0,
        &["find the kowari", "race fixed", "also a test for quoll"],
    );
    let alike = add(
        &*writer,
        "/root/c",
        "c",
        5,
        &["find the kowari", "something else"],
    );
    writer
        .commit(Batch {
            read: vec![fork, first, alike],
            ..Batch::default()
        })
        .unwrap();
    let mut kowari = vault.found("kowari");
    kowari.sort();
    assert_eq!(kowari, ["a", "c"]);
    assert_eq!(vault.found("quoll"), ["b"]);
}

#[test]
fn pages_give_each_session_once_and_stale_cursors_are_refused() {
    let vault = Vault::new();
    let writer = vault.writer();
    let reads = (0..25).map(|at| {
        add(
            &*writer,
            &format!("/root/{at}"),
            &format!("s{at:02}"),
            at % 3,
            &["same words"],
        )
    });
    let reads = reads.collect();
    writer
        .commit(Batch {
            read: reads,
            ..Batch::default()
        })
        .unwrap();
    for sort in [Sort::Relevance, Sort::Newest] {
        let mut request = SearchRequest {
            sort,
            limit: 7,
            ..SearchRequest::new("words")
        };
        let mut seen = Vec::new();
        loop {
            let page = vault.page(&request);
            seen.extend(page.hits.into_iter().map(|hit| hit.session.session_id));
            match page.cursor {
                Some(cursor) => request.cursor = Some(cursor),
                None => break,
            }
            request.limit = 5;
        }
        let whole = vault.page(&SearchRequest {
            sort,
            limit: 100,
            ..SearchRequest::new("words")
        });
        let whole: Vec<_> = whole.hits.into_iter().map(|hit| hit.session.session_id).collect();
        assert_eq!((seen.len(), &seen), (25, &whole));
        // Newest first, then by id.
        assert_eq!(whole[0], "s02");
    }
    let first = vault.page(&SearchRequest {
        limit: 3,
        ..SearchRequest::new("words")
    });
    let read = add(&*writer, "/root/more", "more", 0, &["same words"]);
    let generation = writer
        .commit(Batch {
            read: vec![read],
            ..Batch::default()
        })
        .unwrap();
    let next = SearchRequest {
        cursor: first.cursor,
        ..SearchRequest::new("words")
    };
    let expected = Some(generation - 1);
    assert_eq!(
        vault.index.search(&next).unwrap(),
        SearchAnswer::StaleCursor { generation, expected }
    );
}

#[test]
fn filters_and_operators_narrow_before_ranking() {
    let vault = Vault::new();
    let writer = vault.writer();
    let mut read = add(&*writer, "/root/a.jsonl", "a", 0, &["common words"]);
    read.sessions[0].session.header.cwd = Some("/srv/Café".into());
    let other = add(&*writer, "/root/b.jsonl", "b", 10, &["common words"]);
    writer
        .commit(Batch {
            read: vec![read, other],
            ..Batch::default()
        })
        .unwrap();
    for (query, wanted) in [
        ("repo:srv/café common", vec!["a"]),
        ("path:b.JSONL common", vec!["b"]),
        ("repo:shop repo:dev words", vec!["b"]),
        ("repo:shop repo:srv words", vec![]),
        ("repo:shop", vec!["b"]),
        ("  ", vec![]),
    ] {
        assert_eq!(vault.found(query), wanted, "{query}");
    }
    let scoped = SearchRequest {
        paths: vec!["/srv".into()],
        ..SearchRequest::new("common")
    };
    assert_eq!(vault.page(&scoped).hits.len(), 1);
    let nowhere = SearchRequest {
        paths: vec![" ".into()],
        ..SearchRequest::new("common")
    };
    assert!(vault.page(&nowhere).hits.is_empty());
    let none = vault.page(&SearchRequest::new("repo:shop"));
    assert!(none.hits[0].evidence.is_none());
}

/// In the text of tools identifiers are indexed by their parts alone; they are found all the same.
#[test]
fn names_in_tool_output_are_found_however_they_are_typed() {
    let vault = Vault::new();
    let writer = vault.writer();
    let read = add(&*writer, "/root/a", "a", 0, &["please look"]);
    let text = "12 fn getUserById(pool: &Pool) -> Option<User>".to_owned();
    let (session, kind) = (read.sessions[0].ordinal, TextKind::Result);
    let (time, copy_key) = (Timestamp(1), 0);
    let document = Document {
        session,
        seq: 1,
        chunk: 0,
        time,
        copy_key,
        event_type: "tool/result".into(),
        has_marker: true,
        kind,
        text,
    };
    writer.add(vec![document]).unwrap();
    let other = add(&*writer, "/root/b", "b", 0, &["the user has an id by now"]);
    writer
        .commit(Batch {
            read: vec![read, other],
            ..Batch::default()
        })
        .unwrap();
    for query in [
        "getUserById",
        "get_user_by_id",
        "userbyid",
        "getuserbyid",
        "\"user by id\"",
        "getUserBy",
    ] {
        assert_eq!(vault.found(query), ["a"], "{query}");
    }
}

#[test]
fn many_small_commits_stay_few_segments() {
    let vault = Vault::new();
    let writer = vault.writer();
    for at in 0..60 {
        let read = add(
            &*writer,
            &format!("/root/{at}"),
            &format!("s{at}"),
            at,
            &["every one is found"],
        );
        writer
            .commit(Batch {
                read: vec![read],
                ..Batch::default()
            })
            .unwrap();
    }
    let page = vault.page(&SearchRequest {
        limit: 100,
        ..SearchRequest::new("found")
    });
    assert_eq!(page.hits.len(), 60);
    let stores = fs::read_dir(vault.folder.path().join("text")).unwrap();
    let stores = stores.filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .path()
            .extension()
            .is_some_and(|kind| kind == "store")
    });
    assert!(stores.count() <= 17);
}

#[test]
fn a_newer_format_is_refused_and_left_alone() {
    let vault = Vault::new();
    let read = add(&*vault.writer(), "/root/a", "a", 0, &["words"]);
    vault.commit(vec![read]);
    let catalogue = rusqlite::Connection::open(vault.folder.path().join("catalogue.sqlite")).unwrap();
    catalogue.pragma_update(None, "user_version", 1_000).unwrap();
    drop(catalogue);
    let refused = Index::open(vault.folder.path(), Options::default());
    assert!(matches!(refused, Err(StoreError::Newer { found: 1_000, .. })));
}
