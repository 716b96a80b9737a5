//! The ladder: rungs from the strictest to the loosest. The first that finds a session in scope is the
//! answer, and its name is the route.
//!
//! Code, names and error texts are tried as a phrase first. A few words are looked for all together, then
//! respelled, completed, and looked for inside names. A sentence is not required to be held as a whole: its
//! telling words are looked for in any of their forms, and the session that holds most of it comes first.

use super::hits::Finder;
use super::proximity;
use super::scope::Scope;
use super::score::{self, Scored, Scoring, Wanted, Weighting};
use super::snippet::Marks;
use super::units::Unit;
use super::{dictionary, ordered, stems};
use crate::error::Result;
use lookback_model::query::parse::{Plan, WORD_LIMIT};
use lookback_model::query::wording;
use std::cmp::Reverse;

/// At most this many unknown words of a query are respelled.
const RESPELLED: usize = 8;
/// One in so many pieces of an unspaced sentence must be held.
const GRAMS_WANTED: usize = 4;
/// More words than this are a sentence, whatever they are.
const FEW_WORDS: usize = 5;

/// What a rung found.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// Sessions, in no order, each once.
    pub sessions: Vec<Scored>,
    /// How they were found.
    pub route: String,
    /// The words searched for, when some were repaired.
    pub repaired: Option<Vec<String>>,
    /// What to mark in snippets.
    pub marks: Marks,
}

/// Climbs down until something is found.
///
/// # Errors
/// When the index cannot be read.
pub(super) fn climb(finder: &Finder<'_>, plan: &Plan, text: &str) -> Result<Found> {
    let units: Vec<Unit> = plan.words.iter().filter_map(Unit::of).collect();
    if units.is_empty() {
        return Ok(Found::default());
    }
    let is_literal = wording::is_literal(text);
    let ladder = Ladder {
        scope: finder.scope,
        finder,
        is_literal,
    };
    let telling = telling(&units);
    let is_sentence = telling.len() < units.len() || units.len() > FEW_WORDS;
    let found = match is_sentence {
        true => ladder.sentence(&units, telling)?,
        false => ladder.words(&units)?,
    };
    Ok(found.unwrap_or_else(|| Found {
        route: "or".to_owned(),
        ..Found::default()
    }))
}

/// The words that mean something; all when none does.
fn telling(units: &[Unit]) -> Vec<Unit> {
    let says = |unit: &&Unit| unit.quoted || !unit.single().is_some_and(wording::is_stop_word);
    let telling: Vec<Unit> = units.iter().filter(says).cloned().collect();
    if telling.is_empty() {
        units.to_vec()
    } else {
        telling
    }
}

struct Ladder<'a> {
    scope: &'a Scope<'a>,
    finder: &'a Finder<'a>,
    is_literal: bool,
}

