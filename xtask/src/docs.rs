//! Reference pages written by the program itself, so that they cannot tell of another program.

mod api;

use crate::command::{built, root, stdout_of};
use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The reference of the command line.
const CLI: &str = "docs/reference/cli.md";
/// Pages of crates that others build upon, each with the crate's folder and its name in code.
const INTERFACES: [(&str, &str, &str); 2] = [
    ("docs/reference/api/model.rs", "crates/model", "lookback_model"),
    ("docs/reference/api/engine.rs", "crates/engine", "lookback_engine"),
];
const HEAD: &str = "\
# Command line

<!-- Written by `cargo xtask docs` from the program's own help. Change the help, not this page. -->
";

/// A page and what it should say.
type Page = (&'static str, String);

/// Writes the reference pages.
pub(crate) fn write() -> Result<()> {
    for (name, text) in pages()? {
        let page = root()?.join(name);
        let folder = page.parent().context("the page lies in no folder")?;
        std::fs::create_dir_all(folder)?;
        std::fs::write(&page, text).with_context(|| format!("cannot write {}", page.display()))?;
        eprintln!("wrote {name}");
    }
    Ok(())
}

/// Fails when a reference page is not what [`write()`] would write.
pub(crate) fn check() -> Result<()> {
    for (name, text) in pages()? {
        let stored = std::fs::read_to_string(root()?.join(name)).unwrap_or_default();
        compare(name, &stored, &text)?;
    }
    Ok(())
}

fn pages() -> Result<Vec<Page>> {
    let mut pages = vec![(CLI, current_page()?)];
    for (name, folder, code) in INTERFACES {
        pages.push((name, api::page(&root()?.join(folder), code)?));
    }
    Ok(pages)
}

fn compare(name: &str, stored: &str, current: &str) -> Result<()> {
    if stored == current {
        return Ok(());
    }
    let line = stored
        .lines()
        .zip(current.lines())
        .take_while(|(stored, current)| stored == current)
        .count()
        + 1;
    bail!("{name}:{line}: is not current; run `cargo xtask docs` and commit what it wrote");
}

fn current_page() -> Result<String> {
    let program = built(&["--package", "lookback-cli"])?;
    let mut page = HEAD.to_owned();
    describe(&program, &mut Vec::new(), &mut page)?;
    Ok(page)
}

/// Adds the help of a command, then of each of its subcommands.
fn describe(program: &Path, path: &mut Vec<String>, page: &mut String) -> Result<()> {
    let help = help(program, path)?;
    let name = std::iter::once("lookback")
        .chain(path.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(" ");
    write!(page, "\n## `{name}`\n\n```text\n{}\n```\n", help.trim_end())?;
    for subcommand in subcommands(&help) {
        path.push(subcommand);
        describe(program, path, page)?;
        path.pop();
    }
    Ok(())
}

/// A command's long help, the same on every machine: no terminal, a fixed width, nobody's home.
fn help(program: &Path, path: &[String]) -> Result<String> {
    let home = PathBuf::from("/home/you");
    let mut command = Command::new(program);
    command.args(path).arg("--help").stdin(Stdio::null());
    command
        .env("COLUMNS", "100")
        .env("HOME", &home)
        .env("USERPROFILE", &home);
    command
        .env_remove("LOOKBACK_DATA_DIR")
        .env_remove("XDG_DATA_HOME")
        .env_remove("LOCALAPPDATA");
    let help = stdout_of(&mut command)?
        .replace("lookback.exe", "lookback")
        .replace("\r\n", "\n");
    Ok(help
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect())
}

/// Subcommands that a help text lists, in its order. `help` describes the others and is left out.
fn subcommands(help: &str) -> Vec<String> {
    let mut names = Vec::new();
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    for line in listed.take_while(|line| line.is_empty() || line.starts_with("  ")) {
        let Some(entry) = line.strip_prefix("  ") else {
            continue;
        };
        // A deeper indent goes on with the description of the entry before.
        let Some(name) = entry
            .split_whitespace()
            .next()
            .filter(|_| !entry.starts_with(' '))
        else {
            continue;
        };
        if name != "help" {
            names.push(name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subcommands_are_those_the_help_lists() {
        let help = "Finds things\n\nUsage: x\n\nCommands:\n  search  Find\n          more about it\n  show    Print\n  \
                    help    Tell\n\nOptions:\n  -h, --help  Print\n";
        assert_eq!(subcommands(help), ["search", "show"]);
        assert!(subcommands("Usage: x search\n\nOptions:\n  -h  Print\n").is_empty());
    }

    /// Property: drift fails, and the message names the line and the remedy.
    #[test]
    fn drift_is_an_error() {
        assert!(compare("x.md", "a\nb\n", "a\nb\n").is_ok());
        let error = compare("x.md", "a\nb\n", "a\nc\n").unwrap_err().to_string();
        assert!(
            error.starts_with("x.md:2:") && error.contains("cargo xtask docs"),
            "{error}"
        );
        assert!(compare("x.md", "", "a\n").is_err());
    }
}
