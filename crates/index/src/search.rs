//! Answering a search: filters, the ladder of rungs, grouping by session, order, page and snippets.
//!
//! Filters are resolved to a set of sessions before anything is matched, so that they never take away
//! from a page that was already cut. Then rungs are tried from the strictest to the loosest; the first
//! that finds a session is the answer.

mod cursor;
mod dates;
mod dictionary;
mod hits;
mod ladder;
mod lens;
mod proximity;
pub(crate) mod query;
mod scope;
mod score;
pub(crate) mod sessions;
mod snippet;
mod stems;
mod units;

use crate::catalogue::{self, read};
use crate::error::Result;
use crate::text::TextSnapshot;
use dates::DatePart;
use hits::{Finder, LastUnits};
use ladder::Found;
use lookback_model::hit::{Evidence, Hit};
use lookback_model::ports::{SearchAnswer, SearchPage};
use lookback_model::query::parse::{self, Plan};
use lookback_model::query::{SearchRequest, Sort};
use lookback_model::{SessionOrdinal, Timestamp};
use rusqlite::Connection;
use scope::Scope;
use sessions::{KnownSessions, SessionSet};
use std::cmp::Reverse;
use std::sync::Arc;
use tantivy::DocAddress;

/// What is kept from one search to the next.
#[derive(Default)]
pub(crate) struct Kept {
    sessions: KnownSessions,
    units: LastUnits,
}

/// A session in the order of hits.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    session: SessionOrdinal,
    score: f32,
    best: Option<DocAddress>,
    updated_at: Option<Timestamp>,
}

/// Runs a request on one state of catalogue and text index. What is
/// worth keeping for the next one is in `kept`, which belongs to the connection.
///
/// # Errors
/// When either cannot be read.
pub(crate) fn run(
    connection: &Connection,
    kept: &mut Kept,
    text: Option<&Arc<TextSnapshot>>,
    request: &SearchRequest,
) -> Result<SearchAnswer> {
    // All that is read of the catalogue is of one state. Readers in write-ahead mode hold nobody up.
    let _state = connection.unchecked_transaction()?;
    let generation = catalogue::meta_number(connection, "generation")?;
    let identity = catalogue::meta(connection, "identity")?.unwrap_or_default();
    let key = cursor::query_key(request);
    let offset = match cursor::check(request.cursor.as_deref(), &identity, generation, key) {
        Ok(offset) => offset,
        Err(refusal) => return Ok(refusal),
    };
    let plan = parse::parse(&request.query);
    let mut page = SearchPage {
        generation,
        query_cut: plan.cut,
        route: "or".to_owned(),
        ..SearchPage::default()
    };
    if plan.is_blank() {
        return Ok(SearchAnswer::Results(page));
    }
    let sessions = kept.sessions.narrowed(connection, request, &plan.operators)?;
    let scope = text
        .map(|text| Scope::open(text, request.view, &sessions))
        .transpose()?;
    let mut found = Found::default();
    let ranked = match &scope {
        _ if plan.words.is_empty() => operator_only(connection, &sessions)?,
        Some(scope) => {
            found = climb(kept, (text, scope), &sessions, &plan, request)?;
            let weighed = weighed(&found, &sessions, &request.query);
            in_order(connection, weighed, request.sort)?
        }
        None => Vec::new(),
    };
    if !found.route.is_empty() {
        page.route.clone_from(&found.route);
    }
    page.repaired_terms.clone_from(&found.repaired);
    let shown = ranked.get(offset..).unwrap_or_default();
    let cut = shown.len().min(request.limit);
    for ranked in shown.get(..cut).unwrap_or_default() {
        let Some(row) = read::session(connection, ranked.session)? else {
            continue;
        };
        let evidence = match (&scope, ranked.best) {
            (Some(scope), Some(best)) => evidence(scope, best, &found)?,
            _ => None,
        };
        page.snippets_cut += u64::from(evidence.as_ref().is_some_and(|evidence| evidence.snippet.cut));
        page.hits.push(Hit {
            session: row,
            score: f64::from(ranked.score),
            evidence,
        });
    }
    if shown.len() > cut {
        page.cursor = Some(cursor::encode(&identity, generation, offset + cut, key));
    }
    Ok(SearchAnswer::Results(page))
}

