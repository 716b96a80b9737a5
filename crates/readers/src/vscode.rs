//! Where editors that descend from Visual Studio Code keep what belongs to a person: their `User` folders.

use lookback_model::Environment;
use std::path::PathBuf;

/// The editors by the names of their folders.
const EDITORS: &[&str] = &[
    "Code",
    "Code - Insiders",
    "Code - Exploration",
    "VSCodium",
    "VSCodium - Insiders",
    "Cursor",
    "Windsurf",
    "Trae",
    "Positron",
];

/// What editors leave in the home folder of a machine that they work on from afar.
const SERVERS: &[&str] = &[
    ".vscode-server",
    ".vscode-server-insiders",
    ".vscodium-server",
    ".cursor-server",
    ".windsurf-server",
];

/// The `User` folders of all editors whose folders exist, and that of Visual Studio Code in any case.
pub fn user_folders(environment: &Environment) -> Vec<PathBuf> {
    let base = base(environment);
    let mut folders = vec![base.join("Code").join("User")];
    if let Some(portable) = environment.variable("VSCODE_PORTABLE") {
        folders.push(PathBuf::from(portable).join("user-data").join("User"));
    }
    let local = EDITORS
        .iter()
        .skip(1)
        .map(|editor| base.join(editor).join("User"));
    let remote = SERVERS
        .iter()
        .map(|server| environment.home.join(server).join("data").join("User"));
    folders.extend(local.chain(remote).filter(|folder| folder.exists()));
    folders
}

/// The `User` folder of one editor.
pub fn user_folder(environment: &Environment, editor: &str) -> PathBuf {
    base(environment).join(editor).join("User")
}

/// Where the system has its programs keep settings.
fn base(environment: &Environment) -> PathBuf {
    let home = &environment.home;
    if cfg!(target_os = "macos") {
        return home.join("Library").join("Application Support");
    }
    let (variable, default) = if cfg!(windows) {
        ("APPDATA", home.join("AppData").join("Roaming"))
    } else {
        ("XDG_CONFIG_HOME", home.join(".config"))
    };
    let moved = environment.variable(variable).map(PathBuf::from);
    moved.filter(|path| path.is_absolute()).unwrap_or(default)
}

/// The path of a `file:` or `vscode-remote:` address, percent-decoded; anything else as it is.
pub fn path_of_uri(uri: &str) -> String {
    let Some((scheme, rest)) = uri.split_once("://") else {
        return uri.to_owned();
    };
    if !matches!(scheme, "file" | "vscode-remote" | "vscode-userdata") {
        return uri.to_owned();
    }
    // What stands before the path names a machine.
    let path = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or_default();
    let path = percent_decoded(path);
    let bytes = path.as_bytes();
    // Drives of Windows stand as `/c:/folder`.
    match (bytes.get(1), bytes.get(2)) {
        (Some(letter), Some(b':')) if letter.is_ascii_alphabetic() => {
            path.get(1..).unwrap_or_default().to_owned()
        }
        _ => path,
    }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = after.get(..2).filter(|_| byte == b'%').and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 16).ok()
        });
        bytes.push(escaped.unwrap_or(byte));
        rest = if escaped.is_some() {
            after.get(2..).unwrap_or_default()
        } else {
            after
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    //! Properties: addresses become paths of their machine; editors that are there are looked at.
    use super::*;
    use std::fs;

    #[test]
    fn addresses_become_paths() {
        for (uri, path) in [
            ("file:///srv/my%20shop", "/srv/my shop"),
            ("file:///c%3A/Users/ada", "c:/Users/ada"),
            ("vscode-remote://ssh-remote%2Bbox/srv/shop", "/srv/shop"),
            ("/srv/shop", "/srv/shop"),
            ("file:///50%", "/50%"),
            ("https://host/x", "https://host/x"),
        ] {
            assert_eq!(path_of_uri(uri), path, "{uri}");
        }
    }

    #[test]
    fn editors_that_are_there_are_looked_at() {
        let home = tempfile::tempdir().unwrap();
        let environment = Environment::at_home(home.path());
        let code = user_folder(&environment, "Code");
        assert_eq!(user_folders(&environment), [code.as_path()]);
        let cursor = user_folder(&environment, "Cursor");
        let server = home.path().join(".vscode-server/data/User");
        fs::create_dir_all(&cursor).unwrap();
        fs::create_dir_all(&server).unwrap();
        assert_eq!(user_folders(&environment), [code, cursor, server]);
    }
}
