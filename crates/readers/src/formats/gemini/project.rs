//! What the place of a file says: the project's folder, and the session that a subagent worked for.
//!
//! A project's transcripts lie under a slug that `projects.json` gives to its path, and the path is also
//! noted in `.project_root` beside them. Older folders are named by a SHA-256 of the path, which cannot be
//! turned back; their sessions tell the folder themselves, or not at all.

use lookback_model::SourceFile;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// The path of the project whose transcript `file` is.
pub(super) fn directory(file: &SourceFile) -> Option<String> {
    let folder = file
        .path
        .strip_prefix(&file.root)
        .ok()?
        .components()
        .next()?
        .as_os_str();
    registered(&file.root, folder).or_else(|| noted(&file.root.join(folder)))
}

fn registered(root: &Path, folder: &OsStr) -> Option<String> {
    #[derive(Deserialize)]
    struct Registry {
        #[serde(default)]
        projects: BTreeMap<String, serde_json::Value>,
    }
    let text = fs::read(root.parent()?.join("projects.json")).ok()?;
    let registry: Registry = serde_json::from_slice(&text).ok()?;
    let slug = folder.to_str()?;
    registry
        .projects
        .into_iter()
        .find(|(_, value)| value.as_str() == Some(slug))
        .map(|(path, _)| path)
}

fn noted(folder: &Path) -> Option<String> {
    let path = fs::read_to_string(folder.join(".project_root")).ok()?;
    let path = path.trim();
    (!path.is_empty()).then(|| path.to_owned())
}

/// The session that the subagent of a transcript worked for: such transcripts lie in a folder named by it.
pub(super) fn parent_session(path: &Path) -> Option<&str> {
    let folder = path.parent()?;
    let above = folder.parent()?.file_name()?;
    if above != "chats" {
        return None;
    }
    folder.file_name()?.to_str()
}
