//! What any search provider must pass, one property a function.
//!
//! A provider's tests say how it is opened ([`Subject`]) and call
//! `session_query_conformance!`, which expands to one test for each property.
//! The properties are those of the contract and of the port; how hits are ranked is nobody's business here, and
//! words are chosen so that no repair or expansion of a query finds more than what is asked for.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a property fails by panicking, with the place in the backtrace"
)]

mod filters;
mod layers;
mod made;
mod paging;
mod queries;
mod records;

pub use filters::*;
pub use layers::*;
pub use paging::*;
pub use queries::*;
pub use records::*;

use lookback_model::session_query::{
    AbortSignal, CursorRefusal, EventHit, ProviderError, SearchPage, SearchProvider, SessionEventSearchSpec,
    SessionHit, SessionSearchSpec,
};
use std::error::Error;
use std::path::Path;

/// A provider to be held against the properties.
pub trait Subject {
    /// Opens it over a folder: an empty one at first, later perhaps one that it was opened over before. Only one
    /// is open over a folder at a time.
    fn open(&self, folder: &Path) -> Box<dyn SearchProvider>;

    /// Whether the persisted base outlives the provider. One that cannot is empty when it is opened again.
    fn is_durable(&self) -> bool;

    /// How many characters a snippet may have.
    fn snippet_bound(&self) -> usize;
}

/// A provider that is open over a folder of its own.
pub struct Opened<'a> {
    subject: &'a dyn Subject,
    folder: tempfile::TempDir,
    provider: Option<Box<dyn SearchProvider>>,
}

/// Opens the subject over an empty folder and holds it against a property.
pub fn check(subject: &dyn Subject, property: fn(&mut Opened<'_>)) {
    let folder = tempfile::tempdir().unwrap();
    let provider = Some(subject.open(folder.path()));
    property(&mut Opened {
        subject,
        folder,
        provider,
    });
}

impl Opened<'_> {
    fn provider(&self) -> &dyn SearchProvider {
        self.provider.as_deref().unwrap()
    }

    /// Closes the provider, then opens it over the same folder.
    fn reopen(&mut self) {
        self.provider = None;
        self.provider = Some(self.subject.open(self.folder.path()));
    }

    fn sessions(&self, spec: &SessionSearchSpec) -> SearchPage<SessionHit> {
        self.try_sessions(spec)
            .unwrap_or_else(|error| panic!("{spec:?}: {}", chain(&error)))
    }

    fn events(&self, spec: &SessionEventSearchSpec) -> SearchPage<EventHit> {
        self.try_events(spec)
            .unwrap_or_else(|error| panic!("{spec:?}: {}", chain(&error)))
    }

    fn try_sessions(&self, spec: &SessionSearchSpec) -> Result<SearchPage<SessionHit>, ProviderError> {
        self.provider().search_sessions(spec, &AbortSignal::new())
    }

    fn try_events(&self, spec: &SessionEventSearchSpec) -> Result<SearchPage<EventHit>, ProviderError> {
        self.provider().search_events(spec, &AbortSignal::new())
    }

    /// Ids of the sessions that a query finds, sorted.
    fn found(&self, query: &str) -> Vec<String> {
        let mut ids: Vec<_> = self
            .sessions(&over_all(query))
            .items
            .into_iter()
            .map(|hit| hit.session.header.id)
            .collect();
        ids.sort();
        ids
    }

    /// Seqs of the events that a query finds in a session, sorted.
    fn found_in(&self, session: &str, query: &str) -> Vec<u64> {
        let mut seqs: Vec<_> = self
            .events(&over_events(session, query))
            .items
            .into_iter()
            .map(|hit| hit.event.seq)
            .collect();
        seqs.sort_unstable();
        seqs
    }
}

/// A search over all sessions, with room for every hit.
fn over_all(query: &str) -> SessionSearchSpec {
    SessionSearchSpec {
        query: query.to_owned(),
        session_filters: Vec::new(),
        event_filters: Vec::new(),
        limit: 100,
        cursor: None,
    }
}

