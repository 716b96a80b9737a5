//! Which third-party crates stay behind which crate, so that each can be replaced by changing one.

use super::Finding;
use super::manifests::Package;

/// A third-party crate and the crates that may depend on it directly. `deny.toml` holds the same for
/// what comes in through others.
const WALLS: &[(&str, &[&str])] = &[
    ("tantivy", &["lookback-index"]),
    (
        "rusqlite",
        &["lookback-index", "lookback-store", "lookback-readers"],
    ),
    ("regex-automata", &["lookback-engine"]),
    ("axum", &["lookback-server"]),
    ("rmcp", &["lookback-server"]),
    ("jsonwebtoken", &["lookback-server"]),
    ("ratatui", &["lookback-cli"]),
    ("clap", &["lookback-cli"]),
    ("clap_complete", &["lookback-cli"]),
    ("clap_mangen", &["lookback-cli"]),
    ("indicatif", &["lookback-cli"]),
    ("reqwest", &["lookback-remote", "lookback-server"]),
    ("opensearch", &["lookback-remote"]),
    ("openidconnect", &["lookback-remote"]),
    (
        "tokio",
        &[
            "lookback-engine",
            "lookback-remote",
            "lookback-server",
            "lookback-cli",
        ],
    ),
    ("anyhow", &["xtask"]),
];

/// Direct dependencies, for tests as well, that stand across a wall. Only `anyhow` may be in anyone's
/// tests: a test has no caller who would tell its errors apart.
pub(super) fn check(packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        for dependency in &package.dependencies {
            let Some((crate_name, owners)) = WALLS.iter().find(|(name, _)| *name == dependency.name) else {
                continue;
            };
            let harmless = dependency.dev && *crate_name == "anyhow";
            if !harmless && !owners.contains(&package.name.as_str()) {
                let Package { name, manifest, .. } = package;
                let owners = owners.join(", ");
                findings.push(format!(
                    "{manifest}: {name} must not use {crate_name}; put what needs it into {owners}"
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::manifests::made_up;
    use super::*;

    /// Property: each wall lets its owners through, and nobody else.
    #[test]
    fn each_wall_is_seen_to_stand() {
        for (name, owners) in WALLS {
            for owner in *owners {
                assert_eq!(check(&made_up(&[(owner, &[name], &[])])), Vec::<String>::new());
            }
            let findings = check(&made_up(&[("lookback-model", &[name], &[])]));
            let start = format!("crates/lookback-model/Cargo.toml: lookback-model must not use {name}; ");
            assert!(
                findings.len() == 1 && findings[0].starts_with(&start),
                "{findings:?}"
            );
        }
    }

    #[test]
    fn tests_may_use_anyhow_and_no_other() {
        assert_eq!(check(&made_up(&[("lookback-model", &[], &["anyhow"])])).len(), 0);
        assert_eq!(check(&made_up(&[("lookback-model", &[], &["tantivy"])])).len(), 1);
    }
}
