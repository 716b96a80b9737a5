//! Lines that fit a terminal: wrapping and cutting by columns, not by characters or bytes.

use crate::paint::{Paint, Tone};
use crate::terminal::sanitize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A piece of text of one tone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// What it is.
    pub(crate) tone: Tone,
    /// The words.
    pub(crate) text: String,
}

impl Span {
    /// A piece of text, made harmless.
    pub(crate) fn new(tone: Tone, text: &str) -> Self {
        Self {
            tone,
            text: sanitize(text),
        }
    }
}

/// Columns that `text` takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// `text` on one line of at most `columns`, cut at its end with an ellipsis.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    let text = one_line(text);
    if width(&text) <= columns {
        return text;
    }
    let (mut line, _) = take(&text, columns.saturating_sub(1));
    line.push('…');
    line
}

/// `text` on one line of at most `columns`, cut at its beginning with an ellipsis: for paths, whose end
/// tells most.
pub(crate) fn cut_start(text: &str, columns: usize) -> String {
    let text = one_line(text);
    if width(&text) <= columns {
        return text;
    }
    let mut kept = Vec::new();
    let mut used = 1;
    for character in text.chars().rev() {
        used += character.width().unwrap_or(0);
        if used > columns {
            break;
        }
        kept.push(character);
    }
    std::iter::once('…').chain(kept.into_iter().rev()).collect()
}

fn one_line(text: &str) -> String {
    sanitize(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The longest beginning of `text` that takes at most `columns`, and the rest. At least one character.
fn take(text: &str, columns: usize) -> (String, &str) {
    let mut used = 0;
    for (at, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if used > columns && at > 0 {
            let (head, rest) = text.split_at_checked(at).unwrap_or((text, ""));
            return (head.to_owned(), rest);
        }
    }
    (text.to_owned(), "")
}

/// Spans as lines of at most `columns`, broken between words, or inside one that is longer than a line.
/// White space runs become one space.
pub(crate) fn wrap(spans: &[Span], columns: usize, paint: Paint) -> Vec<String> {
    let mut wrapper = Wrapper {
        columns: columns.max(1),
        paint,
        lines: Vec::new(),
        line: String::new(),
        used: 0,
    };
    for word in words(spans) {
        wrapper.word(word);
    }
    if !wrapper.line.is_empty() {
        wrapper.lines.push(wrapper.line);
    }
    wrapper.lines
}

/// The words of spans; a word may be made of several pieces when a match ends inside it.
fn words(spans: &[Span]) -> Vec<Vec<Span>> {
    let mut words: Vec<Vec<Span>> = Vec::new();
    let mut open = false;
    for span in spans {
        for (index, part) in span.text.split(char::is_whitespace).enumerate() {
            if index > 0 {
                open = false;
            }
            if part.is_empty() {
                continue;
            }
            let piece = Span {
                tone: span.tone,
                text: part.to_owned(),
            };
            match words.last_mut().filter(|_| open) {
                Some(word) => word.push(piece),
                None => words.push(vec![piece]),
            }
            open = true;
        }
    }
    words
}

struct Wrapper {
    columns: usize,
    paint: Paint,
    lines: Vec<String>,
    line: String,
    used: usize,
}

impl Wrapper {
    fn word(&mut self, word: Vec<Span>) {
        let needed: usize = word.iter().map(|piece| width(&piece.text)).sum();
        if self.used > 0 && self.used + 1 + needed > self.columns {
            self.end_line();
        }
        if self.used > 0 {
            self.line.push(' ');
            self.used += 1;
        }
        for piece in word {
            self.piece(piece.tone, &piece.text);
        }
    }

    fn piece(&mut self, tone: Tone, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let room = self.columns.saturating_sub(self.used);
            if room == 0 {
                self.end_line();
                continue;
            }
            let (head, after) = take(rest, room);
            if width(&head) > room && self.used > 0 {
                self.end_line();
                continue;
            }
            self.used += width(&head);
            self.line.push_str(&self.paint.tone(tone, &head));
            rest = after;
        }
    }

    fn end_line(&mut self) {
        self.lines.push(std::mem::take(&mut self.line));
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    //! Properties: no line is wider than asked, save for a character that is; no word is lost.
    use super::*;
    use proptest::prelude::*;

    const PLAIN: Paint = Paint { colour: false };

    fn plain(text: &str) -> Vec<Span> {
        vec![Span::new(Tone::Plain, text)]
    }

    #[test]
    fn lines_break_between_words_by_columns() {
        assert_eq!(wrap(&plain("one two  three"), 8, PLAIN), ["one two", "three"]);
        assert_eq!(wrap(&plain("日本語の検索"), 4, PLAIN), ["日本", "語の", "検索"]);
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut_start("/home/ada/shop", 8), "…da/shop");
    }

    #[test]
    fn a_match_inside_a_word_does_not_break_it() {
        let spans = [
            Span::new(Tone::Plain, "pre"),
            Span::new(Tone::Match, "fix"),
            Span::new(Tone::Plain, "ed it"),
        ];
        assert_eq!(wrap(&spans, 20, PLAIN), ["prefixed it"]);
        let painted = wrap(&spans, 20, Paint { colour: true });
        assert!(
            painted[0].starts_with("pre\u{1b}") && painted[0].ends_with("ed it"),
            "{painted:?}"
        );
    }

    proptest! {
        #[test]
        fn lines_fit_and_keep_all_words(text in "[a-z日é \n]{0,60}", columns in 1usize..20) {
            let lines = wrap(&plain(&text), columns, PLAIN);
            for line in &lines {
                prop_assert!(width(line) <= columns.max(2), "{line:?}");
            }
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(bare(&lines.join("")), bare(&text));
        }
    }
}
