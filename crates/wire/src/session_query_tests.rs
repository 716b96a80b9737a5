//! Properties: each parameter of a wrong shape has the contract's code, or is named; what is right is taken as
//! it is meant; a failed operation tells its code and why a cursor was refused.
use super::*;
use crate::rpc::{ErrorObject, code};
use lookback_model::event::EventData;
use lookback_model::session_query::filter::filter_session_results;
use lookback_model::session_query::{
    CursorRefusal, EventResultFilter, ProviderError, SessionQueryError, SessionQueryErrorCode,
    SessionResultFilter,
};
use serde_json::{Value, json};

fn params(value: Value) -> Params {
    match value {
        Value::Object(members) => Params::Named(members),
        Value::Array(values) => Params::Positional(values),
        _ => Params::Absent,
    }
}

fn taken<O: Operation>(value: Value) -> O::Request {
    decode::<O>(params(value.clone())).unwrap_or_else(|refusal| panic!("{value}: {refusal}"))
}

/// The refusal of parameters: the contract's code, or the parameter that is named.
fn refused<O: Operation>(value: Value) -> String {
    let Err(refusal) = decode::<O>(params(value.clone())) else {
        panic!("{value} was taken");
    };
    let error = ErrorObject::from(refusal);
    let data = error.data.unwrap();
    match error.code {
        code::INVALID_PARAMS => data["parameter"].as_str().unwrap().to_owned(),
        code::OPERATION_FAILED => data["code"].as_str().unwrap().to_owned(),
        other => panic!("{value}: {other}"),
    }
}

#[test]
fn names_are_the_contracts() {
    let names = [
        ListSessions::NAME,
        ListEvents::NAME,
        ReadEvent::NAME,
        TraceSession::NAME,
        TraceEvent::NAME,
        SearchSessions::NAME,
        SearchEvents::NAME,
        FilterSessionResults::NAME,
        FilterEventResults::NAME,
    ];
    let contract = "listSessions listEvents readEvent traceSession traceEvent searchSessions searchEvents \
                    filterSessionResults filterEventResults";
    let short: Vec<_> = names
        .iter()
        .map(|name| name.strip_prefix("sessionQuery.").unwrap())
        .collect();
    assert_eq!(short.join(" "), contract);
}

/// Property: a parameter that is missing, of another kind or unknown is named, wherever it stands.
#[test]
fn parameters_of_another_shape_are_named() {
    assert_eq!(refused::<ListSessions>(json!(["x"])), "params");
    assert_eq!(refused::<ListSessions>(json!({"sessionId": "s"})), "sessionId");
    assert_eq!(refused::<ListEvents>(json!({})), "sessionId");
    assert_eq!(refused::<ListEvents>(json!({"sessionId": 1})), "sessionId");
    assert_eq!(refused::<ListEvents>(json!({"sessionId": null})), "sessionId");
    assert_eq!(
        refused::<ListEvents>(json!({"sessionId": "s", "session": 1})),
        "session"
    );
    assert_eq!(refused::<TraceSession>(json!({"sessionId": []})), "sessionId");
    assert_eq!(refused::<TraceEvent>(json!({"sessionId": "s"})), "seq");
    assert_eq!(
        refused::<TraceEvent>(json!({"sessionId": "s", "seq": "1"})),
        "seq"
    );
    assert_eq!(
        refused::<ReadEvent>(json!({"sessionId": "s", "seq": true})),
        "seq"
    );
    assert_eq!(refused::<SearchEvents>(json!({"query": "x"})), "sessionId");
    assert_eq!(
        refused::<SearchSessions>(json!({"query": "x", "cursor": 5})),
        "cursor"
    );
    assert_eq!(
        refused::<SearchSessions>(json!({"query": "x", "filters": []})),
        "filters"
    );
    assert_eq!(refused::<FilterSessionResults>(json!({"filters": []})), "items");
    assert_eq!(
        refused::<FilterSessionResults>(json!({"filters": [], "items": [{}]})),
        "items[0]"
    );
    assert_eq!(refused::<DetachLive>(json!({"sessionId": {}})), "sessionId");
    assert_eq!(refused::<AttachLive>(json!({"events": []})), "header");
    assert_eq!(refused::<AttachLive>(json!({"header": {"id": 5}})), "header");
}

