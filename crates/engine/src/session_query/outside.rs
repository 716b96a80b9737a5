//! Calls into what others wrote: providers, extractors and backends may fail in any way, a panic included, and
//! the service goes on.

use lookback_model::session_query::{
    PersistenceError, ProviderError, SessionQueryError, SessionQueryErrorCode,
};
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A call panicked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it panicked: {message}")]
pub struct Panicked {
    /// What it said, empty when that was no text.
    pub message: String,
}

/// Calls, and makes an error of a panic. What the call may have left half-done is the callee's own.
pub(super) fn catching<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Panicked {
            message: text.unwrap_or_default(),
        }
    })
}

/// Asks a backend. Its typed errors pass as they are; the absence of a session is told apart.
pub(super) fn asking<T>(
    what: &str,
    call: impl FnOnce() -> Result<T, PersistenceError>,
) -> Result<T, AskingError> {
    let failed = |cause: Box<dyn Error + Send + Sync>| {
        let message = format!("{what} cannot be read");
        AskingError::Failed(
            SessionQueryError::new(SessionQueryErrorCode::PersistenceFailed, message).caused_by(cause),
        )
    };
    match catching(call) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(PersistenceError::NotFound { .. })) => Err(AskingError::NotFound),
        Ok(Err(PersistenceError::Query(error))) => Err(AskingError::Failed(error)),
        Ok(Err(PersistenceError::Other(cause))) => Err(failed(cause)),
        Err(panicked) => Err(failed(panicked.into())),
    }
}

/// Why a backend did not answer.
pub(super) enum AskingError {
    /// It has no such session.
    NotFound,
    /// Anything else, ready for the caller.
    Failed(SessionQueryError),
}

/// Feeds a provider. Its typed errors pass as they are; anything else says that its index failed.
pub(super) fn feeding<T>(
    provider: &str,
    step: &str,
    call: impl FnOnce() -> Result<T, ProviderError>,
) -> Result<T, SessionQueryError> {
    let message = || format!("provider {provider} could not {step}");
    provider_answer(catching(call), SessionQueryErrorCode::IndexFailed, message)
}

/// Queries a provider. Its typed errors pass as they are; its own are the cause of `PROVIDER_ERROR`.
pub(super) fn querying<T>(
    provider: &str,
    call: impl FnOnce() -> Result<T, ProviderError>,
) -> Result<T, SessionQueryError> {
    let message = || format!("provider {provider} failed");
    provider_answer(catching(call), SessionQueryErrorCode::ProviderError, message)
}

fn provider_answer<T>(
    answer: Result<Result<T, ProviderError>, Panicked>,
    code: SessionQueryErrorCode,
    message: impl FnOnce() -> String,
) -> Result<T, SessionQueryError> {
    match answer {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(ProviderError::Query(error))) => Err(error),
        Ok(Err(ProviderError::Other(cause))) => Err(SessionQueryError::new(code, message()).caused_by(cause)),
        Err(panicked) => Err(SessionQueryError::new(code, message()).caused_by(panicked)),
    }
}
