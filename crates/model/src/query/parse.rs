//! The query language, which is almost none: words, quoted phrases, and the operators `repo:` and
//! `path:` (contract A, A.3). Everything else a person types means itself.

use crate::text::head_utf16;

/// Only this many UTF-16 units of a query are looked at.
pub const QUERY_LIMIT: usize = 512;
/// Only this many words of a query are searched for.
pub const WORD_LIMIT: usize = 48;

/// What a query asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Words and phrases, in the order they were typed.
    pub words: Vec<Word>,
    /// What sessions they must be in.
    pub operators: Operators,
    /// Whether the query was longer than is searched.
    pub cut: bool,
}

impl Plan {
    /// Whether there is neither text nor operator, which finds nothing.
    pub fn is_blank(&self) -> bool {
        self.words.is_empty() && self.operators.is_empty()
    }
}

/// A word or phrase as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The text, without its quotes.
    pub text: String,
    /// Whether it was quoted, so that its words must stand side by side.
    pub quoted: bool,
}

/// What the operators say. Every value must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operators {
    /// Substrings of the last two segments of the working directory.
    pub repo: Vec<String>,
    /// Substrings of the working directory or the transcript's path.
    pub path: Vec<String>,
}

impl Operators {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.repo.is_empty() && self.path.is_empty()
    }
}

/// Parses query text. Every text has a plan; there is no syntax error.
///
/// ```
/// use lookback_model::query::parse::parse;
/// let plan = parse("repo:shop \"connection refused\" retry");
/// assert_eq!(plan.operators.repo, ["shop"]);
/// assert_eq!(plan.words[0].text, "connection refused");
/// assert!(plan.words[0].quoted && !plan.words[1].quoted);
/// ```
pub fn parse(query: &str) -> Plan {
    read(query, operator)
}

/// The same of text that has no operators: `path:x` is looked for like any other word.
pub fn parse_text(query: &str) -> Plan {
    read(query, |_| None)
}

/// An operator, its value, and what follows.
type Operation<'a> = (OperatorName, &'a str, &'a str);

fn read(query: &str, operator: fn(&str) -> Option<Operation<'_>>) -> Plan {
    let head = head_utf16(query, QUERY_LIMIT);
    let mut plan = Plan {
        cut: head.len() < query.len(),
        ..Plan::default()
    };
    let mut rest = head.trim_start();
    while let Some(first) = rest.chars().next() {
        rest = match operator(rest) {
            Some((name, value, after)) => {
                plan.take_operator(name, value);
                after
            }
            None if first == '"' => plan.take_quoted(rest),
            None => plan.take_bare(rest),
        };
        rest = rest.trim_start();
    }
    if plan.words.len() > WORD_LIMIT {
        plan.words.truncate(WORD_LIMIT);
        plan.cut = true;
    }
    plan
}

#[derive(Clone, Copy)]
enum OperatorName {
    Repo,
    Path,
}

/// An operator at the start of `text`: its name, its value, and what follows.
fn operator(text: &str) -> Option<Operation<'_>> {
    let (head, value) = text.split_once(':')?;
    let name = match head.to_ascii_lowercase().as_str() {
        "repo" => OperatorName::Repo,
        "path" => OperatorName::Path,
        _ => return None,
    };
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''));
    if let Some((value, after)) = quote.and_then(|quote| value.get(1..)?.split_once(quote)) {
        return Some((name, value, after));
    }
    let end = value.find(char::is_whitespace).unwrap_or(value.len());
    let (value, after) = value.split_at_checked(end)?;
    Some((name, value, after))
}

impl Plan {
    fn take_operator(&mut self, name: OperatorName, value: &str) {
        let value = value.trim();
        if value.is_empty() {
            return;
        }
        match name {
            OperatorName::Repo => self.operators.repo.push(value.to_owned()),
            OperatorName::Path => self.operators.path.push(value.to_owned()),
        }
    }

    /// Takes a phrase; an unclosed quote is passed over, and what follows it is read as if it were not there.
    fn take_quoted<'a>(&mut self, text: &'a str) -> &'a str {
        let inside = text.strip_prefix('"').unwrap_or(text);
        match inside.split_once('"') {
            Some((phrase, after)) => {
                self.add(phrase, true);
                after
            }
            None => inside,
        }
    }

    fn take_bare<'a>(&mut self, text: &'a str) -> &'a str {
        // The first character is taken whatever it is, so that the rest is always shorter.
        let mut characters = text.char_indices().skip(1);
        let end = characters
            .find(|(_, c)| c.is_whitespace() || *c == '"')
            .map_or(text.len(), |(at, _)| at);
        let (word, after) = text.split_at_checked(end).unwrap_or((text, ""));
        self.add(word, false);
        after
    }

    fn add(&mut self, text: &str, quoted: bool) {
        let text = text.trim();
        if text.chars().any(char::is_alphanumeric) {
            self.words.push(Word {
                text: text.to_owned(),
                quoted,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    //! Properties: the operator table of contract A.3; any text has a plan within its limits.
    use super::*;
    use proptest::prelude::*;

    fn words(query: &str) -> Vec<String> {
        parse(query).words.into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn operators_stand_at_a_token_start_only() {
        assert_eq!(
            words("myrepo:x https://h/path:x"),
            ["myrepo:x", "https://h/path:x"]
        );
        let plan = parse("REPO:App path:'my folder/x' path:\"a b\" text");
        assert_eq!(plan.operators.repo, ["App"]);
        assert_eq!(plan.operators.path, ["my folder/x", "a b"]);
        assert_eq!(plan.words.len(), 1);
    }

    #[test]
    fn blank_values_vanish_and_unclosed_quotes_are_text() {
        assert!(parse("repo: path:\"\" ").is_blank());
        assert_eq!(parse("path:\"a b").operators.path, ["\"a"]);
        assert_eq!(words("\"week 12"), ["week", "12"]);
    }

    #[test]
    fn quotes_make_phrases_and_apostrophes_do_not() {
        assert_eq!(words("\"a b\"c"), ["a b", "c"]);
        assert_eq!(words("it's o'brien repo:x"), ["it's", "o'brien"]);
        assert_eq!(parse("it's repo:x").operators.repo, ["x"]);
    }

    #[test]
    fn punctuation_alone_is_no_word() {
        for query in ["", " ", "\"", "*", ":", "() -- ::", "\"\""] {
            assert!(parse(query).is_blank(), "{query}");
        }
    }

    #[test]
    fn long_queries_are_cut_and_say_so() {
        assert!(!parse(&"a".repeat(512)).cut);
        assert!(parse(&"a".repeat(513)).cut);
        assert!(parse(&"😀".repeat(257)).cut);
        let plan = parse(&"ab ".repeat(60));
        assert_eq!((plan.words.len(), plan.cut), (48, true));
    }

    proptest! {
        #[test]
        fn any_text_has_a_plan(query in "\\PC{0,600}") {
            let plan = parse(&query);
            prop_assert!(plan.words.len() <= WORD_LIMIT);
            prop_assert!(plan.words.iter().all(|word| !word.text.trim().is_empty()));
        }

        #[test]
        fn operator_like_noise_never_panics(query in "(repo:|path:|[\"' a\u{e9}\u{3000}😀:])*") {
            let typed = query.chars().filter(|character| *character == 'a').count();
            let plan = parse(&query);
            let searched: usize = plan.words.iter().map(|word| word.text.matches('a').count()).sum();
            prop_assert!(searched <= typed, "nothing is searched for twice");
        }
    }
}
