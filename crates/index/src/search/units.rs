//! Units: a word or phrase of the query as terms, and as queries over fields.

use crate::analyze::{self, Term, TermRole};
use crate::schema::has_wholes;
use lookback_model::TextKind;
use lookback_model::query::parse::Word;
use std::collections::BTreeSet;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};

/// A word or phrase as the index knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// Terms that must stand at these positions relative to one another.
    pub sequence: Vec<(usize, String)>,
    /// The same as one identifier, when it is one.
    pub whole: Option<String>,
    /// The word as typed.
    pub typed: String,
    /// Whether it was quoted.
    pub quoted: bool,
}

impl Unit {
    /// The unit of a word; `None` when it has no term.
    pub(super) fn of(word: &Word) -> Option<Self> {
        let terms = analyze::terms(&word.text);
        let sequence = sequence(&terms);
        let last = sequence.last()?.0;
        let covers_all = |term: &&Term| term.role == TermRole::Whole(last + 1);
        let whole = terms.iter().find(covers_all).map(|term| term.text.clone());
        Some(Self {
            sequence,
            whole,
            typed: word.text.clone(),
            quoted: word.quoted,
        })
    }

    /// A unit of one term.
    pub(super) fn term(term: &str) -> Self {
        Self {
            sequence: vec![(0, term.to_owned())],
            whole: None,
            typed: term.to_owned(),
            quoted: false,
        }
    }

    /// Terms that must stand side by side.
    pub(super) fn phrase(terms: &[String]) -> Self {
        let sequence = terms.iter().cloned().enumerate().collect();
        Self {
            sequence,
            whole: None,
            typed: terms.concat(),
            quoted: true,
        }
    }

    /// The only term, when there is only one.
    pub(super) fn single(&self) -> Option<&str> {
        match self.sequence.as_slice() {
            [(_, term)] => Some(term),
            _ => None,
        }
    }

    /// All its terms, for marking.
    pub(super) fn terms(&self) -> BTreeSet<String> {
        self.sequence
            .iter()
            .map(|(_, term)| term.clone())
            .chain(self.whole.clone())
            .collect()
    }

    /// A query for the unit in any of the fields.
    pub(super) fn query(&self, fields: &[(TextKind, Field)]) -> Box<dyn Query> {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for &(kind, field) in fields {
            let boost = weight(kind);
            clauses.push((
                Occur::Should,
                boosted(sequence_query(&self.sequence, field), boost),
            ));
            if let Some(whole) = self.whole.as_ref().filter(|_| has_wholes(kind)) {
                clauses.push((Occur::Should, boosted(term_query(whole, field), boost)));
            }
        }
        Box::new(BooleanQuery::new(clauses))
    }
}

/// How much a kind of text counts.
fn weight(kind: TextKind) -> f32 {
    match kind {
        TextKind::User => 3.0,
        TextKind::Agent => 2.0,
        TextKind::Reasoning | TextKind::Call | TextKind::Result => 1.0,
        TextKind::Context => 0.2,
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

fn sequence_query(sequence: &[(usize, String)], field: Field) -> Box<dyn Query> {
    match sequence {
        [(_, only)] => term_query(only, field),
        several => {
            let terms = several
                .iter()
                .map(|(at, text)| (*at, tantivy::Term::from_field_text(field, text)));
            Box::new(PhraseQuery::new_with_offset(terms.collect()))
        }
    }
}

fn term_query(text: &str, field: Field) -> Box<dyn Query> {
    let term = tantivy::Term::from_field_text(field, text);
    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
}

fn boosted(query: Box<dyn Query>, boost: f32) -> Box<dyn Query> {
    Box::new(BoostQuery::new(query, boost))
}

/// A query for all units in one document; units that stand side by side count more.
pub(super) fn all_of(units: &[Unit], fields: &[(TextKind, Field)]) -> Box<dyn Query> {
    if let [only] = units {
        return only.query(fields);
    }
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = units
        .iter()
        .map(|unit| (Occur::Must, unit.query(fields)))
        .collect();
    let mut together = Vec::new();
    let mut position = 0;
    for unit in units {
        together.extend(
            unit.sequence
                .iter()
                .map(|(at, text)| (position + at, text.clone())),
        );
        position += unit.sequence.last().map_or(0, |(at, _)| at + 1);
    }
    for &(kind, field) in fields {
        clauses.push((
            Occur::Should,
            boosted(sequence_query(&together, field), 2.0 * weight(kind)),
        ));
    }
    Box::new(BooleanQuery::new(clauses))
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
            .sequence
            .into_iter()
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
        assert_eq!(unit("getUserById").whole.as_deref(), Some("getuserbyid"));
        assert_eq!(unit("getUser x").whole, None);
    }
}
