//! The packages for programs in other languages: their tests against the program as built, and their types.
//!
//! What a machine has no tool for is not run, and said so; it does not count as passed.

use crate::command::{built, must_succeed, root};
use anyhow::Result;
use std::path::Path;
use std::process::{Command, Stdio};

const CLIENT: &str = "packages/session-query";
/// The compiler, once npm has put it there.
const COMPILER: &str = "node_modules/typescript/bin/tsc";
const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// Tests each package.
pub(crate) fn run() -> Result<()> {
    let folder = root()?.join(CLIENT);
    if !runs("node", &["--version"]) {
        eprintln!("    not run: the tests of {CLIENT}, for node is not installed");
        return Ok(());
    }
    let program = built(&["--package", "lookback-cli"])?;
    let mut tests = Command::new("node");
    tests.args(["--test", "test/relay.test.mjs"]).current_dir(&folder);
    must_succeed(tests.env("LOOKBACK", program))?;
    check_types(&folder)
}

/// Compiles the generated types, the client's declarations and a program that uses both.
fn check_types(folder: &Path) -> Result<()> {
    if !folder.join(COMPILER).is_file() {
        let mut install = Command::new(NPM);
        install
            .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
            .current_dir(folder);
        let installed = install.stdout(Stdio::null()).status();
        if !installed.is_ok_and(|status| status.success()) {
            eprintln!("    not run: the check of the types of {CLIENT}, for npm cannot install its compiler");
            return Ok(());
        }
    }
    let mut compile = Command::new("node");
    compile
        .args([COMPILER, "--project", "tsconfig.json"])
        .current_dir(folder);
    must_succeed(&mut compile)
}

fn runs(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
