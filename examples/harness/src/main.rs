//! Talks to the example harness: each line of standard input is a prompt.
//!
//! `cargo run -p lookback-example-harness -- FOLDER`

#![expect(clippy::print_stdout, reason = "it talks to the person who runs it")]

use lookback_example_harness::{Failure, Harness};
use lookback_model::Timestamp;
use std::io::{self, BufRead};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

fn main() -> Result<(), Failure> {
    let folder = std::env::args_os()
        .nth(1)
        .ok_or("name a folder to keep sessions in")?;
    let harness = Harness::open(&PathBuf::from(folder), now)?;
    let session = harness.begin(&format!("session-{}", now().0))?;
    for prompt in io::stdin().lock().lines() {
        let prompt = prompt?;
        if !prompt.trim().is_empty() {
            println!("{}", harness.ask(&session, &prompt)?);
        }
    }
    Ok(session.end()?)
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
