//! The searches of a session query (contract B): over what is on the disk and what is in memory, as one.
//!
//! Every session stands for itself: nothing is folded, and nothing is withheld. The ladder, the weights and the
//! snippets are those of the search of a vault.

use super::hits::{Begun, Finder};
use super::ladder::{self, Found};
use super::lens::{Events, Filter, Lens};
use super::scope::Scope;
use super::sessions::{SessionRank, SessionSet};
use super::{ordered, snippet, weighed};
use crate::error::{Cause, Result};
use crate::provider::LiveSegment;
use crate::schema;
use crate::text::TextSnapshot;
use crate::types::EventTypes;
use lookback_model::facts::one_line;
use lookback_model::query::parse;
use lookback_model::session_query::{AbortSignal, EventHit, EventRecord, EventResultFilter};
use lookback_model::{SessionFacts, SessionOrdinal, Timestamp, View};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use tantivy::DocAddress;

pub(crate) use super::lens::Members;

/// A snippet is never longer than this, in characters.
const SNIPPET_LIMIT: usize = 480;

/// What is searched. Sessions in memory are numbered from `live_from`, those on the disk by their ordinals.
#[derive(Clone, Copy)]
pub(crate) struct Layers<'a> {
    /// What is on the disk.
    pub disk: Option<&'a Arc<TextSnapshot>>,
    /// What is in memory.
    pub live: &'a [Arc<LiveSegment>],
    /// The numbers of types on the disk and in memory.
    pub types: (&'a EventTypes, &'a EventTypes),
    /// The number of the first session in memory.
    pub live_from: u32,
}

/// A search.
pub(crate) struct Question<'a> {
    /// Where is looked.
    pub layers: Layers<'a>,
    /// What is known of the sessions there.
    pub members: &'a dyn Members,
    /// What is looked for.
    pub query: &'a str,
    /// Which events may be found.
    pub filters: &'a [EventResultFilter],
    /// Whether anybody still waits.
    pub abort: &'a AbortSignal,
    /// Where the page begins.
    pub offset: usize,
    /// Hits on the page.
    pub limit: usize,
}

/// The hits of a page, each with the number of its session, and whether there are more.
pub(crate) struct Answer {
    /// Best first.
    pub hits: Vec<(SessionOrdinal, EventHit)>,
    /// Whether another page follows.
    pub has_more: bool,
}

impl Question<'_> {
    /// Finds sessions, each with its best event. `ranks` are those of the sessions that may be found, by number.
    ///
    /// # Errors
    /// When the index cannot be read, or nobody waits any more.
    pub(crate) fn sessions(&self, ranks: Vec<Option<SessionRank>>) -> Result<Answer> {
        let set = SessionSet::apart(ranks);
        let lens = Lens::Sessions(self.filter());
        let scope = self.scope(&set, Some(&lens))?;
        let found = self.climb(&scope)?;
        let mut ranked = weighed(&found, &set, self.query);
        ranked.sort_by_cached_key(|entry| {
            let id = self.members.id(entry.session).to_owned();
            (Reverse(ordered(entry.score)), Reverse(entry.updated_at), id)
        });
        let best = ranked
            .iter()
            .filter_map(|entry| Some((entry.session, entry.best?)));
        self.page(&scope, &found, best.collect())
    }

    /// Finds events of one session, which its layer gives this number.
    ///
    /// # Errors
    /// When the index cannot be read, or nobody waits any more.
    pub(crate) fn events(&self, session: SessionOrdinal, is_live: bool) -> Result<Answer> {
        let events = self.passing(session, is_live)?;
        let ranks = events.values().map(|time| {
            Some(SessionRank::apart(&SessionFacts {
                updated_at: Some(*time),
                created_at: Some(*time),
                turns: 1,
                ..SessionFacts::default()
            }))
        });
        let set = SessionSet::apart(ranks.collect());
        let lens = Lens::Events(Events {
            session,
            is_live,
            seqs: events.into_keys().collect(),
        });
        let scope = self.scope(&set, Some(&lens))?;
        let found = self.climb(&scope)?;
        let mut ranked: Vec<_> = found.sessions.iter().collect();
        // Events are numbered in the order of their seqs.
        ranked.sort_by_key(|event| (Reverse(ordered(event.score)), event.session));
        let number = self.number(session, is_live);
        let best = ranked.iter().map(|event| (number, event.best));
        self.page(&scope, &found, best.collect())
    }

    /// The events of a session that pass the filters, and when they happened.
    fn passing(&self, session: SessionOrdinal, is_live: bool) -> Result<BTreeMap<u64, Timestamp>> {
        let (_, fields) = schema::schema();
        let set = SessionSet::apart(Vec::new());
        let lens = Lens::Sessions(self.filter());
        let (scope, filter) = (self.scope(&set, Some(&lens))?, self.filter());
        let number = self.number(session, is_live);
        let mut events = BTreeMap::new();
        for segment in scope
            .segments
            .iter()
            .filter(|segment| segment.is_live() == is_live)
        {
            for document in segment.of_session(&fields, session)? {
                if filter.takes(segment, number, document) {
                    events.insert(segment.seq(document), segment.time(document));
                }
            }
        }
        Ok(events)
    }

    fn number(&self, session: SessionOrdinal, is_live: bool) -> SessionOrdinal {
        let from = if is_live { self.layers.live_from } else { 0 };
        SessionOrdinal(from.saturating_add(session.0))
    }

    fn filter(&self) -> Filter<'_> {
        Filter {
            filters: self.filters,
            types: self.layers.types,
            live_from: self.layers.live_from,
            members: self.members,
        }
    }

    fn scope<'s>(&'s self, set: &'s SessionSet, lens: Option<&'s Lens<'s>>) -> Result<Scope<'s>> {
        check(self.abort)?;
        let Layers { disk, live, .. } = self.layers;
        Scope::of_layers(disk, live, View::Everything, set, lens)
    }

    fn climb(&self, scope: &Scope<'_>) -> Result<Found> {
        let plan = parse::parse_text(self.query);
        let finder = Finder::new(scope, Begun::default()).until(self.abort);
        ladder::climb(&finder, &plan, self.query)
    }

    /// The page of hits in order, each with the document that shows it.
    fn page(
        &self,
        scope: &Scope<'_>,
        found: &Found,
        best: Vec<(SessionOrdinal, DocAddress)>,
    ) -> Result<Answer> {
        let filter = self.filter();
        let rest = best.get(self.offset..).unwrap_or_default();
        let mut hits = Vec::with_capacity(rest.len().min(self.limit));
        for &(session, address) in rest.iter().take(self.limit) {
            check(self.abort)?;
            let (Some(segment), Some((_, words))) = (scope.segment_of(address), scope.text_of(address)?)
            else {
                continue;
            };
            let document = address.doc_id;
            let shown = snippet::snippet(&words, &found.marks);
            let event = EventRecord {
                session_id: self.members.id(session).to_owned(),
                seq: segment.seq(document),
                time: segment.time(document),
                r#type: filter.type_name(segment, document).to_owned(),
                surface: filter.surface(segment, session, document),
            };
            let snippet = one_line(&shown.text, SNIPPET_LIMIT);
            hits.push((session, EventHit { event, snippet }));
        }
        Ok(Answer {
            hits,
            has_more: rest.len() > self.limit,
        })
    }
}

/// Stops a search that nobody waits for.
pub(super) fn check(abort: &AbortSignal) -> Result<()> {
    match abort.is_aborted() {
        true => Err(Cause::Aborted),
        false => Ok(()),
    }
}
