//! Filters over records: serializable data, applied by pure functions (contract B, B.7).
//!
//! Values within a filter are alternatives; a list of filters must all let a record through.

use super::error::{SessionQueryError, SessionQueryErrorCode};
use super::record::{EventRecord, SessionRecord};
use super::request::{EventHit, SessionHit};
use crate::SurfaceState;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Lets sessions through.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SessionResultFilter {
    /// By id.
    Id {
        /// The ids.
        values: Vec<String>,
    },
    /// By working directory, exactly.
    Cwd {
        /// The folders; `null` stands for sessions without one.
        values: Vec<Option<String>>,
    },
    /// By the time they were created, in milliseconds.
    CreatedAt {
        /// Not before this; absent means any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<f64>,
        /// Not after this; absent means any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<f64>,
    },
    /// By parent.
    Parent {
        /// The ids of parents; `null` stands for sessions without one.
        values: Vec<Option<String>>,
    },
    /// By where they are held; a session that is in any of these places passes.
    Availability {
        /// The places.
        values: Vec<Availability>,
    },
}

/// Where a session is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Availability {
    /// Running in this process.
    Live,
    /// In the mounted persistence.
    Persisted,
}

/// Lets events through.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum EventResultFilter {
    /// By position in the log.
    Seq {
        /// Not before this; absent means any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<f64>,
        /// Not after this; absent means any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<f64>,
    },
    /// By the time they happened, in milliseconds.
    Time {
        /// Not before this; absent means any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<f64>,
        /// Not after this; absent means any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<f64>,
    },
    /// By type. The vocabulary is open: any name is a valid value.
    Type {
        /// The names.
        values: Vec<String>,
    },
    /// By where they stand.
    Surface {
        /// The states.
        values: Vec<SurfaceState>,
    },
}

/// Something that has a session's record.
pub trait HasSession {
    /// The record.
    fn session(&self) -> &SessionRecord;
}

/// Something that has an event's record.
pub trait HasEvent {
    /// The record.
    fn event(&self) -> &EventRecord;
}

impl HasSession for SessionRecord {
    fn session(&self) -> &SessionRecord {
        self
    }
}

impl HasSession for SessionHit {
    fn session(&self) -> &SessionRecord {
        &self.session
    }
}

impl HasEvent for EventRecord {
    fn event(&self) -> &EventRecord {
        self
    }
}

impl HasEvent for EventHit {
    fn event(&self) -> &EventRecord {
        &self.event
    }
}

impl<T: HasSession> HasSession for &T {
    fn session(&self) -> &SessionRecord {
        (*self).session()
    }
}

impl<T: HasEvent> HasEvent for &T {
    fn event(&self) -> &EventRecord {
        (*self).event()
    }
}

impl SessionResultFilter {
    /// A filter of JSON.
    ///
    /// # Errors
    /// `SESSION_QUERY_INVALID_FILTER` for an unknown kind or value, another shape, or an impossible range.
    pub fn from_json(value: &Value) -> Result<Self, SessionQueryError> {
        let filter: Self = read(value)
            .map_err(|error| invalid("a session filter is not understood".to_owned()).caused_by(error))?;
        filter.validate()?;
        Ok(filter)
    }

    /// Whether its range is possible.
    ///
    /// # Errors
    /// `SESSION_QUERY_INVALID_FILTER` when it is not.
    pub fn validate(&self) -> Result<(), SessionQueryError> {
        match self {
            Self::CreatedAt { from, to } => check_range("created-at", *from, *to),
            Self::Id { .. } | Self::Cwd { .. } | Self::Parent { .. } | Self::Availability { .. } => Ok(()),
        }
    }

    /// Whether it lets a session through.
    pub fn takes(&self, record: &SessionRecord) -> bool {
        let header = &record.header;
        match self {
            Self::Id { values } => values.contains(&header.id),
            Self::Cwd { values } => values.contains(&header.cwd),
            Self::CreatedAt { from, to } => in_range(header.created_at.0 as f64, *from, *to),
            Self::Parent { values } => values.contains(&header.parent_session),
            Self::Availability { values } => values.iter().any(|value| match value {
                Availability::Live => record.live,
                Availability::Persisted => record.persisted,
            }),
        }
    }
}

