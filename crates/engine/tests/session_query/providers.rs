//! Which provider is asked, what it is asked, and what it may answer (contract B, B.8).

use crate::scripted::{
    Fault, PROVIDER, Scripted, ScriptedProvider, World, code, events_with, has_cause, sessions_with,
};
use lookback_engine::session_query::{LiveSessions, SessionQuery, SessionQueryConfig};
use lookback_model::session_query::{
    AbortSignal, CursorRefusal, EventResultFilter, ProviderStatus, SessionEventSearchRequest,
    SessionQueryErrorCode, SessionSearchRequest, UnavailableReason,
};
use serde_json::json;
use std::sync::Arc;
use std::thread;

const UNAVAILABLE: ProviderStatus = ProviderStatus::Unavailable(UnavailableReason::Unavailable);
const MISCONFIGURED: ProviderStatus = ProviderStatus::Unavailable(UnavailableReason::Misconfigured);

fn configured(id: &str) -> SessionQueryConfig {
    SessionQueryConfig {
        search_provider: Some(id.to_owned()),
        ..SessionQueryConfig::default()
    }
}

fn service(config: SessionQueryConfig) -> SessionQuery {
    SessionQuery::new(config, LiveSessions::new()).unwrap()
}

fn provider(id: &str) -> Arc<ScriptedProvider> {
    Arc::new(ScriptedProvider::new(id))
}

/// The provider that answers, or why none does.
fn answering(query: &SessionQuery) -> Result<String, SessionQueryErrorCode> {
    let page = query.search_sessions(&sessions_with("word"), &AbortSignal::new());
    page.map(|page| page.provider_id).map_err(|error| error.code)
}

/// Property: without a configured provider exactly one must be available; those that are not do not count.
#[test]
fn exactly_one_available_provider_answers() {
    let query = service(SessionQueryConfig::default());
    assert_eq!(answering(&query), Err(SessionQueryErrorCode::ProviderUnavailable));
    let (one, two) = (provider("one"), provider("two"));
    let _one = query.register_search_provider(one.clone()).unwrap();
    assert_eq!(answering(&query), Ok("one".to_owned()));
    let _two = query.register_search_provider(two.clone()).unwrap();
    assert_eq!(answering(&query), Err(SessionQueryErrorCode::ProviderAmbiguous));
    let error = query
        .search_sessions(&sessions_with("word"), &AbortSignal::new())
        .unwrap_err();
    assert!(error.message.contains("one, two"));
    two.set_status(UNAVAILABLE);
    assert_eq!(answering(&query), Ok("one".to_owned()));
    one.set_status(MISCONFIGURED);
    assert_eq!(answering(&query), Err(SessionQueryErrorCode::ProviderUnavailable));
}

/// Property: a configured provider answers among others, and must be registered and available at each call.
#[test]
fn a_configured_provider_must_be_there_and_available() {
    let query = service(configured("two"));
    let (one, two) = (provider("one"), provider("two"));
    let _one = query.register_search_provider(one).unwrap();
    assert_eq!(
        answering(&query),
        Err(SessionQueryErrorCode::ProviderConfiguredMissing)
    );
    two.set_status(UNAVAILABLE);
    let registered = query.register_search_provider(two.clone()).unwrap();
    assert_eq!(
        answering(&query),
        Err(SessionQueryErrorCode::ProviderConfiguredUnavailable)
    );
    two.set_status(ProviderStatus::Available);
    assert_eq!(answering(&query), Ok("two".to_owned()));
    drop(registered);
    assert_eq!(
        answering(&query),
        Err(SessionQueryErrorCode::ProviderConfiguredMissing)
    );
}

/// Property: an id is registered once at a time.
#[test]
fn an_id_is_registered_once() {
    let query = service(SessionQueryConfig::default());
    let first = query.register_search_provider(provider("one")).unwrap();
    let again = query.register_search_provider(provider("one"));
    assert_eq!(code(again), SessionQueryErrorCode::DuplicateProvider);
    assert_eq!(answering(&query), Ok("one".to_owned()));
    drop(first);
    let _again = query.register_search_provider(provider("one")).unwrap();
}

