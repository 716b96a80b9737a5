//! What every command is given.

use crate::compose::{self, Library};
use crate::error::CommandError;
use crate::output::Printer;
use lookback_model::Environment;
use std::path::PathBuf;

/// Where things are, and where output goes.
pub(crate) struct Context {
    /// Home folder and variables of the person.
    pub(crate) environment: Environment,
    /// Folder of the index.
    pub(crate) data_dir: PathBuf,
    /// Where output goes.
    pub(crate) printer: Printer,
}

impl Context {
    /// The engine over the index in the data folder.
    pub(crate) fn library(&self) -> Result<Library, CommandError> {
        compose::library(&self.environment, &self.data_dir)
    }
}