impl Ladder<'_> {
    /// A few words, all of which are wanted.
    fn words(&self, units: &[Unit]) -> Result<Option<Found>> {
        let exact = units;
        let units = &self.with_forms(units)?;
        if let Some(found) = self.phrase(exact)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.all(units)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.taken_apart(units)? {
            return Ok(Some(found));
        }
        let (respelled, changed) = self.respell(units)?;
        if changed {
            let found = match self.all(&respelled)? {
                Some(found) => Some(found),
                None => self.most(&respelled)?,
            };
            if let Some(found) = found {
                return Ok(Some(repaired(found, &respelled)));
            }
        }
        if let Some(found) = self.completed(units)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.most(units)? {
            return Ok(Some(found));
        }
        self.any(units)
    }

    /// A sentence or question: the more of it the better.
    fn sentence(&self, units: &[Unit], telling: Vec<Unit>) -> Result<Option<Found>> {
        if self.is_literal {
            if let Some(found) = self.phrase(units)? {
                return Ok(Some(found));
            }
            let scoring = self.score(units, Wanted::all(units.len()))?;
            if let Some(found) = self.found(scoring, units, "and", |session, _| session.together)? {
                return Ok(Some(found));
            }
        }
        let telling = self.with_forms(&telling)?;
        let (units, changed) = self.respell(&telling)?;
        let quoted = quoted(&units);
        let scoring = self.score(&units, Wanted::Units(quoted))?;
        let found = self.found(scoring, &units, "or", |session, _| {
            session.units & quoted == quoted
        })?;
        match found {
            Some(found) if changed => Ok(Some(repaired(found, &units))),
            Some(found) => Ok(Some(found)),
            None => self.completed(&telling),
        }
    }

    /// Words that are not there as such: beginnings, parts of names, sentences without spaces.
    fn completed(&self, units: &[Unit]) -> Result<Option<Found>> {
        for rung in [Self::beginning, Self::inside, Self::grams] {
            if let Some(found) = rung(self, units)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn score(&self, units: &[Unit], wanted: Wanted) -> Result<Scoring> {
        let weighting = if self.is_literal {
            Weighting::Work
        } else {
            Weighting::Talk
        };
        score::score(self.finder, units, weighting, wanted)
    }

    /// Whether at least so many of the units stand anywhere. Where fewer do, no session can hold as many, and
    /// none need be scored.
    fn has(&self, units: &[Unit], wanted: usize) -> Result<bool> {
        let mut held = 0;
        for (at, unit) in units.iter().enumerate() {
            if held + units.len() - at < wanted {
                return Ok(false);
            }
            held += usize::from(!self.finder.of_unit(unit)?.is_empty());
        }
        Ok(held >= wanted)
    }

    /// The sessions of a scoring that are wanted, neighbouring words counted; `None` when there is none.
    fn found(
        &self,
        mut scoring: Scoring,
        units: &[Unit],
        route: &str,
        wanted: impl Fn(&Scored, u32) -> bool,
    ) -> Result<Option<Found>> {
        let mut sessions = std::mem::take(&mut scoring.sessions);
        sessions.retain(|session| wanted(session, session.units.count_ones()));
        if sessions.is_empty() {
            return Ok(None);
        }
        if units.len() > 1 {
            let first = self.best(&mut sessions);
            let chosen: Vec<_> = first.iter().map(|session| session.session).collect();
            let exchanges = scoring.exchanges(self.scope, &chosen);
            let neighbours = proximity::bonuses(self.scope, units, &scoring.rarity, first)?;
            for ((session, exchange), neighbours) in first.iter_mut().zip(exchanges).zip(neighbours) {
                session.score += neighbours + exchange;
            }
        }
        Ok(Some(Found {
            sessions,
            route: route.to_owned(),
            repaired: None,
            marks: Marks::of(units, &scoring.rarity),
        }))
    }

    /// The sessions that are looked at more closely. Those that tie with the last of them are looked at as
    /// well, or none of them when they are many: which of equals it is must not depend on the index.
    fn best<'s>(&self, sessions: &'s mut [Scored]) -> &'s mut [Scored] {
        let order = |session: &Scored| {
            let updated_at = self.scope.sessions.facts(session.session).updated_at;
            (Reverse(ordered(session.score)), Reverse(updated_at))
        };
        if sessions.len() <= proximity::LOOKED_AT {
            return sessions;
        }
        let orders: Vec<_> = sessions.iter().map(order).collect();
        let mut selected = orders.clone();
        let last = *selected.select_nth_unstable(proximity::LOOKED_AT - 1).1;
        let up_to_last = orders.iter().filter(|order| **order <= last).count();
        let is_first = |order: &_| match up_to_last > 2 * proximity::LOOKED_AT {
            true => *order < last,
            false => *order <= last,
        };
        let mut count = 0;
        for (at, order) in orders.iter().enumerate() {
            if is_first(order) {
                sessions.swap(count, at);
                count += 1;
            }
        }
        sessions.get_mut(..count).unwrap_or_default()
    }

    /// All words side by side, in code and error texts.
    fn phrase(&self, units: &[Unit]) -> Result<Option<Found>> {
        if !self.is_literal || units.len() < 2 {
            return Ok(None);
        }
        let joined = [Unit::joined(units)];
        let scoring = self.score(&joined, Wanted::Any)?;
        self.found(scoring, &joined, "phrase", |_, _| true)
    }

    /// All words in one document, or at least in one session. A name that is all the words run together
    /// holds them all.
    fn all(&self, units: &[Unit]) -> Result<Option<Found>> {
        let is_phrase = matches!(units, [unit] if unit.single().is_none());
        let route = if is_phrase { "phrase" } else { "and" };
        let name = self.run_together(units)?;
        if name.is_none() && !self.has(units, units.len())? {
            return Ok(None);
        }
        if let Some(name) = name {
            let mut scoring = self.score(units, Wanted::Any)?;
            let named = self.score(&[Unit::term(&name)], Wanted::Any)?;
            scoring.take_in(named);
            let mut units = units.to_vec();
            units.push(Unit::term(&name));
            return self.found(scoring, &units, route, |session, _| session.together);
        }
        let scoring = self.score(units, Wanted::all(units.len()))?;
        let is_together = scoring.sessions.iter().any(|session| session.together);
        // One event is little enough for its words to belong together wherever in it they stand.
        let is_together = is_together && !self.scope.finds_events;
        self.found(scoring, units, route, |session, count| {
            session.together || (!is_together && count as usize == units.len())
        })
    }

    /// The known name that a few words are when they are run together: `gomemlimit` for `go mem limit`.
    fn run_together(&self, units: &[Unit]) -> Result<Option<String>> {
        if !(2..=4).contains(&units.len()) || units.iter().any(|unit| unit.quoted) {
            return Ok(None);
        }
        let parts: Option<Vec<&str>> = units.iter().map(Unit::single).collect();
        let name = parts.unwrap_or_default().concat();
        let is_known = name.is_ascii() && name.len() >= 5 && self.scope.is_known(&name)?;
        Ok(is_known.then_some(name))
    }

    /// Words of scripts that write no spaces, in pieces of two characters.
    fn grams(&self, units: &[Unit]) -> Result<Option<Found>> {
        let mut pieces: Vec<Unit> = units.iter().flat_map(Unit::grams).collect();
        pieces.truncate(WORD_LIMIT);
        if pieces.len() <= units.len() || pieces.len() <= FEW_WORDS {
            return Ok(None);
        }
        let wanted = pieces.len().div_ceil(GRAMS_WANTED);
        let scoring = self.score(&pieces, Wanted::Count(wanted))?;
        self.found(scoring, &pieces, "or", |_, count| count as usize >= wanted)
    }

    /// Other forms of words that are no names and not quoted.
    fn with_forms(&self, units: &[Unit]) -> Result<Vec<Unit>> {
        let mut all = units.to_vec();
        for unit in all.iter_mut().filter(|unit| !unit.quoted) {
            let is_word = unit.alternatives.len() == 1 && !wording::is_literal(&unit.typed);
            let forms = match unit.single().filter(|_| is_word) {
                Some(term) => stems::forms(self.scope, term)?,
                None => Vec::new(),
            };
            unit.add_forms(forms);
        }
        Ok(all)
    }

    /// Whether the scope holds a word, in any of its forms.
    fn is_known(&self, unit: &Unit) -> Result<bool> {
        for alternative in &unit.alternatives {
            if let [(_, term)] = alternative.sequence.as_slice()
                && self.scope.is_known(term)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Words that no session in scope has as phrases of the words they are made of.
    fn taken_apart(&self, units: &[Unit]) -> Result<Option<Found>> {
        let mut apart = units.to_vec();
        let mut changed = false;
        for unit in apart.iter_mut().filter(|unit| !unit.quoted).take(RESPELLED) {
            let Some(term) = unit.single().map(str::to_owned) else {
                continue;
            };
            if self.is_known(unit)? {
                continue;
            }
            if let Some(parts) = dictionary::taken_apart(self.scope, &term)? {
                *unit = Unit::phrase(&parts);
                changed = true;
            }
        }
        if !changed || !self.has(&apart, apart.len())? {
            return Ok(None);
        }
        let scoring = self.score(&apart, Wanted::all(apart.len()))?;
        self.found(scoring, &apart, "substring", |session, _| session.together)
    }

    /// Replaces words that no session in scope has by their closest spelling.
    fn respell(&self, units: &[Unit]) -> Result<(Vec<Unit>, bool)> {
        let mut respelled = Vec::with_capacity(units.len());
        let mut tried = 0;
        for unit in units {
            let term = unit.single().filter(|_| tried < RESPELLED && !unit.quoted);
            let better = match term {
                Some(term) if !self.is_known(unit)? => {
                    tried += 1;
                    dictionary::respell(self.scope, term)?
                }
                _ => None,
            };
            respelled.push(better.map_or_else(|| unit.clone(), |term| Unit::term(&term)));
        }
        let changed = respelled.as_slice() != units;
        Ok((respelled, changed))
    }

    /// The last word is the beginning of one.
    fn beginning(&self, units: &[Unit]) -> Result<Option<Found>> {
        self.expanded(units, "prefix", dictionary::beginning_with)
    }

    /// The last word is inside an identifier.
    fn inside(&self, units: &[Unit]) -> Result<Option<Found>> {
        self.expanded(units, "substring", dictionary::containing)
    }

    fn expanded(
        &self,
        units: &[Unit],
        route: &str,
        expand: fn(&Scope<'_>, &str) -> Result<Vec<String>>,
    ) -> Result<Option<Found>> {
        let Some((last, others)) = units.split_last() else {
            return Ok(None);
        };
        let Some(term) = last.whole().filter(|term| term.chars().count() >= 3) else {
            return Ok(None);
        };
        let terms = expand(self.scope, term)?;
        if terms.is_empty() {
            return Ok(None);
        }
        let mut all = others.to_vec();
        all.push(last.expanded(&terms));
        if !self.has(&all, all.len())? {
            return Ok(None);
        }
        let scoring = self.score(&all, Wanted::all(all.len()))?;
        self.found(scoring, &all, route, |session, _| session.together)
    }

    /// Any of the words, where hits are events: a session that holds all words may have them in several.
    fn any(&self, units: &[Unit]) -> Result<Option<Found>> {
        if !self.scope.finds_events || units.len() < 2 {
            return Ok(None);
        }
        let quoted = quoted(units);
        let scoring = self.score(units, Wanted::Any)?;
        self.found(scoring, units, "or", |session, _| {
            session.units & quoted == quoted
        })
    }

    /// Most of the words, anywhere in a session.
    fn most(&self, units: &[Unit]) -> Result<Option<Found>> {
        if units.len() < 3 {
            return Ok(None);
        }
        let wanted = units.len().div_ceil(2);
        if !self.has(units, wanted)? {
            return Ok(None);
        }
        let scoring = self.score(units, Wanted::Count(wanted))?;
        self.found(scoring, units, "or", |_, count| count as usize >= wanted)
    }
}

fn repaired(found: Found, units: &[Unit]) -> Found {
    Found {
        route: format!("typo+{}", found.route),
        repaired: Some(units.iter().map(|unit| unit.typed.clone()).collect()),
        ..found
    }
}

/// The units that must be held because they were quoted, a bit each.
fn quoted(units: &[Unit]) -> u64 {
    let bits = units.iter().enumerate().filter(|(_, unit)| unit.quoted);
    bits.filter_map(|(at, _)| 1u64.checked_shl(at as u32))
        .fold(0, |all, bit| all | bit)
}
