//! The ladder: rungs from the strictest to the loosest. The first that finds an allowed session is the
//! answer, and its name is the route.

use super::matches::{self, Found, Match};
use super::sessions::SessionSet;
use super::units::{self, Unit};
use super::{dictionary, words};
use crate::error::Result;
use crate::schema::has_wholes;
use crate::text::TextSnapshot;
use lookback_model::query::parse::Plan;
use lookback_model::{SessionOrdinal, TextKind, View};
use std::collections::{BTreeSet, HashMap};
use tantivy::query::{BooleanQuery, Occur, Query};
use tantivy::schema::Field;

/// At most this many unknown words of a query are respelled.
const RESPELLED: usize = 8;

struct Ladder<'a> {
    text: &'a TextSnapshot,
    fields: Vec<(TextKind, Field)>,
    sessions: &'a SessionSet,
}

/// Climbs down until something is found.
///
/// # Errors
/// When the index cannot be read.
pub(super) fn climb(text: &TextSnapshot, plan: &Plan, view: View, sessions: &SessionSet) -> Result<Found> {
    let ladder = Ladder {
        text,
        fields: text.fields.view(view),
        sessions,
    };
    let units = words(plan);
    if units.is_empty() {
        return Ok(Found::default());
    }
    if let Some(found) = ladder.all(&units)? {
        return Ok(found);
    }
    if let Some(found) = ladder.taken_apart(&units)? {
        return Ok(found);
    }
    let (respelled, changed) = ladder.respell(&units)?;
    if changed {
        let repaired = Some(respelled.iter().map(|unit| unit.typed.clone()).collect());
        if let Some(found) = ladder.all(&respelled)? {
            let route = format!("typo+{}", found.route);
            return Ok(Found {
                route,
                repaired,
                ..found
            });
        }
        if let Some(found) = ladder.most(&respelled)? {
            return Ok(Found {
                route: "typo+or".to_owned(),
                repaired,
                ..found
            });
        }
    }
    for rung in [Ladder::beginning, Ladder::inside, Ladder::most] {
        if let Some(found) = rung(&ladder, &units)? {
            return Ok(found);
        }
    }
    Ok(Found {
        terms: marks(&units),
        route: "or".to_owned(),
        ..Found::default()
    })
}

