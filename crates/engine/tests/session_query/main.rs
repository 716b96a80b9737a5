//! Session query as a program that embeds it sees it (contract B), with a provider and a persistence that do
//! what a test tells them.
//!
//! Each module is a part of the contract; `codes` raises every error of it, and `interleavings` compares the
//! whole with a plain model of it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test binary; its functions that are no tests count otherwise"
)]

mod codes;
mod corpus;
mod extraction;
mod feeding;
mod filters;
mod interleavings;
mod lineage;
mod live;
mod providers;
mod reads;
mod reconciling;
mod scripted;
mod surface;
mod waiting;
