//! Page cursors: where the next page begins, bound to the query and to one state of one index.
//!
//! A cursor is not signed: a forged one can name another offset of the caller's own answer, which is
//! harmless, and nothing else.

use lookback_model::ports::SearchAnswer;
use lookback_model::query::SearchRequest;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PageCursor {
    /// Identity of the data folder, so that a rebuilt index honours no old cursor.
    index: String,
    generation: u64,
    offset: usize,
    key: String,
}

/// What a cursor is bound to besides the index: everything of a request but page size and freshness.
pub(super) fn query_key(request: &SearchRequest) -> u64 {
    let mut hash = Xxh3::new();
    let mut add = |text: &str| {
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    };
    add(&request.query);
    add(&format!(
        "{:?} {} {:?}",
        request.view,
        request.sort.as_str(),
        request.since
    ));
    for list in [&request.agents, &request.paths] {
        let mut sorted: Vec<&str> = list.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        sorted.dedup();
        add(&sorted.len().to_string());
        sorted.into_iter().for_each(&mut add);
    }
    hash.digest()
}

/// The offset a cursor names, or the answer that refuses it: malformed before stale before another
/// query's (contract A, A.8).
pub(super) fn check(
    cursor: Option<&str>,
    index: &str,
    generation: u64,
    key: u64,
) -> Result<usize, SearchAnswer> {
    let Some(text) = cursor else {
        return Ok(0);
    };
    let cursor = decode(text).ok_or(SearchAnswer::MalformedCursor)?;
    if cursor.generation != generation || cursor.index != index {
        return Err(SearchAnswer::StaleCursor {
            generation,
            expected: Some(cursor.generation),
        });
    }
    if cursor.key != format!("{key:016x}") {
        return Err(SearchAnswer::MalformedCursor);
    }
    Ok(cursor.offset)
}

/// A cursor for the page that begins at `offset`.
pub(super) fn encode(index: &str, generation: u64, offset: usize, key: u64) -> String {
    let cursor = PageCursor {
        index: index.to_owned(),
        generation,
        offset,
        key: format!("{key:016x}"),
    };
    let json = serde_json::to_vec(&cursor).unwrap_or_default();
    base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, json)
}

fn decode(text: &str) -> Option<PageCursor> {
    let json = base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, text).ok()?;
    serde_json::from_slice(&json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_refused_for_the_right_reason() {
        let key = query_key(&SearchRequest::new("a"));
        let cursor = encode("i", 7, 20, key);
        assert_eq!(check(Some(&cursor), "i", 7, key), Ok(20));
        assert_eq!(check(None, "i", 7, key), Ok(0));
        let stale = |generation| SearchAnswer::StaleCursor {
            generation,
            expected: Some(7),
        };
        assert_eq!(check(Some(&cursor), "i", 8, key), Err(stale(8)));
        assert_eq!(check(Some(&cursor), "rebuilt", 7, key), Err(stale(7)));
        assert_eq!(check(Some(&cursor), "i", 8, key + 1), Err(stale(8)));
        assert_eq!(
            check(Some(&cursor), "i", 7, key + 1),
            Err(SearchAnswer::MalformedCursor)
        );
        for forged in ["", "%%", "bm90IGpzb24", "e30"] {
            assert_eq!(
                check(Some(forged), "i", 7, key),
                Err(SearchAnswer::MalformedCursor),
                "{forged}"
            );
        }
    }

    #[test]
    fn page_size_and_list_order_do_not_bind() {
        let mut one = SearchRequest::new("a");
        one.agents = vec!["codex".into(), "claude".into()];
        let mut other = SearchRequest {
            limit: 3,
            ..one.clone()
        };
        other.agents.reverse();
        assert_eq!(query_key(&one), query_key(&other));
        assert_ne!(query_key(&one), query_key(&SearchRequest::new("a")));
        assert_ne!(
            query_key(&SearchRequest::new("a")),
            query_key(&SearchRequest::new("a "))
        );
    }
}
