//! `lookback grep` beside ripgrep: both look through the same files with no index, and name those with hits.

use super::measure::{median, time};
use super::{Bench, listed, needles, ratio};
use crate::command::stdout_of;
use anyhow::Result;
use std::process::Command;

/// What is looked for: a name for the kind of pattern, flags that both programs know, the pattern.
const PATTERNS: &[(&str, &[&str], &str)] = &[
    ("rare word", &["-i", "-F"], "brontolith"),
    ("common word", &["-i", "-F"], "error"),
    ("phrase", &["-i", "-F"], "connection refused"),
    ("expression", &["-i"], r"connection\s+re\w+"),
    ("two Chinese characters", &["-i", "-F"], "纠缠"),
    ("no match", &["-i", "-F"], "xyzzyplughnothere"),
];

impl Bench {
    /// Both programs by turns, then the planted texts.
    pub(super) fn greps(&self) -> Result<()> {
        println!("| grep, one process | `lookback grep -l` | `rg -l` | ratio |\n|---|---|---|---|");
        for (name, flags, pattern) in PATTERNS {
            eprintln!("grep: {name} …");
            let mut columns = [Vec::new(), Vec::new()];
            for _ in 0..self.rounds {
                let [ours, ripgrep] = &mut columns;
                ours.push(time(&mut self.grep(&["-l"], flags, pattern))?);
                ripgrep.push(time(&mut self.ripgrep(flags, pattern))?);
            }
            let [ours, ripgrep] = columns.map(|times| median(&times));
            println!(
                "| {name}: `{pattern}` | {ours} | {ripgrep} | {} |",
                ratio(ours.0, ripgrep.0)
            );
        }
        println!("\nEvery event is looked through in full; below 1 is quicker than ripgrep.\n");
        self.planted()
    }

    /// Looks for every planted text as it was planted, wherever it lies.
    fn planted(&self) -> Result<()> {
        let needles = &self.corpus.needles;
        let mut missed = Vec::new();
        for needle in needles {
            let found = stdout_of(&mut self.grep(&["-l", "--json"], &["-F"], &needle.phrase))?;
            if !needles::is_told(&found, &needle.session)? {
                missed.push(format!("{} (`{}`)", needle.name, needle.phrase));
            }
        }
        println!(
            "Needles found by grep, those beyond the index's caps included: {} of {}; missed: {}.\n",
            needles.len() - missed.len(),
            needles.len(),
            listed(&missed)
        );
        Ok(())
    }

    fn grep(&self, shape: &[&str], flags: &[&str], pattern: &str) -> Command {
        self.lookback(&[&["grep"], shape, flags, &["--", pattern]].concat())
    }
}
