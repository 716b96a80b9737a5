//! Test support for lookback. No product crate depends on it.
//!
//! [`reading`] runs a format over files and says what it saw, and proves that reading in parts equals
//! reading whole.

pub mod reading;
