//! Where on this machine things are, as plain data: the home folder and the variables that move it.
//!
//! The binary fills it in once; readers and engine only look at it, so that tests and remote callers can
//! give any other.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The home folder and the environment variables of the person whose sessions are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// Home folder.
    pub home: PathBuf,
    /// Environment variables, such as `CLAUDE_CONFIG_DIR`.
    pub variables: BTreeMap<String, String>,
}

impl Environment {
    /// An environment of a home folder and no variables.
    pub fn at_home(home: impl Into<PathBuf>) -> Self {
        Self {
            home: home.into(),
            variables: BTreeMap::new(),
        }
    }

    /// A variable that is set and not blank.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(|value| value.trim())
            .filter(|value| !value.is_empty())
    }
}
