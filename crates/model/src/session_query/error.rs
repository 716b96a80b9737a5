//! The one error of a session query, with its closed set of codes (contract B, Errors).

use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt;

/// Why an operation of a session query failed. The set is closed: no other code exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SessionQueryErrorCode {
    /// The caller's signal was aborted before the answer was there.
    #[serde(rename = "SESSION_QUERY_ABORTED")]
    Aborted,
    /// The event type or block type has an extractor already.
    #[serde(rename = "SESSION_QUERY_DUPLICATE_EXTRACTOR")]
    DuplicateExtractor,
    /// A provider of this id is registered already.
    #[serde(rename = "SESSION_QUERY_DUPLICATE_PROVIDER")]
    DuplicateProvider,
    /// The session has no event of this seq.
    #[serde(rename = "SESSION_QUERY_EVENT_NOT_FOUND")]
    EventNotFound,
    /// The provider's documents could not be brought up to date.
    #[serde(rename = "SESSION_QUERY_INDEX_FAILED")]
    IndexFailed,
    /// The configuration makes no sense.
    #[serde(rename = "SESSION_QUERY_INVALID_CONFIG")]
    InvalidConfig,
    /// An extractor's version is blank.
    #[serde(rename = "SESSION_QUERY_INVALID_EXTRACTOR")]
    InvalidExtractor,
    /// A filter has an impossible range, an unknown value or another shape.
    #[serde(rename = "SESSION_QUERY_INVALID_FILTER")]
    InvalidFilter,
    /// The limit is no whole number from 1 to `maxLimit`.
    #[serde(rename = "SESSION_QUERY_INVALID_LIMIT")]
    InvalidLimit,
    /// The session descends from itself.
    #[serde(rename = "SESSION_QUERY_INVALID_LINEAGE")]
    InvalidLineage,
    /// The query is blank, or no text.
    #[serde(rename = "SESSION_QUERY_INVALID_QUERY")]
    InvalidQuery,
    /// The log cannot be folded.
    #[serde(rename = "SESSION_QUERY_INVALID_SURFACE")]
    InvalidSurface,
    /// `before` or `after` is no whole number from 0 to `readWindowMax`.
    #[serde(rename = "SESSION_QUERY_INVALID_WINDOW")]
    InvalidWindow,
    /// The mounted persistence cannot be read.
    #[serde(rename = "SESSION_QUERY_PERSISTENCE_FAILED")]
    PersistenceFailed,
    /// Several providers are available and none is configured.
    #[serde(rename = "SESSION_QUERY_PROVIDER_AMBIGUOUS")]
    ProviderAmbiguous,
    /// The configured provider is not registered.
    #[serde(rename = "SESSION_QUERY_PROVIDER_CONFIGURED_MISSING")]
    ProviderConfiguredMissing,
    /// The configured provider is not available.
    #[serde(rename = "SESSION_QUERY_PROVIDER_CONFIGURED_UNAVAILABLE")]
    ProviderConfiguredUnavailable,
    /// The provider failed, or answered against the contract.
    #[serde(rename = "SESSION_QUERY_PROVIDER_ERROR")]
    ProviderError,
    /// No provider is available.
    #[serde(rename = "SESSION_QUERY_PROVIDER_UNAVAILABLE")]
    ProviderUnavailable,
    /// No session has this id.
    #[serde(rename = "SESSION_QUERY_SESSION_NOT_FOUND")]
    SessionNotFound,
    /// Two sources disagree about an immutable header.
    #[serde(rename = "SESSION_QUERY_SOURCE_CONFLICT")]
    SourceConflict,
}

impl SessionQueryErrorCode {
    /// All codes.
    pub const ALL: [Self; 21] = [
        Self::Aborted,
        Self::DuplicateExtractor,
        Self::DuplicateProvider,
        Self::EventNotFound,
        Self::IndexFailed,
        Self::InvalidConfig,
        Self::InvalidExtractor,
        Self::InvalidFilter,
        Self::InvalidLimit,
        Self::InvalidLineage,
        Self::InvalidQuery,
        Self::InvalidSurface,
        Self::InvalidWindow,
        Self::PersistenceFailed,
        Self::ProviderAmbiguous,
        Self::ProviderConfiguredMissing,
        Self::ProviderConfiguredUnavailable,
        Self::ProviderError,
        Self::ProviderUnavailable,
        Self::SessionNotFound,
        Self::SourceConflict,
    ];

    /// The code as programs read it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Aborted => "SESSION_QUERY_ABORTED",
            Self::DuplicateExtractor => "SESSION_QUERY_DUPLICATE_EXTRACTOR",
            Self::DuplicateProvider => "SESSION_QUERY_DUPLICATE_PROVIDER",
            Self::EventNotFound => "SESSION_QUERY_EVENT_NOT_FOUND",
            Self::IndexFailed => "SESSION_QUERY_INDEX_FAILED",
            Self::InvalidConfig => "SESSION_QUERY_INVALID_CONFIG",
            Self::InvalidExtractor => "SESSION_QUERY_INVALID_EXTRACTOR",
            Self::InvalidFilter => "SESSION_QUERY_INVALID_FILTER",
            Self::InvalidLimit => "SESSION_QUERY_INVALID_LIMIT",
            Self::InvalidLineage => "SESSION_QUERY_INVALID_LINEAGE",
            Self::InvalidQuery => "SESSION_QUERY_INVALID_QUERY",
            Self::InvalidSurface => "SESSION_QUERY_INVALID_SURFACE",
            Self::InvalidWindow => "SESSION_QUERY_INVALID_WINDOW",
            Self::PersistenceFailed => "SESSION_QUERY_PERSISTENCE_FAILED",
            Self::ProviderAmbiguous => "SESSION_QUERY_PROVIDER_AMBIGUOUS",
            Self::ProviderConfiguredMissing => "SESSION_QUERY_PROVIDER_CONFIGURED_MISSING",
            Self::ProviderConfiguredUnavailable => "SESSION_QUERY_PROVIDER_CONFIGURED_UNAVAILABLE",
            Self::ProviderError => "SESSION_QUERY_PROVIDER_ERROR",
            Self::ProviderUnavailable => "SESSION_QUERY_PROVIDER_UNAVAILABLE",
            Self::SessionNotFound => "SESSION_QUERY_SESSION_NOT_FOUND",
            Self::SourceConflict => "SESSION_QUERY_SOURCE_CONFLICT",
        }
    }
}

impl fmt::Display for SessionQueryErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Why an operation of a session query failed: a code for programs, a line for people, and the cause.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SessionQueryError {
    /// The code.
    pub code: SessionQueryErrorCode,
    /// What failed, in one line.
    pub message: String,
    /// What it was caused by. A provider's or a backend's own error is kept as it is.
    #[source]
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

impl SessionQueryError {
    /// An error without a further cause.
    pub fn new(code: SessionQueryErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            source: None,
        }
    }

    /// The same with its cause.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: the name programs read is the one JSON has, and each code has its own.
    #[test]
    fn codes_have_one_name_each() {
        let mut names: Vec<_> = SessionQueryErrorCode::ALL
            .iter()
            .map(|code| {
                let json = serde_json::to_string(code).unwrap();
                assert_eq!(json, format!("\"{code}\""));
                code.as_str()
            })
            .collect();
        names.dedup();
        assert_eq!(names.len(), 21);
        assert!(names.is_sorted());
    }
}