/// Property: a provider goes when its owner drops the registration.
#[test]
fn a_provider_goes_with_its_owner() {
    let mut world = World::new();
    world.session("s1", &["word"]);
    assert_eq!(world.found("word"), ["s1"]);
    drop(world.registration.take());
    assert_eq!(
        code(world.search("word")),
        SessionQueryErrorCode::ProviderUnavailable
    );
}

/// Property: draining refuses new searches at once, lets the accepted one finish, and is done only then.
#[test]
fn draining_lets_accepted_searches_finish() {
    let mut world = World::new();
    world.session("s1", &["word"]);
    let gate = world.provider.stop("query");
    let registration = world.registration.take().unwrap();
    thread::scope(|scope| {
        let search = scope.spawn(|| world.found("word"));
        gate.wait_until_reached();
        let drain = registration.drain();
        assert!(!drain.is_done());
        assert_eq!(
            code(world.search("word")),
            SessionQueryErrorCode::ProviderUnavailable
        );
        // Its id is free again, for another provider.
        let _next = world.query.register_search_provider(provider(PROVIDER)).unwrap();
        gate.open();
        drain.wait();
        assert_eq!(
            world.provider.take_calls().last().map(String::as_str),
            Some("answer")
        );
        assert_eq!(search.join().unwrap(), ["s1"]);
    });
}

/// Property: a search that has only chosen a provider when it goes is not accepted any more.
#[test]
fn a_search_that_comes_too_late_is_refused() {
    let mut world = World::new();
    let gate = world.provider.stop("status");
    let registration = world.registration.take().unwrap();
    thread::scope(|scope| {
        let search = scope.spawn(|| code(world.search("word")));
        gate.wait_until_reached();
        registration.drain().wait();
        gate.open();
        assert_eq!(search.join().unwrap(), SessionQueryErrorCode::ProviderUnavailable);
    });
    assert_eq!(world.provider.take_calls(), [""; 0]);
}

