//! Answering a search: filters, the ladder of rungs, grouping by session, order, page and snippets.
//!
//! Filters are resolved to a set of sessions before anything is matched, so that they never take away
//! from a page that was already cut. Then rungs are tried from the strictest to the loosest; the first
//! that finds a session is the answer.

mod cursor;
mod dictionary;
mod ladder;
mod matches;
mod sessions;
mod snippet;
mod units;

use crate::catalogue::{self, read};
use crate::error::Result;
use crate::text::TextSnapshot;
use lookback_model::hit::{Evidence, Hit};
use lookback_model::ports::{SearchAnswer, SearchPage};
use lookback_model::query::parse::{self, Plan};
use lookback_model::query::{SearchRequest, Sort};
use lookback_model::{SessionOrdinal, Timestamp};
use matches::{Found, Match};
use rusqlite::Connection;
use sessions::SessionSet;
use std::cmp::Reverse;

/// Runs a request on one state of catalogue and text index.
///
/// # Errors
/// When either cannot be read.
pub(crate) fn run(
    connection: &Connection,
    text: Option<&TextSnapshot>,
    request: &SearchRequest,
) -> Result<SearchAnswer> {
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
    let sessions = SessionSet::load(connection, request, &plan.operators)?;
    let found = match text {
        _ if plan.words.is_empty() => operator_only(&sessions),
        Some(text) => ladder::climb(text, &plan, request.view, &sessions)?,
        None => Found::default(),
    };
    page.route.clone_from(&found.route);
    page.repaired_terms.clone_from(&found.repaired);
    let ranked = rank(connection, &found, &sessions, request.sort)?;
    let shown = ranked.get(offset..).unwrap_or_default();
    let cut = shown.len().min(request.limit);
    for found_session in shown.get(..cut).unwrap_or_default() {
        let Some(row) = read::session(connection, found_session.session)? else {
            continue;
        };
        let evidence = match text {
            Some(text) => evidence(text, found_session, &found)?,
            None => None,
        };
        page.snippets_cut += u64::from(evidence.as_ref().is_some_and(|evidence| evidence.snippet.cut));
        page.hits.push(Hit {
            session: row,
            score: f64::from(found_session.score),
            evidence,
        });
    }
    if shown.len() > cut {
        page.cursor = Some(cursor::encode(&identity, generation, offset + cut, key));
    }
    Ok(SearchAnswer::Results(page))
}

/// A query of operators alone lists the sessions that satisfy them, newest first.
fn operator_only(sessions: &SessionSet) -> Found {
    let matches = sessions
        .allowed()
        .map(|session| Match {
            session,
            ..Match::default()
        })
        .collect();
    Found {
        matches,
        route: "or".to_owned(),
        ..Found::default()
    }
}

/// The total order of hits: by score or time, then by time, agent and id, so that it does not depend on
/// how the index came to be.
fn rank(connection: &Connection, found: &Found, sessions: &SessionSet, sort: Sort) -> Result<Vec<Match>> {
    let mut ranked: Vec<(Match, Option<Timestamp>)> = found
        .matches
        .iter()
        .map(|found| {
            let facts = sessions.facts(found.session);
            let score = found.score * facts.weight();
            (Match { score, ..*found }, facts.updated_at)
        })
        .collect();
    let by_time = sort == Sort::Newest || found.terms.is_empty();
    let score_key = |found: &Match| if by_time { 0 } else { ordered(found.score) };
    let key = |(found, updated): &(Match, Option<Timestamp>)| (Reverse(score_key(found)), Reverse(*updated));
    ranked.sort_by_key(|entry| (key(entry), entry.0.session));
    let mut start = 0;
    while let Some(first) = ranked.get(start).map(key) {
        let ties = ranked
            .get(start..)
            .unwrap_or_default()
            .iter()
            .take_while(|entry| key(entry) == first)
            .count();
        if ties > 1
            && let Some(group) = ranked.get_mut(start..start + ties)
        {
            let mut named = Vec::with_capacity(ties);
            for entry in group.iter() {
                named.push((sessions::name_of(connection, entry.0.session)?, *entry));
            }
            named.sort_by(|a, b| a.0.cmp(&b.0));
            group
                .iter_mut()
                .zip(named)
                .for_each(|(place, (_, entry))| *place = entry);
        }
        start += ties.max(1);
    }
    Ok(ranked.into_iter().map(|(found, _)| found).collect())
}

/// A score as a number that sorts; scores are positive. Rounded, so that the order of additions in
/// another segment layout cannot change the order of hits.
fn ordered(score: f32) -> u64 {
    (f64::from(score) * 10_000.0).round() as u64
}

fn evidence(text: &TextSnapshot, found: &Match, all: &Found) -> Result<Option<Evidence>> {
    let Some(address) = found.best else {
        return Ok(None);
    };
    let Some((kind, words)) = text.text_of(address)? else {
        return Ok(None);
    };
    let columns = text.searcher.segment_reader(address.segment_ord).fast_fields();
    let seq = columns
        .u64(crate::schema::SEQ)?
        .first(address.doc_id)
        .unwrap_or(0);
    let time = Timestamp(
        columns
            .i64(crate::schema::TIME)?
            .first(address.doc_id)
            .unwrap_or(0),
    );
    Ok(Some(Evidence {
        snippet: snippet::snippet(&words, &all.terms),
        kind,
        time,
        seq,
    }))
}

/// The plan's words, for the rungs.
fn words(plan: &Plan) -> Vec<units::Unit> {
    plan.words.iter().filter_map(units::Unit::of).collect()
}

/// A session that cannot be.
const NO_SESSION: SessionOrdinal = SessionOrdinal(u32::MAX);
