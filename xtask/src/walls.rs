//! The walls between crates, checked: a rule without a gate decays.
//!
//! Every finding is one line that names the file and what to do about it.

mod allowed;
mod edges;
mod manifests;
mod purity;
mod sources;
mod third_party;

use crate::command::{cargo, root, stdout_of};
use anyhow::{Context, Result, bail};
use manifests::Package;

/// What is wrong, in one line: `file: what; what to do`.
type Finding = String;

/// Checks every wall and prints what stands across one.
pub(crate) fn run() -> Result<()> {
    let metadata = stdout_of(&mut cargo(&[
        "metadata",
        "--no-deps",
        "--format-version",
        "1",
        "--locked",
    ])?)?;
    let packages = manifests::parse(&metadata).context("cargo metadata cannot be read")?;
    let files = sources::read(&root()?)?;
    let findings = findings(&packages, &files);
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!(
            "{} across a wall; ARCHITECTURE.md says why each stands",
            findings.len()
        );
    }
    eprintln!(
        "walls stand: {} crates, {} source files",
        packages.len(),
        files.len()
    );
    Ok(())
}

fn findings(packages: &[Package], files: &[sources::SourceText]) -> Vec<Finding> {
    let mut findings = edges::check(packages);
    findings.extend(third_party::check(packages));
    findings.extend(sources::lengths(files, allowed::LONG_FILES));
    findings.extend(sources::names(files));
    findings.extend(purity::check(files));
    findings.extend(allowed::stale(files));
    findings
}
