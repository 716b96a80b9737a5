//! Every error code is raised by what the contract says raises it (contract B, B.12).

use crate::reads::at;
use crate::scripted::Refusal;
use crate::scripted::{
    Fault, ScriptedPersistence, ScriptedProvider, World, child, code, header, log, replacing, said,
    sessions_with, user,
};
use lookback_engine::session_query::{
    EventTextExtractor, ExtractError, LiveSessions, SessionQuery, SessionQueryConfig,
};
use lookback_model::session_query::{
    AbortSignal, EventResultFilter, ProviderStatus, ReadEventRequest, SessionQueryErrorCode as Code,
    SessionSearchRequest, UnavailableReason,
};
use lookback_model::{Event, SessionHeader};
use serde_json::json;
use std::sync::Arc;

struct Silent(&'static str);

impl EventTextExtractor for Silent {
    fn version(&self) -> &str {
        self.0
    }

    fn fragments(&self, _: &Event) -> Result<Vec<String>, ExtractError> {
        Ok(Vec::new())
    }
}

/// A search of a world, with this changed about it.
fn searching(change: impl FnOnce(&World, &mut SessionSearchRequest)) -> Code {
    let world = World::new();
    world.session("s1", &["word"]);
    let mut request = sessions_with("word");
    change(&world, &mut request);
    code(world.query.search_sessions(&request, &AbortSignal::new()))
}

/// A search with a configured provider that is not there, or not available.
fn configured(status: Option<ProviderStatus>) -> Code {
    let config = SessionQueryConfig {
        search_provider: Some("wanted".to_owned()),
        ..Default::default()
    };
    let query = SessionQuery::new(config, LiveSessions::new()).unwrap();
    let provider = Arc::new(ScriptedProvider::new("wanted"));
    let _registered = status.map(|status| {
        provider.set_status(status);
        query.register_search_provider(provider).unwrap()
    });
    code(query.search_sessions(&sessions_with("word"), &AbortSignal::new()))
}

fn with_kept(
    header: SessionHeader,
    events: Vec<Event>,
    act: impl FnOnce(&World, &ScriptedPersistence) -> Code,
) -> Code {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    persistence.keep(header, events);
    let _mounted = world.query.mount(persistence.clone());
    act(&world, &persistence)
}

/// What is raised where a code is due. A new code needs a line here.
fn raised(due: Code) -> Code {
    let unavailable = ProviderStatus::Unavailable(UnavailableReason::Unavailable);
    match due {
        Code::Aborted => {
            let signal = AbortSignal::new();
            signal.abort();
            code(
                World::new()
                    .query
                    .search_sessions(&sessions_with("word"), &signal),
            )
        }
        Code::DuplicateExtractor => code(
            World::new()
                .query
                .register_event_text_extractor("turn/end", Arc::new(Silent("1"))),
        ),
        Code::DuplicateProvider => {
            let world = World::new();
            code(world.query.register_search_provider(world.provider.clone()))
        }
        Code::EventNotFound => {
            let world = World::new();
            world.session("s1", &["word"]);
            code(world.query.read_event(&at("s1", 1.0)))
        }
        Code::IndexFailed => searching(|world, _| world.provider.fail("live s1", Fault::Own("full"))),
        Code::InvalidConfig => {
            let config = SessionQueryConfig {
                default_limit: 101,
                ..Default::default()
            };
            code(SessionQuery::new(config, LiveSessions::new()))
        }
        Code::InvalidExtractor => code(
            World::new()
                .query
                .register_event_text_extractor("vendor/thing", Arc::new(Silent(" "))),
        ),
        Code::InvalidFilter => searching(|_, request| {
            request.event_filters = vec![EventResultFilter::Time {
                from: Some(f64::NAN),
                to: None,
            }];
        }),
        Code::InvalidLimit => searching(|_, request| request.limit = Some(101.0)),
        Code::InvalidLineage => {
            let world = World::new();
            world.live.create(child("s1", "s1"), Vec::new()).unwrap();
            code(world.query.trace_session("s1"))
        }
        Code::InvalidQuery => searching(|_, request| request.query = " ".to_owned()),
        Code::InvalidSurface
        | Code::InvalidWindow
        | Code::PersistenceFailed
        | Code::SessionNotFound
        | Code::SourceConflict => raised_by_reads(due),
        Code::ProviderAmbiguous => {
            let world = World::new();
            let _another = world
                .query
                .register_search_provider(Arc::new(ScriptedProvider::new("another")))
                .unwrap();
            code(world.search("word"))
        }
        Code::ProviderConfiguredMissing => configured(None),
        Code::ProviderConfiguredUnavailable => configured(Some(unavailable)),
        Code::ProviderError => searching(|world, _| world.provider.answer_as("another")),
        Code::ProviderUnavailable => searching(|world, _| world.provider.set_status(unavailable)),
    }
}

/// Those of them that reading a session raises.
fn raised_by_reads(due: Code) -> Code {
    match due {
        Code::InvalidSurface => {
            let broken = log(vec![user("word"), replacing(user("x"), 9, 9, &[0])]);
            with_kept(header("s1"), broken, |world, _| {
                code(world.query.list_events("s1"))
            })
        }
        Code::InvalidWindow => code(World::new().query.read_event(&ReadEventRequest {
            after: Some(51.0),
            ..at("s1", 0.0)
        })),
        Code::PersistenceFailed => with_kept(header("s1"), said(&["word"]), |world, persistence| {
            persistence.refuse_listing(Some(Refusal::Own("gone")));
            code(world.query.list_sessions())
        }),
        Code::SessionNotFound => code(World::new().query.list_events("s1")),
        Code::SourceConflict => {
            let other = SessionHeader {
                cwd: Some("/w".to_owned()),
                ..header("s1")
            };
            with_kept(other, said(&["word"]), |world, _| {
                world.session("s1", &["word"]);
                code(world.query.list_sessions())
            })
        }
        other => panic!("{other} is not raised by reading"),
    }
}

/// Property: each of the 21 codes is raised by its own cause.
#[test]
fn every_code_is_raised_by_its_cause() {
    for due in Code::ALL {
        assert_eq!(raised(due), due);
    }
}

/// Property: a configuration of JSON has its defaults, and is refused for numbers, shapes and fields that cannot
/// be.
#[test]
fn a_configuration_is_checked() {
    assert_eq!(
        SessionQueryConfig::from_json(&json!({})).unwrap(),
        SessionQueryConfig::default()
    );
    let given = json!({"searchProvider": "p", "defaultLimit": 5, "maxLimit": 300, "readWindowMax": 0});
    let read = SessionQueryConfig::from_json(&given).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), given);
    for refused in [
        json!({"defaultLimit": 0}),
        json!({"maxLimit": 0, "defaultLimit": 0}),
        json!({"defaultLimit": 30, "maxLimit": 29}),
        json!({"maxLimit": 5}),
        json!({"readWindowMax": -1}),
        json!({"defaultLimit": 1.5}),
        json!({"defaultLimit": "20"}),
        json!({"searchProvider": 1}),
        json!({"limit": 20}),
        json!([]),
    ] {
        assert_eq!(
            code(SessionQueryConfig::from_json(&refused)),
            Code::InvalidConfig,
            "{refused}"
        );
    }
}
