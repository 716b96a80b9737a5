//! Folders that conversations belong to, where they do not say themselves.

use crate::document::{Document, items, text, words};
use crate::sqlite::Store;
use crate::vscode;
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of the conversations that windows list, by conversation.
pub(super) fn of_windows(user: &Path) -> HashMap<String, String> {
    let mut folders = HashMap::new();
    let Ok(windows) = fs::read_dir(user.join("workspaceStorage")) else {
        return folders;
    };
    for window in windows.flatten() {
        let note = Document::read(&window.path().join("workspace.json"), &[]).unwrap_or_default();
        let uri = words(&note.root, "folder").or_else(|| words(&note.root, "workspace"));
        let Some(folder) = uri.map(vscode::path_of_uri) else {
            continue;
        };
        let database = window.path().join("state.vscdb");
        let Some(listed) = item(&database, "composer.composerData") else {
            continue;
        };
        let composers = items(&listed, "allComposers").iter();
        let ids = composers.filter_map(|composer| words(composer, "composerId"));
        folders.extend(ids.map(|id| (id.to_owned(), folder.clone())));
    }
    folders
}

/// The folders of the conversations in the list of all of them.
pub(super) fn of_headers(store: &Store) -> HashMap<String, String> {
    let headers = item_of(store, "composer.composerHeaders").unwrap_or_default();
    let composers = items(&headers, "allComposers").iter();
    composers
        .filter_map(|composer| {
            let folder = folder_of(composer)?;
            Some((text(composer, "composerId").to_owned(), folder))
        })
        .collect()
}

/// The folder that a conversation names itself.
pub(super) fn folder_of(composer: &Value) -> Option<String> {
    let uri = composer.get("workspaceIdentifier")?.get("uri")?;
    match uri {
        Value::String(uri) => Some(vscode::path_of_uri(uri)),
        _ => words(uri, "fsPath")
            .or_else(|| words(uri, "path"))
            .map(str::to_owned),
    }
}

fn item(database: &Path, key: &str) -> Option<Value> {
    if !database.exists() {
        return None;
    }
    item_of(&Store::open(database).ok()?, key)
}

/// A value of the editor's settings. Other keys of this table hold what opens accounts, and are not read.
fn item_of(store: &Store, key: &str) -> Option<Value> {
    let sql = "SELECT rowid FROM ItemTable WHERE key = ?1";
    let rowid = store.connection().query_row(sql, [key], |row| row.get(0)).ok()?;
    let (bytes, _) = store.condensed("ItemTable", "value", rowid).ok()?;
    Some(Document::parse(&bytes, &[]).root)
}

/// How many places are tried for a project's name.
const TRIED: usize = 400;

/// The folder whose path, with `/` and `.` written as `-`, is a project's name; found among those that are
/// there, as the name alone does not say it.
pub(super) fn of_project(name: &str) -> Option<String> {
    let parts: Vec<&str> = name.split('-').collect();
    let mut tried = 0;
    // A path that is there, a name below it that is being put together, and how many parts that took.
    let mut waiting: Vec<(PathBuf, String, usize)> = vec![(PathBuf::from("/"), String::new(), 0)];
    while let Some((folder, begun, taken)) = waiting.pop() {
        tried += 1;
        if tried > TRIED {
            return None;
        }
        let Some(part) = parts.get(taken) else {
            if begun.is_empty() {
                return Some(folder.display().to_string());
            }
            continue;
        };
        let joined: Vec<String> = if begun.is_empty() {
            vec![(*part).to_owned(), format!(".{part}")]
        } else {
            ["-", ".", "_"]
                .iter()
                .map(|mark| format!("{begun}{mark}{part}"))
                .collect()
        };
        for name in joined.into_iter().rev() {
            waiting.push((folder.clone(), name.clone(), taken + 1));
            let path = folder.join(&name);
            if !name.is_empty() && path.is_dir() {
                waiting.push((path, String::new(), taken + 1));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    //! Property: a project's name leads to the folder that is there.
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_name_leads_to_the_folder_that_is_there() {
        let root = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(root.path()).unwrap();
        let folder = base.join("my-shop.example");
        fs::create_dir_all(&folder).unwrap();
        let name: String = folder.display().to_string().replace(['/', '.'], "-");
        assert_eq!(
            of_project(name.trim_start_matches('-')),
            Some(folder.display().to_string())
        );
        assert_eq!(of_project("no-such-folder-anywhere"), None);
    }
}
