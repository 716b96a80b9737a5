//! Kilo Code's extension of the first generation, which descends from Roo Code and keeps tasks as it does.

use crate::{tasks, vscode};
use lookback_model::source::{
    Discovery, EventSink, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::path::{Path, PathBuf};

/// Reads Kilo Code's tasks.
pub struct Kilo;

const AGENT: &str = "kilo";
const EXTENSION: &str = "kilocode.kilo-code";

impl SessionSource for Kilo {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let users = vscode::user_folders(environment).into_iter();
        users
            .map(|user| user.join("globalStorage").join(EXTENSION))
            .collect()
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
