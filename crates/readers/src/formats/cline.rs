//! Cline: sessions of its command line and of newer extensions, in a store of their own, and tasks of older
//! extensions, in the editor's storage.

mod session;

use crate::walk::{self, Class, Walk};
use crate::{tasks, vscode};
use lookback_model::session::SessionKind;
use lookback_model::source::{
    Discovery, EventSink, FileRole, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::path::{Path, PathBuf};

/// Reads Cline's sessions and tasks.
pub struct Cline;

const AGENT: &str = "cline";
const EXTENSION: &str = "saoudrizwan.claude-dev";

/// How the name of a session's transcript ends.
const MESSAGES: &str = ".messages.json";

impl SessionSource for Cline {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let named = |variable| environment.variable(variable).map(PathBuf::from);
        let data = named("CLINE_DATA_DIR").unwrap_or_else(|| {
            let home = named("CLINE_DIR").unwrap_or_else(|| environment.home.join(".cline"));
            home.join("data")
        });
        let mut roots = vec![data];
        roots.extend(named("CLINE_SESSION_DATA_DIR"));
        let users = vscode::user_folders(environment).into_iter();
        roots.extend(users.map(|user| user.join("globalStorage").join(EXTENSION)));
        roots
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        tasks::discover(AGENT, root, found);
        let mut seen = Discovery::default();
        Walk {
            agent: AGENT,
            root,
            depth: 2,
            classify: &|path| match path.file_name().and_then(|name| name.to_str()) {
                Some(name) if name.ends_with(".compaction.json") => Class::Aside("snapshot of a compaction"),
                Some(name) if name.ends_with(".json") && holds_session(path) => {
                    Class::File(FileRole::Transcript)
                }
                _ => Class::Other,
            },
            enter: &|path| {
                !["db", "tasks", "state", "logs"]
                    .iter()
                    .any(|other| path.starts_with(other))
            },
        }
        .run(&mut seen);
        found.issues.append(&mut seen.issues);
        for (reason, count) in seen.ignored {
            *found.ignored.entry(reason).or_default() += count;
        }
        let is_transcript = |file: &&SourceFile| file.path.to_string_lossy().ends_with(MESSAGES);
        for file in seen.files.iter().filter(is_transcript) {
            let manifest = session::manifest_of(&file.path);
            let beside = seen.files.iter().filter(|file| file.path == manifest);
            let beside: Vec<SourceFile> = beside.cloned().collect();
            found.files.push(walk::with_beside(file, &beside));
        }
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        if file.path.to_string_lossy().ends_with(MESSAGES) {
            return session::read(file, cursor, sink);
        }
        tasks::read(AGENT, file, cursor, sink, &|folder, facts| {
            take_listed(folder, facts)
        })
    }

    fn raw_words(&self, file: &SourceFile) -> RawWords {
        tasks::raw_words(file)
    }

    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        // Tasks, whose ids are numbers, are gone on with in the editor only.
        if facts.kind == SessionKind::Subagent || !session.id.contains('_') {
            return None;
        }
        Some(ResumeCommand {
            arguments: ["cline", "--id", &session.id].map(str::to_owned).to_vec(),
            directory: facts.cwd.clone(),
        })
    }
}

/// `sessions/<id>/<id>.messages.json` and its manifest, or the same below a folder of sessions.
fn holds_session(path: &Path) -> bool {
    let mut parts = path.iter().rev();
    let (Some(name), Some(folder)) = (parts.next(), parts.next()) else {
        return false;
    };
    let (name, folder) = (name.to_string_lossy(), folder.to_string_lossy());
    name.strip_prefix(folder.as_ref())
        .is_some_and(|rest| rest == MESSAGES || rest == ".json")
}

/// What the list of all tasks says about one whose messages do not tell it.
fn take_listed(folder: &Path, facts: &mut SessionFacts) {
    if facts.cwd.is_some() {
        return;
    }
    let (Some(id), Some(storage)) = (folder.file_name(), folder.ancestors().nth(2)) else {
        return;
    };
    let list = storage.join("state").join("taskHistory.json");
    let Some(task) = tasks::listed(&list, &id.to_string_lossy()) else {
        return;
    };
    let named = |key| crate::document::words(&task, key).map(str::to_owned);
    facts.cwd = named("cwdOnTaskInitialization");
    facts.model = facts.model.take().or_else(|| named("modelId"));
}

#[cfg(test)]
mod tests {
    //! Property: the agent's variables move its store.
    use super::*;

    #[test]
    fn the_agents_variables_move_its_store() {
        let mut environment = Environment::at_home("/home/ada");
        let first = |environment: &Environment| Cline.roots(environment).swap_remove(0);
        assert_eq!(first(&environment), Path::new("/home/ada/.cline/data"));
        let mut set = |name: &str, value: &str| {
            environment.variables.insert(name.into(), value.into());
            environment.clone()
        };
        assert_eq!(first(&set("CLINE_DIR", "/c")), Path::new("/c/data"));
        assert_eq!(first(&set("CLINE_DATA_DIR", "/d")), Path::new("/d"));
        let roots = Cline.roots(&set("CLINE_SESSION_DATA_DIR", "/s"));
        assert_eq!(roots[1], Path::new("/s"));
    }
}