impl EventResultFilter {
    /// A filter of JSON.
    ///
    /// # Errors
    /// `SESSION_QUERY_INVALID_FILTER` for an unknown kind or value, another shape, or an impossible range.
    pub fn from_json(value: &Value) -> Result<Self, SessionQueryError> {
        let filter: Self = read(value)
            .map_err(|error| invalid("an event filter is not understood".to_owned()).caused_by(error))?;
        filter.validate()?;
        Ok(filter)
    }

    /// Whether its range is possible.
    ///
    /// # Errors
    /// `SESSION_QUERY_INVALID_FILTER` when it is not.
    pub fn validate(&self) -> Result<(), SessionQueryError> {
        match self {
            Self::Seq { from, to } => check_range("seq", *from, *to),
            Self::Time { from, to } => check_range("time", *from, *to),
            Self::Type { .. } | Self::Surface { .. } => Ok(()),
        }
    }

    /// Whether it lets an event through.
    pub fn takes(&self, record: &EventRecord) -> bool {
        match self {
            Self::Seq { from, to } => in_range(record.seq as f64, *from, *to),
            Self::Time { from, to } => in_range(record.time.0 as f64, *from, *to),
            Self::Type { values } => values.contains(&record.r#type),
            Self::Surface { values } => values.contains(&record.surface),
        }
    }
}

/// The sessions, or hits, that every filter lets through, in their order. Nothing is fetched in the place of
/// those that fall away.
///
/// # Errors
/// `SESSION_QUERY_INVALID_FILTER` when a filter is impossible, for an empty list as well.
pub fn filter_session_results<T: HasSession>(
    items: impl IntoIterator<Item = T>,
    filters: &[SessionResultFilter],
) -> Result<Vec<T>, SessionQueryError> {
    filters.iter().try_for_each(SessionResultFilter::validate)?;
    let passes = |item: &T| filters.iter().all(|filter| filter.takes(item.session()));
    Ok(items.into_iter().filter(passes).collect())
}

/// The events, or hits, that every filter lets through, in their order. Nothing is fetched in the place of
/// those that fall away.
///
/// # Errors
/// `SESSION_QUERY_INVALID_FILTER` when a filter is impossible, for an empty list as well.
pub fn filter_event_results<T: HasEvent>(
    items: impl IntoIterator<Item = T>,
    filters: &[EventResultFilter],
) -> Result<Vec<T>, SessionQueryError> {
    filters.iter().try_for_each(EventResultFilter::validate)?;
    let passes = |item: &T| filters.iter().all(|filter| filter.takes(item.event()));
    Ok(items.into_iter().filter(passes).collect())
}

/// Reads an object; an array would be taken for its fields in their order.
fn read<T: DeserializeOwned>(value: &Value) -> Result<T, serde_json::Error> {
    match value {
        Value::Object(_) => T::deserialize(value),
        _ => Err(serde::de::Error::custom("a filter is an object")),
    }
}

fn in_range(value: f64, from: Option<f64>, to: Option<f64>) -> bool {
    from.is_none_or(|from| value >= from) && to.is_none_or(|to| value <= to)
}

fn check_range(kind: &str, from: Option<f64>, to: Option<f64>) -> Result<(), SessionQueryError> {
    for (name, bound) in [("from", from), ("to", to)] {
        if let Some(bound) = bound.filter(|bound| !bound.is_finite()) {
            return Err(invalid(format!("{kind} filter: {name} is {bound}, not a number")));
        }
    }
    match (from, to) {
        (Some(from), Some(to)) if from > to => {
            Err(invalid(format!("{kind} filter: from {from} is after to {to}")))
        }
        _ => Ok(()),
    }
}

fn invalid(message: String) -> SessionQueryError {
    SessionQueryError::new(SessionQueryErrorCode::InvalidFilter, message)
}
