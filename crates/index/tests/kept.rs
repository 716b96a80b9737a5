//! What a process keeps from one search to the next. Property: it shows in no answer, whatever was searched
//! for before and whatever another process has written meanwhile.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod support;

use lookback_index::{Index, Options};
use lookback_model::ports::{Catalogue, FileId, SessionSearch};
use lookback_model::query::{SearchRequest, Sort};
use lookback_model::{Timestamp, View};
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use support::{Vault, add, commit};

/// Requests that go through every kind of look-up, some of which have words or filters in common.
fn requests() -> Vec<SearchRequest> {
    let queries = [
        "quokka",
        "quokka retry",
        "quokka retr",
        "quoka",
        "uokk",
        "nowhere",
        "getUserById",
        "\"quokka retry\"",
    ];
    let plain = queries.map(SearchRequest::new);
    let narrowed = |path: &str, query: &str| SearchRequest {
        paths: vec![path.to_owned()],
        ..SearchRequest::new(query)
    };
    let others = [
        narrowed("/home/dev", "quokka"),
        narrowed("/home/dev", "retry"),
        narrowed("/nowhere", "quokka"),
        SearchRequest {
            since: Some(Timestamp(1_000_000)),
            ..SearchRequest::new("quokka")
        },
        SearchRequest {
            view: View::Conversation,
            sort: Sort::Newest,
            ..SearchRequest::new("quokka")
        },
        SearchRequest {
            limit: 1,
            ..SearchRequest::new("quokka")
        },
    ];
    plain.into_iter().chain(others).collect()
}

/// Every request twice in a row and all of them twice over, each time as from a process that has just begun.
fn check(vault: &Vault, warm: &Index) {
    for _ in 0..2 {
        for request in requests() {
            let fresh = Index::open(vault.folder.path(), Options::default()).unwrap();
            let expected = fresh.search(&request).unwrap();
            for _ in 0..2 {
                assert_eq!(warm.search(&request).unwrap(), expected, "{request:?}");
            }
        }
    }
}

/// Commits a session, in place of what was read of the file before.
fn say(vault: &Vault, file: Option<FileId>, path: &str, id: &str, start: i64, texts: &[&str]) {
    let writer = vault.writer();
    let mut read = add(&*writer, path, id, start, texts);
    read.id = file;
    commit(&*writer, vec![read]);
}

#[test]
fn what_is_kept_shows_in_no_answer() {
    let vault = Vault::new();
    let warm = Index::open(vault.folder.path(), Options::default()).unwrap();
    check(&vault, &warm);
    let sessions: [(&str, i64, &[&str]); 4] = [
        ("a", 0, &["find the quokka", "retry later"]),
        ("b", 2_000_000, &["quokka retry of getUserById", "more"]),
        ("c", 9_000_000, &["retries and quokkas"]),
        ("d", 5_000, &["find the quokka", "retry at once"]),
    ];
    for (id, start, texts) in sessions {
        let path = format!("/root/{id}");
        say(&vault, None, &path, id, start, texts);
        check(&vault, &warm);
    }
    // Only the catalogue changes.
    vault.set_missing("/root/b");
    check(&vault, &warm);
    // One session goes and another takes its file.
    let files = vault.index.files().unwrap();
    let row = files.iter().find(|row| row.path == Path::new("/root/a")).unwrap();
    say(
        &vault,
        Some(row.id),
        "/root/a",
        "e",
        7_000,
        &["a wombat, no longer the other"],
    );
    check(&vault, &warm);
}

/// A data folder that is lost and begun anew under a running process.
#[test]
fn a_text_index_that_is_begun_anew_is_opened_anew() {
    let vault = Vault::new();
    let warm = Index::open(vault.folder.path(), Options::default()).unwrap();
    say(&vault, None, "/root/a", "a", 0, &["find the quokka"]);
    check(&vault, &warm);
    fs::remove_dir_all(vault.folder.path().join("text")).unwrap();
    check(&vault, &warm);
    say(&vault, None, "/root/b", "b", 0, &["retry the quokka"]);
    check(&vault, &warm);
}

/// Words of which some are beginnings of others, forms of others, names and phrases.
const VOCABULARY: [&str; 12] = [
    "retry",
    "retries",
    "quokka",
    "quok",
    "the",
    "getUserById",
    "error-401",
    "con",
    "config",
    "connection",
    "a",
    "引用悬空",
];

fn sentence(longest: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&VOCABULARY[..]), 1..longest).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Property: a query that is typed letter by letter, corrected and typed on finds at every letter what it
    /// finds in a process that has just begun, scores included.
    #[test]
    fn typing_shows_in_no_answer(
        sessions in prop::collection::vec(prop::collection::vec(sentence(9), 1..4), 1..7),
        typed in sentence(8),
        then in sentence(8),
        newest in any::<bool>(),
    ) {
        let vault = Vault::new();
        for (at, texts) in sessions.iter().enumerate() {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            say(&vault, None, &format!("/root/{at}"), &format!("s{at}"), at as i64 * 10_000, &texts);
        }
        let warm = Index::open(vault.folder.path(), Options::default()).unwrap();
        let forth = typed.char_indices().map(|(at, c)| typed[..at + c.len_utf8()].to_owned());
        let on = then.char_indices().map(|(at, c)| format!("{typed} {}", &then[..at + c.len_utf8()]));
        let back = typed.char_indices().rev().map(|(at, _)| typed[..at].to_owned()).take(9);
        for query in forth.chain(on).chain(back) {
            let request = SearchRequest {
                sort: if newest { Sort::Newest } else { Sort::Relevance },
                ..SearchRequest::new(query)
            };
            let fresh = Index::open(vault.folder.path(), Options::default()).unwrap();
            prop_assert_eq!(warm.search(&request).unwrap(), fresh.search(&request).unwrap(), "{:?}", request);
        }
    }
}
