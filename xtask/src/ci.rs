//! Everything a change must pass, in the order in which it fails soonest. Tests come last, so that the
//! output ends with their results.

use crate::command::{cargo, must_succeed};
use crate::{docs, packages, walls};
use anyhow::{Context, Result};
use std::process::{Command, Stdio};

/// Runs every step; the first that fails ends the run, and names the command that shows it alone.
pub(crate) fn run() -> Result<()> {
    step("format", "cargo fmt --all --check", || {
        must_succeed(&mut cargo(&["fmt", "--all", "--check"])?)
    })?;
    step("walls", "cargo xtask walls", walls::run)?;
    step(
        "dependencies",
        "cargo deny --all-features check bans licenses sources",
        dependencies,
    )?;
    step(
        "lints",
        "cargo clippy --workspace --all-targets --locked -- -D warnings",
        || lints(&["--workspace"]),
    )?;
    step(
        "lints of the schema",
        "cargo clippy --package lookback-wire --features schema --all-targets --locked -- -D warnings",
        || lints(&["--package", "lookback-wire", "--features", "schema"]),
    )?;
    step(
        "documentation of the code",
        "cargo doc --workspace --no-deps --locked",
        || {
            let mut doc = cargo(&[
                "doc",
                "--workspace",
                "--no-deps",
                "--document-private-items",
                "--locked",
            ])?;
            must_succeed(doc.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links"))
        },
    )?;
    step("reference", "cargo xtask docs --check", docs::check)?;
    step("packages", "cargo xtask packages", packages::run)?;
    step(
        "fuzz targets",
        "cargo check --manifest-path fuzz/Cargo.toml --locked",
        || {
            let mut check = cargo(&["check", "--manifest-path", "fuzz/Cargo.toml", "--locked"])?;
            must_succeed(&mut check)
        },
    )?;
    step("tests", "cargo test --workspace --locked", || {
        must_succeed(&mut cargo(&["test", "--workspace", "--locked"])?)
    })
}

fn lints(what: &[&str]) -> Result<()> {
    let mut clippy = cargo(&["clippy"])?;
    clippy.args(what);
    must_succeed(clippy.args(["--all-targets", "--locked", "--", "-D", "warnings"]))
}

fn step(name: &str, alone: &str, check: impl FnOnce() -> Result<()>) -> Result<()> {
    eprintln!("==> {name}: {alone}");
    check().with_context(|| format!("the step `{name}` failed; alone it is: {alone}"))
}

/// Licences, sources and bans, where cargo-deny is at hand. It is no part of the toolchain, so a machine
/// without it says so and goes on; `walls` has checked the direct dependencies by then.
fn dependencies() -> Result<()> {
    let found = Command::new("cargo-deny")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !found.is_ok_and(|status| status.success()) {
        eprintln!("    skipped: cargo-deny is not installed (cargo install --locked cargo-deny)");
        return Ok(());
    }
    // A wall may stand before the crate it is for.
    let quiet = ["--hide-inclusion-graph", "--allow", "unused-wrapper"];
    let mut deny = cargo(&["deny", "--all-features", "check"])?;
    must_succeed(deny.args(quiet).args(["bans", "licenses", "sources"]))
}
