//! Figures: what share of questions was answered by the first hit and the first five, the mean reciprocal
//! rank, and how long a search took.

use super::asking::Answer;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The table of a set: a row for each kind of question, and one for all.
pub(super) fn table(set: &str, answers: &[Answer]) -> String {
    let mut kinds: BTreeMap<&str, Vec<&Answer>> = BTreeMap::new();
    for answer in answers {
        kinds.entry(&answer.question.kind).or_default().push(answer);
    }
    let mut table = format!("| {set} | questions | hit@1 | hit@5 | MRR | p50 ms | p95 ms |\n");
    table.push_str("|---|--:|--:|--:|--:|--:|--:|\n");
    for (kind, answers) in &kinds {
        row(&mut table, kind, answers);
    }
    row(&mut table, "**all**", &answers.iter().collect::<Vec<_>>());
    table
}

fn row(table: &mut String, name: &str, answers: &[&Answer]) {
    let ranks: Vec<Option<usize>> = answers.iter().map(|answer| answer.rank).collect();
    let times: Vec<f64> = answers.iter().map(|answer| answer.milliseconds).collect();
    let (first, five, mean) = (hit_at(1, &ranks), hit_at(5, &ranks), reciprocal(&ranks));
    let (middle, slow) = (percentile(50, &times), percentile(95, &times));
    let count = answers.len();
    // Writing to a String does not fail.
    let _ = writeln!(
        table,
        "| {name} | {count} | {first:.3} | {five:.3} | {mean:.3} | {middle:.1} | {slow:.1} |"
    );
}

/// Share of questions that one of the first `places` hits answers.
fn hit_at(places: usize, ranks: &[Option<usize>]) -> f64 {
    let found = ranks.iter().flatten().filter(|rank| **rank <= places);
    found.count() as f64 / ranks.len().max(1) as f64
}

/// The mean of 1/rank, where what was not found counts 0.
fn reciprocal(ranks: &[Option<usize>]) -> f64 {
    let sum: f64 = ranks.iter().flatten().map(|rank| 1.0 / *rank as f64).sum();
    sum / ranks.len().max(1) as f64
}

/// The least of the values that `percent` of all do not exceed. No values are 0.
fn percentile(percent: usize, values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (sorted.len() * percent).div_ceil(100);
    sorted.get(place.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::Question;
    use super::*;

    #[test]
    fn shares_count_what_was_not_found() {
        let ranks = [Some(1), Some(5), Some(6), None];
        assert_eq!(hit_at(1, &ranks), 0.25);
        assert_eq!(hit_at(5, &ranks), 0.5);
        assert_eq!(hit_at(1, &[]), 0.0);
    }

    #[test]
    fn the_reciprocal_rank_is_a_mean_over_all() {
        assert_eq!(reciprocal(&[Some(1), Some(2), Some(4), None]), 1.75 / 4.0);
        assert_eq!(reciprocal(&[]), 0.0);
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!((percentile(50, &hundred), percentile(95, &hundred)), (50.0, 95.0));
        assert_eq!(
            (percentile(50, &[3.0, 1.0, 2.0]), percentile(95, &[3.0, 1.0, 2.0])),
            (2.0, 3.0)
        );
        assert_eq!((percentile(0, &[7.0]), percentile(50, &[])), (7.0, 0.0));
    }

    #[test]
    fn a_table_has_a_row_for_each_kind_and_one_for_all() {
        let answer = |kind: &str, rank, milliseconds| Answer {
            home: String::new(),
            question: Question {
                ask: "q".to_owned(),
                kind: kind.to_owned(),
                gold: Vec::new(),
            },
            hits: Vec::new(),
            rank,
            milliseconds,
        };
        let answers = [
            answer("typo", Some(2), 4.0),
            answer("code", Some(1), 6.0),
            answer("typo", None, 2.0),
        ];
        let expected = "\
| s | questions | hit@1 | hit@5 | MRR | p50 ms | p95 ms |
|---|--:|--:|--:|--:|--:|--:|
| code | 1 | 1.000 | 1.000 | 1.000 | 6.0 | 6.0 |
| typo | 2 | 0.000 | 0.500 | 0.250 | 2.0 | 4.0 |
| **all** | 3 | 0.333 | 0.667 | 0.500 | 4.0 | 6.0 |
";
        assert_eq!(table("s", &answers), expected);
    }
}
