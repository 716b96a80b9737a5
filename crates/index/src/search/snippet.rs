//! Snippets: the stretch of a text that shows best why it was found.
//!
//! It is the one that holds most of what was searched for, rare words before common ones. It begins and ends
//! between words where the text has any, and marks whole matches only.

use super::units::Unit;
use crate::analyze::{self, Analyzer};
use lookback_model::Snippet;
use std::collections::HashMap;
use std::ops::Range;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use unicode_normalization::char::is_combining_mark;

/// A snippet is about this long, in characters.
const LENGTH: usize = 240;
/// One with a longer match is at most so long. Contract A allows 512, and brackets of the text, which are set
/// apart where a snippet is painted, may take twice their room.
const LONGEST: usize = 440;
/// So much of it stands before the first match.
const LEAD: usize = 60;

/// The terms to mark in a text, and what each of them shows.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    terms: HashMap<String, Shown>,
}

/// What a term shows: a part of a unit, in any of its forms, and how much that says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shown {
    part: (usize, usize),
    weight: u32,
}

impl Marks {
    /// The terms of units, of each of which `rarity` says how rare it is.
    pub(super) fn of(units: &[Unit], rarity: &[f32]) -> Self {
        let mut marks = Self::default();
        for (number, unit) in units.iter().enumerate() {
            let rarity = rarity.get(number).copied().unwrap_or_default();
            let weight = (rarity * 1_000.0) as u32 / u32::try_from(unit.sequence().len()).unwrap_or(1).max(1);
            for alternative in &unit.alternatives {
                for (place, (_, term)) in alternative.sequence.iter().enumerate() {
                    let shown = Shown {
                        part: (number, place),
                        weight: weight.max(1),
                    };
                    marks.terms.entry(term.clone()).or_insert(shown);
                }
            }
        }
        marks
    }
}

/// A term that is to be marked, where it stands.
struct Match {
    range: Range<usize>,
    shown: Shown,
}

/// The window of `text` that shows most of what is marked, of equals the one where it stands closest
/// together, then the earliest.
pub(super) fn snippet(text: &str, marks: &Marks) -> Snippet {
    let matches = matches(text, marks);
    let Some(core) = best_core(text, &matches) else {
        let end = end_between(text, 0, forward(text, 0, LENGTH));
        return cut(text, 0..end, &[], 0..0);
    };
    let start = start_between(text, back(text, core.start, LEAD), core.start);
    let longest = forward(text, start, LENGTH);
    let end = if core.end <= longest {
        end_between(text, core.end, longest)
    } else {
        core.end.min(forward(text, start, LONGEST))
    };
    cut(text, start..end, &matches, core)
}

/// The places of terms to mark, in the order of their beginnings.
fn matches(text: &str, marks: &Marks) -> Vec<Match> {
    let mut analyzer = Analyzer::default();
    let mut stream = analyzer.token_stream(text);
    let mut found = Vec::new();
    while let Some(Token {
        text,
        offset_from,
        offset_to,
        ..
    }) = stream.next()
    {
        if let Some(&shown) = marks.terms.get(text) {
            found.push(Match {
                range: *offset_from..*offset_to,
                shown,
            });
        }
    }
    found
}

/// From the first to the last of the matches for whose sake a window is the best.
fn best_core(text: &str, matches: &[Match]) -> Option<Range<usize>> {
    let mut best: Option<(u32, Range<usize>)> = None;
    for (at, first) in matches.iter().enumerate() {
        let limit = forward(text, first.range.start, LENGTH - LEAD);
        let mut parts = vec![first.shown.part];
        let mut weight = first.shown.weight;
        let mut core = first.range.clone();
        for other in matches.get(at + 1..).unwrap_or_default() {
            if other.range.end > limit {
                break;
            }
            if !parts.contains(&other.shown.part) {
                parts.push(other.shown.part);
                weight += other.shown.weight;
                core.end = core.end.max(other.range.end);
            }
        }
        let is_better = best
            .as_ref()
            .is_none_or(|(known, range)| weight > *known || (weight == *known && core.len() < range.len()));
        if is_better {
            best = Some((weight, core));
        }
    }
    best.map(|(_, core)| core)
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

/// What a cut at a place would part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seam {
    /// A letter and its mark, or characters that are joined into one.
    Character,
    /// Two letters of a word.
    Word,
    /// A word and a sign, or two signs, or characters of a script that writes no spaces.
    Signs,
    /// A word and white space.
    Space,
}

