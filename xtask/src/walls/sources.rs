//! Source files: how long they may be, and what modules must not be called.

use super::Finding;
use super::allowed::LongFile;
use anyhow::{Context, Result};
use std::path::Path;

/// A file may have this many lines besides its inline tests.
const LINE_LIMIT: usize = 800;
/// Names that say nothing of what is inside, so that anything is put there.
const EMPTY_NAMES: &[&str] = &["common", "util", "utils", "helper", "helpers", "misc", "manager"];
/// Folders that hold source files.
const FOLDERS: &[&str] = &["crates", "testkit", "xtask", "fuzz"];

/// A source file.
pub(super) struct SourceText {
    /// Relative to the root of the workspace, with `/` between segments.
    pub(super) path: String,
    /// Its text.
    pub(super) text: String,
}

/// Reads every Rust file of the workspace, in order of path.
pub(super) fn read(root: &Path) -> Result<Vec<SourceText>> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        let folder_path = root.join(folder);
        if folder_path.is_dir() {
            read_folder(&folder_path, folder, &mut files)?;
        }
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(files)
}

fn read_folder(folder: &Path, relative: &str, files: &mut Vec<SourceText>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{relative}/{name}");
        if entry.file_type()?.is_dir() {
            if name != "target" {
                read_folder(&entry.path(), &path, files)?;
            }
        } else if name.ends_with(".rs") {
            let text =
                std::fs::read_to_string(entry.path()).with_context(|| format!("cannot read {path}"))?;
            files.push(SourceText { path, text });
        }
    }
    Ok(())
}

/// Files that are too long and not excepted. Files of tests may have any length.
pub(super) fn lengths(files: &[SourceText], excepted: &[LongFile]) -> Vec<Finding> {
    let is_test = |path: &str| path.ends_with("_tests.rs") || path.contains("/tests/");
    let mut findings = Vec::new();
    for SourceText { path, text } in files {
        let lines = lines_besides_tests(text);
        if lines > LINE_LIMIT && !is_test(path) && !excepted.iter().any(|exception| exception.path == path) {
            let remedy = "split it by subject, or list it with a reason in xtask/src/walls/allowed.rs";
            findings.push(format!(
                "{path}: {lines} lines besides tests, the limit is {LINE_LIMIT}; {remedy}"
            ));
        }
    }
    findings
}

/// Lines outside `#[cfg(test)] mod … { … }`. Relies on rustfmt: such a block ends with a brace that stands
/// as deep as its attribute.
fn lines_besides_tests(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let mut count = 0;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let rest = lines.get(at..).unwrap_or_default();
        let skipped = if line.trim() == "#[cfg(test)]" {
            test_block_length(rest)
        } else {
            None
        };
        count += usize::from(skipped.is_none());
        at += skipped.unwrap_or(1);
    }
    count
}

/// Length of the inline test module that begins at the first line; `None` when none does.
fn test_block_length(lines: &[&str]) -> Option<usize> {
    let indent = lines.first()?.split_once('#')?.0;
    let opening = lines
        .iter()
        .position(|line| !line.trim_start().starts_with("#["))?;
    let declaration = lines.get(opening)?.trim();
    if !declaration.contains("mod ") || !declaration.ends_with('{') {
        return None;
    }
    let closing = lines
        .iter()
        .position(|line| line.strip_prefix(indent) == Some("}"))?;
    Some(closing + 1)
}

/// Modules with a name that says nothing.
pub(super) fn names(files: &[SourceText]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for SourceText { path, text } in files {
        let of_path = path.split('/').map(|segment| segment.trim_end_matches(".rs"));
        let declared = text.lines().filter_map(inline_module);
        let mut refused: Vec<&str> = of_path
            .chain(declared)
            .filter(|name| EMPTY_NAMES.contains(name))
            .collect();
        refused.dedup();
        for name in refused {
            findings.push(format!(
                "{path}: a module must not be called `{name}`; name it after what it holds"
            ));
        }
    }
    findings
}

/// The name of a module that opens on this line. One that lies in another file is judged by its path.
fn inline_module(line: &str) -> Option<&str> {
    let name = line.trim().strip_suffix('{')?.trim_end().rsplit_once("mod ");
    name.filter(|(before, _)| before.is_empty() || before.starts_with("pub"))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: impl Into<String>) -> Vec<SourceText> {
        vec![SourceText {
            path: path.to_owned(),
            text: text.into(),
        }]
    }

    #[test]
    fn a_long_file_is_found_unless_it_is_tests_or_excepted() {
        let long = "x\n".repeat(LINE_LIMIT + 1);
        assert!(
            lengths(&file("crates/a/src/b.rs", long.clone()), &[])[0]
                .starts_with("crates/a/src/b.rs: 801 lines")
        );
        assert!(lengths(&file("crates/a/src/b.rs", "x\n".repeat(LINE_LIMIT)), &[]).is_empty());
        assert!(lengths(&file("crates/a/src/b_tests.rs", long.clone()), &[]).is_empty());
        assert!(lengths(&file("crates/a/tests/b.rs", long.clone()), &[]).is_empty());
        let excepted = [LongFile {
            path: "crates/a/src/b.rs",
            reason: "one flat table",
        }];
        assert!(lengths(&file("crates/a/src/b.rs", long), &excepted).is_empty());
    }

    /// Property: exactly inline test modules are left out of the count.
    #[test]
    fn only_inline_tests_are_not_counted() {
        let module = "#[cfg(test)]\n#[allow(unused)]\nmod tests {\n    fn f() {\n    }\n}\n";
        assert_eq!(lines_besides_tests(&format!("a\n{module}b\n")), 2);
        assert_eq!(
            lines_besides_tests("mod a {\n    #[cfg(test)]\n    mod tests {\n        x\n    }\n}\n"),
            2
        );
        assert_eq!(
            lines_besides_tests("#[cfg(test)]\n#[path = \"b_tests.rs\"]\nmod tests;\n"),
            3
        );
        assert_eq!(lines_besides_tests("#[cfg(test)]\nfn only() {\n}\n"), 3);
    }

    #[test]
    fn empty_names_are_found_as_file_folder_and_inline_module() {
        for name in EMPTY_NAMES {
            assert_eq!(
                names(&file(&format!("crates/a/src/{name}.rs"), "")).len(),
                1,
                "{name}"
            );
            assert_eq!(
                names(&file(&format!("crates/a/tests/{name}/mod.rs"), "")).len(),
                1,
                "{name}"
            );
            assert_eq!(
                names(&file(
                    "crates/a/src/b.rs",
                    format!("pub(crate) mod {name} {{\n}}\n")
                ))
                .len(),
                1,
                "{name}"
            );
        }
        assert!(
            names(&file(
                "crates/a/src/utility_bills.rs",
                "let common = 1;\nmod common_law {\n}\n"
            ))
            .is_empty()
        );
    }
}
