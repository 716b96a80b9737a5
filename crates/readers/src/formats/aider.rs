//! Aider: one Markdown file for each repository, to which every session is appended.
//!
//! Nothing lists these files. Those that the agent's own settings name are taken, and the folders below home
//! in which people keep repositories are looked through, not deeply and not where no repository lies.

mod blocks;
mod history;
mod input;
mod words;

use crate::walk::{self, Class, Walk};
use lookback_model::source::{
    Discovery, EventSink, FileRole, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::fs;
use std::path::{Path, PathBuf};

const AGENT: &str = "aider";
const FILE_NAME: &str = ".aider.chat.history.md";

/// Folders below home that are entered: `~/src/host/group/` holds repositories.
const DEPTH: usize = 4;

/// Names further folders that hold repositories, as `PATH` names folders.
const PROJECTS: &str = "LOOKBACK_PROJECTS";

/// Reads Aider's chat histories.
pub struct Aider;

impl SessionSource for Aider {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let home = &environment.home;
        let mut roots = Vec::new();
        roots.extend(environment.variable("AIDER_CHAT_HISTORY_FILE").map(PathBuf::from));
        roots.extend(configured(&home.join(".aider.conf.yml"), home));
        if let Some(projects) = environment.variable(PROJECTS) {
            roots.extend(std::env::split_paths(projects));
        }
        // A relative one lies in each repository, where nothing tells which files are histories.
        roots.retain(|root| root.is_absolute());
        roots.push(home.clone());
        roots
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        if let Ok(metadata) = fs::metadata(root)
            && metadata.is_file()
        {
            found.files.push(SourceFile {
                agent: AGENT.to_owned(),
                root: root.to_owned(),
                path: root.to_owned(),
                role: FileRole::Transcript,
                stamp: walk::stamp(&metadata),
            });
            return;
        }
        let mut seen = Discovery::default();
        Walk {
            agent: AGENT,
            root,
            depth: DEPTH,
            classify: &|path| match path.file_name() {
                Some(name) if name == FILE_NAME => Class::File(FileRole::Transcript),
                _ => Class::Other,
            },
            enter: &|path| may_hold_repositories(root, path),
        }
        .run(&mut seen);
        // Folders of a home are none of the agent's: what else lies there, or may not be looked at, is
        // nothing that anybody misses here.
        seen.issues.retain(|issue| issue.path.ends_with(FILE_NAME));
        found.files.append(&mut seen.files);
        found.issues.append(&mut seen.issues);
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        history::read(file, cursor, sink)
    }

    fn resume(&self, _: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        // No session can be named; the agent takes up the history of the folder.
        let directory = facts.cwd.clone()?;
        Some(ResumeCommand {
            arguments: ["aider", "--restore-chat-history"].map(str::to_owned).to_vec(),
            directory: Some(directory),
        })
    }
}

/// The history file that a configuration names.
fn configured(configuration: &Path, home: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(configuration).ok()?;
    let named = text
        .lines()
        .find_map(|line| line.strip_prefix("chat-history-file:"))?;
    let named = named.split(" #").next().unwrap_or_default().trim();
    let named = named.trim_matches(['"', '\'']);
    let path = match named.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => PathBuf::from(named),
    };
    path.is_absolute().then_some(path)
}

/// Folders that hold many files and no repositories of anybody's.
const PASSED_OVER: &[&str] = &[
    "node_modules",
    "site-packages",
    "__pycache__",
    "venv",
    "vendor",
    "target",
    "snap",
    "AppData",
];

/// Folders of a home that macOS asks the person about before a program may look into them, or that hold
/// no repositories.
const ASKED_ABOUT: &[&str] = &[
    "Applications",
    "Desktop",
    "Documents",
    "Downloads",
    "Library",
    "Movies",
    "Music",
    "Pictures",
    "Public",
];

/// Whether a folder is entered. A repository has its history at its top, so nothing below one is.
fn may_hold_repositories(root: &Path, relative: &Path) -> bool {
    let Some(name) = relative.file_name().and_then(|name| name.to_str()) else {
        return false;
    };
    if name.starts_with('.') || PASSED_OVER.contains(&name) {
        return false;
    }
    let above = relative.parent().unwrap_or(Path::new(""));
    if above.as_os_str().is_empty() {
        return !(cfg!(target_os = "macos") && ASKED_ABOUT.contains(&name));
    }
    !root.join(above).join(".git").exists()
}

#[cfg(test)]
mod tests {
    //! Properties: the agent's settings name histories; a repository is not entered.
    use super::*;

    #[test]
    fn settings_name_histories() {
        let home = tempfile::tempdir().unwrap();
        let mut environment = Environment::at_home(home.path());
        assert_eq!(Aider.roots(&environment), [home.path()]);
        fs::write(
            home.path().join(".aider.conf.yml"),
            "model: x\nchat-history-file: \"~/notes/talk.md\" # here\n",
        )
        .unwrap();
        environment
            .variables
            .insert("AIDER_CHAT_HISTORY_FILE".into(), "relative.md".into());
        let named = home.path().join("notes/talk.md");
        assert_eq!(Aider.roots(&environment), [named.clone(), home.path().to_owned()]);
        fs::create_dir(home.path().join("notes")).unwrap();
        fs::write(&named, "# aider chat started at 2026-05-04 09:00:00\n").unwrap();
        let mut found = Discovery::default();
        Aider.discover(&named, &mut found);
        assert_eq!(found.files.len(), 1);
        environment.variables.insert(
            PROJECTS.into(),
            std::env::join_paths(["/srv/a", "/srv/b"])
                .unwrap()
                .into_string()
                .unwrap(),
        );
        assert_eq!(
            Aider.roots(&environment),
            [named, "/srv/a".into(), "/srv/b".into(), home.path().to_owned()]
        );
    }

    #[test]
    fn histories_lie_at_the_top_of_repositories() {
        let home = tempfile::tempdir().unwrap();
        for folder in [
            "src/git/group/shop/.git",
            "src/git/group/shop/below",
            "node_modules/x",
            ".cache",
            "plain/folder",
        ] {
            fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        for folder in [
            "",
            "src/git/group/shop",
            "src/git/group/shop/below",
            "node_modules/x",
            ".cache",
            "plain/folder",
        ] {
            fs::write(home.path().join(folder).join(FILE_NAME), "").unwrap();
        }
        fs::write(home.path().join("plain/other.jsonl"), "").unwrap();
        let mut found = Discovery::default();
        Aider.discover(home.path(), &mut found);
        let mut folders: Vec<_> = found
            .files
            .iter()
            .map(|file| file.path.parent().unwrap().strip_prefix(home.path()).unwrap())
            .collect();
        folders.sort();
        assert_eq!(folders, ["", "plain/folder", "src/git/group/shop"].map(Path::new));
        assert!(found.ignored.is_empty());
    }
}
