//! How long a search takes in a process that is already running, beside what SQLite and bare tantivy take
//! for the same words in the same texts.
//!
//! `cargo run --release -p lookback-index --example search_latency -- DATA_FOLDER [alone]` prints one line of
//! JSON; with `alone` it measures no peers. Times are in milliseconds, all on one thread. The peers know no
//! sessions: they rank documents, find no typing errors, and get neither filters nor orders.

#![allow(clippy::indexing_slicing, reason = "keys of JSON objects that are made here")]

mod peers;
mod queries;
#[path = "../stored/texts.rs"]
mod stored;
mod times;

use lookback_index::{Index, Options};
use lookback_model::ports::{SearchAnswer, SessionSearch};
use lookback_model::query::SearchRequest;
use peers::{Fts5, Tantivy};
use queries::Mixed;
use serde_json::{Value, json};
use std::path::Path;
use times::Times;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = arguments
        .next()
        .ok_or("name the data folder of a finished index")?;
    let is_alone = arguments.next().is_some_and(|word| word == "alone");
    let folder = Path::new(&folder);
    let texts = stored::texts(folder)?;
    let index = Index::open(folder, Options::default())?;
    let peers = match is_alone {
        true => None,
        false => Some((Fts5::of(&texts)?, Tantivy::of(&texts)?)),
    };
    let mix = queries::mix(&index)?;
    let mut rows = Vec::new();
    let mut all = [Times::default(), Times::default()];
    for mixed in &mix {
        let mut row = measured(folder, &index, mixed, &mut all)?;
        if let Some((fts5, tantivy)) = &peers {
            row["fts5Ranked"] = Times::of_peer(|| fts5.ranked(mixed))?.summary();
            row["fts5Page"] = Times::of_peer(|| fts5.page(mixed))?.summary();
            row["tantivyRanked"] = Times::of_peer(|| tantivy.ranked(mixed))?.summary();
        }
        rows.push(row);
    }
    let [ranked, page] = all;
    let report = json!({
        "documents": texts.len(),
        "mix": rows,
        "all": {"ranked": ranked.summary(), "page": page.summary()},
        "typing": typing(&index, &queries::long(&texts, &mix))?,
    });
    #[expect(clippy::print_stdout, reason = "its only output")]
    {
        println!("{report}");
    }
    Ok(())
}

/// Times of one query of the mix: ranking alone, and with a page of snippets; and what a process pays that
/// has just begun.
fn measured(folder: &Path, index: &Index, mixed: &Mixed, all: &mut [Times; 2]) -> Result<Value, Failure> {
    let (page, route) = found(index, &mixed.request(queries::PAGE))?;
    let first = Times::of_few(|| {
        let index = Index::open(folder, Options::default())?;
        found(&index, &mixed.request(queries::PAGE))
    })?;
    let (ranked, paged) = (mixed.request(0), mixed.request(queries::PAGE));
    // Another search in between, so that nothing of the same words is at hand.
    let other = SearchRequest::new(queries::other_than(mixed));
    let before = || found(index, &other).map(drop);
    let ranked = Times::after(before, || found(index, &ranked))?;
    let paged = Times::after(before, || found(index, &paged))?;
    let row = json!({
        "name": mixed.name, "query": mixed.query, "route": route, "hits": page,
        "first": first.summary(), "ranked": ranked.summary(), "page": paged.summary(),
    });
    let [all_ranked, all_paged] = all;
    all_ranked.add(ranked);
    all_paged.add(paged);
    Ok(row)
}

/// How many hits there are on the page, and how they were found.
fn found(index: &Index, request: &SearchRequest) -> Result<(usize, String), Failure> {
    match index.search(request)? {
        SearchAnswer::Results(page) => Ok((page.hits.len(), page.route)),
        refused => Err(format!("no answer to {}: {refused:?}", request.query).into()),
    }
}

/// A search at every letter of long queries, as an interface that searches while a person types.
fn typing(index: &Index, long: &[String]) -> Result<Value, Failure> {
    let mut all = Times::default();
    let mut slowest = (0.0, "");
    for query in long {
        let ends = query.char_indices().map(|(at, c)| at + c.len_utf8());
        let prefixes: Vec<&str> = ends.filter_map(|end| query.get(..end)).collect();
        // The best of three: what is looked for is a query that is slow, not a moment that was.
        let mut best = vec![f64::INFINITY; prefixes.len()];
        for _ in 0..3 {
            found(index, &SearchRequest::new(queries::RARE_WORD))?;
            for (best, prefix) in best.iter_mut().zip(&prefixes) {
                let mut request = SearchRequest::new(*prefix);
                request.limit = queries::PAGE;
                *best = best.min(Times::of_one(|| found(index, &request))?.least());
            }
        }
        for (best, prefix) in best.into_iter().zip(prefixes) {
            if best > slowest.0 {
                slowest = (best, prefix);
            }
            all.push(best);
        }
    }
    let mut report = all.summary();
    report["queries"] = long.len().into();
    report["slowest"] = slowest.1.into();
    Ok(report)
}
