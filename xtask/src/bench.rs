//! The benchmark: the program that people run, measured from outside, beside what anybody could use
//! instead in the same minutes. Writes a Markdown page to stdout.
//!
//! Every ratio is against a baseline of this very run; the two take turns, so that a busy machine
//! slows both. Numbers of other runs or machines are not compared.

mod corpus;
mod greps;
mod growing;
mod latency;
mod measure;
mod needles;

use crate::command::{built, lookback, stdout_of};
use anyhow::{Context, Result, bail};
use corpus::Corpus;
use growing::GrowingSession;
use measure::{Figures, Milliseconds, median, run_watched, time};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// Times the whole corpus is indexed by each program.
const INDEX_ROUNDS: usize = 3;
/// What is searched for: a name for the kind of query, what lookback gets, what ripgrep gets. The words
/// are those the corpus generator plants or draws from.
const QUERIES: &[(&str, &str, &str)] = &[
    ("rare word", "brontolith", "brontolith"),
    ("common word", "error", "error"),
    ("three words", "error config parser", "error config parser"),
    ("phrase", "\"connection refused\"", "connection refused"),
    ("part of an identifier", "resolve", "resolve"),
    ("typing error", "vorpalhegde", "vorpalhegde"),
    ("two Chinese characters", "纠缠", "纠缠"),
    ("no match", "xyzzyplughnothere", "xyzzyplughnothere"),
];

/// What a benchmark is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    home: PathBuf,
    rounds: usize,
}

impl Options {
    /// Reads `--home DIR [--rounds N]`.
    pub(crate) fn parse(words: &[&str]) -> Result<Self> {
        let mut home = None;
        let mut rounds = 15;
        for pair in words.chunks(2) {
            match pair {
                ["--home", folder] => home = Some(PathBuf::from(folder)),
                ["--rounds", count] => rounds = count.parse().context("--rounds takes a number")?,
                other => bail!("bench does not know `{}`", other.join(" ")),
            }
        }
        let home = home.context("bench needs --home DIR, the home folder whose transcripts are measured")?;
        if rounds == 0 {
            bail!("--rounds takes a number from 1");
        }
        Ok(Self { home, rounds })
    }
}

/// Measures everything and prints the page.
pub(crate) fn run(options: &Options) -> Result<()> {
    let corpus = Corpus::at(&options.home)?;
    let data = std::env::temp_dir().join(format!("lookback-bench-{}", std::process::id()));
    let bench = Bench {
        program: built(&["--release", "--locked", "--package", "lookback-cli"])?,
        baseline: example("bare_tantivy")?,
        latency: example("search_latency")?,
        corpus,
        data: TemporaryFolder(data),
        rounds: options.rounds,
    };
    bench.head()?;
    bench.first_index()?;
    bench.searches()?;
    bench.latency()?;
    bench.needles()?;
    bench.greps()?;
    bench.indexing_again()
}

/// An example of the index, built.
fn example(name: &str) -> Result<PathBuf> {
    built(&[
        "--release",
        "--locked",
        "--package",
        "lookback-index",
        "--example",
        name,
    ])
}

struct Bench {
    program: PathBuf,
    baseline: PathBuf,
    latency: PathBuf,
    corpus: Corpus,
    data: TemporaryFolder,
    rounds: usize,
}

