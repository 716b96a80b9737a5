//! Which sessions lie under a folder: by whole segments, across the ways systems write one place.
//!
//! `C:\Work\App`, `/mnt/c/work/app` and `\\wsl$\Ubuntu\mnt\c\Work\App` are one folder; letter case
//! matters on Unix and not on Windows drives; composed and decomposed letters are the same.

use unicode_normalization::UnicodeNormalization;

/// Folders a search is narrowed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathScope {
    /// `None` narrows nothing; an empty list matches nothing.
    wanted: Option<Vec<Wanted>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    /// This folder and what is below it.
    Under(Key),
    /// A folder with these neighbouring segments anywhere, for names without a root.
    Segments(Vec<String>),
}

/// A path in comparable form.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    /// Drive of Windows, host of a share, distribution of WSL; empty on Unix.
    root: String,
    segments: Vec<String>,
}

impl PathScope {
    /// The scope of the given folders; none of them means everywhere, unusable ones match nothing.
    pub fn of(paths: &[String]) -> Self {
        if paths.is_empty() {
            return Self { wanted: None };
        }
        Self {
            wanted: Some(paths.iter().filter_map(|path| Wanted::of(path)).collect()),
        }
    }

    /// Whether it narrows nothing.
    pub fn is_everywhere(&self) -> bool {
        self.wanted.is_none()
    }

    /// Whether a working directory lies in it. No directory lies only in everywhere.
    pub fn holds(&self, cwd: Option<&str>) -> bool {
        let Some(wanted) = &self.wanted else {
            return true;
        };
        let Some(key) = cwd.and_then(Key::of) else {
            return false;
        };
        wanted.iter().any(|wanted| wanted.holds(&key))
    }
}

impl Wanted {
    fn of(path: &str) -> Option<Self> {
        if let Some(key) = Key::of(path) {
            return Some(Self::Under(key));
        }
        let segments = segments(path.trim(), true);
        (!segments.is_empty()).then_some(Self::Segments(segments))
    }

    fn holds(&self, key: &Key) -> bool {
        match self {
            Self::Under(folder) => folder.root == key.root && key.segments.starts_with(&folder.segments),
            Self::Segments(names) => {
                let folded: Vec<String> = key
                    .segments
                    .iter()
                    .map(|segment| segment.to_lowercase())
                    .collect();
                folded.windows(names.len()).any(|window| window == names)
            }
        }
    }
}

impl Key {
    /// The key of an absolute path; `None` for any other.
    fn of(path: &str) -> Option<Self> {
        let path = path.trim();
        let unified = path.replace('\\', "/");
        let unified = unified.strip_prefix("//?/").unwrap_or(&unified);
        for share in ["//wsl$/", "//wsl.localhost/"] {
            let prefix = unified
                .get(..share.len())
                .filter(|prefix| prefix.eq_ignore_ascii_case(share));
            if prefix.is_some() {
                let (distribution, inside) = unified.get(share.len()..)?.split_once('/')?;
                return Some(Self::unix(inside, &distribution.to_lowercase()));
            }
        }
        if let Some(share) = unified.strip_prefix("//") {
            let (host, rest) = share.split_once('/')?;
            return Some(Self {
                root: format!("//{}", host.to_lowercase()),
                segments: segments(rest, true),
            });
        }
        let mut characters = unified.chars();
        let (first, second) = (characters.next()?, characters.next());
        if first.is_ascii_alphabetic() && second == Some(':') {
            return Some(Self::drive(first, characters.as_str()));
        }
        (first == '/').then(|| Self::unix(unified, ""))
    }

    fn drive(letter: char, rest: &str) -> Self {
        Self {
            root: format!("{}:", letter.to_ascii_lowercase()),
            segments: segments(rest, true),
        }
    }

    /// A Unix path; a mounted Windows drive is that drive.
    fn unix(path: &str, root: &str) -> Self {
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        let mount = (parts.next(), parts.next());
        if let (Some("mnt"), Some(letter)) = mount
            && let (Some(letter), 1) = (letter.chars().next(), letter.len())
            && letter.is_ascii_alphabetic()
        {
            let rest: Vec<&str> = parts.collect();
            return Self::drive(letter, &rest.join("/"));
        }
        Self {
            root: root.to_owned(),
            segments: segments(path, false),
        }
    }
}

fn segments(path: &str, fold_case: bool) -> Vec<String> {
    let parts = path
        .split(['/', '\\'])
        .filter(|part| !part.is_empty() && *part != ".");
    parts
        .map(|part| {
            let composed: String = part.nfc().collect();
            if fold_case {
                composed.to_lowercase()
            } else {
                composed
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    //! Property: the table of contract A.13, 69.
    use super::*;

    fn holds(scope: &str, cwd: &str) -> bool {
        PathScope::of(&[scope.to_owned()]).holds(Some(cwd))
    }

    #[test]
    fn one_place_written_in_several_ways() {
        for (scope, cwd) in [
            ("C:\\Work\\App", "c:/work/app/src"),
            ("/mnt/c/Work", "C:\\work\\app"),
            ("\\\\wsl$\\Ubuntu\\mnt\\c\\Work", "/mnt/c/work/app"),
            (
                "\\\\wsl$\\Ubuntu\\home\\dev",
                "\\\\wsl.localhost\\ubuntu\\home\\dev\\x",
            ),
            ("/srv/caf\u{e9}", "/srv/cafe\u{301}/x"),
            ("/", "/srv/app"),
            ("shop-api", "C:\\Users\\dev\\shop-api"),
            ("dev/Shop-API", "/home/dev/shop-api/src"),
        ] {
            assert!(holds(scope, cwd), "{scope} holds {cwd}");
        }
    }

    #[test]
    fn different_places_stay_different() {
        for (scope, cwd) in [
            ("/srv/APP", "/srv/app"),
            ("/srv/app", "/srv/app-other"),
            ("/srv/a_b", "/srv/axb"),
            ("/", "C:\\work"),
            ("\\\\wsl$\\Ubuntu\\home", "\\\\wsl$\\Debian\\home"),
            ("shop", "/home/dev/shop-api"),
        ] {
            assert!(!holds(scope, cwd), "{scope} does not hold {cwd}");
        }
    }

    #[test]
    fn unusable_folders_match_nothing_and_none_match_all() {
        assert!(!holds(" ", "/srv"));
        assert!(PathScope::of(&[]).holds(None));
        assert!(!PathScope::of(&["/srv".to_owned()]).holds(None));
    }
}
