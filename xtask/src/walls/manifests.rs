//! Packages of the workspace and what they depend on, from `cargo metadata`.

use anyhow::{Context, Result};
use serde_json::Value;

/// A package of the workspace.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Package {
    /// Its name.
    pub(super) name: String,
    /// Its manifest, relative to the root of the workspace.
    pub(super) manifest: String,
    /// What it depends on directly.
    pub(super) dependencies: Vec<Dependency>,
}

/// A direct dependency.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    /// The package's true name, whatever it is renamed to.
    pub(super) name: String,
    /// Whether only tests, examples and benches see it.
    pub(super) dev: bool,
}

/// Reads the output of `cargo metadata --no-deps --format-version 1`.
pub(super) fn parse(metadata: &str) -> Result<Vec<Package>> {
    let metadata: Value = serde_json::from_str(metadata)?;
    let root = text(&metadata, "workspace_root")?;
    let packages = metadata
        .get("packages")
        .and_then(Value::as_array)
        .context("no packages")?;
    packages
        .iter()
        .map(|package| parse_package(package, root))
        .collect()
}

fn parse_package(package: &Value, root: &str) -> Result<Package> {
    let manifest = text(package, "manifest_path")?;
    let relative = manifest.strip_prefix(root).unwrap_or(manifest).replace('\\', "/");
    let dependencies = package
        .get("dependencies")
        .and_then(Value::as_array)
        .context("no dependencies")?;
    Ok(Package {
        name: text(package, "name")?.to_owned(),
        manifest: relative.trim_start_matches('/').to_owned(),
        dependencies: dependencies.iter().map(parse_dependency).collect::<Result<_>>()?,
    })
}

fn parse_dependency(dependency: &Value) -> Result<Dependency> {
    let kind = dependency.get("kind").and_then(Value::as_str);
    Ok(Dependency {
        name: text(dependency, "name")?.to_owned(),
        dev: kind == Some("dev"),
    })
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value
        .get(key)
        .and_then(Value::as_str)
        .with_context(|| format!("no {key}"))
}

/// Made-up packages for the tests of the walls: name, normal dependencies, dev-dependencies.
#[cfg(test)]
pub(super) fn made_up(packages: &[(&str, &[&str], &[&str])]) -> Vec<Package> {
    let dependency = |kind: Value| move |name: &&str| serde_json::json!({"name": name, "kind": kind});
    let packages: Vec<Value> = packages
        .iter()
        .map(|(name, normal, dev)| {
            let normal = normal.iter().map(dependency(Value::Null));
            let dependencies: Vec<Value> = normal.chain(dev.iter().map(dependency("dev".into()))).collect();
            let manifest_path = format!("/w/crates/{name}/Cargo.toml");
            serde_json::json!({"name": name, "manifest_path": manifest_path, "dependencies": dependencies})
        })
        .collect();
    let metadata = serde_json::json!({"workspace_root": "/w", "packages": packages});
    parse(&metadata.to_string()).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_relative_manifests_are_read() {
        let packages = made_up(&[("a", &["b"], &["c"])]);
        let dependency = |name: &str, dev| Dependency {
            name: name.to_owned(),
            dev,
        };
        assert_eq!(packages[0].manifest, "crates/a/Cargo.toml");
        assert_eq!(
            packages[0].dependencies,
            [dependency("b", false), dependency("c", true)]
        );
        assert!(parse("{}").is_err());
    }
}
