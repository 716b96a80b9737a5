//! Units: what a word or phrase of the query may look like in a text.

use crate::analyze::{self, Term, TermRole};
use lookback_model::query::parse::Word;

/// A word or phrase of the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// What it may look like; the first is as it was typed.
    pub alternatives: Vec<Alternative>,
    /// The word as typed.
    pub typed: String,
    /// Whether it was quoted.
    pub quoted: bool,
}

/// One look of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alternative {
    /// Terms that must stand at these positions relative to one another.
    pub sequence: Vec<(usize, String)>,
    /// How much it counts, in hundredths of what was typed.
    pub weight: u32,
    /// Whether it is looked for only in what people, agents and their programs say.
    pub only_prose: bool,
}

/// A form of a word counts so much, and the word itself.
const FORM_WEIGHT: u32 = 90;
const TYPED_WEIGHT: u32 = 100;

impl Unit {
    /// The unit of a word; `None` when it has no term.
    pub(super) fn of(word: &Word) -> Option<Self> {
        let text = if word.quoted {
            word.text.as_str()
        } else {
            without_contraction(&word.text)
        };
        let terms = analyze::terms(text);
        let sequence = sequence(&terms);
        let last = sequence.last()?.0;
        let covers_all = |term: &&Term| term.role == TermRole::Whole(last + 1);
        let whole = terms.iter().find(covers_all).map(|term| Alternative {
            sequence: vec![(0, term.text.clone())],
            weight: TYPED_WEIGHT,
            only_prose: true,
        });
        let mut unit = Self::new(sequence, &word.text);
        unit.alternatives.extend(whole);
        unit.quoted = word.quoted;
        Some(unit)
    }

    /// A unit of one term.
    pub(super) fn term(term: &str) -> Self {
        Self::new(vec![(0, term.to_owned())], term)
    }

    /// Terms that must stand side by side.
    pub(super) fn phrase(terms: &[String]) -> Self {
        let sequence = terms.iter().cloned().enumerate().collect();
        Self {
            quoted: true,
            ..Self::new(sequence, &terms.concat())
        }
    }

    /// All words of `units` side by side.
    pub(super) fn joined(units: &[Self]) -> Self {
        let mut sequence = Vec::new();
        let mut position = 0;
        for unit in units {
            let terms = unit.sequence();
            sequence.extend(terms.iter().map(|(at, text)| (position + at, text.clone())));
            position += terms.last().map_or(0, |(at, _)| at + 1);
        }
        let typed: Vec<&str> = units.iter().map(|unit| unit.typed.as_str()).collect();
        Self {
            quoted: true,
            ..Self::new(sequence, &typed.join(" "))
        }
    }

    fn new(sequence: Vec<(usize, String)>, typed: &str) -> Self {
        let as_typed = Alternative {
            sequence,
            weight: TYPED_WEIGHT,
            only_prose: false,
        };
        Self {
            alternatives: vec![as_typed],
            typed: typed.to_owned(),
            quoted: false,
        }
    }

    /// Any of `terms` instead of what was typed.
    pub(super) fn expanded(&self, terms: &[String]) -> Self {
        let alternatives = terms.iter().map(|term| Alternative {
            sequence: vec![(0, term.clone())],
            weight: TYPED_WEIGHT,
            only_prose: false,
        });
        Self {
            alternatives: alternatives.collect(),
            ..self.clone()
        }
    }

    /// Takes other forms of the word as well.
    pub(super) fn add_forms(&mut self, forms: Vec<String>) {
        self.alternatives
            .extend(forms.into_iter().map(|form| Alternative {
                sequence: vec![(0, form)],
                weight: FORM_WEIGHT,
                only_prose: true,
            }));
    }

    /// A word of an unspaced script in pairs of characters; any other word as it is.
    pub(super) fn grams(&self) -> Vec<Self> {
        let pieces = self.sequence().iter().map(|(_, term)| term.as_str());
        let is_unspaced = pieces.clone().all(|term| term.chars().all(analyze::is_unspaced));
        if self.quoted || !is_unspaced {
            return vec![self.clone()];
        }
        pieces.map(Self::term).collect()
    }

    /// The terms as typed.
    pub(super) fn sequence(&self) -> &[(usize, String)] {
        self.alternatives
            .first()
            .map_or(&[], |alternative| &alternative.sequence)
    }

    /// The only term as typed, when there is only one.
    pub(super) fn single(&self) -> Option<&str> {
        match self.sequence() {
            [(_, term)] => Some(term),
            _ => None,
        }
    }

    /// The word as one term, when it is one word.
    pub(super) fn whole(&self) -> Option<&str> {
        let mut wholes =
            self.alternatives
                .iter()
                .filter_map(|alternative| match alternative.sequence.as_slice() {
                    [(_, term)] => Some(term.as_str()),
                    _ => None,
                });
        wholes.next()
    }
}

/// A word without the ending that an apostrophe ties to it (`Caroline's`, `don't`): the word alone says what
/// is meant, and stands in more texts.
fn without_contraction(word: &str) -> &str {
    const ENDINGS: &[&str] = &["s", "t", "d", "m", "ll", "re", "ve"];
    let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric());
    match bare.rsplit_once(['\'', '’']) {
        Some((base, ending)) if ENDINGS.contains(&ending) && base.ends_with(char::is_alphabetic) => base,
        _ => word,
    }
}

/// The terms to look for at each position: pairs of unspaced characters rather than single ones, names
/// with their signs rather than without.
fn sequence(terms: &[Term]) -> Vec<(usize, String)> {
    let mut sequence: Vec<(usize, String, TermRole)> = Vec::new();
    for term in terms {
        match term.role {
            TermRole::Whole(_) => continue,
            TermRole::Pair | TermRole::Signed => sequence.retain(|(position, ..)| *position != term.position),
            TermRole::Part => {
                // The last character of a run is in the pair before it.
                let covered = term.position.checked_sub(1).is_some_and(|before| {
                    sequence.iter().any(|(at, pair, role)| {
                        *at == before && *role == TermRole::Pair && pair.ends_with(&term.text)
                    })
                });
                if covered {
                    continue;
                }
            }
        }
        sequence.push((term.position, term.text.clone(), term.role));
    }
    sequence
        .into_iter()
        .map(|(position, text, _)| (position, text))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(text: &str) -> Unit {
        Unit::of(&Word {
            text: text.to_owned(),
            quoted: false,
        })
        .unwrap()
    }

    fn shown(text: &str) -> Vec<String> {
        unit(text)
            .sequence()
            .iter()
            .map(|(at, term)| format!("{term}@{at}"))
            .collect()
    }

    #[test]
    fn words_become_sequences() {
        assert_eq!(shown("error-401"), ["error@0", "401@1"]);
        assert_eq!(shown("c++"), ["c++@0"]);
        assert_eq!(shown("令"), ["令@0"]);
        assert_eq!(shown("悬空引用"), ["悬空@0", "空引@1", "引用@2"]);
        assert_eq!(shown("gen令牌x"), ["gen@0", "令牌@1", "x@3"]);
        assert_eq!(unit("getUserById").whole(), Some("getuserbyid"));
        assert_eq!(unit("getUser x").whole(), None);
    }
}
