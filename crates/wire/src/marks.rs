//! Snippets on the wire: text in which matches stand between `[[` and `]]`.
//!
//! The text is somebody's transcript and may hold brackets of its own, as shell tests and wiki links do.
//! Two brackets of one kind side by side are therefore always a mark: wherever the text, or the text and
//! a mark, would put two of them together, a space is put between. So `[[ -f x ]]` reads `[ [ -f x ] ]`.
//! A visible space was chosen over an invisible character, which would be copied along unseen.

use std::ops::Range;

/// Begins a match.
pub const OPEN: &str = "[[";
/// Ends a match.
pub const CLOSE: &str = "]]";

/// `text` with its `matches` marked. Ranges that lie outside the text, overlap or split a character are
/// left unmarked.
///
/// ```
/// use lookback_wire::marks::marked;
/// assert_eq!(marked("the retry queue", &[4..9]), "the [[retry]] queue");
/// assert_eq!(marked("if [[ -f x ]]", &[]), "if [ [ -f x ] ]");
/// ```
pub fn marked(text: &str, matches: &[Range<usize>]) -> String {
    let mut writer = Writer {
        marked: String::with_capacity(text.len() + matches.len() * 4),
    };
    let mut at = 0;
    for range in matches {
        let (Some(before), Some(inside)) = (text.get(at..range.start), text.get(range.clone())) else {
            continue;
        };
        if inside.is_empty() {
            continue;
        }
        writer.content(before);
        writer.mark(OPEN);
        writer.content(inside);
        writer.mark(CLOSE);
        at = range.end;
    }
    writer.content(text.get(at..).unwrap_or(""));
    writer.marked
}

struct Writer {
    marked: String,
}

impl Writer {
    fn content(&mut self, text: &str) {
        for character in text.chars() {
            self.part_from(character);
            self.marked.push(character);
        }
    }

    fn mark(&mut self, mark: &str) {
        if let Some(first) = mark.chars().next() {
            self.part_from(first);
        }
        self.marked.push_str(mark);
    }

    /// Keeps `next` apart from an equal bracket before it.
    fn part_from(&mut self, next: char) {
        if matches!(next, '[' | ']') && self.marked.ends_with(next) {
            self.marked.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    //! Property: whatever the text holds, splitting at the marks gives back the matches, in order.
    use super::*;
    use proptest::prelude::*;

    fn mark(text: &str, matches: &[(usize, usize)]) -> String {
        let matches: Vec<_> = matches.iter().map(|&(from, to)| from..to).collect();
        marked(text, &matches)
    }

    #[test]
    fn brackets_of_the_text_are_never_marks() {
        assert_eq!(mark("a[foo]b", &[(2, 5)]), "a[ [[foo]] ]b");
        assert_eq!(mark("[[x]]", &[(2, 3)]), "[ [ [[x]] ] ]");
        assert_eq!(mark("[x]", &[(0, 3)]), "[[ [x] ]]");
        assert_eq!(mark("ab", &[(0, 1), (1, 2)]), "[[a]][[b]]");
    }

    #[test]
    fn impossible_ranges_are_not_marked() {
        assert_eq!(mark("é", &[(1, 2)]), "é");
        assert_eq!(mark("abc", &[(2, 9)]), "abc");
        assert_eq!(mark("abc", &[(0, 2), (1, 3)]), "[[ab]]c");
        assert_eq!(mark("abc", &[(1, 1)]), "abc");
    }

    fn bare(text: &str) -> String {
        text.replace(' ', "")
    }

    proptest! {
        #[test]
        fn marks_can_be_told_from_the_text(parts in prop::collection::vec(("[a\\[\\]]{0,5}", "[b\\[\\]]{1,5}"), 0..4)) {
            let mut text = String::new();
            let mut matches = Vec::new();
            for (plain, inside) in &parts {
                text.push_str(plain);
                matches.push(text.len()..text.len() + inside.len());
                text.push_str(inside);
            }
            let marked = marked(&text, &matches);
            let (mut found, mut read) = (Vec::new(), String::new());
            let mut rest = marked.as_str();
            while let Some((before, after)) = rest.split_once(OPEN) {
                let (inside, after) = after.split_once(CLOSE).unwrap();
                found.push(bare(inside));
                read.extend([before, inside]);
                rest = after;
            }
            read.push_str(rest);
            prop_assert_eq!(found, parts.iter().map(|(_, inside)| inside.clone()).collect::<Vec<_>>());
            prop_assert_eq!(bare(&read), text);
        }
    }
}
