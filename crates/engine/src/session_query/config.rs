//! The configuration of a session query, and the checks that callers' numbers must pass.

use lookback_model::session_query::{SessionQueryError, SessionQueryErrorCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a session query is configured. Unknown fields are refused, absent ones have their defaults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct SessionQueryConfig {
    /// The id of the provider that searches. Absent: there must be exactly one that is available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_provider: Option<String>,
    /// Hits on a page when a request does not say; at least 1, at most `max_limit`.
    pub default_limit: usize,
    /// The most hits on a page that a request may ask for; at least 1.
    pub max_limit: usize,
    /// The most events before or after the one that is read; may be 0.
    pub read_window_max: usize,
}

impl Default for SessionQueryConfig {
    fn default() -> Self {
        Self {
            search_provider: None,
            default_limit: 20,
            max_limit: 100,
            read_window_max: 50,
        }
    }
}

impl SessionQueryConfig {
    /// A configuration of JSON.
    ///
    /// # Errors
    /// `SESSION_QUERY_INVALID_CONFIG` for another shape, an unknown field or an impossible number.
    pub fn from_json(value: &Value) -> Result<Self, SessionQueryError> {
        let not_understood = || invalid("the configuration of the session query is not understood");
        // An array would be taken for the fields in their order.
        if !value.is_object() {
            return Err(not_understood());
        }
        let config: Self =
            serde_json::from_value(value.clone()).map_err(|error| not_understood().caused_by(error))?;
        config.validate()?;
        Ok(config)
    }

    /// Whether its numbers make sense.
    ///
    /// # Errors
    /// `SESSION_QUERY_INVALID_CONFIG` when they do not.
    pub fn validate(&self) -> Result<(), SessionQueryError> {
        let Self {
            default_limit,
            max_limit,
            ..
        } = *self;
        if default_limit == 0 || max_limit == 0 {
            return Err(invalid("defaultLimit and maxLimit must be at least 1"));
        }
        if default_limit > max_limit {
            return Err(invalid(&format!(
                "defaultLimit {default_limit} is over maxLimit {max_limit}"
            )));
        }
        Ok(())
    }

    /// The limit of a request, decided.
    pub(super) fn limit(&self, asked: Option<f64>) -> Result<usize, SessionQueryError> {
        let Some(asked) = asked else {
            return Ok(self.default_limit);
        };
        whole_number(asked, 1, self.max_limit).ok_or_else(|| {
            let message = format!("limit {asked} is no whole number from 1 to {}", self.max_limit);
            SessionQueryError::new(SessionQueryErrorCode::InvalidLimit, message)
        })
    }

    /// One side of a window, decided.
    pub(super) fn window(&self, name: &str, asked: Option<f64>) -> Result<usize, SessionQueryError> {
        let asked = asked.unwrap_or(0.0);
        whole_number(asked, 0, self.read_window_max).ok_or_else(|| {
            let message = format!(
                "{name} {asked} is no whole number from 0 to {}",
                self.read_window_max
            );
            SessionQueryError::new(SessionQueryErrorCode::InvalidWindow, message)
        })
    }
}

/// A number of JSON as a whole number within bounds.
pub(super) fn whole_number(number: f64, least: usize, most: usize) -> Option<usize> {
    let is_whole = number.fract() == 0.0 && number >= least as f64 && number <= most as f64;
    // Exact: it is whole, and not beyond what a bound can be.
    is_whole.then_some(number as usize)
}

fn invalid(message: &str) -> SessionQueryError {
    SessionQueryError::new(SessionQueryErrorCode::InvalidConfig, message)
}
