//! What is searched for: one query of every kind that people ask, and long ones that are typed letter by letter.

use crate::Failure;
use crate::stored::StoredText;
use lookback_index::Index;
use lookback_model::ports::{Catalogue, SessionFilter};
use lookback_model::query::{SearchRequest, Sort};
use std::collections::BTreeMap;

/// A word of one session.
pub(crate) const RARE_WORD: &str = "brontolith";
/// Hits on a page.
pub(crate) const PAGE: usize = 20;
/// Long queries that are typed.
const LONG: usize = 50;
/// A long query has so many words of a text.
const LONG_WORDS: usize = 7;
/// Longer words are no words that a person types.
const LONGEST_WORD: usize = 24;

/// A query of the mix.
pub(crate) struct Mixed {
    /// What kind it is.
    pub(crate) name: &'static str,
    /// As typed.
    pub(crate) query: &'static str,
    /// Whether it is a question, of which not every word is wanted.
    pub(crate) is_any: bool,
    sort: Sort,
    paths: Vec<String>,
}

impl Mixed {
    const fn new(name: &'static str, query: &'static str) -> Self {
        Self {
            name,
            query,
            is_any: false,
            sort: Sort::Relevance,
            paths: Vec::new(),
        }
    }

    /// The request for a page of so many hits; without hits, sessions are only ranked.
    pub(crate) fn request(&self, limit: usize) -> SearchRequest {
        SearchRequest {
            limit,
            sort: self.sort,
            paths: self.paths.clone(),
            ..SearchRequest::new(self.query)
        }
    }
}

/// One query of every kind. The words are those that the made-up corpus holds.
pub(crate) fn mix(index: &Index) -> Result<Vec<Mixed>, Failure> {
    let any = |name, query| Mixed {
        is_any: true,
        ..Mixed::new(name, query)
    };
    Ok(vec![
        Mixed::new("rare word", RARE_WORD),
        Mixed::new("common word", "error"),
        Mixed::new("three words", "error config parser"),
        Mixed::new("phrase", "\"connection refused\""),
        Mixed::new("part of an identifier", "resolve"),
        Mixed::new("typing error", "vorpalhegde"),
        Mixed::new("two Chinese characters", "纠缠"),
        Mixed::new("no match", "xyzzyplughnothere"),
        Mixed {
            sort: Sort::Newest,
            ..Mixed::new("newest first", "error")
        },
        Mixed {
            paths: vec![busiest_folder(index)?],
            ..Mixed::new("in one folder", "error config")
        },
        any("question", "why does the parser fail when the config is missing"),
        any("any of several words", "error config parser timeout cache retry"),
    ])
}

/// A query that has no word in common with another.
pub(crate) fn other_than(mixed: &Mixed) -> &'static str {
    if mixed.query == RARE_WORD {
        "纠缠"
    } else {
        RARE_WORD
    }
}

/// The working directory of most sessions.
fn busiest_folder(index: &Index) -> Result<String, Failure> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for session in index.sessions(&SessionFilter::default())? {
        if let Some(folder) = session.header.cwd {
            *counts.entry(folder).or_default() += 1;
        }
    }
    let busiest = counts.into_iter().max_by_key(|(_, count)| *count);
    Ok(busiest.ok_or("no session has a working directory")?.0)
}

/// Long queries: the words of the mix together, and beginnings of what people and tools said.
pub(crate) fn long(texts: &[StoredText], mix: &[Mixed]) -> Vec<String> {
    let of_mix = mix.chunks(3).map(|some| {
        let words: Vec<&str> = some.iter().map(|mixed| mixed.query).collect();
        words.join(" ")
    });
    let mut long: Vec<String> = of_mix.collect();
    // Half of them out of the few texts of people.
    for is_tool in [false, true] {
        let all: Vec<_> = texts.iter().filter(|stored| stored.is_tool == is_tool).collect();
        let wanted = if is_tool { LONG } else { (long.len() + LONG) / 2 };
        let step = (all.len() / LONG).max(1);
        for stored in all.into_iter().step_by(step) {
            let words = stored.text.split_whitespace();
            let words = words.filter(|word| word.len() <= LONGEST_WORD).take(LONG_WORDS);
            if long.len() < wanted {
                long.push(words.collect::<Vec<_>>().join(" "));
            }
        }
    }
    long
}
