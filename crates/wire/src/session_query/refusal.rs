//! Why an operation is not carried out, and how that is told: the contract's codes in `data.code`.

use crate::rpc::{ErrorObject, code};
use lookback_model::session_query::{CursorRefusal, ProviderError, SessionQueryError, SessionQueryErrorCode};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::error::Error;

/// The code of an error about a running session, beyond those of the contract.
pub const LIVE_REFUSED: i64 = -32001;

/// What is wrong with the parameters of a call.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// A parameter is missing, unknown or of another shape.
    #[error("{parameter} {problem}")]
    Parameter {
        /// Its name, with the way to it, such as `events[3].seq`.
        parameter: String,
        /// What is wrong with it.
        problem: String,
    },
    /// What the contract has a code for.
    #[error(transparent)]
    Query(#[from] SessionQueryError),
}

impl Refusal {
    /// A parameter is missing, unknown or of another shape.
    pub fn parameter(parameter: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Parameter {
            parameter: parameter.into(),
            problem: problem.into(),
        }
    }

    /// What the contract has a code for.
    pub fn query(code: SessionQueryErrorCode, message: impl Into<String>) -> Self {
        Self::Query(SessionQueryError::new(code, message))
    }
}

impl From<Refusal> for ErrorObject {
    fn from(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        match refusal {
            Refusal::Parameter { parameter, .. } => {
                Self::invalid_params(message).with_data(json!({ "parameter": parameter }))
            }
            Refusal::Query(error) => query_failed(&error),
        }
    }
}

/// What `error.data` holds when an operation failed, with the code -32000.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionQueryErrorData {
    /// Why it failed.
    pub code: SessionQueryErrorCode,
    /// `stale-cursor` or `malformed-cursor`, when a cursor was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it was caused by, where that says more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

/// An operation that failed, with [`SessionQueryErrorData`].
pub fn query_failed(error: &SessionQueryError) -> ErrorObject {
    let refused = chain(error).find_map(cursor_refusal);
    let causes: Vec<String> = chain(error).skip(1).map(ToString::to_string).collect();
    let data = SessionQueryErrorData {
        code: error.code,
        reason: refused.map(|refusal| refusal.as_str().to_owned()),
        cause: (!causes.is_empty()).then(|| causes.join(": ")),
    };
    ErrorObject::new(code::OPERATION_FAILED, error.message.clone()).with_data(json!(data))
}

/// A running session that cannot be begun, gone on with or ended; `reason` is for programs.
pub fn live_refused(reason: &str, message: impl Into<String>) -> ErrorObject {
    ErrorObject::new(LIVE_REFUSED, message).with_data(json!({ "reason": reason }))
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// A link of a chain as a refused cursor. A provider's error hands on its inner one's cause, so that the inner
/// one itself is never a link.
fn cursor_refusal<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a CursorRefusal> {
    if let Some(ProviderError::Other(inner)) = error.downcast_ref() {
        return chain(inner.as_ref()).find_map(cursor_refusal);
    }
    error.downcast_ref()
}