/// A folder that goes when it is no longer needed.
struct TemporaryFolder(PathBuf);

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What cannot be removed now lies in the system's own folder for such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Bench {
    fn lookback(&self, words: &[&str]) -> Command {
        let mut command = lookback(&self.program, &self.corpus.home, &self.data.0);
        command.args(words);
        command
    }

    /// ripgrep over the same files, told to stop at the first match in each, as the quickest it can do.
    fn ripgrep(&self, flags: &[&str], text: &str) -> Command {
        let mut command = Command::new("rg");
        command.args(["-l", "--hidden", "--no-ignore", "-g", "*.jsonl"]);
        command.args(flags).args(["--", text]).arg(&self.corpus.home);
        command
    }

    fn head(&self) -> Result<()> {
        let Corpus { files, bytes, .. } = &self.corpus;
        let processors = std::thread::available_parallelism()?;
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split(' ').next().unwrap_or_default();
        println!(
            "Corpus: {files} transcripts, {}. Machine: {processors} processors",
            megabytes(*bytes)
        );
        println!(
            "({}), load {load} at the start. Median of {} runs;",
            std::env::consts::ARCH,
            self.rounds
        );
        println!("each run is a process of its own, files in the page cache.\n");
        Ok(())
    }

    fn first_index(&self) -> Result<()> {
        eprintln!("first index …");
        // Brings the files into the page cache: what is measured is the work, not the disk.
        time(&mut self.ripgrep(&["-F"], "no transcript holds this"))?;
        let mut ours = Vec::new();
        let mut bare = Vec::new();
        for _ in 0..INDEX_ROUNDS {
            if self.data.0.exists() {
                std::fs::remove_dir_all(&self.data.0)?;
            }
            let mut figures = run_watched(&mut self.lookback(&["index", "--json"]))?;
            figures.bytes_on_disk = corpus::bytes_under(&self.data.0)?;
            ours.push(figures);
            bare.push(bare_figures(&stdout_of(
                Command::new(&self.baseline).arg(&self.data.0),
            )?)?);
        }
        self.print_first_index(&Figures::median(&ours), &Figures::median(&bare));
        Ok(())
    }

    fn print_first_index(&self, ours: &Figures, bare: &Figures) {
        println!(
            "| first index, median of {INDEX_ROUNDS} | lookback | bare tantivy | ratio |\n|---|---|---|---|"
        );
        println!(
            "| wall time | {} | {} | {} |",
            ours.wall,
            bare.wall,
            ratio(ours.wall.0, bare.wall.0)
        );
        let size = |figures: &Figures| {
            let share = 100.0 * figures.bytes_on_disk as f64 / self.corpus.bytes.max(1) as f64;
            format!(
                "{} ({share:.1} % of the transcripts)",
                megabytes(figures.bytes_on_disk)
            )
        };
        let sizes = ratio(ours.bytes_on_disk as f64, bare.bytes_on_disk as f64);
        println!("| on disk | {} | {} | {sizes} |", size(ours), size(bare));
        let peak = ours
            .peak_kilobytes
            .map_or_else(|| "unknown".to_owned(), |peak| megabytes(peak * 1_024));
        println!("| peak memory | {peak} | – | – |");
        println!(
            "\nBare tantivy gets the same texts out of memory; finding, reading and decoding is ours alone.\n"
        );
    }

    fn searches(&self) -> Result<()> {
        println!(
            "| search, one process | default freshness | `--freshness indexed` | `rg -l -F -i` | ratio |"
        );
        println!("|---|---|---|---|---|");
        for (name, query, text) in QUERIES {
            eprintln!("search: {name} …");
            let mut columns = [Vec::new(), Vec::new(), Vec::new()];
            for _ in 0..self.rounds {
                let [fresh, indexed, ripgrep] = &mut columns;
                fresh.push(time(&mut self.lookback(&["search", "--json", "--", query]))?);
                let words = ["search", "--json", "--freshness", "indexed", "--", query];
                indexed.push(time(&mut self.lookback(&words))?);
                ripgrep.push(time(&mut self.ripgrep(&["-F", "-i"], text))?);
            }
            let [fresh, indexed, ripgrep] = columns.map(|times| median(&times));
            let against = ratio(fresh.0, ripgrep.0);
            println!("| {name}: `{query}` | {fresh} | {indexed} | {ripgrep} | {against} |");
        }
        println!("\nThe ratio is default freshness to ripgrep; below 1 is quicker than ripgrep.\n");
        Ok(())
    }

    fn latency(&self) -> Result<()> {
        eprintln!("searches in a running process …");
        let report = stdout_of(Command::new(&self.latency).arg(&self.data.0))?;
        println!("{}", latency::tables(&report)?);
        println!(
            "FTS5 and bare tantivy rank documents of the same texts, with neither sessions, filters, word forms nor\n\
            repair; FTS5 sorts by `bm25`, and both give 20.\n"
        );
        Ok(())
    }

    /// Looks for every planted text, and says which sessions were and were not among the hits.
    fn needles(&self) -> Result<()> {
        eprintln!("needles …");
        let mut found = 0;
        let mut missed = Vec::new();
        let mut not_expected = Vec::new();
        for probe in needles::probes(&self.corpus.needles) {
            let words = [
                "search",
                "--json",
                "--freshness",
                "indexed",
                "--limit",
                "20",
                "--",
                &probe.query,
            ];
            let is_found = needles::is_hit(&stdout_of(&mut self.lookback(&words))?, &probe.session)?;
            match probe.beyond_cap {
                Some(place) => not_expected.push(format!("{} ({place}; found: {is_found})", probe.name)),
                None if is_found => found += 1,
                None => missed.push(format!("{} (`{}`)", probe.name, probe.query)),
            }
        }
        let expected = found + missed.len();
        if expected + not_expected.len() == 0 {
            println!("Needles: none are planted in this corpus.\n");
            return Ok(());
        }
        println!(
            "Needles found: {found} of {expected}; missed: {}.",
            listed(&missed)
        );
        println!(
            "Not expected of a search, as tool text is indexed up to its cap: {}.\n",
            listed(&not_expected)
        );
        Ok(())
    }

    fn indexing_again(&self) -> Result<()> {
        eprintln!("indexing again …");
        let mut growing = GrowingSession::beside(&self.corpus)?;
        self.index()?;
        let mut unchanged = Vec::new();
        let mut appended = Vec::new();
        for _ in 0..self.rounds {
            unchanged.push(time(&mut self.lookback(&["index", "--json"]))?);
            growing.say_something()?;
            appended.push(time(&mut self.lookback(&["index", "--json"]))?);
        }
        let words = [
            "search",
            "--json",
            "--freshness",
            "indexed",
            "--",
            growing.last_word(),
        ];
        let is_found = needles::is_hit(&stdout_of(&mut self.lookback(&words))?, growing.session())?;
        println!("| indexing again | wall time |\n|---|---|");
        println!("| nothing changed | {} |", median(&unchanged));
        println!(
            "| one message appended to a session of {} | {} |",
            megabytes(growing.bytes()?),
            median(&appended)
        );
        println!("\nThe last appended message is found: {is_found}.");
        Ok(())
    }

    fn index(&self) -> Result<()> {
        stdout_of(&mut self.lookback(&["index", "--json"])).map(drop)
    }
}

