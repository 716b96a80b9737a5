//! Looking through the term dictionary: close spellings, beginnings and parts of terms.

use super::scope::{FieldScope, Scope, Segment};
use crate::error::Result;
use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use tantivy_fst::Automaton;

/// At most this many terms stand for a beginning or a part of a term.
const EXPANSIONS: usize = 64;
/// They are chosen of so many.
const ACCEPTED: usize = 10_000;

/// Terms with how many documents hold them at most. Of more than `limit` the first of the alphabet.
struct Accepted {
    terms: BTreeMap<String, u64>,
    limit: usize,
}

impl Accepted {
    fn new(limit: usize) -> Self {
        Self {
            terms: BTreeMap::new(),
            limit,
        }
    }

    /// Takes a term in; `false` when neither it nor any later one is among the first.
    fn take(&mut self, term: &str, documents: u32) -> bool {
        if let Some(known) = self.terms.get_mut(term) {
            *known += u64::from(documents);
            return true;
        }
        let is_full = self.terms.len() >= self.limit;
        let last = self.terms.last_key_value();
        if is_full && last.is_some_and(|(last, _)| term > last.as_str()) {
            return false;
        }
        self.terms.insert(term.to_owned(), documents.into());
        if self.terms.len() > self.limit {
            self.terms.pop_last();
        }
        true
    }
}

/// Terms of the fields that an automaton accepts.
fn accepted<A: Automaton + Clone>(
    scope: &Scope<'_>,
    fields: &[FieldScope],
    automaton: &A,
    limit: usize,
) -> Result<BTreeMap<String, u64>>
where
    A::State: Clone,
{
    let mut found = Accepted::new(limit);
    for segment in &scope.segments {
        for &field in fields {
            take_accepted(segment, field, automaton, &mut found)?;
        }
    }
    Ok(found.terms)
}

fn take_accepted<A: Automaton + Clone>(
    segment: &Segment<'_>,
    field: FieldScope,
    automaton: &A,
    found: &mut Accepted,
) -> Result<()>
where
    A::State: Clone,
{
    let terms = segment.field(field).index.terms();
    let mut stream = terms.search(automaton.clone()).into_stream()?;
    while stream.advance() {
        if let Ok(term) = std::str::from_utf8(stream.key())
            && !found.take(term, stream.value().doc_freq)
        {
            break;
        }
    }
    Ok(())
}

/// The closest spelling of an unknown term that live documents hold: by distance, then by how often it
/// is used, then by the alphabet. Terms under four characters are never respelled.
///
/// # Errors
/// When the index cannot be read.
pub(super) fn respell(scope: &Scope<'_>, term: &str) -> Result<Option<String>> {
    let length = term.chars().count();
    if !(4..=40).contains(&length) {
        return Ok(None);
    }
    for distance in 1..=if length < 8 { 1 } else { 2 } {
        let dfa = spellings(distance).build_dfa(term);
        let candidates = accepted(scope, &scope.fields, &Spelling(Arc::new(dfa)), 4_000)?;
        let mut best: Option<(usize, String)> = None;
        for candidate in candidates.into_keys() {
            // The first letter is rarely wrong, and numbers never are a typo of one another.
            if candidate.chars().any(|c| c.is_ascii_digit()) != term.chars().any(|c| c.is_ascii_digit()) {
                continue;
            }
            let uses = scope.live_documents(&scope.fields, &candidate, 64)?;
            let same_start = usize::from(candidate.chars().next() == term.chars().next());
            let merit = uses + same_start * 64;
            if uses > 0 && best.as_ref().is_none_or(|(known, _)| merit > *known) {
                best = Some((merit, candidate));
            }
        }
        if let Some((_, candidate)) = best {
            return Ok(Some(candidate));
        }
    }
    Ok(None)
}

/// What makes automata for spellings within a distance of 1 or 2. It is the same for every word, and takes
/// long to make.
fn spellings(distance: u8) -> &'static LevenshteinAutomatonBuilder {
    static NEAR: OnceLock<LevenshteinAutomatonBuilder> = OnceLock::new();
    static FAR: OnceLock<LevenshteinAutomatonBuilder> = OnceLock::new();
    let builder = if distance == 1 { &NEAR } else { &FAR };
    builder.get_or_init(|| LevenshteinAutomatonBuilder::new(distance, true))
}

/// The fewest known terms that make up an unknown one, as a person runs the parts of a name together:
/// `userbyid` for `user` `by` `id`. Terms of one letter are no parts.
///
/// # Errors
/// When the index cannot be read.
pub(super) fn taken_apart(scope: &Scope<'_>, term: &str) -> Result<Option<Vec<String>>> {
    if !(5..=40).contains(&term.len()) || !term.is_ascii() {
        return Ok(None);
    }
    // For each length from the front, the fewest parts that make it up.
    let mut best: Vec<Option<Vec<String>>> = vec![None; term.len() + 1];
    if let Some(nothing) = best.first_mut() {
        *nothing = Some(Vec::new());
    }
    for end in 2..=term.len() {
        for start in 0..=end - 2 {
            let Some(before) = best.get(start).cloned().flatten() else {
                continue;
            };
            let part = term.get(start..end).unwrap_or_default();
            let is_fewer = best
                .get(end)
                .is_none_or(|known| known.as_ref().is_none_or(|known| before.len() + 1 < known.len()));
            if is_fewer && scope.is_known(part)? {
                let parts = before.into_iter().chain([part.to_owned()]).collect();
                if let Some(place) = best.get_mut(end) {
                    *place = Some(parts);
                }
            }
        }
    }
    Ok(best
        .get(term.len())
        .cloned()
        .flatten()
        .filter(|parts| parts.len() > 1))
}

