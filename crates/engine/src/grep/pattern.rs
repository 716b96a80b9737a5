//! What is looked for: from what was typed to an expression, and to what must stand in a file for it.
//!
//! A pattern is a regular expression over the whole text of an event: it may match across lines, `^` and `$`
//! stand at the ends of lines, and `.` does not match a line break. Words without any sign of an expression,
//! and any text that is asked for as it is, are a phrase: a blank in it matches whatever white space stands
//! there, because nobody remembers where a line was broken.

use super::needed::Needed;
use regex_automata::meta;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, Look};

/// When letters of another case match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// When the pattern has no capital letter.
    #[default]
    Smart,
    /// Always.
    Ignored,
    /// Never.
    Exact,
}

/// How a pattern is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatternOptions {
    /// It is no expression: every sign means itself.
    pub fixed: bool,
    /// When letters of another case match.
    pub case: Case,
    /// It must stand alone, with no letter, digit or underscore beside it.
    pub words: bool,
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Nothing to look for.
    #[error("the pattern is empty")]
    Empty,
    /// Not an expression.
    #[error("at character {position}: {reason}")]
    Syntax {
        /// The character where it goes wrong, counted from 1.
        position: usize,
        /// What is wrong there.
        reason: String,
    },
    /// An expression that would take too much memory.
    #[error("the pattern is too large")]
    TooLarge,
}

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub(super) expression: meta::Regex,
    pub(super) needed: Needed,
}

impl Pattern {
    /// The pattern that `text` is.
    ///
    /// # Errors
    /// [`PatternError`] when it is none.
    pub fn new(text: &str, options: PatternOptions) -> Result<Self, PatternError> {
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        let is_phrase = options.fixed || !text.chars().any(regex_syntax::is_meta_character);
        let source = if is_phrase { phrase(text) } else { text.to_owned() };
        let ignore_case = match options.case {
            Case::Smart => !has_capital(text, is_phrase),
            Case::Ignored => true,
            Case::Exact => false,
        };
        // What must stand there is read off the expression that tells letters by their case: in the other,
        // letters are sets of letters.
        let exact = parse(&source, false)?;
        let needed = Needed::of(&exact, ignore_case);
        let mut hir = if ignore_case { parse(&source, true)? } else { exact };
        if options.words {
            hir = Hir::concat(vec![
                Hir::look(Look::WordStartHalfUnicode),
                hir,
                Hir::look(Look::WordEndHalfUnicode),
            ]);
        }
        let expression = meta::Builder::new()
            .configure(meta::Config::new().nfa_size_limit(Some(SIZE_LIMIT)))
            .build_from_hir(&hir)
            .map_err(|_| PatternError::TooLarge)?;
        Ok(Self { expression, needed })
    }
}

/// An expression may take so many bytes.
const SIZE_LIMIT: usize = 10 << 20;

fn parse(source: &str, ignore_case: bool) -> Result<Hir, PatternError> {
    let parsed = ParserBuilder::new()
        .case_insensitive(ignore_case)
        .multi_line(true)
        .build()
        .parse(source);
    parsed.map_err(|error| {
        let (offset, reason) = match &error {
            regex_syntax::Error::Parse(error) => (error.span().start.offset, error.kind().to_string()),
            regex_syntax::Error::Translate(error) => (error.span().start.offset, error.kind().to_string()),
            _ => (0, error.to_string()),
        };
        let before = source.get(..offset).unwrap_or_default();
        PatternError::Syntax {
            position: before.chars().count() + 1,
            reason,
        }
    })
}

/// The expression of a text that means itself, save that each blank stands for any white space.
fn phrase(text: &str) -> String {
    let mut expression = String::with_capacity(text.len() + 8);
    for (number, word) in text.split(' ').enumerate() {
        if number > 0 && !expression.ends_with(ANY_SPACE) {
            expression.push_str(ANY_SPACE);
        }
        regex_syntax::escape_into(word, &mut expression);
    }
    expression
}

const ANY_SPACE: &str = r"\s+";

/// Whether a pattern holds a capital letter; that of an escape such as `\S` or `\p{Lu}` is none.
fn has_capital(text: &str, is_phrase: bool) -> bool {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\\' && !is_phrase {
            if matches!(characters.next(), Some('p' | 'P')) && characters.clone().next() == Some('{') {
                characters
                    .by_ref()
                    .take_while(|&character| character != '}')
                    .for_each(drop);
            }
        } else if character.is_uppercase() {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    //! Properties: a blank of a phrase is any white space, of an expression itself; case is told as people
    //! type it; what is wrong with an expression is told with its place.
    use super::*;

    fn matches(pattern: &str, options: PatternOptions, text: &str) -> bool {
        Pattern::new(pattern, options).unwrap().expression.is_match(text)
    }

    const PLAIN: PatternOptions = PatternOptions {
        fixed: false,
        case: Case::Smart,
        words: false,
    };
    const FIXED: PatternOptions = PatternOptions { fixed: true, ..PLAIN };

    #[test]
    fn blanks_of_phrases_match_line_breaks() {
        for text in [
            "connection refused",
            "connection\n\t refused",
            "Connection\u{a0}Refused",
        ] {
            assert!(matches("connection refused", PLAIN, text), "{text:?}");
            assert!(matches("connection  refused", FIXED, text), "{text:?}");
        }
        assert!(!matches("connection refused", PLAIN, "connectionrefused"));
        assert!(!matches("connection refuse[d]", PLAIN, "connection\nrefused"));
        assert!(matches(r"connection\s+refuse[d]", PLAIN, "connection\nrefused"));
        assert!(matches("a(b c", FIXED, "a(b\nc"));
    }

    #[test]
    fn lines_end_where_an_expression_says() {
        assert!(matches("^two$", PLAIN, "one\ntwo\nthree"));
        assert!(!matches("one.two", PLAIN, "one\ntwo"));
    }

    #[test]
    fn capitals_ask_for_themselves() {
        assert!(matches("kettle", PLAIN, "KETTLE"));
        assert!(!matches("Kettle", PLAIN, "kettle"));
        assert!(matches(r"\Skettle\p{Lu}", PLAIN, "xKETTLEX"));
        assert!(matches(r"C:\Users", FIXED, r"C:\Users") && !matches(r"c:\Users", FIXED, r"c:\users"));
        let ignored = PatternOptions {
            case: Case::Ignored,
            ..PLAIN
        };
        assert!(matches("ÉTÉ", ignored, "été"));
        let exact = PatternOptions {
            case: Case::Exact,
            ..PLAIN
        };
        assert!(!matches("kettle", exact, "Kettle"));
    }

    #[test]
    fn words_stand_alone() {
        let words = PatternOptions { words: true, ..PLAIN };
        assert!(matches("cat|dog", words, "a dog."));
        assert!(!matches("cat|dog", words, "concatenate dogs"));
        assert!(matches("-F", PatternOptions { fixed: true, ..words }, "grep -F"));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let error = Pattern::new("été(", PLAIN).unwrap_err();
        assert_eq!(error.to_string(), "at character 4: unclosed group");
        assert_eq!(Pattern::new("", FIXED).unwrap_err(), PatternError::Empty);
        assert_eq!(
            Pattern::new(r"(?:\w{200}){200}", PLAIN).unwrap_err(),
            PatternError::TooLarge
        );
    }
}
