//! Reads the process's environment, once, into plain data.

use lookback_model::Environment;
use std::path::PathBuf;

/// Folder below the system's folder for application data.
const FOLDER: &str = "lookback";

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
}