/// Property: what the contract has a code for gets it, whatever is wrong with the shape.
#[test]
fn shapes_the_contract_names_get_its_codes() {
    for query in [json!(null), json!(5), json!(["x"])] {
        assert_eq!(
            refused::<SearchSessions>(json!({"query": query})),
            "SESSION_QUERY_INVALID_QUERY"
        );
    }
    assert_eq!(
        refused::<SearchEvents>(json!({"sessionId": "s"})),
        "SESSION_QUERY_INVALID_QUERY"
    );
    for limit in [json!("10"), json!([1]), json!(false)] {
        let request = json!({"query": "x", "limit": limit});
        assert_eq!(refused::<SearchSessions>(request), "SESSION_QUERY_INVALID_LIMIT");
    }
    for before in [json!("1"), json!({}), json!(true)] {
        let request = json!({"sessionId": "s", "seq": 0, "before": before});
        assert_eq!(refused::<ReadEvent>(request), "SESSION_QUERY_INVALID_WINDOW");
    }
    for filters in [
        json!({}),
        json!("id"),
        json!([5]),
        json!([{"values": ["a"]}]),
        json!([{"kind": "colour", "values": []}]),
        json!([{"kind": "id", "values": "a"}]),
        json!([{"kind": "id", "values": [1]}]),
        json!([{"kind": "id", "values": ["a"], "more": 1}]),
        json!([{"kind": "availability", "values": ["gone"]}]),
        json!([{"kind": "created-at", "from": "now"}]),
        json!([{"kind": "created-at", "from": 2, "to": 1}]),
    ] {
        let found = refused::<SearchSessions>(json!({"query": "x", "sessionFilters": filters}));
        assert_eq!(found, "SESSION_QUERY_INVALID_FILTER", "{filters}");
        let found = refused::<FilterSessionResults>(json!({"items": [], "filters": filters}));
        assert_eq!(found, "SESSION_QUERY_INVALID_FILTER", "{filters}");
    }
    assert_eq!(
        refused::<FilterEventResults>(json!({"items": []})),
        "SESSION_QUERY_INVALID_FILTER"
    );
    let filters = json!([{"kind": "surface", "values": ["hidden"]}]);
    let request = json!({"sessionId": "s", "query": "x", "filters": filters});
    assert_eq!(refused::<SearchEvents>(request), "SESSION_QUERY_INVALID_FILTER");
}

/// Property: numbers are handed on as they are, for the service to judge, and `null` is as good as absent.
#[test]
fn what_is_right_is_taken_as_it_is_meant() {
    let request = taken::<SearchSessions>(json!({
        "query": " x ",
        "limit": 1.5,
        "cursor": null,
        "sessionFilters": [{"kind": "cwd", "values": [null, "/w"]}],
        "eventFilters": null,
    }));
    assert_eq!(request.query, " x ");
    assert_eq!(request.limit, Some(1.5));
    let values = vec![None, Some("/w".to_owned())];
    assert_eq!(request.session_filters, [SessionResultFilter::Cwd { values }]);
    assert!(request.event_filters.is_empty() && request.cursor.is_none());

    let request = taken::<SearchEvents>(
        json!({"sessionId": "s", "query": "x", "filters": [{"kind": "seq", "from": 3}], "cursor": "c"}),
    );
    assert_eq!(
        request.filters,
        [EventResultFilter::Seq {
            from: Some(3.0),
            to: None
        }]
    );
    assert_eq!(request.cursor.as_deref(), Some("c"));

    let request = taken::<ReadEvent>(json!({"sessionId": "s", "seq": -0.5, "before": 2}));
    assert_eq!(
        (request.seq, request.before, request.after),
        (-0.5, Some(2.0), None)
    );
    taken::<ListSessions>(json!(null));
    taken::<ListSessions>(json!([]));
}

/// Property: items come back as they were given, in their order, with all that filters do not look at.
#[test]
fn items_keep_what_they_hold() {
    let item = |id: &str| json!({"header": {"version": 0, "id": id, "createdAt": 1}, "live": true, "persisted": false, "bestMatch": {"any": [1.0]}});
    let request = taken::<FilterSessionResults>(json!({
        "items": [item("b"), item("a"), item("b")],
        "filters": [{"kind": "id", "values": ["b"]}],
    }));
    let kept = filter_session_results(request.items, &request.filters).unwrap();
    assert_eq!(serde_json::to_value(kept).unwrap(), json!([item("b"), item("b")]));
}

