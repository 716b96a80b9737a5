//! Where transcripts and side files lie, and what their paths say.

use super::conversation::AGENT;
use crate::walk::{Class, Walk};
use lookback_model::Environment;
use lookback_model::source::{Discovery, FileRole};
use std::path::{Path, PathBuf};

/// Folder of a configuration that holds the transcripts.
const PROJECTS: &str = "projects";
/// Folder of Claude Desktop with a private configuration for each task.
const COWORK: &str = "local-agent-mode-sessions";
/// Folder of Claude Desktop with titles of sessions of its code tab.
const DESKTOP: &str = "claude-code-sessions";
/// Deepest known: a private configuration, five levels above its `projects`, and workflows under it.
const DEPTH: usize = 16;

/// All folders that may hold something.
pub(super) fn roots(environment: &Environment) -> Vec<PathBuf> {
    let mut roots = Vec::new();
    match environment.variable("CLAUDE_CONFIG_DIR") {
        Some(folders) => roots.extend(configured(folders, &environment.home)),
        None => {
            roots.push(environment.home.join(".claude").join(PROJECTS));
            roots.push(environment.home.join(".config/claude").join(PROJECTS));
        }
    }
    for data in desktop_data(environment) {
        roots.push(data.join("Claude").join(COWORK));
        roots.push(data.join("Claude").join(DESKTOP));
    }
    let mut unique: Vec<PathBuf> = Vec::new();
    for root in roots {
        if !unique.contains(&root) {
            unique.push(root);
        }
    }
    unique
}

/// The folders of a list; people with several accounts keep several.
fn configured(folders: &str, home: &Path) -> Vec<PathBuf> {
    // A colon is part of a path on Windows.
    let separators: &[char] = if cfg!(windows) { &[',', ';'] } else { &[',', ':'] };
    let folders = folders
        .split(separators)
        .map(str::trim)
        .filter(|folder| !folder.is_empty());
    folders
        .map(|folder| match folder.strip_prefix("~/") {
            Some(below) => home.join(below).join(PROJECTS),
            None => Path::new(folder).join(PROJECTS),
        })
        .collect()
}

/// Where desktop programs keep their data, on each system.
fn desktop_data(environment: &Environment) -> Vec<PathBuf> {
    let home = &environment.home;
    let mut folders = vec![home.join(".config"), home.join("Library/Application Support")];
    folders.extend(environment.variable("XDG_CONFIG_HOME").map(PathBuf::from));
    folders.extend(environment.variable("APPDATA").map(PathBuf::from));
    folders
}

/// Finds transcripts and side files under a root.
pub(super) fn discover(root: &Path, found: &mut Discovery) {
    let is = |name: &str| root.file_name().is_some_and(|folder| folder == name);
    let (cowork, desktop) = (is(COWORK), is(DESKTOP));
    let classify = |path: &Path| {
        let transcripts = match (desktop, cowork) {
            (true, _) => None,
            (false, true) => below_projects(path),
            (false, false) => Some(path.to_owned()),
        };
        let Some(inner) = transcripts else {
            return if is_desktop_record(path) {
                Class::File(FileRole::Side)
            } else {
                Class::Other
            };
        };
        if inner.file_name().is_some_and(|name| name == "journal.jsonl") {
            return Class::Aside("workflow journal");
        }
        role(&inner).map_or(Class::Other, Class::File)
    };
    let enter = |path: &Path| {
        let folder = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        !matches!(
            folder,
            "tool-results" | "memory" | "file-history" | "node_modules" | ".git"
        )
    };
    Walk {
        agent: AGENT,
        root,
        depth: DEPTH,
        classify: &classify,
        enter: &enter,
    }
    .run(found);
}

/// What follows `.claude/projects` in the path of a private configuration.
fn below_projects(path: &Path) -> Option<PathBuf> {
    let parts: Vec<_> = path.iter().collect();
    let at = parts.windows(2).position(|pair| pair == [".claude", PROJECTS])?;
    Some(parts.iter().skip(at + 2).collect())
}

