//! The flags that narrow a search or a list, which `search` and `sessions` share.

use crate::context::Context;
use crate::error::CommandError;
use crate::when;
use clap::Args;
use lookback_engine::{Engine, SOURCES};
use lookback_model::Timestamp;
use lookback_model::ports::SessionFilter;
use std::path::{Component, Path, PathBuf};

/// Contract A's bounds of `scopePaths`.
const MAX_PATHS: usize = 64;
const MAX_PATH_CHARACTERS: usize = 4_096;

/// Which sessions are looked at.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FilterArgs {
    /// Only sessions of this agent; may be given several times
    #[arg(long = "agent", value_name = "AGENT")]
    pub(crate) agents: Vec<String>,
    /// Only sessions that worked in this folder or below; may be given several times
    #[arg(long = "path", value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// Only sessions active since then: 7d, 24h, 2w, a day, or RFC 3339 with a zone
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
}

/// The filters, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filters {
    /// Agents; empty means all.
    pub(crate) agents: Vec<String>,
    /// Folders; empty means all.
    pub(crate) paths: Vec<String>,
    /// Not last active before this.
    pub(crate) since: Option<Timestamp>,
}

impl FilterArgs {
    /// The filters, checked.
    pub(crate) fn check(&self, engine: &Engine, context: &Context) -> Result<Filters, CommandError> {
        check_agents(&self.agents, engine)?;
        let here = std::env::current_dir().unwrap_or_default();
        let paths = check_paths(&self.paths, &here, &context.environment.home)?;
        let since = self
            .since
            .as_deref()
            .map(|text| since(text, when::now()))
            .transpose()?;
        Ok(Filters {
            agents: self.agents.clone(),
            paths,
            since,
        })
    }
}

/// The names of the agents that can be read.
pub(crate) fn known_agents() -> Vec<&'static str> {
    SOURCES.iter().map(|source| source.agent()).collect()
}

/// An agent is known when it can be read, or when the index holds sessions of it.
fn check_agents(agents: &[String], engine: &Engine) -> Result<(), CommandError> {
    let known = known_agents();
    for agent in agents.iter().filter(|agent| !known.contains(&agent.as_str())) {
        let filter = SessionFilter {
            agents: vec![agent.clone()],
            hidden: true,
            ..SessionFilter::default()
        };
        if engine.sessions(&filter)?.is_empty() {
            return Err(CommandError::usage(format!("unknown agent {agent}"))
                .hinted(format!("known agents: {}", known.join(", "))));
        }
    }
    Ok(())
}

fn since(text: &str, now: Timestamp) -> Result<Timestamp, CommandError> {
    when::parse(text, now).ok_or_else(|| {
        CommandError::usage(format!("--since {text} is no time"))
            .hinted("write 7d, 24h or 2w, a day such as 2026-05-04, or 2026-05-04T09:00:00Z with its zone")
    })
}

fn check_paths(paths: &[String], here: &Path, home: &Path) -> Result<Vec<String>, CommandError> {
    if paths.len() > MAX_PATHS {
        return Err(CommandError::usage(format!("more than {MAX_PATHS} times --path")));
    }
    if paths
        .iter()
        .any(|path| path.is_empty() || path.chars().count() > MAX_PATH_CHARACTERS)
    {
        return Err(CommandError::usage(format!(
            "--path takes 1 to {MAX_PATH_CHARACTERS} characters"
        )));
    }
    Ok(paths.iter().map(|path| resolve(path, here, home)).collect())
}

/// A path as sessions record it. What begins with a dot or `~` is meant from here or from home; anything
/// else may name a folder of another machine and stays as it is.
fn resolve(path: &str, here: &Path, home: &Path) -> String {
    let mut components = Path::new(path).components();
    let base = match components.next() {
        Some(Component::CurDir) => here.to_owned(),
        Some(Component::ParentDir) => here.parent().unwrap_or(here).to_owned(),
        Some(Component::Normal(first)) if first == "~" => home.to_owned(),
        _ => return path.to_owned(),
    };
    let resolved = components.fold(base, |mut resolved: PathBuf, component| {
        match component {
            Component::ParentDir => {
                resolved.pop();
            }
            Component::CurDir => {}
            other => resolved.push(other),
        }
        resolved
    });
    resolved.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    //! Properties: paths from here and from home become absolute, others stay; bounds are the contract's.
    use super::*;

    #[cfg(unix)]
    #[test]
    fn dots_and_tildes_are_resolved() {
        let (here, home) = (Path::new("/srv/app/src"), Path::new("/home/ada"));
        for (given, meant) in [
            (".", "/srv/app/src"),
            ("..", "/srv/app"),
            ("../../x", "/srv/x"),
            ("./a/../b", "/srv/app/src/b"),
            ("~/w", "/home/ada/w"),
            ("shop-api", "shop-api"),
            ("/srv/app", "/srv/app"),
            ("C:\\Work", "C:\\Work"),
        ] {
            assert_eq!(resolve(given, here, home), meant, "{given}");
        }
    }

    #[test]
    fn bounds_are_the_contracts() {
        let check = |paths: Vec<String>| check_paths(&paths, Path::new("/"), Path::new("/"));
        assert!(check(vec!["a".into(); 64]).is_ok());
        assert!(check(vec!["a".into(); 65]).is_err());
        assert!(check(vec![String::new()]).is_err());
        assert!(check(vec!["é".repeat(4_096)]).is_ok());
        assert!(check(vec!["é".repeat(4_097)]).is_err());
    }

    #[test]
    fn a_time_without_a_zone_is_refused() {
        let error = since("2026-05-04T09:00:00", Timestamp(0)).unwrap_err();
        assert_eq!(error.kind, crate::error::ErrorKind::Usage);
    }
}
