//! Which crate may depend on which. ARCHITECTURE.md holds the same table with the reasons.

use super::Finding;
use super::manifests::{Dependency, Package};

/// A crate, and the crates of this workspace it may depend on. What is not written is forbidden.
const EDGES: &[(&str, &[&str])] = &[
    ("lookback-model", &[]),
    ("lookback-wire", &["lookback-model"]),
    ("lookback-readers", &["lookback-model"]),
    ("lookback-index", &["lookback-model"]),
    ("lookback-store", &["lookback-model"]),
    ("lookback-engine", &["lookback-model", "lookback-readers"]),
    ("lookback-remote", &["lookback-model", "lookback-wire"]),
    (
        "lookback-server",
        &["lookback-model", "lookback-wire", "lookback-engine"],
    ),
    (
        "lookback-cli",
        &[
            "lookback-model",
            "lookback-wire",
            "lookback-engine",
            "lookback-server",
            "lookback-index",
            "lookback-remote",
            "lookback-store",
        ],
    ),
    (TESTKIT, &["lookback-model", "lookback-wire", "lookback-readers"]),
    (
        "lookback-example-harness",
        &["lookback-model", "lookback-engine", "lookback-index"],
    ),
    ("xtask", &[]),
];

/// May also stand in dev-dependencies.
const TESTKIT: &str = "lookback-testkit";
const TABLE: &str = "EDGES of xtask/src/walls/edges.rs and ARCHITECTURE.md";

/// Dependencies between crates of the workspace that the table does not have.
pub(super) fn check(packages: &[Package]) -> Vec<Finding> {
    packages
        .iter()
        .flat_map(|package| check_package(package, packages))
        .collect()
}

fn check_package(package: &Package, packages: &[Package]) -> Vec<Finding> {
    let Some((_, allowed)) = EDGES.iter().find(|(name, _)| *name == package.name) else {
        return vec![format!(
            "{}: crate {} has no place; give it one in {TABLE}",
            package.manifest, package.name
        )];
    };
    let is_ours = |name: &str| packages.iter().any(|package| package.name == name);
    let forbidden = |dependency: &&Dependency| {
        let for_tests = dependency.dev && dependency.name == TESTKIT && package.name != "xtask";
        is_ours(&dependency.name) && !allowed.contains(&dependency.name.as_str()) && !for_tests
    };
    let finding = |dependency: &Dependency| {
        let Package { name, manifest, .. } = package;
        let kind = if dependency.dev {
            "dev-dependency"
        } else {
            "dependency"
        };
        let found = format!("{manifest}: {name} must not use {}", dependency.name);
        format!("{found}; take the {kind} out, and reach it through a trait of lookback-model")
    };
    package
        .dependencies
        .iter()
        .filter(forbidden)
        .map(finding)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::manifests::made_up;
    use super::*;

    /// Every crate the findings are about, with what it must not use.
    fn found(packages: &[(&str, &[&str], &[&str])]) -> Vec<String> {
        check(&made_up(packages))
    }

    #[test]
    fn the_table_allows_itself() {
        let packages: Vec<_> = EDGES
            .iter()
            .map(|(name, allowed)| (*name, *allowed, &[][..]))
            .collect();
        assert_eq!(found(&packages), Vec::<String>::new());
    }

    #[test]
    fn an_edge_that_is_not_in_the_table_is_found() {
        let findings = found(&[
            ("lookback-engine", &["lookback-index"], &[]),
            ("lookback-index", &[], &[]),
        ]);
        assert_eq!(findings.len(), 1);
        let start = "crates/lookback-engine/Cargo.toml: lookback-engine must not use lookback-index; ";
        assert!(findings[0].starts_with(start), "{findings:?}");
    }

    #[test]
    fn testkit_is_for_tests_only() {
        let testkit = (TESTKIT, &[][..], &[][..]);
        assert_eq!(found(&[("lookback-readers", &[], &[TESTKIT]), testkit]).len(), 0);
        assert_eq!(found(&[("lookback-readers", &[TESTKIT], &[]), testkit]).len(), 1);
        assert_eq!(found(&[("xtask", &[], &[TESTKIT]), testkit]).len(), 1);
    }

    #[test]
    fn the_table_binds_tests_too() {
        let findings = found(&[
            ("lookback-index", &[], &["lookback-readers"]),
            ("lookback-readers", &[], &[]),
        ]);
        assert!(
            findings[0].contains("take the dev-dependency out"),
            "{findings:?}"
        );
    }

    #[test]
    fn nobody_depends_on_the_binary_or_the_tasks() {
        let nobody = EDGES
            .iter()
            .all(|(_, allowed)| !allowed.contains(&"lookback-cli") && !allowed.contains(&"xtask"));
        assert!(nobody);
    }

    #[test]
    fn a_crate_without_a_place_is_found() {
        assert!(found(&[("lookback-extra", &[], &[])])[0].contains("has no place"));
    }
}