/// The baseline reports on itself, in one line of JSON.
fn bare_figures(report: &str) -> Result<Figures> {
    let report: Value = serde_json::from_str(report.trim()).context("the baseline printed no JSON")?;
    let seconds = report
        .get("seconds")
        .and_then(Value::as_f64)
        .context("the baseline says no seconds")?;
    let count = |key: &str| report.get(key).and_then(Value::as_u64);
    Ok(Figures {
        wall: Milliseconds(seconds * 1_000.0),
        // It holds all texts at once, so that its memory says nothing.
        peak_kilobytes: None,
        bytes_on_disk: count("indexBytes").context("the baseline says no indexBytes")?,
    })
}

fn ratio(ours: f64, baseline: f64) -> String {
    if baseline > 0.0 {
        format!("{:.2}", ours / baseline)
    } else {
        "–".to_owned()
    }
}

fn megabytes(bytes: u64) -> String {
    let megabytes = bytes as f64 / 1e6;
    if megabytes < 10.0 {
        format!("{megabytes:.2} MB")
    } else {
        format!("{megabytes:.0} MB")
    }
}

fn listed(items: &[String]) -> String {
    if items.is_empty() {
        "none".to_owned()
    } else {
        items.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_need_a_home_and_sensible_rounds() {
        let options = Options::parse(&["--home", "/h", "--rounds", "3"]).unwrap();
        assert_eq!(
            options,
            Options {
                home: PathBuf::from("/h"),
                rounds: 3
            }
        );
        assert_eq!(Options::parse(&["--home", "/h"]).unwrap().rounds, 15);
        for wrong in [
            &[][..],
            &["--home"],
            &["--home", "/h", "--rounds", "0"],
            &["--house", "/h"],
        ] {
            assert!(Options::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_baselines_report_is_read() {
        let report = "{\"seconds\":1.5,\"documents\":3,\"textBytes\":9,\"indexBytes\":7}\n";
        let figures = bare_figures(report).unwrap();
        assert_eq!((figures.wall.0, figures.bytes_on_disk), (1_500.0, 7));
        assert!(bare_figures("done").is_err());
    }

    #[test]
    fn figures_are_written_for_people() {
        assert_eq!(
            (ratio(1.0, 4.0), ratio(1.0, 0.0)),
            ("0.25".to_owned(), "–".to_owned())
        );
        assert_eq!(
            (megabytes(1_234_567), megabytes(98_765_432)),
            ("1.23 MB".to_owned(), "99 MB".to_owned())
        );
    }
}
