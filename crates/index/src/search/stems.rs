//! Word forms: which terms of prose are the same word as one that was typed (`migrate` for `migrating`).
//!
//! The stem is compared when a query is made and not kept in the index: the dictionary of prose is small, so
//! that its words with a common beginning are soon looked through, and the index does not grow. A form counts
//! less than the word as it was typed, and tool output is searched for the latter alone.

use super::scope::Scope;
use crate::error::Result;
use frostem::{Algorithm, Stemmer};
use std::collections::BTreeSet;
use tantivy_fst::Automaton;

/// Words shorter than this have no other forms.
const SHORTEST: usize = 3;
/// A form is at most this much longer than the stem.
const LONGEST_ENDING: usize = 6;
/// At most this many forms of a word are searched for.
const FORMS_LIMIT: usize = 24;

/// The other forms of `word` that prose holds, in the order of the alphabet, shorter ones first.
///
/// # Errors
/// When the index cannot be read.
pub(super) fn forms(scope: &Scope<'_>, word: &str) -> Result<Vec<String>> {
    let is_word = word.len() >= SHORTEST && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let (true, Some(prose)) = (is_word, scope.prose()) else {
        return Ok(Vec::new());
    };
    let stemmer = Stemmer::new(Algorithm::English);
    let stem = stemmer.stem(word);
    let automaton = Ending {
        beginning: beginning(word, &stem).as_bytes().to_vec(),
        longest: stem.len() + LONGEST_ENDING,
    };
    let mut found = BTreeSet::new();
    for segment in &scope.segments {
        let terms = segment.field(prose).index.terms();
        let mut stream = terms.search(automaton.clone()).into_stream()?;
        while stream.advance() {
            let Ok(term) = std::str::from_utf8(stream.key()) else {
                continue;
            };
            if term != word && stemmer.stem(term) == stem {
                found.insert((term.len(), term.to_owned()));
            }
        }
    }
    let mut forms = Vec::new();
    for (_, term) in found {
        // The dictionary knows words of sessions that are gone or out of scope.
        if forms.len() < FORMS_LIMIT && scope.live_documents(&[prose], &term, 1)? > 0 {
            forms.push(term);
        }
    }
    Ok(forms)
}

/// What all forms of a word begin with: the stem as far as the word has it, without a last vowel that other
/// forms change (`tri` of `tries` and `try`).
fn beginning<'a>(word: &'a str, stem: &str) -> &'a str {
    let common = word.bytes().zip(stem.bytes()).take_while(|(a, b)| a == b).count();
    let common = word.get(..common).unwrap_or_default();
    match common.strip_suffix(['e', 'i', 'y']) {
        Some(shorter) if common.len() == stem.len() || common.len() == word.len() => shorter,
        _ => common,
    }
}

/// Accepts a beginning and then small letters, up to a length.
#[derive(Clone)]
struct Ending {
    beginning: Vec<u8>,
    longest: usize,
}

impl Automaton for Ending {
    type State = Option<usize>;

    fn start(&self) -> Option<usize> {
        Some(0)
    }

    fn is_match(&self, state: &Option<usize>) -> bool {
        state.is_some_and(|length| length >= self.beginning.len())
    }

    fn can_match(&self, state: &Option<usize>) -> bool {
        state.is_some()
    }

    fn accept(&self, state: &Option<usize>, byte: u8) -> Option<usize> {
        let at = (*state)?;
        let fits = match self.beginning.get(at) {
            Some(&wanted) => wanted == byte,
            None => byte.is_ascii_lowercase() && at < self.longest,
        };
        fits.then_some(at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn accepts(word: &str, form: &str) -> bool {
        let stem = Stemmer::new(Algorithm::English).stem(word);
        let automaton = Ending {
            beginning: beginning(word, &stem).as_bytes().to_vec(),
            longest: stem.len() + LONGEST_ENDING,
        };
        let end = form
            .bytes()
            .fold(automaton.start(), |state, byte| automaton.accept(&state, byte));
        automaton.is_match(&end)
    }

    /// Property: whichever form is typed, the others are among the terms that are looked at.
    #[test]
    fn forms_of_a_word_lead_to_one_another() {
        for forms in [
            &[
                "migrate",
                "migrates",
                "migrated",
                "migrating",
                "migration",
                "migrations",
            ][..],
            &["try", "tries", "tried", "trying"],
            &["happy", "happiness"],
            &["use", "uses", "used", "using"],
            &["run", "runs", "running"],
            &["crash", "crashes", "crashed", "crashing"],
            &["config", "configs"],
            &["dependency", "dependencies"],
            &["cache", "caches", "cached", "caching"],
        ] {
            for typed in forms {
                for other in forms {
                    assert!(accepts(typed, other), "{typed} does not lead to {other}");
                }
            }
        }
    }

    proptest! {
        /// Property: no word makes the stemmer or the automaton fail.
        #[test]
        fn any_word_has_a_stem(word in "[a-z]{3,30}") {
            prop_assert!(accepts(&word, &word));
        }
    }
}
