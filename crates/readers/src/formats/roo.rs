//! Roo Code, which descends from Cline: tasks in the editor's storage, each with an entry about it.

use crate::document::{Document, text};
use crate::{tasks, vscode};
use lookback_model::source::{
    Discovery, EventSink, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::path::{Path, PathBuf};

/// Reads Roo Code's tasks.
pub struct Roo;

const AGENT: &str = "roo";
const EXTENSION: &str = "rooveterinaryinc.roo-cline";

impl SessionSource for Roo {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let mut roots = Vec::new();
        for user in vscode::user_folders(environment) {
            roots.push(user.join("globalStorage").join(EXTENSION));
            roots.extend(moved(&user.join("settings.json")));
        }
        let mock = environment.home.join(".vscode-mock").join("global-storage");
        if mock.exists() {
            roots.push(mock);
        }
        roots
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        tasks::discover(AGENT, root, found);
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        tasks::read(AGENT, file, cursor, sink, &|_, _| {})
    }

    fn raw_words(&self, file: &SourceFile) -> RawWords {
        tasks::raw_words(file)
    }

    fn resume(&self, _: &SessionHeader, _: &SessionFacts) -> Option<ResumeCommand> {
        // Tasks are gone on with in the editor only.
        None
    }
}

/// The folder that the editor's settings name for the extension's storage. Settings may hold comments.
fn moved(settings: &Path) -> Option<PathBuf> {
    const KEY: &str = "\"roo-cline.customStoragePath\"";
    if !settings.exists() {
        return None;
    }
    let text = std::fs::read_to_string(settings).ok()?;
    let line = text.lines().find(|line| line.trim_start().starts_with(KEY))?;
    let member = line.trim().trim_end_matches(',');
    let settings = Document::parse(format!("{{{member}}}").as_bytes(), &[]);
    let path = PathBuf::from(self::text(&settings.root, KEY.trim_matches('"')));
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    //! Property: the editor's setting moves the tasks, whatever comments stand around it.
    use super::*;
    use std::fs;

    #[test]
    fn the_editors_setting_moves_tasks() {
        let home = tempfile::tempdir().unwrap();
        let environment = Environment::at_home(home.path());
        let user = vscode::user_folder(&environment, "Code");
        fs::create_dir_all(&user).unwrap();
        fs::write(
            user.join("settings.json"),
            "{\n  // where tasks go\n  \"roo-cline.customStoragePath\": \"/srv/tasks\",\n}",
        )
        .unwrap();
        assert_eq!(
            Roo.roots(&environment),
            [user.join("globalStorage").join(EXTENSION), "/srv/tasks".into()]
        );
    }
}