/// Property: a drain can be awaited: it is woken when the accepted work has finished.
#[test]
fn a_drain_can_be_awaited() {
    struct Unpark(thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let mut world = World::new();
    let gate = world.provider.stop("query");
    let registration = world.registration.take().unwrap();
    thread::scope(|scope| {
        let search = scope.spawn(|| world.found("word"));
        gate.wait_until_reached();
        let mut drain = Box::pin(registration.drain());
        let waker = Arc::new(Unpark(thread::current())).into();
        let mut context = std::task::Context::from_waker(&waker);
        assert!(drain.as_mut().poll(&mut context).is_pending());
        gate.open();
        while drain.as_mut().poll(&mut context).is_pending() {
            thread::park();
        }
        assert_eq!(search.join().unwrap(), [""; 0]);
    });
}

/// Property: a provider that comes back is fed on from what it holds.
#[test]
fn a_provider_that_comes_back_is_fed_on() {
    let mut world = World::new();
    let ended = world.session("s1", &["word"]);
    world.session("s2", &["word"]);
    assert_eq!(world.found("word"), ["s1", "s2"]);
    world.registration.take().unwrap().drain().wait();
    ended.end().unwrap();
    world.provider.take_calls();
    world.registration = Some(
        world
            .query
            .register_search_provider(world.provider.clone())
            .unwrap(),
    );
    assert_eq!(world.found("word"), ["s2"]);
    assert_eq!(world.provider.take_calls(), ["unlive s1", "query", "answer"]);
}

/// Property: a blank query, and one with a NUL, is refused before the provider is asked anything.
#[test]
fn a_query_must_have_words() {
    let world = World::new();
    world.session("s1", &["word"]);
    for query in ["", " \n\t", "\u{3000}", "wo\0rd"] {
        assert_eq!(
            code(world.search(query)),
            SessionQueryErrorCode::InvalidQuery,
            "{query:?}"
        );
        let events = world
            .query
            .search_events(&events_with("s1", query), &AbortSignal::new());
        assert_eq!(code(events), SessionQueryErrorCode::InvalidQuery, "{query:?}");
    }
    assert_eq!(world.provider.take_calls(), [""; 0]);
}

/// Property: a limit is a whole number from 1 to the most; nothing is clamped, and a text is no number.
#[test]
fn a_limit_is_a_whole_number_within_bounds() {
    let world = World::new();
    world.session("s1", &["word"]);
    let with = |limit| SessionSearchRequest {
        limit: Some(limit),
        ..sessions_with("word")
    };
    for limit in [0.0, 101.0, 1.5, -1.0, f64::NAN, f64::INFINITY] {
        let refused = world.query.search_sessions(&with(limit), &AbortSignal::new());
        assert_eq!(code(refused), SessionQueryErrorCode::InvalidLimit, "{limit}");
        let events = SessionEventSearchRequest {
            limit: Some(limit),
            ..events_with("s1", "word")
        };
        let refused = world.query.search_events(&events, &AbortSignal::new());
        assert_eq!(code(refused), SessionQueryErrorCode::InvalidLimit, "{limit}");
    }
    for limit in [1.0, 100.0] {
        assert!(
            world
                .query
                .search_sessions(&with(limit), &AbortSignal::new())
                .is_ok()
        );
        assert_eq!(world.provider.last_sessions_spec().limit as f64, limit);
    }
    let text = json!({"query": "word", "limit": "10"});
    assert!(serde_json::from_value::<SessionSearchRequest>(text).is_err());
}

/// Property: the most may be raised, and the default is what a request without a limit has.
#[test]
fn limits_are_configured() {
    let world = World::configured(SessionQueryConfig {
        default_limit: 3,
        max_limit: 500,
        ..Default::default()
    });
    world.session("s1", &["word"]);
    world.found("word");
    assert_eq!(world.provider.last_sessions_spec().limit, 3);
    let request = SessionSearchRequest {
        limit: Some(500.0),
        ..sessions_with("word")
    };
    assert!(world.query.search_sessions(&request, &AbortSignal::new()).is_ok());
}

/// Property: the provider is looked at before the query, the query before the limit, the limit before filters.
#[test]
fn requests_are_checked_in_order() {
    let backward = EventResultFilter::Seq {
        from: Some(2.0),
        to: Some(1.0),
    };
    let mut request = SessionSearchRequest {
        query: " ".to_owned(),
        limit: Some(0.0),
        event_filters: vec![backward.clone()],
        ..SessionSearchRequest::default()
    };
    let nobody = service(SessionQueryConfig::default());
    let signal = AbortSignal::new();
    let unavailable = SessionQueryErrorCode::ProviderUnavailable;
    assert_eq!(code(nobody.search_sessions(&request, &signal)), unavailable);
    let world = World::new();
    assert_eq!(
        code(world.query.search_sessions(&request, &signal)),
        SessionQueryErrorCode::InvalidQuery
    );
    request.query = "word".to_owned();
    assert_eq!(
        code(world.query.search_sessions(&request, &signal)),
        SessionQueryErrorCode::InvalidLimit
    );
    request.limit = None;
    assert_eq!(
        code(world.query.search_sessions(&request, &signal)),
        SessionQueryErrorCode::InvalidFilter
    );
    let events = SessionEventSearchRequest {
        filters: vec![backward],
        ..events_with("nowhere", "word")
    };
    assert_eq!(
        code(world.query.search_events(&events, &signal)),
        SessionQueryErrorCode::InvalidFilter
    );
    let unknown = world
        .query
        .search_events(&events_with("nowhere", "word"), &signal);
    assert_eq!(code(unknown), SessionQueryErrorCode::SessionNotFound);
}

/// Property: a page with more hits than the limit is an error, never cut.
#[test]
fn a_page_over_its_limit_is_an_error() {
    let world = World::new();
    for id in ["s1", "s2", "s3"] {
        world.session(id, &["word", "word"]);
    }
    world.provider.answer_too_much();
    let request = |limit| SessionSearchRequest {
        limit: Some(limit),
        ..sessions_with("word")
    };
    let signal = AbortSignal::new();
    assert_eq!(
        code(world.query.search_sessions(&request(2.0), &signal)),
        SessionQueryErrorCode::ProviderError
    );
    assert_eq!(
        world
            .query
            .search_sessions(&request(3.0), &signal)
            .unwrap()
            .items
            .len(),
        3
    );
    let events = SessionEventSearchRequest {
        limit: Some(1.0),
        ..events_with("s1", "word")
    };
    assert_eq!(
        code(world.query.search_events(&events, &signal)),
        SessionQueryErrorCode::ProviderError
    );
}

/// Property: a page in another provider's name is an error.
#[test]
fn a_page_in_anothers_name_is_an_error() {
    let world = World::new();
    world.session("s1", &["word"]);
    world.provider.answer_as("another");
    assert_eq!(code(world.search("word")), SessionQueryErrorCode::ProviderError);
}

/// Property: the provider gets the trimmed query, the decided limit, filters, cursor and the caller's signal.
#[test]
fn a_provider_gets_a_decided_request() {
    let world = World::new();
    world.session("s1", &["two words", "two words"]);
    let signal = AbortSignal::new();
    let filters = vec![EventResultFilter::Seq {
        from: Some(0.0),
        to: None,
    }];
    let request = SessionEventSearchRequest {
        filters: filters.clone(),
        cursor: Some("1".to_owned()),
        ..events_with("s1", " \ttwo words\n")
    };
    let page = world.query.search_events(&request, &signal).unwrap();
    assert_eq!(
        page.items.iter().map(|hit| hit.event.seq).collect::<Vec<_>>(),
        [1]
    );
    let spec = world.provider.last_events_spec();
    assert_eq!(
        (spec.query.as_str(), spec.limit, spec.cursor.as_deref()),
        ("two words", 20, Some("1"))
    );
    assert_eq!((spec.session_id.as_str(), spec.filters), ("s1", filters));
    assert!(!world.provider.last_signal().is_aborted());
    signal.abort();
    assert!(world.provider.last_signal().is_aborted());
    world.search(" two words ").unwrap();
    assert_eq!(world.provider.last_sessions_spec().query, "two words");
}

/// Property: pages follow one another by cursor.
#[test]
fn pages_follow_by_cursor() {
    let world = World::new();
    for id in ["s1", "s2", "s3"] {
        world.session(id, &["word"]);
    }
    let mut request = SessionSearchRequest {
        limit: Some(2.0),
        ..sessions_with("word")
    };
    let first = world
        .query
        .search_sessions(&request, &AbortSignal::new())
        .unwrap();
    request.cursor = first.next_cursor;
    let second = world
        .query
        .search_sessions(&request, &AbortSignal::new())
        .unwrap();
    assert_eq!(
        (first.items.len(), second.items.len(), second.next_cursor),
        (2, 1, None)
    );
}

/// Property: a provider's own error is the very cause; its typed errors pass as they are; a panic is an error.
#[test]
fn a_providers_error_keeps_its_identity() {
    let world = World::new();
    world.session("s1", &["word"]);
    world.provider.fail("query", Fault::Own("disk full"));
    let error = world.search("word").unwrap_err();
    assert_eq!(error.code, SessionQueryErrorCode::ProviderError);
    assert_eq!(
        error.source.unwrap().downcast_ref::<Scripted>(),
        Some(&Scripted("disk full"))
    );
    world
        .provider
        .fail("query", Fault::Typed(SessionQueryErrorCode::InvalidFilter));
    assert_eq!(code(world.search("word")), SessionQueryErrorCode::InvalidFilter);
    world.provider.fail("query", Fault::Panic);
    let error = world.search("word").unwrap_err();
    assert_eq!(error.code, SessionQueryErrorCode::ProviderError);
    assert!(!has_cause(&error, &Scripted("disk full")) && error.source.is_some());
    assert_eq!(world.found("word"), ["s1"]);
}

/// Property: a refused cursor is known by its cause, which has a name that programs read.
#[test]
fn a_refused_cursor_is_known_by_its_cause() {
    let world = World::new();
    for (refusal, name) in [
        (CursorRefusal::Stale, "stale-cursor"),
        (CursorRefusal::Malformed, "malformed-cursor"),
    ] {
        world.provider.fail("query", Fault::Cursor(refusal));
        let error = world.search("word").unwrap_err();
        assert_eq!(error.code, SessionQueryErrorCode::ProviderError);
        let cause = error.source.unwrap().downcast::<CursorRefusal>().unwrap();
        assert_eq!(cause.as_str(), name);
    }
}

/// Property: a provider is asked at each search whether it is available.
#[test]
fn availability_is_asked_each_time() {
    let world = World::new();
    world.session("s1", &["word"]);
    for asked in 1..4 {
        world.found("word");
        assert_eq!(world.provider.statuses(), asked);
    }
}
