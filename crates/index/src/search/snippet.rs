//! Snippets: the stretch of a text that shows best why it was found.

use crate::analyze::{self, TermRole};
use lookback_model::Snippet;
use std::collections::BTreeSet;
use std::ops::Range;

/// A snippet is about this long, in characters.
const LENGTH: usize = 240;
/// So much of it stands before the first match.
const LEAD: usize = 60;

/// The window of `text` with the most different terms, the earliest of equals, cut at white space.
pub(super) fn snippet(text: &str, terms: &BTreeSet<String>) -> Snippet {
    let matches = matches(text, terms);
    let first = best_window(text, &matches);
    let Some(anchor) = first else {
        let end = boundary_before(text, forward(text, 0, LENGTH));
        return cut(text, 0..end, &[]);
    };
    let start = boundary_after(text, back(text, anchor.start, LEAD), anchor.start);
    let mut end = boundary_before(text, forward(text, start, LENGTH));
    if end < anchor.end {
        end = anchor.end.min(forward(text, start, 2 * LENGTH));
    }
    cut(text, start..end, &matches)
}

/// Ranges of matching terms with which term it is, ascending and joined where they touch.
fn matches(text: &str, terms: &BTreeSet<String>) -> Vec<(Range<usize>, String)> {
    let mut found: Vec<(Range<usize>, String)> = Vec::new();
    for term in analyze::terms(text) {
        if !terms.contains(&term.text) {
            continue;
        }
        let range = term.range.0..term.range.1;
        match found.last_mut() {
            Some((last, _))
                if range.start < last.end || (range.start == last.end && term.role == TermRole::Pair) =>
            {
                last.end = last.end.max(range.end);
            }
            _ => found.push((range, term.text)),
        }
    }
    found
}

/// The match with which the best window begins.
fn best_window(text: &str, matches: &[(Range<usize>, String)]) -> Option<Range<usize>> {
    let mut best: Option<(usize, &Range<usize>)> = None;
    for (at, (range, _)) in matches.iter().enumerate() {
        let end = forward(text, range.start, LENGTH - LEAD);
        let inside = matches
            .get(at..)
            .unwrap_or_default()
            .iter()
            .take_while(|(other, _)| other.end <= end);
        let different: BTreeSet<&str> = inside.map(|(_, term)| term.as_str()).collect();
        if best.is_none_or(|(count, _)| different.len() > count) {
            best = Some((different.len(), range));
        }
    }
    best.map(|(_, range)| range.clone())
}

/// `characters` further than `at`.
fn forward(text: &str, at: usize, characters: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.char_indices()
        .nth(characters)
        .map_or(text.len(), |(offset, _)| at + offset)
}

/// `characters` before `at`.
fn back(text: &str, at: usize, characters: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    match characters
        .checked_sub(1)
        .and_then(|nth| before.char_indices().rev().nth(nth))
    {
        Some((offset, _)) => offset,
        None if characters == 0 => at,
        None => 0,
    }
}

/// The beginning of the first word at or after `at`, not after `limit`.
fn boundary_after(text: &str, at: usize, limit: usize) -> usize {
    if at == 0 {
        return 0;
    }
    let between = text.get(at..limit).unwrap_or_default();
    let space = between.char_indices().find(|(_, c)| c.is_whitespace());
    space.map_or(at, |(offset, c)| at + offset + c.len_utf8())
}

/// The end of the last word that ends at or before `at`; `at` itself when there is no white space near.
fn boundary_before(text: &str, at: usize) -> usize {
    if at == text.len() {
        return at;
    }
    let near = back(text, at, LEAD);
    text.get(near..at)
        .and_then(|stretch| stretch.rfind(char::is_whitespace))
        .map_or(at, |offset| near + offset)
}

fn cut(text: &str, window: Range<usize>, matches: &[(Range<usize>, String)]) -> Snippet {
    let mut snippet = Snippet::default();
    if window.start > 0 {
        snippet.text.push('…');
    }
    let shift = snippet.text.len();
    snippet
        .text
        .push_str(text.get(window.clone()).unwrap_or_default());
    if window.end < text.len() {
        snippet.text.push('…');
    }
    for (range, _) in matches {
        if range.end <= window.start || range.start >= window.end {
            continue;
        }
        snippet.cut |= range.start < window.start || range.end > window.end;
        let (start, end) = (range.start.max(window.start), range.end.min(window.end));
        snippet
            .matches
            .push(start - window.start + shift..end - window.start + shift);
    }
    snippet
}

#[cfg(test)]
mod tests {
    //! Properties: ranges lie on the text and cover searched terms; the best stretch wins.
    use super::*;
    use proptest::prelude::*;

    fn terms(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn marked(text: &str, words: &[&str]) -> Vec<String> {
        let snippet = snippet(text, &terms(words));
        snippet
            .matches
            .iter()
            .map(|range| snippet.text[range.clone()].to_owned())
            .collect()
    }

    #[test]
    fn the_stretch_with_most_terms_wins() {
        let filler = "nothing of interest here ".repeat(40);
        let text = format!("redis {filler} the redis failover broke {filler}");
        let snippet = snippet(&text, &terms(&["redis", "failover"]));
        assert!(
            snippet.text.contains("the redis failover broke"),
            "{}",
            snippet.text
        );
        assert!(snippet.text.starts_with('…') && snippet.text.ends_with('…'));
        assert_eq!(marked(&text, &["redis", "failover"]), ["redis", "failover"]);
    }

    #[test]
    fn neighbouring_pairs_are_one_mark() {
        assert_eq!(
            marked("出现悬空引用错误", &["悬空", "空引", "引用"]),
            ["悬空引用"]
        );
        assert_eq!(
            marked(
                "call getUserById now",
                &["getuserbyid", "get", "user", "by", "id"]
            ),
            ["getUserById"]
        );
    }

    #[test]
    fn text_without_a_match_gives_its_beginning() {
        assert_eq!(marked("only words", &["absent"]), Vec::<String>::new());
        assert_eq!(snippet("only words", &terms(&["absent"])).text, "only words");
    }

    proptest! {
        #[test]
        fn ranges_lie_on_the_text(text in "([a-c]{1,3}[ \n.]|令牌|é){0,200}", words in prop::collection::vec("[a-c]{1,3}|令牌", 1..4)) {
            let terms: BTreeSet<String> = words.into_iter().collect();
            let snippet = snippet(&text, &terms);
            let mut last = 0;
            for range in &snippet.matches {
                prop_assert!(range.start >= last && range.end > range.start);
                prop_assert!(snippet.text.get(range.clone()).is_some());
                last = range.end;
            }
            prop_assert!(snippet.text.chars().count() <= 2 * LENGTH + 2);
            let inner = snippet.text.trim_matches('…');
            prop_assert!(text.contains(inner));
        }
    }
}