/// Terms that begin with `start`.
///
/// # Errors
/// When the index cannot be read.
pub(super) fn beginning_with(scope: &Scope<'_>, start: &str) -> Result<Vec<String>> {
    let automaton = Beginning(start.as_bytes().to_vec());
    let terms = accepted(scope, &scope.fields, &automaton, ACCEPTED)?;
    most_used(scope, &scope.fields, terms)
}

/// Terms of prose that have `part` inside. Every term is looked at, so only where identifiers are terms as a
/// whole, which is the small part.
///
/// # Errors
/// When the index cannot be read.
pub(super) fn containing(scope: &Scope<'_>, part: &str) -> Result<Vec<String>> {
    let Some(prose) = scope.prose() else {
        return Ok(Vec::new());
    };
    let mut found = Accepted::new(ACCEPTED);
    for segment in &scope.segments {
        match segment.prose_terms()? {
            Some(list) => {
                list.containing(part)
                    .take_while(|(term, documents)| found.take(term, *documents))
                    .for_each(drop);
            }
            None => take_accepted(segment, prose, &Containing::of(part.as_bytes()), &mut found)?,
        }
    }
    most_used(scope, &[prose], found.terms)
}

/// Of some terms those that most documents of the scope hold, then by the alphabet.
fn most_used(scope: &Scope<'_>, fields: &[FieldScope], terms: BTreeMap<String, u64>) -> Result<Vec<String>> {
    let mut terms: Vec<(String, u64)> = terms.into_iter().collect();
    terms.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut best: BTreeSet<(Reverse<usize>, String)> = BTreeSet::new();
    for (term, at_most) in terms {
        let least = best.last().filter(|_| best.len() >= EXPANSIONS);
        if least.is_some_and(|(Reverse(uses), _)| *uses as u64 > at_most) {
            break;
        }
        let uses = scope.live_documents(fields, &term, usize::MAX)?;
        if uses > 0 {
            best.insert((Reverse(uses), term));
        }
        if best.len() > EXPANSIONS {
            best.pop_last();
        }
    }
    Ok(best.into_iter().map(|(_, term)| term).collect())
}

#[derive(Clone)]
struct Spelling(Arc<DFA>);

impl Automaton for Spelling {
    type State = u32;

    fn start(&self) -> u32 {
        self.0.initial_state()
    }

    fn is_match(&self, state: &u32) -> bool {
        matches!(self.0.distance(*state), Distance::Exact(_))
    }

    fn can_match(&self, state: &u32) -> bool {
        *state != SINK_STATE
    }

    fn accept(&self, state: &u32, byte: u8) -> u32 {
        self.0.transition(*state, byte)
    }
}

#[derive(Clone)]
struct Beginning(Vec<u8>);

impl Automaton for Beginning {
    type State = Option<usize>;

    fn start(&self) -> Option<usize> {
        Some(0)
    }

    fn is_match(&self, state: &Option<usize>) -> bool {
        *state == Some(self.0.len())
    }

    fn can_match(&self, state: &Option<usize>) -> bool {
        state.is_some()
    }

    fn accept(&self, state: &Option<usize>, byte: u8) -> Option<usize> {
        let at = (*state)?;
        match self.0.get(at) {
            None => Some(at),
            Some(&wanted) => (wanted == byte).then_some(at + 1),
        }
    }
}

/// The automaton of Knuth, Morris and Pratt.
#[derive(Clone)]
struct Containing {
    part: Vec<u8>,
    /// For each length matched, the longest shorter one that is still matched.
    fallback: Vec<usize>,
}

impl Containing {
    fn of(part: &[u8]) -> Self {
        let mut fallback = vec![0; part.len() + 1];
        let mut length = 0;
        for at in 1..part.len() {
            while length > 0 && part.get(at) != part.get(length) {
                length = fallback.get(length).copied().unwrap_or(0);
            }
            length += usize::from(part.get(at) == part.get(length));
            if let Some(place) = fallback.get_mut(at + 1) {
                *place = length;
            }
        }
        Self {
            part: part.to_vec(),
            fallback,
        }
    }
}

impl Automaton for Containing {
    type State = usize;

    fn start(&self) -> usize {
        0
    }

    fn is_match(&self, state: &usize) -> bool {
        *state == self.part.len()
    }

    fn will_always_match(&self, state: &usize) -> bool {
        self.is_match(state)
    }

    fn accept(&self, state: &usize, byte: u8) -> usize {
        let mut length = *state;
        if length == self.part.len() {
            return length;
        }
        while length > 0 && self.part.get(length) != Some(&byte) {
            length = self.fallback.get(length).copied().unwrap_or(0);
        }
        length + usize::from(self.part.get(length) == Some(&byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn accepts<A: Automaton>(automaton: &A, text: &str) -> bool {
        let end = text
            .bytes()
            .fold(automaton.start(), |state, byte| automaton.accept(&state, byte));
        automaton.is_match(&end)
    }

    proptest! {
        /// Property: the automata say what `str` says.
        #[test]
        fn automata_agree_with_str(text in "[ab]{0,12}", part in "[ab]{1,4}") {
            prop_assert_eq!(accepts(&Containing::of(part.as_bytes()), &text), text.contains(&part));
            prop_assert_eq!(accepts(&Beginning(part.clone().into_bytes()), &text), text.starts_with(&part));
        }
    }
}
