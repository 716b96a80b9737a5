//! Running cargo and other programs from the root of the workspace.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the workspace: the folder above this crate's manifest.
pub(crate) fn root() -> Result<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(manifest
        .parent()
        .context("xtask lies in no workspace")?
        .to_path_buf())
}

/// The cargo that runs this task, to be started in the root of the workspace.
pub(crate) fn cargo(arguments: &[&str]) -> Result<Command> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root()?);
    Ok(command)
}

/// Runs a program to its end; what it prints is shown.
pub(crate) fn must_succeed(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start {}", line(command)))?;
    if !status.success() {
        bail!("`{}` failed", line(command));
    }
    Ok(())
}

/// Runs a program to its end and gives what it wrote to stdout; stderr is shown.
pub(crate) fn stdout_of(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {}", line(command)))?;
    if !output.status.success() {
        bail!("`{}` failed", line(command));
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{}` wrote no UTF-8", line(command)))
}

/// Builds one executable and says where it lies. `arguments` choose it, as in `cargo build`.
pub(crate) fn built(arguments: &[&str]) -> Result<PathBuf> {
    let mut command = cargo(&["build", "--quiet", "--message-format=json-render-diagnostics"])?;
    let messages = stdout_of(command.args(arguments))?;
    executable(&messages).with_context(|| format!("`{}` built no executable", line(&command)))
}

/// The program as built, with nothing of the caller's environment but the path, so that what is measured is
/// the home folder and the data folder that are given.
pub(crate) fn lookback(program: &Path, home: &Path, data: &Path) -> Command {
    let mut command = Command::new(program);
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path);
    command.env("HOME", home).env("LOOKBACK_DATA_DIR", data);
    command
}

/// The last executable that cargo's messages name.
fn executable(messages: &str) -> Option<PathBuf> {
    let mut paths = messages.lines().filter_map(|message| {
        let message: Value = serde_json::from_str(message).ok()?;
        Some(PathBuf::from(message.get("executable")?.as_str()?))
    });
    paths.next_back()
}

/// A command as a person would type it.
fn line(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy();
    let words = command.get_args().map(|word| word.to_string_lossy());
    std::iter::once(program)
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: libraries and build scripts, which have no executable, are passed over.
    #[test]
    fn the_executable_is_found_among_cargos_messages() {
        let messages = concat!(
            "{\"reason\":\"compiler-artifact\",\"executable\":null}\n",
            "{\"reason\":\"compiler-artifact\",\"executable\":\"/t/debug/lookback\"}\n",
            "{\"reason\":\"build-finished\",\"success\":true}\n",
        );
        assert_eq!(executable(messages), Some(PathBuf::from("/t/debug/lookback")));
        assert_eq!(executable("{\"reason\":\"build-finished\"}"), None);
    }

    #[test]
    fn a_command_is_named_as_typed() {
        assert_eq!(
            line(Command::new("/usr/bin/cargo").args(["fmt", "--check"])),
            "cargo fmt --check"
        );
    }
}
