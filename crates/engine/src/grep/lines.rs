//! The lines of a text on which a pattern matches.

use regex_automata::meta::Regex;
use std::ops::Range;

/// Lines on which matches stand, that belong together because a match goes across them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Lines before it in the text.
    pub(super) line: u64,
    /// Where they stand in the text, without the last line break.
    pub(super) range: Range<usize>,
    /// The matches, in the text.
    pub(super) matches: Vec<Range<usize>>,
}

/// The first `wanted` places at which an expression matches a text.
pub(super) fn find(expression: &Regex, text: &str, wanted: u64) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut counted = Counted {
        text,
        to: 0,
        lines: 0,
    };
    for matched in expression.find_iter(text) {
        // A line break belongs to the line it ends.
        let last = matched.end().saturating_sub(1).max(matched.start());
        let count = found.len() as u64;
        let previous_end = found.last().map(|place| place.range.end);
        match found.last_mut() {
            Some(place) if matched.start() <= place.range.end => {
                if last > place.range.end {
                    place.range.end = end_of_line(text, last);
                }
                place.matches.push(matched.range());
            }
            _ if count == wanted => break,
            _ => {
                let from = previous_end.map_or(0, |end| end + 1);
                let start = start_of_line(text, from, matched.start());
                found.push(Found {
                    line: counted.before(start),
                    range: start..end_of_line(text, last),
                    matches: vec![matched.range()],
                });
            }
        }
    }
    found
}

/// The last `count` lines between `from` and the line that begins at `start`.
pub(super) fn lines_before(text: &str, from: usize, start: usize, count: usize) -> Vec<&str> {
    let before = text.get(from..start).unwrap_or_default();
    let mut lines: Vec<&str> = before
        .strip_suffix('\n')
        .map_or_else(Vec::new, |before| before.rsplit('\n').take(count).collect());
    lines.reverse();
    lines
}

/// The first `count` lines after the line that ends at `end`.
pub(super) fn lines_after(text: &str, end: usize, count: usize) -> Vec<&str> {
    let after = text.get(end..).and_then(|after| after.strip_prefix('\n'));
    after.map_or_else(Vec::new, |after| after.split('\n').take(count).collect())
}

/// Lines counted so far, so that no part of a text is counted twice.
struct Counted<'a> {
    text: &'a str,
    to: usize,
    lines: u64,
}

impl Counted<'_> {
    fn before(&mut self, at: usize) -> u64 {
        self.lines += line_breaks(self.text.get(self.to..at).unwrap_or_default());
        self.to = at;
        self.lines
    }
}

/// How many line breaks a text has.
pub(super) fn line_breaks(text: &str) -> u64 {
    memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64
}

fn start_of_line(text: &str, from: usize, at: usize) -> usize {
    let before = text.as_bytes().get(from..at).unwrap_or_default();
    memchr::memrchr(b'\n', before).map_or(from, |position| from + position + 1)
}

fn end_of_line(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(text.len(), |position| at + position)
}

#[cfg(test)]
mod tests {
    //! Properties: places are whole lines, in order, that do not touch; every match is in exactly one; their
    //! numbers are those a person counts.
    use super::*;
    use proptest::prelude::*;

    fn places<'t>(pattern: &str, text: &'t str) -> Vec<(u64, &'t str)> {
        let expression = Regex::new(pattern).unwrap();
        find(&expression, text, u64::MAX)
            .into_iter()
            .map(|found| (found.line, &text[found.range]))
            .collect()
    }

    #[test]
    fn lines_of_one_match_stay_together() {
        let text = "one\ntwo\nthree\nfour";
        assert_eq!(places(r"two\s+three", text), [(1, "two\nthree")]);
        assert_eq!(places("o", text), [(0, "one"), (1, "two"), (3, "four")]);
        assert_eq!(places(r"one\n", text), [(0, "one")]);
        assert_eq!(places(r"two\nth|ee\nf", text), [(1, "two\nthree\nfour")]);
        assert_eq!(places("(?m)^$", "a\n\nb"), [(1, "")]);
    }

    #[test]
    fn context_is_what_is_there() {
        let text = "0\n1\n2\n3";
        assert_eq!(lines_before(text, 0, 4, 1), ["1"]);
        assert_eq!(lines_before(text, 2, 4, 9), ["1"]);
        assert_eq!(lines_before(text, 0, 0, 9), Vec::<&str>::new());
        assert_eq!(lines_after(text, 3, 9), ["2", "3"]);
        assert_eq!(lines_after(text, 7, 9), Vec::<&str>::new());
    }

    proptest! {
        #[test]
        fn every_match_is_on_one_place(text in "[ab\n]{0,40}", pattern in "[ab]{1,2}|a\\\\s+b|\\\\n+|a*") {
            let expression = Regex::new(&pattern).unwrap();
            let found = find(&expression, &text, u64::MAX);
            let lines: Vec<&str> = text.split('\n').collect();
            let mut all = Vec::new();
            for place in &found {
                let mut of_place = text[place.range.clone()].split('\n');
                let same = of_place.by_ref().zip(&lines[place.line as usize..]).all(|(a, b)| a == *b);
                prop_assert!(same, "{place:?}");
                all.extend(place.matches.iter().cloned());
                for matched in &place.matches {
                    prop_assert!(matched.start >= place.range.start && matched.end <= place.range.end + 1);
                }
            }
            for pair in found.windows(2) {
                prop_assert!(pair[0].range.end < pair[1].range.start);
            }
            let every: Vec<_> = expression.find_iter(&text).map(|matched| matched.range()).collect();
            prop_assert_eq!(all, every);
        }
    }
}
