//! What calls lookback from outside, whatever it comes in by.
//!
//! [`rpc`] answers the operations of contract B, JSON-RPC over lines. An operation is one file that knows no
//! transport, and one line in a table; a transport is one file that knows no operation.

#![warn(missing_docs)]

pub mod rpc;
