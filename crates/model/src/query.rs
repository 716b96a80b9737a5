//! Requests and query text: from what was typed to what is searched for (contract A, A.1 and A.3).

pub mod parse;
pub mod wording;

pub use parse::{Operators, Plan, Word};

use crate::Timestamp;
use crate::text::View;

/// A search request after defaults and clamping.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchRequest {
    /// The text as typed.
    pub query: String,
    /// Which text is searched.
    pub view: View,
    /// Page size, 1 to 100.
    pub limit: usize,
    /// Order of hits.
    pub sort: Sort,
    /// Agents; empty means all.
    pub agents: Vec<String>,
    /// Folders; empty means all. Given but unusable ones match nothing.
    pub paths: Vec<String>,
    /// Sessions last active at or after this.
    pub since: Option<Timestamp>,
    /// Where the page begins; `None` is the first page.
    pub cursor: Option<String>,
}

impl SearchRequest {
    /// A request for the first page of `query` with all defaults.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            view: View::Full,
            limit: DEFAULT_LIMIT,
            sort: Sort::Relevance,
            agents: Vec::new(),
            paths: Vec::new(),
            since: None,
            cursor: None,
        }
    }
}

/// Order of hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sort {
    /// Best first.
    #[default]
    Relevance,
    /// Last active first.
    Newest,
}

impl Sort {
    /// Contract A's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Relevance => "relevance",
            Self::Newest => "newest",
        }
    }
}

/// Page size when none is given.
pub const DEFAULT_LIMIT: usize = 20;
/// Largest page.
pub const MAX_LIMIT: usize = 100;

/// Contract A's page size: missing or fractional gives the default, whole numbers are clamped to 1..=100.
pub fn clamp_limit(limit: Option<f64>) -> usize {
    match limit {
        Some(limit) if limit.is_finite() && limit.fract() == 0.0 => {
            limit.clamp(1.0, MAX_LIMIT as f64) as usize
        }
        _ => DEFAULT_LIMIT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limit table of contract A.1.
    #[test]
    fn limits_are_clamped_not_refused() {
        for (given, kept) in [
            (None, 20),
            (Some(0.0), 1),
            (Some(-4.0), 1),
            (Some(200.0), 100),
            (Some(2.5), 20),
            (Some(7.0), 7),
        ] {
            assert_eq!(clamp_limit(given), kept, "{given:?}");
        }
    }
}
