//! Reference pages written by the program itself, so that they cannot tell of another program.

mod api;
mod cli;
mod schema;
mod typescript;

use crate::command::root;
use anyhow::{Context, Result, bail};

/// A generated file: where it lies, and what should be in it.
struct Page {
    path: &'static str,
    text: String,
}

/// Writes the reference pages.
pub(crate) fn write() -> Result<()> {
    for Page { path, text } in pages()? {
        let page = root()?.join(path);
        let folder = page.parent().context("the page lies in no folder")?;
        std::fs::create_dir_all(folder)?;
        std::fs::write(&page, text).with_context(|| format!("cannot write {}", page.display()))?;
        eprintln!("wrote {path}");
    }
    Ok(())
}

/// Fails when a reference page is not what [`write()`] would write.
pub(crate) fn check() -> Result<()> {
    for page in pages()? {
        let stored = std::fs::read_to_string(root()?.join(page.path)).unwrap_or_default();
        compare(page.path, &stored, &page.text)?;
    }
    Ok(())
}

fn pages() -> Result<[Page; 5]> {
    let page = |path, text| Page { path, text };
    let schema = schema::page()?;
    let types =
        typescript::page(&schema).context("the schema has a shape that TypeScript is not written for")?;
    let interface = |folder: &str, name| api::page(&root()?.join(folder), name);
    Ok([
        page(
            "docs/reference/api/model.rs",
            interface("crates/model", "lookback_model")?,
        ),
        page(
            "docs/reference/api/engine.rs",
            interface("crates/engine", "lookback_engine")?,
        ),
        page("docs/reference/cli.md", cli::page()?),
        page("docs/reference/session-query.schema.json", schema),
        page("packages/session-query/src/types.ts", types),
    ])
}

fn compare(path: &str, stored: &str, current: &str) -> Result<()> {
    if stored == current {
        return Ok(());
    }
    let line = stored
        .lines()
        .zip(current.lines())
        .take_while(|(stored, current)| stored == current)
        .count()
        + 1;
    bail!(
        "{path}:{line}: differs from what the program says; run `cargo xtask docs` and commit what it wrote"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: drift fails, and the message names the line and the remedy.
    #[test]
    fn drift_is_an_error() {
        assert!(compare("a.md", "a\nb\n", "a\nb\n").is_ok());
        let error = compare("a.md", "a\nb\n", "a\nc\n").unwrap_err().to_string();
        assert!(
            error.starts_with("a.md:2:") && error.contains("cargo xtask docs"),
            "{error}"
        );
        assert!(compare("a.md", "", "a\n").is_err());
    }
}