/// What a file is, by its path below `projects`.
fn role(path: &Path) -> Option<FileRole> {
    let name = path.file_name()?.to_str()?;
    if name == "custom-title.json" {
        return Some(FileRole::Side);
    }
    let stem = name.strip_suffix(".jsonl")?;
    if matches!(stem, "journal" | "history" | "audit" | "") {
        return None;
    }
    let of_session = path.components().count() <= 2;
    let of_subagent = stem.starts_with("agent-") && path.iter().any(|part| part == "subagents");
    (of_session || of_subagent).then_some(FileRole::Transcript)
}

/// Whether a file describes a session of Claude Desktop.
fn is_desktop_record(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    name.starts_with("local_") && name.ends_with(".json")
}

/// What a transcript's path says about its session.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The session's id.
    pub id: String,
    /// The name is a subagent's.
    pub subagent: bool,
    /// The session that delegated, where the path names it.
    pub parent: Option<String>,
    /// It lies in Claude Desktop's private folders, where the program at the terminal cannot resume it.
    pub cowork: bool,
}

/// Reads a transcript's path. Folders above the root say nothing about the session.
pub(super) fn place(root: &Path, path: &Path) -> Place {
    let cowork = root.file_name().is_some_and(|folder| folder == COWORK);
    let path = path.strip_prefix(root).unwrap_or(path);
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    let parent = parts
        .iter()
        .rposition(|part| part == "subagents")
        .and_then(|at| parts.get(at.checked_sub(1)?))
        .map(|parent| parent.clone().into_owned());
    match stem.strip_prefix("agent-") {
        Some(id) if !id.is_empty() => Place {
            id: id.to_owned(),
            subagent: true,
            parent,
            cowork,
        },
        _ => Place {
            id: stem,
            subagent: false,
            parent: None,
            cowork,
        },
    }
}

#[cfg(test)]
mod tests {
    //! Properties: the agent's variables move the roots; a path alone tells transcripts, subagents and
    //! side files apart.
    use super::*;

    #[test]
    fn variables_move_the_roots() {
        let mut environment = Environment::at_home("/home/kim");
        assert!(roots(&environment).contains(&PathBuf::from("/home/kim/.claude/projects")));
        environment
            .variables
            .insert("CLAUDE_CONFIG_DIR".into(), "/work/a, ~/b".into());
        let moved = roots(&environment);
        assert_eq!(
            moved[..2],
            [
                PathBuf::from("/work/a/projects"),
                PathBuf::from("/home/kim/b/projects")
            ]
        );
        assert!(!moved.contains(&PathBuf::from("/home/kim/.claude/projects")));
    }

    #[test]
    fn paths_say_what_files_are() {
        let role = |path: &str| role(Path::new(path));
        assert_eq!(role("-w/s1.jsonl"), Some(FileRole::Transcript));
        assert_eq!(role("-w/agent-a1.jsonl"), Some(FileRole::Transcript));
        assert_eq!(
            role("-w/s1/subagents/workflows/wf_1/agent-a1.jsonl"),
            Some(FileRole::Transcript)
        );
        assert_eq!(role("-w/s1/subagents/workflows/wf_1/journal.jsonl"), None);
        assert_eq!(role("-w/s1/custom-title.json"), Some(FileRole::Side));
        assert_eq!(role("-w/s1/subagents/agent-a1.meta.json"), None);
        assert_eq!(role("-w/s1/hooks/output.jsonl"), None);
        assert_eq!(
            below_projects(Path::new("o/a/local_1/.claude/projects/-w/s.jsonl")),
            Some("-w/s.jsonl".into())
        );
    }

    #[test]
    fn a_subagent_names_its_parent() {
        let root = Path::new("/subagents/h/projects");
        let below = place(root, &root.join("-w/s1/subagents/workflows/wf_1/agent-a1.jsonl"));
        assert_eq!(
            (below.id.as_str(), below.parent.as_deref(), below.subagent),
            ("a1", Some("s1"), true)
        );
        let beside = place(root, &root.join("-w/agent-a1.jsonl"));
        assert_eq!(
            (beside.id.as_str(), beside.parent, beside.subagent),
            ("a1", None, true)
        );
    }
}
