//! `filterSessionResults`, `filterEventResults`: the pure functions over records or richer hits. An item comes
//! back as it was given, whatever else it holds.

use super::Operation;
use super::fields::Fields;
use super::refusal::Refusal;
use lookback_model::session_query::filter::{HasEvent, HasSession};
use lookback_model::session_query::{
    EventRecord, EventResultFilter, SessionQueryErrorCode, SessionRecord, SessionResultFilter,
};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// An item, and the record that filters look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Item<R> {
    value: Value,
    record: R,
}

impl<R: serde::de::DeserializeOwned> Item<R> {
    /// An item of JSON, which stands at `place` within the parameters.
    ///
    /// # Errors
    /// When it holds no record.
    pub fn read(place: &str, value: Value) -> Result<Self, Refusal> {
        let record = R::deserialize(&value)
            .map_err(|error| Refusal::parameter(place, format!("is no record: {error}")))?;
        Ok(Self { value, record })
    }
}

impl<R> Serialize for Item<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl HasSession for Item<SessionRecord> {
    fn session(&self) -> &SessionRecord {
        &self.record
    }
}

impl HasEvent for Item<EventRecord> {
    fn event(&self) -> &EventRecord {
        &self.record
    }
}

/// Items and the filters that all must let them through.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FilterRequest<R, F> {
    /// Records, or hits.
    pub items: Vec<Item<R>>,
    /// The filters.
    pub filters: Vec<F>,
}

/// Sessions that every filter lets through.
#[derive(Clone, Copy, Debug)]
pub struct FilterSessionResults;

impl Operation for FilterSessionResults {
    const NAME: &'static str = "sessionQuery.filterSessionResults";
    type Request = FilterRequest<SessionRecord, SessionResultFilter>;
    type Answer = Vec<Item<SessionRecord>>;

    fn request(fields: &mut Fields) -> Result<Self::Request, Refusal> {
        let filters = session_filters(Some(fields.take("filters").unwrap_or_default()))?;
        let items = items(fields)?;
        Ok(FilterRequest { items, filters })
    }
}

/// Events that every filter lets through.
#[derive(Clone, Copy, Debug)]
pub struct FilterEventResults;

impl Operation for FilterEventResults {
    const NAME: &'static str = "sessionQuery.filterEventResults";
    type Request = FilterRequest<EventRecord, EventResultFilter>;
    type Answer = Vec<Item<EventRecord>>;

    fn request(fields: &mut Fields) -> Result<Self::Request, Refusal> {
        let filters = event_filters(Some(fields.take("filters").unwrap_or_default()))?;
        let items = items(fields)?;
        Ok(FilterRequest { items, filters })
    }
}

fn items<R: for<'de> Deserialize<'de>>(fields: &mut Fields) -> Result<Vec<Item<R>>, Refusal> {
    let items = fields.list("items")?.into_iter().enumerate();
    items
        .map(|(at, item)| Item::read(&format!("items[{at}]"), item))
        .collect()
}

/// Filters of sessions; none when absent.
pub(super) fn session_filters(value: Option<Value>) -> Result<Vec<SessionResultFilter>, Refusal> {
    let filters = list(value)?;
    let read = filters.iter().map(SessionResultFilter::from_json);
    Ok(read.collect::<Result<_, _>>()?)
}

/// Filters of events; none when absent.
pub(super) fn event_filters(value: Option<Value>) -> Result<Vec<EventResultFilter>, Refusal> {
    let filters = list(value)?;
    let read = filters.iter().map(EventResultFilter::from_json);
    Ok(read.collect::<Result<_, _>>()?)
}

fn list(value: Option<Value>) -> Result<Vec<Value>, Refusal> {
    match value {
        None => Ok(Vec::new()),
        Some(Value::Array(filters)) => Ok(filters),
        Some(_) => Err(Refusal::query(
            SessionQueryErrorCode::InvalidFilter,
            "the filters are no list",
        )),
    }
}