impl Ladder<'_> {
    fn fields(&self) -> Vec<Field> {
        self.fields.iter().map(|&(_, field)| field).collect()
    }

    fn run(&self, query: &dyn Query) -> Result<Vec<Match>> {
        matches::by_session(self.text, query, self.sessions)
    }

    /// All words in one document, or at least in one session.
    fn all(&self, units: &[Unit]) -> Result<Option<Found>> {
        let mut found = self.run(&*units::all_of(units, &self.fields))?;
        if found.is_empty() && units.len() > 1 {
            found = self.across_documents(units, units.len())?;
        }
        let is_phrase = matches!(units, [unit] if unit.single().is_none());
        Ok(named(
            found,
            if is_phrase { "phrase" } else { "and" },
            marks(units),
        ))
    }

    /// Words that no allowed session has as phrases of the words they are made of.
    fn taken_apart(&self, units: &[Unit]) -> Result<Option<Found>> {
        let fields = self.fields();
        let mut apart = units.to_vec();
        let mut changed = false;
        for unit in apart.iter_mut().filter(|unit| !unit.quoted).take(RESPELLED) {
            let Some(term) = unit.single().map(str::to_owned) else {
                continue;
            };
            if dictionary::is_known(self.text, &fields, &term, self.sessions)? {
                continue;
            }
            if let Some(parts) = dictionary::taken_apart(self.text, &fields, &term, self.sessions)? {
                *unit = Unit::phrase(&parts);
                changed = true;
            }
        }
        if !changed {
            return Ok(None);
        }
        let found = self.run(&*units::all_of(&apart, &self.fields))?;
        Ok(named(found, "substring", marks(&apart)))
    }

    /// Sessions that have at least `wanted` of the words, in any of their documents.
    fn across_documents(&self, units: &[Unit], wanted: usize) -> Result<Vec<Match>> {
        let mut sums: HashMap<SessionOrdinal, (usize, f32, Match)> = HashMap::new();
        for unit in units {
            for found in self.run(&*unit.query(&self.fields))? {
                let (count, sum, best) = sums.entry(found.session).or_insert((0, 0.0, found));
                *count += 1;
                *sum += found.score;
                if found.score > best.score {
                    *best = found;
                }
            }
        }
        let enough = sums.into_values().filter(|(count, ..)| *count >= wanted);
        Ok(enough
            .map(|(count, sum, best)| Match {
                score: sum * count as f32,
                ..best
            })
            .collect())
    }

    /// Replaces words that no allowed session has by their closest spelling.
    fn respell(&self, units: &[Unit]) -> Result<(Vec<Unit>, bool)> {
        let fields = self.fields();
        let mut respelled = Vec::with_capacity(units.len());
        let mut tried = 0;
        let mut changed = false;
        for unit in units {
            let unknown = match unit.single().filter(|_| tried < RESPELLED) {
                Some(term) if !dictionary::is_known(self.text, &fields, term, self.sessions)? => Some(term),
                _ => None,
            };
            let better = match unknown {
                Some(term) => {
                    tried += 1;
                    dictionary::respell(self.text, &fields, term, self.sessions)?
                }
                None => None,
            };
            changed |= better.is_some();
            respelled.push(better.map_or_else(|| unit.clone(), |term| Unit::term(&term)));
        }
        Ok((respelled, changed))
    }

    /// The last word is the beginning of one.
    fn beginning(&self, units: &[Unit]) -> Result<Option<Found>> {
        self.expanded(units, "prefix", &self.fields(), dictionary::beginning_with)
    }

    /// The last word is inside an identifier.
    fn inside(&self, units: &[Unit]) -> Result<Option<Found>> {
        // Looks at every term, so only where identifiers are terms as a whole, which is the small part.
        let spoken = self.fields.iter().filter(|&&(kind, _)| has_wholes(kind));
        let fields: Vec<Field> = spoken.map(|&(_, field)| field).collect();
        self.expanded(units, "substring", &fields, dictionary::containing)
    }

    fn expanded(
        &self,
        units: &[Unit],
        route: &str,
        fields: &[Field],
        expand: fn(&TextSnapshot, &[Field], &str) -> Result<Vec<String>>,
    ) -> Result<Option<Found>> {
        let Some((last, others)) = units.split_last() else {
            return Ok(None);
        };
        let term = last
            .whole
            .as_deref()
            .or(last.single())
            .filter(|term| term.chars().count() >= 3);
        let Some(term) = term else {
            return Ok(None);
        };
        let terms = expand(self.text, fields, term)?;
        if terms.is_empty() {
            return Ok(None);
        }
        let alternatives = terms
            .iter()
            .map(|term| (Occur::Should, Unit::term(term).query(&self.fields)));
        let mut clauses: Vec<(Occur, Box<dyn Query>)> =
            vec![(Occur::Must, Box::new(BooleanQuery::new(alternatives.collect())))];
        clauses.extend(others.iter().map(|unit| (Occur::Must, unit.query(&self.fields))));
        let mut marked = marks(others);
        marked.extend(terms);
        Ok(named(self.run(&BooleanQuery::new(clauses))?, route, marked))
    }

    /// Most of the words that mean something, anywhere in a session.
    fn most(&self, units: &[Unit]) -> Result<Option<Found>> {
        let mut telling: Vec<Unit> = units
            .iter()
            .filter(|unit| !is_stop_word(&unit.typed))
            .cloned()
            .collect();
        if telling.is_empty() {
            telling = units.to_vec();
        }
        if telling.len() < 3 && units.len() < 3 {
            return Ok(None);
        }
        let wanted = telling.len().div_ceil(2);
        Ok(named(
            self.across_documents(&telling, wanted)?,
            "or",
            marks(&telling),
        ))
    }
}

fn named(matches: Vec<Match>, route: &str, terms: BTreeSet<String>) -> Option<Found> {
    (!matches.is_empty()).then(|| Found {
        matches,
        route: route.to_owned(),
        repaired: None,
        terms,
    })
}

fn marks(units: &[Unit]) -> BTreeSet<String> {
    units.iter().flat_map(Unit::terms).collect()
}

/// Words that say nothing of what a question is about.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
    "could", "did", "do", "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is",
    "it", "its", "last", "me", "my", "no", "not", "of", "on", "or", "our", "should", "so", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "to", "up", "us", "was", "we", "were", "what",
    "when", "where", "which", "who", "why", "will", "with", "would", "you", "your",
];

fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word.to_lowercase().as_str())
}
