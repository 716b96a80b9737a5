//! The JSON Schema of `sessionQuery.*`, printed by the crate that has the shapes.

use crate::command::{built, stdout_of};
use anyhow::Result;
use std::process::Command;

/// The schema as it should be.
pub(super) fn page() -> Result<String> {
    let printer = built(&[
        "--package",
        "lookback-wire",
        "--features",
        "schema",
        "--example",
        "session-query-schema",
    ])?;
    stdout_of(&mut Command::new(printer))
}