fn seam(text: &str, at: usize) -> Seam {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let (Some(before), Some(after)) = (before.chars().next_back(), after.chars().next()) else {
        return Seam::Space;
    };
    if is_joined(after) || matches!(before, '\u{200C}' | '\u{200D}') {
        return Seam::Character;
    }
    if before.is_whitespace() || after.is_whitespace() {
        return Seam::Space;
    }
    let is_word = |c: char| (c.is_alphanumeric() || c == '_' || is_joined(c)) && !analyze::is_unspaced(c);
    if is_word(before) && is_word(after) {
        Seam::Word
    } else {
        Seam::Signs
    }
}

/// Whether a character belongs to the one before it.
fn is_joined(character: char) -> bool {
    is_combining_mark(character)
        || matches!(
            character,
            '\u{200C}' | '\u{200D}' | '\u{1F3FB}'..='\u{1F3FF}' | '\u{FF9E}' | '\u{FF9F}'
        )
}

/// The first place from `from` to `to` at which a snippet may begin.
fn start_between(text: &str, from: usize, to: usize) -> usize {
    let places = places(text, from, to).filter(|at| {
        !text
            .get(*at..)
            .unwrap_or_default()
            .starts_with(char::is_whitespace)
    });
    let mut best = (Seam::Character, to);
    for place in places {
        let seam = seam(text, place);
        if seam > best.0 {
            best = (seam, place);
        }
    }
    best.1
}

/// The last place from `from` to `to` at which a snippet may end: after a word when there is one that ends
/// near `to`, else where the seam is best.
fn end_between(text: &str, from: usize, to: usize) -> usize {
    let near = back(text, to, LEAD);
    let mut best = (Seam::Character, to);
    for place in places(text, from, to) {
        let is_space_before = text
            .get(..place)
            .unwrap_or_default()
            .ends_with(char::is_whitespace);
        if is_space_before && place < text.len() {
            continue;
        }
        let seam = match seam(text, place) {
            Seam::Space if place < near => Seam::Signs,
            seam => seam,
        };
        if seam >= best.0 {
            best = (seam, place);
        }
    }
    best.1
}

/// The character boundaries from `from` to `to`, both included.
fn places(text: &str, from: usize, to: usize) -> impl Iterator<Item = usize> {
    let between = text.get(from..to).unwrap_or_default();
    between
        .char_indices()
        .map(move |(offset, _)| from + offset)
        .chain([to])
}

/// The window with an ellipsis where text was cut. Matches are marked that it holds whole, and of `core` what
/// it holds.
fn cut(text: &str, window: Range<usize>, matches: &[Match], core: Range<usize>) -> Snippet {
    let mut snippet = Snippet {
        cut: core.end > window.end,
        ..Snippet::default()
    };
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
    let is_whole = |range: &Range<usize>| window.start <= range.start && range.end <= window.end;
    for Match { range, .. } in matches {
        if !(is_whole(range) || (snippet.cut && *range == core)) {
            continue;
        }
        let (start, end) = (
            range.start - window.start + shift,
            range.end.min(window.end) - window.start + shift,
        );
        match snippet.matches.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ => snippet.matches.push(start..end),
        }
    }
    snippet
}

#[cfg(test)]
mod tests {
    //! Properties: ranges lie on the text and cover searched terms, all of them and nothing else; words and
    //! characters stay whole; the best stretch wins.
    use super::*;
    use proptest::prelude::*;

    fn marks(words: &[&str]) -> Marks {
        let units: Vec<Unit> = words.iter().map(|word| Unit::term(word)).collect();
        Marks::of(&units, &vec![1.0; words.len()])
    }

    fn marked(text: &str, words: &[&str]) -> Vec<String> {
        let snippet = snippet(text, &marks(words));
        let shown = snippet
            .matches
            .iter()
            .map(|range| snippet.text[range.clone()].to_owned());
        shown.collect()
    }

    #[test]
    fn the_stretch_with_most_terms_wins() {
        let filler = "nothing of interest here ".repeat(40);
        let text = format!("redis {filler} the redis failover broke {filler}");
        let snippet = snippet(&text, &marks(&["redis", "failover"]));
        assert!(
            snippet.text.contains("the redis failover broke"),
            "{}",
            snippet.text
        );
        assert!(snippet.text.starts_with('…') && snippet.text.ends_with('…'));
        assert_eq!(marked(&text, &["redis", "failover"]), ["redis", "failover"]);
    }

    #[test]
    fn rare_words_win_over_common_ones_and_close_ones_over_scattered_ones() {
        let filler = "nothing of interest here ".repeat(20);
        let text = format!("add the test {filler} the quokka {filler}");
        let units = ["add", "test", "quokka"].map(Unit::term);
        let shown = snippet(&text, &Marks::of(&units, &[0.5, 0.5, 6.0]));
        assert!(shown.text.contains("the quokka"), "{}", shown.text);
        let text =
            format!("refused, said the log, as ever a connection {filler} connection refused {filler}");
        let phrase = Unit::phrase(&["connection".to_owned(), "refused".to_owned()]);
        let shown = snippet(&text, &Marks::of(&[phrase], &[3.0]));
        assert!(shown.text.contains("connection refused"), "{}", shown.text);
    }

