//! The page of the command line, from the program's own help.

use crate::command::{built, stdout_of};
use anyhow::Result;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const HEAD: &str = "\
# Command line

<!-- Written by `cargo xtask docs` from the program's own help. Change the help, not this page. -->
";

/// The page as it should be.
pub(super) fn page() -> Result<String> {
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
}
