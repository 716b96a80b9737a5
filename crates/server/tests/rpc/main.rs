//! JSON-RPC over streams, from outside: what a program on the other side sees.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod other_side;
mod scan;
mod streams;