fn message(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// Property: events keep their payload and markers, and their seq may be left out only when it is given by
/// the registry.
#[test]
fn events_are_taken_whole() {
    let event = json!({"seq": 0, "time": 5, "type": "user/message", "data": message("hi"), "surfaceOp": {"op": "append"}, "nativeId": "n"});
    let header = json!({"id": "s", "createdAt": 1, "colour": "red"});
    let request = taken::<AttachLive>(json!({"header": header, "events": [event]}));
    assert_eq!(serde_json::to_value(&request.events).unwrap(), json!([event]));
    assert_eq!(request.header.extra["colour"], "red");
    assert_eq!(taken::<AttachLive>(json!({"header": header})).events, []);

    let mut event = event;
    event.as_object_mut().unwrap().remove("seq");
    let request = taken::<AppendLive>(json!({"sessionId": "s", "events": [event]}));
    assert_eq!(serde_json::to_value(&request.events).unwrap(), json!([event]));
    assert_eq!(
        refused::<AttachLive>(json!({"header": header, "events": [event]})),
        "events[0].seq"
    );
}

/// Property: a type of the vocabulary with another's payload is refused rather than kept without its words,
/// and every part of an event that has another shape is named.
#[test]
fn events_of_another_shape_are_named() {
    let refused_event = |change: &str, value: Value| {
        let mut event = json!({"time": 5, "type": "user/message", "data": message("hi")});
        event[change] = value;
        refused::<AppendLive>(json!({"sessionId": "s", "events": [event]}))
    };
    assert_eq!(refused_event("data", json!({"content": "hi"})), "events[0].data");
    assert_eq!(refused_event("data", json!(null)), "events[0].data");
    assert_eq!(refused_event("type", json!(5)), "events[0].type");
    assert_eq!(refused_event("time", json!("now")), "events[0].time");
    assert_eq!(refused_event("seq", json!(-1)), "events[0].seq");
    assert_eq!(refused_event("seq", json!(0.5)), "events[0].seq");
    assert_eq!(
        refused_event("surfaceOp", json!({"op": "remove"})),
        "events[0].surfaceOp"
    );
    assert_eq!(
        refused_event("sourceEventSeqs", json!("0")),
        "events[0].sourceEventSeqs"
    );
    assert_eq!(refused_event("surface", json!("current")), "events[0].surface");
    assert_eq!(
        refused::<AppendLive>(json!({"sessionId": "s", "events": [5]})),
        "events[0]"
    );
    assert_eq!(
        refused::<AppendLive>(json!({"sessionId": "s", "events": {}})),
        "events"
    );
    assert_eq!(refused::<AppendLive>(json!({"sessionId": "s"})), "events");
    assert_eq!(
        refused::<AppendLive>(json!({"sessionId": "s", "events": [{"time": 5, "type": "x/y"}]})),
        "events[0].data"
    );
}

/// Property: every type that the model knows is read as that type here as well, and any other is kept.
#[test]
fn the_vocabulary_is_the_models() {
    for (type_name, data) in [
        ("turn/start", json!({"turn": 1})),
        ("turn/end", json!({"reason": {"kind": "completed"}})),
        ("step/start", json!(null)),
        ("step/end", json!(1)),
        ("user/message", message("x")),
        ("assistant/message", message("x")),
        (
            "tool/result",
            json!({"callId": "c", "content": [], "isError": false}),
        ),
        ("context/message", message("x")),
        ("steering/message", message("x")),
        ("prompt/blocked", json!({"content": [], "reason": "r"})),
        (
            "tool/call",
            json!({"callId": "c", "name": "n", "arguments": "{}"}),
        ),
        (
            "todo/write",
            json!({"todos": [{"content": "c", "status": "pending"}]}),
        ),
        ("assistant/chunk", json!([1])),
        ("request/header", json!({})),
        ("request/header-delta", json!({})),
    ] {
        let event = json!({"time": 5, "type": type_name, "data": data});
        let request = taken::<AppendLive>(json!({"sessionId": "s", "events": [event]}));
        let read = &request.events[0].data;
        assert!(!matches!(read, EventData::Other(_)), "{type_name}");
        assert_eq!(
            serde_json::to_value(read).unwrap(),
            json!({"type": type_name, "data": data})
        );
        assert_eq!(
            *read,
            serde_json::from_value::<EventData>(json!({"type": type_name, "data": data})).unwrap()
        );
    }
    let event = json!({"time": 5, "type": "vendor/thing", "data": [1.5]});
    let request = taken::<AppendLive>(json!({"sessionId": "s", "events": [event]}));
    assert_eq!(serde_json::to_value(&request.events[0]).unwrap(), event);
}

/// Property: a refused cursor is told wherever it stands in the chain, and the causes are told in order.
#[test]
fn failures_tell_their_code_and_reason() {
    let failed = |source: Box<dyn std::error::Error + Send + Sync>| {
        let error = SessionQueryError::new(SessionQueryErrorCode::ProviderError, "the provider failed");
        query_failed(&error.caused_by(source))
    };
    for source in [
        Box::new(CursorRefusal::Stale) as Box<dyn std::error::Error + Send + Sync>,
        Box::new(ProviderError::other(CursorRefusal::Stale)),
        Box::new(ProviderError::other(ProviderError::other(CursorRefusal::Stale))),
    ] {
        let error = failed(source);
        assert_eq!(
            (error.code, error.message.as_str()),
            (code::OPERATION_FAILED, "the provider failed")
        );
        let data = error.data.unwrap();
        assert_eq!(data["code"], "SESSION_QUERY_PROVIDER_ERROR");
        assert_eq!(data["reason"], "stale-cursor");
        assert_eq!(data["cause"], CursorRefusal::Stale.to_string());
    }
    let data = failed(Box::new(CursorRefusal::Malformed)).data.unwrap();
    assert_eq!(data["reason"], "malformed-cursor");
    let plain = SessionQueryError::new(SessionQueryErrorCode::Aborted, "aborted");
    assert_eq!(
        query_failed(&plain).data.unwrap(),
        json!({"code": "SESSION_QUERY_ABORTED"})
    );
}
