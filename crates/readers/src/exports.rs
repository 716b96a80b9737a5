//! Exports of accounts, which a person asks a service for and puts where they are looked for: a folder `exports`
//! in lookback's own data folder, or any that a variable names.
//!
//! Services name their files alike, so what is in one says whose it is.

use crate::document::{self, Document, no_session};
use crate::elements::Elements;
use crate::lines;
use crate::walk::{Class, Walk};
use lookback_model::Environment;
use lookback_model::source::{
    Discovery, FileRole, IssueCode, ReadAccount, ReadCursor, ReadError, ReadOutcome, SourceFile,
};
use serde_json::Value;
use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Names folders with exports, as `PATH` names folders.
const EXPORTS: &str = "LOOKBACK_EXPORTS";

/// Folders in which exports are looked for.
pub fn folders(environment: &Environment) -> Vec<PathBuf> {
    if let Some(named) = environment.variable(EXPORTS) {
        return std::env::split_paths(named)
            .filter(|path| path.is_absolute())
            .collect();
    }
    vec![data_folder(environment).join("exports")]
}

/// Where lookback keeps its own data.
fn data_folder(environment: &Environment) -> PathBuf {
    if let Some(named) = environment.variable("LOOKBACK_DATA_DIR") {
        return PathBuf::from(named);
    }
    let home = &environment.home;
    let named = environment.variable("XDG_DATA_HOME").map(PathBuf::from);
    let base = named.filter(|path| path.is_absolute()).unwrap_or_else(|| {
        if cfg!(target_os = "macos") {
            home.join("Library").join("Application Support")
        } else if cfg!(windows) {
            let local = environment.variable("LOCALAPPDATA").map(PathBuf::from);
            local.unwrap_or_else(|| home.join("AppData").join("Local"))
        } else {
            home.join(".local").join("share")
        }
    });
    base.join("lookback")
}

/// So many bytes of a file say whose it is.
const BEGINNING: usize = 64 << 10;

/// Finds the files of one service: those that hold `mark` near their beginning.
pub fn discover(agent: &str, mark: &str, root: &Path, found: &mut Discovery) {
    let before = found.files.len();
    Walk {
        agent,
        root,
        depth: 3,
        classify: &|path| match path.file_name().and_then(|name| name.to_str()) {
            Some(name) if is_list(name) => Class::File(FileRole::Transcript),
            Some(name) if name.ends_with(".zip") => Class::Aside("packed; unpack it to have it read"),
            _ => Class::Other,
        },
        enter: &|_| true,
    }
    .run(found);
    let mut own = found.files.split_off(before);
    own.retain(|file| begins_with(&file.path, mark));
    found.files.append(&mut own);
}

/// `conversations.json`, or a part of it: `conversations-000.json`.
fn is_list(name: &str) -> bool {
    let middle = name
        .strip_prefix("conversations")
        .and_then(|rest| rest.strip_suffix(".json"));
    middle.is_some_and(|middle| {
        middle
            .strip_prefix('-')
            .unwrap_or(middle)
            .bytes()
            .all(|byte| byte.is_ascii_digit())
    })
}

fn begins_with(path: &Path, mark: &str) -> bool {
    let mut beginning = Vec::with_capacity(BEGINNING);
    let read = File::open(path).and_then(|file| file.take(BEGINNING as u64).read_to_end(&mut beginning));
    read.is_ok() && memchr::memmem::find(&beginning, mark.as_bytes()).is_some()
}

/// What became of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It was told.
    Told,
    /// Nothing was said in it.
    Empty,
    /// It is none.
    NotOne,
}

/// Reads the conversations of a list one after the other. `id` names a conversation; one that stands twice is
/// told once.
///
/// # Errors
/// As for any reader.
pub fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    id: &dyn Fn(&Value) -> Option<String>,
    tell: &mut dyn FnMut(&Value, &str) -> Result<Taken, ReadError>,
) -> Result<ReadOutcome, ReadError> {
    document::refuse(file, cursor)?;
    let failed = |error| lines::io_error(&file.path, error);
    let mut elements = Elements::new(lines::open(&file.path)?);
    let mut account = ReadAccount::default();
    let mut known = HashSet::new();
    while let Some(element) = elements.next().map_err(failed)? {
        account.lines += 1;
        let number = account.lines;
        let conversation = Document::parse(element.bytes, &[]);
        for (code, count) in &conversation.account().issue_counts {
            *account.issue_counts.entry(code.clone()).or_default() += count;
        }
        if element.cut > 0 {
            account.note(
                number,
                IssueCode::TextCut,
                format!("{} bytes of long text", element.cut),
            );
        }
        let Some(id) = id(&conversation.root) else {
            account.lost += 1;
            account.note(number, IssueCode::NotARecord, "not a conversation");
            continue;
        };
        if !known.insert(id.clone()) {
            account.bookkeeping += 1;
            continue;
        }
        match tell(&conversation.root, &id)? {
            Taken::Told => account.records += 1,
            Taken::Empty => account.blank += 1,
            Taken::NotOne => {
                account.lost += 1;
                account.note(number, IssueCode::NotARecord, "not a conversation");
            }
        }
        if let Some(error) = conversation.error {
            account.lines += 1;
            account.lost += 1;
            account.note(number, IssueCode::NotJson, error);
        }
    }
    account.bytes = elements.taken();
    if account.bytes == 0 {
        return Err(no_session(&file.path, IssueCode::EmptyFile, "it is empty"));
    }
    Ok(document::outcome(account))
}

#[cfg(test)]
mod tests {
    //! Properties: variables say where exports lie; services are told apart by what is in their files.
    use super::*;
    use std::fs;

    #[test]
    fn variables_say_where_exports_lie() {
        let mut environment = Environment::at_home("/home/ada");
        let folder = folders(&environment).swap_remove(0);
        assert!(folder.starts_with("/home/ada") && folder.ends_with("lookback/exports"));
        let variables = &mut environment.variables;
        variables.insert("LOOKBACK_DATA_DIR".into(), "/d".into());
        assert_eq!(folders(&environment), [Path::new("/d/exports")]);
        environment.variables.insert(EXPORTS.into(), "/e".into());
        assert_eq!(folders(&environment), [Path::new("/e")]);
    }

    #[test]
    fn services_are_told_apart_by_what_is_in_their_files() {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("a/conversations.json", r#"[{"mapping":{}}]"#),
            ("b/conversations-001.json", r#"[{"mapping":{}}]"#),
            ("c/conversations.json", r#"[{"chat_messages":[]}]"#),
            ("c/shared_conversations.json", r#"[{"mapping":{}}]"#),
            ("export.zip", "PK"),
        ] {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut found = Discovery::default();
        discover("x", "\"mapping\"", root.path(), &mut found);
        let mut names: Vec<_> = found
            .files
            .iter()
            .map(|file| file.path.strip_prefix(root.path()).unwrap())
            .collect();
        names.sort();
        assert_eq!(
            names,
            ["a/conversations.json", "b/conversations-001.json"].map(Path::new)
        );
        assert_eq!(found.ignored.values().sum::<u64>(), 1);
    }
}
