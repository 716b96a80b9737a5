//! Reads the process's environment, once, into plain data.

use crate::error::CommandError;
use lookback_model::Environment;
use lookback_model::document::TextCaps;
use std::path::PathBuf;

/// Folder below the system's folder for application data.
const FOLDER: &str = "lookback";

/// Says how many characters of each tool call and each tool result are indexed.
const TOOL_TEXT_LIMIT: &str = "LOOKBACK_TOOL_TEXT_LIMIT";
/// No reader gives longer texts.
const MAX_TOOL_TEXT: usize = 16 << 20;

/// The home folder and variables of this process. Variables that are not text are left out.
pub(crate) fn of_this_process() -> Environment {
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    Environment {
        home: std::env::home_dir().unwrap_or_default(),
        variables,
    }
}

/// Where the index is when no flag says: `LOOKBACK_DATA_DIR`, else the system's place for such data.
pub(crate) fn data_dir(environment: &Environment) -> PathBuf {
    if let Some(named) = environment.variable("LOOKBACK_DATA_DIR") {
        return PathBuf::from(named);
    }
    // The XDG rules say that a relative path is to be ignored.
    let xdg = environment
        .variable("XDG_DATA_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    xdg.unwrap_or_else(|| system_data_home(environment)).join(FOLDER)
}

/// How much of each tool call and each tool result is indexed: `LOOKBACK_TOOL_TEXT_LIMIT`, else the default.
pub(crate) fn text_caps(environment: &Environment) -> Result<TextCaps, CommandError> {
    let Some(given) = environment.variable(TOOL_TEXT_LIMIT) else {
        return Ok(TextCaps::default());
    };
    match given.parse() {
        Ok(tool_text) if (1..=MAX_TOOL_TEXT).contains(&tool_text) => Ok(TextCaps { tool_text }),
        _ => Err(CommandError::usage(format!(
            "{TOOL_TEXT_LIMIT} is {given:?}, which is no number of characters from 1 to {MAX_TOOL_TEXT}"
        ))),
    }
}

fn system_data_home(environment: &Environment) -> PathBuf {
    let home = &environment.home;
    if cfg!(target_os = "macos") {
        home.join("Library").join("Application Support")
    } else if cfg!(windows) {
        let local = environment.variable("LOCALAPPDATA").map(PathBuf::from);
        local.unwrap_or_else(|| home.join("AppData").join("Local"))
    } else {
        home.join(".local").join("share")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: the own variable wins, then an absolute `XDG_DATA_HOME`, then the system's place.
    #[test]
    fn the_data_folder_follows_the_variables() {
        let mut environment = Environment::at_home("/home/ada");
        let system = data_dir(&environment);
        assert!(
            system.starts_with("/home/ada") && system.ends_with(FOLDER),
            "{system:?}"
        );
        environment
            .variables
            .insert("XDG_DATA_HOME".into(), "relative".into());
        assert_eq!(data_dir(&environment), system);
        let xdg = std::env::temp_dir();
        environment
            .variables
            .insert("XDG_DATA_HOME".into(), xdg.to_string_lossy().into_owned());
        assert_eq!(data_dir(&environment), xdg.join(FOLDER));
        environment
            .variables
            .insert("LOOKBACK_DATA_DIR".into(), "/d".into());
        assert_eq!(data_dir(&environment), PathBuf::from("/d"));
    }

    /// Property: what is no limit is refused by the variable's name; none is the default.
    #[test]
    fn the_limit_of_tool_text_is_a_number() {
        let mut environment = Environment::at_home("/home/ada");
        let mut caps = |given: &str| {
            let variables = &mut environment.variables;
            variables.insert(TOOL_TEXT_LIMIT.to_owned(), given.to_owned());
            text_caps(&environment)
        };
        assert_eq!(caps("20000").unwrap().tool_text, 20_000);
        for wrong in ["0", "-1", "3k", "1e4", "99999999999999999999"] {
            assert!(
                caps(wrong).unwrap_err().message.contains(TOOL_TEXT_LIMIT),
                "{wrong}"
            );
        }
        assert_eq!(
            text_caps(&Environment::at_home("/h")).unwrap(),
            TextCaps::default()
        );
    }
}
