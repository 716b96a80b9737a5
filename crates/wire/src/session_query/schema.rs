//! JSON Schema of every request and answer, made from the types themselves.
//!
//! The shapes are those that lookback writes. It reads more than it promises: what has a default may be left
//! out, and an optional member may be `null`.

use super::live::{AppendLiveRequest, AttachLiveRequest};
use super::reads::ListSessionsRequest;
use super::refusal::SessionQueryErrorData;
use super::{
    AppendLive, AttachLive, DetachLive, FilterEventResults, FilterSessionResults, ListEvents, ListSessions,
    Operation, ReadEvent, SearchEvents, SearchSessions, SessionRequest, TraceEvent, TraceEventRequest,
    TraceSession,
};
use lookback_model::event::EventData;
use lookback_model::session_query::{
    EventRecord, EventResultFilter, ReadEventRequest, SessionEventSearchRequest, SessionRecord,
    SessionResultFilter, SessionSearchRequest,
};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// Sessions, or hits of sessions, and filters over them.
#[derive(JsonSchema)]
#[allow(
    dead_code,
    reason = "it stands for the shape of items, which are kept as they are"
)]
struct FilterSessionResultsRequest {
    /// Records, or hits. They come back as they are, with whatever else they hold.
    items: Vec<SessionRecord>,
    /// All must let an item through.
    filters: Vec<SessionResultFilter>,
}

/// Events, or hits of events, and filters over them.
#[derive(JsonSchema)]
#[allow(
    dead_code,
    reason = "it stands for the shape of items, which are kept as they are"
)]
struct FilterEventResultsRequest {
    /// Records, or hits. They come back as they are, with whatever else they hold.
    items: Vec<EventRecord>,
    /// All must let an item through.
    filters: Vec<EventResultFilter>,
}

/// The methods so far, and the shapes they name.
struct Document {
    shapes: SchemaGenerator,
    methods: Map<String, Value>,
}

impl Document {
    fn add<O: Operation, Params: JsonSchema, Result: JsonSchema>(&mut self) {
        let params = self.shapes.subschema_for::<Params>();
        let result = self.shapes.subschema_for::<Result>();
        let method = json!({ "params": params, "result": result });
        self.methods.insert(O::NAME.to_owned(), method);
    }
}

/// The whole document: `methods` names the shapes in `$defs` of each method's `params` and `result`.
pub fn document() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut document = Document {
        shapes: settings.into_generator(),
        methods: Map::new(),
    };
    document.add::<ListSessions, ListSessionsRequest, <ListSessions as Operation>::Answer>();
    document.add::<ListEvents, SessionRequest, <ListEvents as Operation>::Answer>();
    document.add::<ReadEvent, ReadEventRequest, <ReadEvent as Operation>::Answer>();
    document.add::<TraceSession, SessionRequest, <TraceSession as Operation>::Answer>();
    document.add::<TraceEvent, TraceEventRequest, <TraceEvent as Operation>::Answer>();
    document.add::<SearchSessions, SessionSearchRequest, <SearchSessions as Operation>::Answer>();
    document.add::<SearchEvents, SessionEventSearchRequest, <SearchEvents as Operation>::Answer>();
    document.add::<FilterSessionResults, FilterSessionResultsRequest, Vec<SessionRecord>>();
    document.add::<FilterEventResults, FilterEventResultsRequest, Vec<EventRecord>>();
    document.add::<AttachLive, AttachLiveRequest, <AttachLive as Operation>::Answer>();
    document.add::<AppendLive, AppendLiveRequest, <AppendLive as Operation>::Answer>();
    document.add::<DetachLive, SessionRequest, <DetachLive as Operation>::Answer>();
    let error = document.shapes.subschema_for::<SessionQueryErrorData>();
    document.shapes.subschema_for::<EventData>();
    let mut shapes = Value::Object(document.shapes.take_definitions(true));
    name_event_data(&mut shapes);
    tidy(&mut shapes);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "sessionQuery",
        "description": "What `lookback relay` takes and gives. `methods` has the shapes of each method's params and result, `error` that of `error.data` when an operation failed.",
        "methods": document.methods,
        "error": error,
        "$defs": shapes,
    })
}

/// Where type and payload are part of an event, their alternatives are named, not repeated.
fn name_event_data(shapes: &mut Value) {
    let alternatives = shapes.pointer("/EventData/anyOf").cloned();
    let shapes = shapes.as_object_mut().into_iter().flatten();
    for (_, shape) in shapes.filter(|(name, _)| *name != "EventData") {
        let Some(members) = shape.as_object_mut() else {
            continue;
        };
        if members.contains_key("anyOf") && members.get("anyOf") == alternatives.as_ref() {
            members.remove("anyOf");
            members.insert("allOf".to_owned(), json!([{ "$ref": "#/$defs/EventData" }]));
        }
    }
}

/// What is written is never `null` where it may be left out; and words are for readers of no Rust.
fn tidy(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(tidy),
        Value::Object(members) => {
            drop_null_of_optional(members);
            if let Some(Value::String(text)) = members.get_mut("description") {
                *text = text.replace("[`", "`").replace("`]", "`");
            }
            members.values_mut().for_each(tidy);
        }
        _ => {}
    }
}

fn drop_null_of_optional(shape: &mut Map<String, Value>) {
    let required = shape
        .get("required")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let Some(Value::Object(properties)) = shape.get_mut("properties") else {
        return;
    };
    for (name, property) in properties {
        if required.iter().any(|required| required == name) {
            continue;
        }
        if let Some(kind) = property.get_mut("type")
            && let [one, Value::String(null)] = kind.as_array().map(Vec::as_slice).unwrap_or_default()
            && null == "null"
        {
            *kind = one.clone();
        }
        if let [one, null] = property
            .get("anyOf")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default()
            && null == &json!({ "type": "null" })
            && let Some(reference) = one.get("$ref").cloned()
            && let Some(members) = property.as_object_mut()
        {
            members.remove("anyOf");
            members.insert("$ref".to_owned(), reference);
        }
    }
}
