//! Exceptions from the length of files, each with its reason.

use super::Finding;
use super::sources::SourceText;

/// A file that may be longer than others, and why.
pub(super) struct LongFile {
    /// Relative to the root of the workspace.
    pub(super) path: &'static str,
    /// Why it is one file all the same.
    pub(super) reason: &'static str,
}

/// Files that may be longer. A flat list may stand here, control flow may not.
pub(super) const LONG_FILES: &[LongFile] = &[];

/// Exceptions for files that are gone, or without a reason.
pub(super) fn stale(files: &[SourceText]) -> Vec<Finding> {
    stale_of(LONG_FILES, files)
}

fn stale_of(exceptions: &[LongFile], files: &[SourceText]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for exception in exceptions {
        if !files.iter().any(|file| file.path == exception.path) {
            findings.push(format!(
                "xtask/src/walls/allowed.rs: {} is gone; take its line out",
                exception.path
            ));
        }
        if exception.reason.trim().is_empty() {
            findings.push(format!(
                "xtask/src/walls/allowed.rs: {} has no reason; give one",
                exception.path
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_needs_its_file_and_a_reason() {
        let file = SourceText {
            path: "a.rs".to_owned(),
            text: String::new(),
        };
        let exception = |path, reason| LongFile { path, reason };
        assert!(stale_of(&[exception("a.rs", "one flat table")], &[file]).is_empty());
        assert_eq!(stale_of(&[exception("b.rs", " ")], &[]).len(), 2);
    }
}
