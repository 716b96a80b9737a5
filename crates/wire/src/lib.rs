//! lookback
