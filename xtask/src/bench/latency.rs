//! Latency of a search in a process that is already running: a table of what the example `search_latency`
//! measured.

use super::measure::Milliseconds;
use super::ratio;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::fmt;

/// What the example prints.
#[derive(Deserialize)]
struct Report {
    mix: Vec<Row>,
    all: Both,
    typing: Typing,
}

/// A query of the mix.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    name: String,
    query: String,
    first: Spread,
    #[serde(flatten)]
    ours: Both,
    fts5_ranked: Spread,
    fts5_page: Spread,
    tantivy_ranked: Spread,
}

#[derive(Deserialize)]
struct Both {
    ranked: Spread,
    page: Spread,
}

#[derive(Deserialize)]
struct Typing {
    queries: u64,
    runs: u64,
    slowest: String,
    #[serde(flatten)]
    spread: Spread,
}

/// Milliseconds of many runs.
#[derive(Clone, Copy, Deserialize)]
struct Spread {
    p50: f64,
    p99: f64,
    max: f64,
}

impl fmt::Display for Spread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.2} / {:.2}", self.p50, self.p99)
    }
}

/// The tables of a report.
pub(super) fn tables(report: &str) -> Result<String> {
    let report: Report = serde_json::from_str(report.trim()).context("the measurement printed no report")?;
    let mut lines = vec![
        "| search in a running process, ms: p50 / p99 | sessions ranked | with 20 snippets | FTS5 | ratio | FTS5 with snippets | ratio | bare tantivy | ratio | first search, p50 |".to_owned(),
        "|---|---|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    for row in &report.mix {
        let Both { ranked, page } = row.ours;
        let against = |ours: Spread, theirs: Spread| format!("{theirs} | {}", ratio(ours.p50, theirs.p50));
        lines.push(format!(
            "| {}: `{}` | {ranked} | {page} | {} | {} | {} | {} |",
            row.name,
            row.query,
            against(ranked, row.fts5_ranked),
            against(page, row.fts5_page),
            against(ranked, row.tantivy_ranked),
            Milliseconds(row.first.p50),
        ));
    }
    let Both { ranked, page } = report.all;
    lines.push(format!("| all | {ranked} | {page} | | | | | | | |"));
    let Typing {
        queries,
        runs,
        slowest,
        spread,
    } = report.typing;
    lines.push(format!(
        "\nEach letter of {queries} long queries searched as it is typed, {runs} searches with 20 snippets: \
        {spread} ms,\nlongest {:.2} ms (`{slowest}`).\n",
        spread.max,
    ));
    Ok(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_becomes_tables_with_ratios() {
        let spread = r#"{"p50":1.0,"p99":2.0,"max":3.0,"runs":9}"#;
        let theirs = r#"{"p50":4.0,"p99":5.0,"max":6.0,"runs":9}"#;
        let report = format!(
            r#"{{"mix":[{{"name":"rare","query":"w","first":{spread},"ranked":{spread},"page":{spread},
            "fts5Ranked":{theirs},"fts5Page":{theirs},"tantivyRanked":{theirs}}}],
            "all":{{"ranked":{spread},"page":{spread}}},
            "typing":{{"p50":1.0,"p99":2.0,"max":3.0,"runs":9,"queries":2,"slowest":"wo"}}}}"#
        );
        let tables = tables(&report).unwrap();
        assert!(tables.contains("| rare: `w` | 1.00 / 2.00 | 1.00 / 2.00 | 4.00 / 5.00 | 0.25 |"));
        assert!(tables.contains("longest 3.00 ms (`wo`)"));
        assert!(super::tables("{}").is_err());
    }
}
