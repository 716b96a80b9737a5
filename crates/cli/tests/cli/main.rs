//! The binary, as people and scripts use it: one module for each command, and `streams` for what all have
//! in common. Every test has a home and a data folder of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod concepts;
mod demo;
mod doctor;
mod grep;
mod index;
mod person;
mod reference;
mod relay;
mod resume;
mod search;
mod sessions;
mod show;
mod status;
mod streams;
mod trace;