/// Climbs the ladder with what the last search found, and keeps what this one finds.
fn climb(
    kept: &mut Kept,
    (text, scope): (Option<&Arc<TextSnapshot>>, &Scope<'_>),
    sessions: &Arc<SessionSet>,
    plan: &Plan,
    request: &SearchRequest,
) -> Result<Found> {
    let Some(text) = text else {
        return Ok(Found::default());
    };
    let view = request.view;
    let finder = Finder::new(scope, kept.units.take(text, sessions, view));
    let found = ladder::climb(&finder, plan, &request.query)?;
    kept.units.keep(text, sessions, view, finder);
    Ok(found)
}

/// A query of operators alone lists the sessions that satisfy them, newest first.
fn operator_only(connection: &Connection, sessions: &SessionSet) -> Result<Vec<Ranked>> {
    let ranked = sessions.allowed().map(|session| Ranked {
        session,
        score: 0.0,
        best: None,
        updated_at: sessions.facts(session).updated_at,
    });
    in_order(connection, ranked.collect(), Sort::Newest)
}

/// What a date in the query adds for a session of that date, against a word as rare.
const DATE_WEIGHT: f32 = 2.5;
/// The last session of all is raised by this share, older ones by less.
const RECENCY_WEIGHT: f32 = 0.02;
/// After so many days it is half.
const RECENCY_DAYS: f32 = 30.0;

/// What decides the order of hits: how much a session has to do with the query, of which date and how old it is,
/// and whether a person drove it.
fn weighed(found: &Found, sessions: &SessionSet, query: &str) -> Vec<Ranked> {
    let dates: Vec<(DatePart, f32)> = dates::parts(query)
        .into_iter()
        .map(|part| {
            (
                part,
                score::rarity(sessions.count(), sessions.of_date(part).count()),
            )
        })
        .collect();
    let newest = found
        .sessions
        .iter()
        .filter_map(|found| sessions.facts(found.session).updated_at);
    let newest = newest.max().unwrap_or_default();
    let ranked = found.sessions.iter().map(|found| {
        let facts = sessions.facts(found.session);
        let of_date = dates.iter().filter(|(part, _)| facts.is_of(*part));
        let date: f32 = of_date.map(|(_, rarity)| DATE_WEIGHT * rarity).sum();
        let age = facts
            .updated_at
            .map_or(f32::INFINITY, |updated| days_between(updated, newest));
        let recency = 1.0 + RECENCY_WEIGHT * (-age / RECENCY_DAYS).exp2();
        Ranked {
            session: found.session,
            score: (found.score + date) * recency * facts.weight(),
            best: Some(found.best),
            updated_at: facts.updated_at,
        }
    });
    ranked.collect()
}

fn days_between(from: Timestamp, to: Timestamp) -> f32 {
    (to.0.saturating_sub(from.0).max(0) as f64 / 86_400_000.0) as f32
}

/// The total order: by score or time, then by time, agent and id, so that it does not depend on how the
/// index came to be.
fn in_order(connection: &Connection, mut ranked: Vec<Ranked>, sort: Sort) -> Result<Vec<Ranked>> {
    let score_key = |ranked: &Ranked| match sort {
        Sort::Newest => 0,
        Sort::Relevance => ordered(ranked.score),
    };
    let key = |ranked: &Ranked| (Reverse(score_key(ranked)), Reverse(ranked.updated_at));
    ranked.sort_by_cached_key(|entry| (key(entry), entry.session));
    for ties in ranked
        .chunk_by_mut(|a, b| key(a) == key(b))
        .filter(|ties| ties.len() > 1)
    {
        let mut named = Vec::with_capacity(ties.len());
        for entry in ties.iter() {
            named.push((sessions::name_of(connection, entry.session)?, *entry));
        }
        named.sort_by(|a, b| a.0.cmp(&b.0));
        ties.iter_mut()
            .zip(named)
            .for_each(|(place, (_, entry))| *place = entry);
    }
    Ok(ranked)
}

/// A score as a number that sorts; scores are positive. Rounded, so that the order of additions in
/// another segment layout cannot change the order of hits.
fn ordered(score: f32) -> u64 {
    (f64::from(score) * 10_000.0).round() as u64
}

fn evidence(scope: &Scope<'_>, best: DocAddress, found: &Found) -> Result<Option<Evidence>> {
    let (Some(segment), Some((kind, words))) = (scope.segment_of(best), scope.text_of(best)?) else {
        return Ok(None);
    };
    Ok(Some(Evidence {
        snippet: snippet::snippet(&words, &found.marks),
        kind,
        time: segment.time(best.doc_id),
        seq: segment.seq(best.doc_id),
    }))
}