    /// Forms of one word are one thing, however many of them stand together.
    #[test]
    fn forms_of_a_word_count_once() {
        let filler = "nothing of interest here ".repeat(20);
        let text = format!("retry retries retrying {filler} retry the payment {filler}");
        let mut retry = Unit::term("retry");
        retry.add_forms(vec!["retries".to_owned(), "retrying".to_owned()]);
        let shown = snippet(&text, &Marks::of(&[retry, Unit::term("payment")], &[1.0, 1.0]));
        assert!(shown.text.contains("retry the payment"), "{}", shown.text);
    }

    #[test]
    fn neighbouring_pairs_and_parts_are_one_mark() {
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
        assert_eq!(marked("call getUserById now", &["get", "user"]), ["getUser"]);
    }

    #[test]
    fn words_stay_whole_where_there_are_any() {
        let long = "x".repeat(250);
        let text = format!("{long} before.it/cache,after {long} more");
        let shown = snippet(&text, &marks(&["cache"]));
        assert_eq!(shown.text, "…before.it/cache,after…");
        let text = format!("{long}/cache/{long}");
        assert_eq!(snippet(&text, &marks(&["cache"])).text, "…/cache/…");
        let text = "ab ".repeat(100);
        assert!(snippet(&text, &marks(&["none"])).text.ends_with("ab…"));
        let text = format!("{} cafe\u{301}s", "e\u{301}".repeat(300));
        assert!(!snippet(&text, &marks(&["cafes"])).text.starts_with("…\u{301}"));
    }

    #[test]
    fn a_match_longer_than_a_snippet_is_cut_and_says_so() {
        let text = format!("see {} there", "x".repeat(3_000));
        let shown = snippet(&text, &marks(&[&"x".repeat(analyze::TERM_LIMIT)]));
        assert!(shown.cut && shown.text.chars().count() <= 512);
        assert_eq!(shown.matches.len(), 1);
        assert!(!snippet(&text, &marks(&["see"])).cut);
    }

    #[test]
    fn text_without_a_match_gives_its_beginning() {
        assert_eq!(marked("only words", &["absent"]), Vec::<String>::new());
        assert_eq!(snippet("only words", &marks(&["absent"])).text, "only words");
    }

    proptest! {
        #[test]
        fn marks_are_the_terms_that_were_searched_for(
            text in "([a-c]{1,3}[ \n._]|[ab]Cc|令牌|ｶﾞ|é|e\u{301}|👩\u{200d}💻|\\[\\[|\\]\\]|x{150} ){0,120}",
            words in prop::collection::vec("[a-c]{1,3}|令牌|ガ|é", 1..4),
        ) {
            let marks = marks(&words.iter().map(String::as_str).collect::<Vec<_>>());
            let snippet = snippet(&text, &marks);
            prop_assert!(snippet.text.chars().count() <= 512);
            let shift = if snippet.text.starts_with('…') { '…'.len_utf8() } else { 0 };
            let inner = snippet.text.trim_matches('…');
            let places: Vec<usize> = text.match_indices(inner).map(|(at, _)| at).collect();
            prop_assert!(!places.is_empty());
            prop_assert!(inner.chars().next().is_none_or(|c| !is_joined(c)));
            let mut last = 0;
            for range in &snippet.matches {
                prop_assert!(range.start > last || last == 0, "they do not touch");
                prop_assert!(snippet.text.get(range.clone()).is_some_and(|marked| !marked.is_empty()));
                last = range.end;
            }
            let all: Vec<Range<usize>> = matches(&text, &marks).into_iter().map(|found| found.range).collect();
            prop_assert_eq!(all.is_empty(), snippet.matches.is_empty());
            // At the place that was cut out, what is marked is what matches, byte by byte.
            let is_marked = |at: usize| snippet.matches.iter().any(|range| range.contains(&(at + shift)));
            let is_shown = |from: usize| {
                let window = from..from + inner.len();
                let whole: Vec<_> = all.iter().filter(|range| window.start <= range.start && range.end <= window.end).collect();
                (0..inner.len()).all(|at| is_marked(at) == whole.iter().any(|range| range.contains(&(at + from))))
            };
            prop_assert!(snippet.cut || places.into_iter().any(is_shown), "{:?} of {:?}", snippet, text);
        }
    }
}
