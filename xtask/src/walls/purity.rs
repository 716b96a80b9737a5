//! The domain touches no machine: no file, network, process, environment, clock or task in
//! `crates/model`, so that its rules can be tested without one.

use super::Finding;
use super::sources::SourceText;

/// Modules of `std` that reach outside.
const OUTSIDE: &[&str] = &["fs", "env", "net", "process"];
const PURE: &str = "crates/model/src/";

/// Uses of the machine in the domain.
pub(super) fn check(files: &[SourceText]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for SourceText { path, text } in files.iter().filter(|file| file.path.starts_with(PURE)) {
        let code = without_comments(text);
        for (at, what) in outside_uses(&code) {
            let line = code.get(..at).unwrap_or_default().lines().count().max(1);
            let remedy = "take the value as an argument, or make it a trait in ports.rs";
            findings.push(format!("{path}:{line}: the domain must not use {what}; {remedy}"));
        }
    }
    findings
}

/// Blanks line comments, so that they may speak of what code may not use.
fn without_comments(text: &str) -> String {
    text.lines()
        .map(|line| format!("{}\n", line.split_once("//").map_or(line, |(code, _)| code)))
        .collect()
}

/// Byte positions and names of what reaches outside.
fn outside_uses(code: &str) -> Vec<(usize, String)> {
    let mut uses = Vec::new();
    for (at, _) in code.match_indices("std::") {
        let rest = code.get(at + "std::".len()..).unwrap_or_default();
        for name in named_first(rest)
            .into_iter()
            .filter(|name| OUTSIDE.contains(name))
        {
            uses.push((at + 1, format!("std::{name}")));
        }
    }
    uses.extend(
        code.match_indices("tokio::")
            .map(|(at, _)| (at + 1, "tokio".to_owned())),
    );
    uses
}

/// The first names of a path, or of each member of a group in braces.
fn named_first(path: &str) -> Vec<&str> {
    let Some(group) = path.strip_prefix('{') else {
        return vec![identifier(path)];
    };
    let mut names = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.push(identifier(group.get(start..at).unwrap_or_default()));
                start = at + 1;
                if character == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names
}

fn identifier(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|character: char| !character.is_alphanumeric() && character != '_');
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        check(&[SourceText {
            path: "crates/model/src/a.rs".to_owned(),
            text: text.to_owned(),
        }])
    }

    #[test]
    fn each_way_outside_is_found() {
        for name in OUTSIDE {
            assert_eq!(found(&format!("use std::{name};\n")).len(), 1, "{name}");
            assert_eq!(
                found(&format!("use std::{{\n    io,\n    {name}::{{a, b}},\n}};\n")).len(),
                1,
                "{name}"
            );
            assert_eq!(
                found(&format!("fn f() {{ std::{name}::x() }}\n")).len(),
                1,
                "{name}"
            );
        }
        assert!(
            found("\n\ntokio::spawn(x);\n")[0]
                .starts_with("crates/model/src/a.rs:3: the domain must not use tokio; ")
        );
    }

    #[test]
    fn what_stays_inside_is_not_found() {
        let inside = "// std::fs is for others\nuse std::{collections::{BTreeMap, env_like}, path::PathBuf};\nstd::io::Error::other(x);\n";
        assert_eq!(found(inside), Vec::<String>::new());
        let elsewhere = SourceText {
            path: "crates/cli/src/a.rs".to_owned(),
            text: "use std::fs;\n".to_owned(),
        };
        assert!(check(&[elsewhere]).is_empty());
    }
}
