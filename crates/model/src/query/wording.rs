//! What kind of wording a query is: code and error texts are meant letter by letter, sentences by what they
//! speak of (contract A, A.3).

/// Words that say nothing of what a question is about, in order of the alphabet.
const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "above",
    "after",
    "again",
    "all",
    "am",
    "an",
    "and",
    "any",
    "are",
    "aren",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "could",
    "couldn",
    "d",
    "did",
    "didn",
    "do",
    "does",
    "doesn",
    "doing",
    "don",
    "during",
    "each",
    "few",
    "for",
    "from",
    "further",
    "had",
    "hadn",
    "has",
    "hasn",
    "have",
    "haven",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "isn",
    "it",
    "its",
    "itself",
    "just",
    "last",
    "ll",
    "m",
    "me",
    "more",
    "most",
    "my",
    "myself",
    "no",
    "nor",
    "not",
    "of",
    "on",
    "once",
    "only",
    "or",
    "other",
    "our",
    "ours",
    "out",
    "over",
    "own",
    "re",
    "s",
    "same",
    "she",
    "should",
    "shouldn",
    "so",
    "some",
    "such",
    "t",
    "than",
    "that",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "too",
    "until",
    "up",
    "us",
    "ve",
    "very",
    "was",
    "wasn",
    "we",
    "were",
    "weren",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "won",
    "would",
    "wouldn",
    "you",
    "your",
    "yours",
    "yourself",
];
/// Endings of names that are files for certain.
const EXTENSIONS: &[&str] = &[
    "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "go", "h", "hpp", "html", "ini", "java", "js",
    "json", "jsonl", "jsx", "kt", "lock", "log", "lua", "md", "mjs", "php", "proto", "py", "rb", "rs",
    "scss", "sh", "sql", "svelte", "swift", "tf", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml",
    "zig",
];
/// What stands in code and in no sentence.
const CODE_SIGNS: &[&str] = &["()", "{", "}", ";", "=", "::", "->", " --", "=>", "</"];
/// What begins the texts of errors.
const ERROR_WORDS: &[&str] = &[
    "Error",
    "Exception",
    "Traceback",
    "error:",
    "error[",
    "ERROR:",
    "fatal:",
    "FATAL:",
    "warning:",
    "panicked",
];

/// Whether a word says nothing of what a question is about, in any case.
pub fn is_stop_word(word: &str) -> bool {
    word.len() <= 10 && STOP_WORDS.binary_search(&word.to_lowercase().as_str()).is_ok()
}

/// Whether text is code, a name or the text of an error rather than a sentence.
///
/// ```
/// use lookback_model::query::wording::is_literal;
/// assert!(is_literal("getUserById") && is_literal("src/main.rs") && is_literal("error: mismatched types"));
/// assert!(!is_literal("why did we drop the cache"));
/// ```
pub fn is_literal(text: &str) -> bool {
    has_long_quote(text)
        || CODE_SIGNS.iter().any(|signs| text.contains(signs))
        || ERROR_WORDS.iter().any(|word| text.contains(word))
        || text.starts_with("--")
        || text.split_whitespace().any(is_name)
}

fn has_long_quote(text: &str) -> bool {
    let mut pieces = text.split('"');
    pieces.next();
    // Every second piece is inside, and the last one only when its quote is closed.
    let inside: Vec<&str> = pieces.collect();
    inside
        .chunks_exact(2)
        .any(|pair| pair.first().is_some_and(|quoted| quoted.chars().count() >= 3))
}

/// Whether a word can only be a name: of a thing in code, a file, a ticket.
fn is_name(word: &str) -> bool {
    let word = word.trim_start_matches(['(', '\'']);
    let word = word.trim_end_matches(['.', ',', '?', '!', ':', ')', '\'']);
    is_mixed(word) || is_joined(word) || is_file(word) || is_ticket(word)
}

/// `camelCase`, `HttpServer2x`.
fn is_mixed(word: &str) -> bool {
    let letters: Vec<char> = word.chars().collect();
    letters
        .windows(2)
        .any(|pair| matches!(pair, [a, b] if a.is_lowercase() && b.is_uppercase()))
}

/// `snake_case`, `user.name`, `path/to`, `C:\\x`; not `e.g.` and not `3.2`.
fn is_joined(word: &str) -> bool {
    let letters: Vec<char> = word.chars().collect();
    let joins = |three: &[char]| matches!(three, [a, '_' | '/' | '\\', b] if a.is_alphanumeric() && b.is_alphanumeric());
    let is_dotted = word.contains('.') && word.split('.').all(|piece| piece.chars().count() >= 2);
    let is_path = word.starts_with(['/', '~', '.']) && word.len() > 2;
    letters.windows(3).any(joins)
        || (is_dotted && word.contains(char::is_alphabetic))
        || (is_path && word.contains(char::is_alphanumeric))
}

fn is_file(word: &str) -> bool {
    word.rsplit_once('.')
        .is_some_and(|(name, ending)| !name.is_empty() && EXTENSIONS.contains(&ending))
}

/// `#123` and `ABC-12`.
fn is_ticket(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(number) = word.strip_prefix('#') {
        return number.len() >= 3 && is_number(number);
    }
    word.split_once('-').is_some_and(|(project, number)| {
        project.len() >= 2 && project.bytes().all(|byte| byte.is_ascii_uppercase()) && is_number(number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("The") && !is_stop_word("cache"));
    }

    #[test]
    fn code_is_told_from_sentences() {
        for literal in [
            "getUserById",
            "MAX_RETRIES",
            "user.name",
            "src/lib",
            "Cargo.lock",
            "see #123",
            "PROJ-4412",
            "parse()",
            "std::mem",
            "a -> b",
            "cargo test --locked",
            "TypeError",
            "warning: unused",
            "error[E0308] in load",
            "fatal: not a git repository",
            "\"dry run\"",
            "/etc/hosts",
            ".env",
        ] {
            assert!(is_literal(literal), "{literal}");
        }
        for sentence in [
            "error config parser",
            "When did Melanie paint a sunrise?",
            "Caroline's plans, e.g. for the summer",
            "well-known ports",
            "it said \"ok\" twice",
            "version 3.2",
            "what now...",
        ] {
            assert!(!is_literal(sentence), "{sentence}");
        }
    }

    proptest! {
        /// Property: any text has an answer.
        #[test]
        fn any_text_is_one_or_the_other(text in "\\PC{0,80}") {
            is_literal(&text);
        }
    }
}
