//! The corpus that is measured: a home folder with transcripts, and what its generator planted in it.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A home folder with transcripts.
pub(super) struct Corpus {
    pub(super) home: PathBuf,
    /// Transcripts.
    pub(super) files: usize,
    /// Their length in bytes.
    pub(super) bytes: u64,
    /// Planted texts, in order of name; none when the corpus was not generated.
    pub(super) needles: Vec<Needle>,
    /// A Claude transcript of middle length.
    pub(super) middle_session: PathBuf,
}

/// A text that stands in one session only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Needle {
    pub(super) name: String,
    pub(super) phrase: String,
    /// Id of the session.
    pub(super) session: String,
}

impl Corpus {
    /// Looks at a home folder.
    pub(super) fn at(home: &Path) -> Result<Self> {
        let home = home
            .canonicalize()
            .with_context(|| format!("no folder {}", home.display()))?;
        let mut found = files_under(&home)?;
        found.retain(|(path, _)| path.extension().is_some_and(|extension| extension == "jsonl"));
        if found.is_empty() {
            bail!("{} holds no transcripts", home.display());
        }
        let projects = home.join(".claude/projects");
        let mut claude: Vec<_> = found
            .iter()
            .filter(|(path, _)| path.starts_with(&projects))
            .collect();
        claude.sort_by_key(|(path, bytes)| (*bytes, path.clone()));
        let middle = claude
            .get(claude.len() / 2)
            .context("the corpus holds no Claude transcripts")?;
        Ok(Self {
            files: found.len(),
            bytes: found.iter().map(|(_, bytes)| bytes).sum(),
            needles: read_needles(&home)?,
            middle_session: middle.0.clone(),
            home,
        })
    }
}

/// Length in bytes of all files under a folder.
pub(super) fn bytes_under(folder: &Path) -> Result<u64> {
    Ok(files_under(folder)?.iter().map(|(_, bytes)| bytes).sum())
}

fn files_under(folder: &Path) -> Result<Vec<(PathBuf, u64)>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in
            std::fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?
        {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push((entry.path(), entry.metadata()?.len()));
            }
        }
    }
    Ok(files)
}

/// What the generator says it planted, in `corpus.json` or `needles.json`.
fn read_needles(home: &Path) -> Result<Vec<Needle>> {
    for name in ["needles.json", "corpus.json"] {
        let path = home.join(name);
        if path.is_file() {
            let text = std::fs::read_to_string(&path)?;
            return parse_needles(&text).with_context(|| format!("cannot read {}", path.display()));
        }
    }
    Ok(Vec::new())
}

fn parse_needles(text: &str) -> Result<Vec<Needle>> {
    let file: Value = serde_json::from_str(text)?;
    let needles = file
        .get("needles")
        .unwrap_or(&file)
        .as_object()
        .context("no needles")?;
    let text = |needle: &Value, key: &str| {
        needle
            .get(key)
            .and_then(Value::as_str)
            .map(str::to_owned)
            .with_context(|| format!("no {key}"))
    };
    needles
        .iter()
        .map(|(name, needle)| {
            Ok(Needle {
                name: name.clone(),
                phrase: text(needle, "phrase")?,
                session: text(needle, "session")?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needles_are_read_alone_or_within_the_corpus_facts() {
        let alone = r#"{"deep":{"phrase":"two words","session":"s1","file":"f"}}"#;
        let needle = Needle {
            name: "deep".into(),
            phrase: "two words".into(),
            session: "s1".into(),
        };
        assert_eq!(parse_needles(alone).unwrap(), [needle]);
        let within = format!("{{\"size\":\"S\",\"needles\":{alone}}}");
        assert_eq!(parse_needles(&within).unwrap(), parse_needles(alone).unwrap());
        assert!(parse_needles(r#"{"deep":{"phrase":"two words"}}"#).is_err());
    }
}