/// A search over one session's events, with room for every hit.
fn over_events(session: &str, query: &str) -> SessionEventSearchSpec {
    SessionEventSearchSpec {
        session_id: session.to_owned(),
        query: query.to_owned(),
        filters: Vec::new(),
        limit: 100,
        cursor: None,
    }
}

/// The cursor refusal in an error's chain.
fn refusal(error: &ProviderError) -> Option<CursorRefusal> {
    let first: &(dyn Error + 'static) = match error {
        ProviderError::Other(error) => &**error,
        ProviderError::Query(error) => error,
    };
    let mut at = Some(first);
    while let Some(error) = at {
        if let Some(refusal) = error.downcast_ref::<CursorRefusal>() {
            return Some(refusal.clone());
        }
        at = error.source();
    }
    None
}

/// An error and all its causes on one line.
fn chain(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut at = error.source();
    while let Some(cause) = at {
        line.push_str(": ");
        line.push_str(&cause.to_string());
        at = cause.source();
    }
    line
}

/// One test for each property, over a `Subject`.
#[macro_export]
macro_rules! session_query_conformance {
    ($subject:expr) => {
        $crate::session_query_conformance!(@each $subject;
            can_be_asked
            every_page_names_the_provider
            records_are_what_was_fed
            records_say_which_layers_hold_a_session
            surface_states_are_those_of_the_fold
            events_are_those_that_hold_the_words
            a_session_is_found_once_with_an_event_of_its_own
            snippets_are_bounded_plain_text
            snippets_show_the_match
            ids_are_data
            the_base_begins_inactive_and_deactivating_removes_nothing
            the_inventory_is_what_was_put_in
            replacing_in_the_base_replaces_all
            replacing_in_the_override_replaces_all
            live_hides_the_base_and_reveals_it_again
            a_live_session_without_text_hides_the_base
            the_base_changes_unseen_beneath_a_live_session
            live_text_is_found_as_soon_as_it_was_fed
            a_live_session_grows
            removing_what_is_absent_is_no_error
            removed_sessions_are_gone
            the_base_survives_and_live_does_not
            each_session_filter_is_applied_before_paging
            each_event_filter_is_applied_before_paging
            event_filters_decide_which_sessions_are_found
            filters_are_an_and_chain_of_alternatives
            copies_of_one_event_pass_filters_each_for_itself
            a_page_holds_each_hit_once_whatever_the_limits
            a_large_limit_gives_all_and_no_cursor
            the_limit_may_change_between_pages
            feeding_nothing_new_keeps_cursors
            cursors_of_an_older_state_are_stale
            other_sessions_do_not_make_an_event_cursor_stale
            cursors_of_another_request_are_malformed
            cursors_that_are_none_are_malformed
            all_kinds_of_words_are_searched
            words_of_one_event_belong_together
            case_does_not_matter
            a_query_is_data
            a_wildcard_finds_no_more_than_itself
            any_query_is_answered_or_refused
            every_script_is_found
            long_texts_are_found_to_their_end_and_once
            searches_run_side_by_side
            an_aborted_search_harms_nothing
        );
    };
    (@each $subject:expr; $($property:ident)+) => {
        $(
            #[test]
            fn $property() {
                use $crate::session_query::conformance;
                conformance::check(&$subject, conformance::$property);
            }
        )+
    };
}

#[cfg(test)]
mod tests {
    /// Property: no property is forgotten in the list that is run.
    #[test]
    fn every_property_is_in_the_list() {
        let listed = include_str!("conformance.rs");
        let sources = [
            include_str!("conformance/filters.rs"),
            include_str!("conformance/layers.rs"),
            include_str!("conformance/paging.rs"),
            include_str!("conformance/queries.rs"),
            include_str!("conformance/records.rs"),
        ];
        let names = sources
            .iter()
            .flat_map(|source| source.lines())
            .filter_map(|line| line.strip_prefix("pub fn ")?.split_once('('))
            .map(|(name, _)| name);
        let mut count = 0;
        for name in names {
            let is_listed = listed.lines().any(|line| line.trim() == name);
            assert!(is_listed, "{name} is not run");
            count += 1;
        }
        assert!(count > 40, "only {count} properties were seen");
    }
}
