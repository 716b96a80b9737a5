//! Dates in a query: `when did we switch in March 2026` is about sessions of that month.
//!
//! They are words like any other; besides, a session of that year, month or day is more likely meant.

use lookback_model::Timestamp;

/// English names of the months. `may` is the verb unless a date stands around it.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const MILLISECONDS_PER_DAY: i64 = 86_400_000;

/// A piece of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DatePart {
    /// A year.
    Year(i64),
    /// A month, from 1.
    Month(u32),
    /// A day of the month.
    Day(u32),
}

/// The pieces of dates that a query names.
pub(super) fn parts(query: &str) -> Vec<DatePart> {
    let lowered = query.to_lowercase();
    let words: Vec<&str> = lowered
        .split(|c: char| !(c.is_alphanumeric() || c == '-'))
        .filter(|word| !word.is_empty())
        .collect();
    let mut parts = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let neighbour = |offset: usize| words.get(offset).copied().unwrap_or_default();
        let around = [at.checked_sub(1).map_or("", neighbour), neighbour(at + 1)];
        parts.extend(iso_date(word));
        parts.extend(year(word).map(DatePart::Year));
        if let Some(month) = month(word)
            && (month != 5 || around.iter().any(|word| is_date_word(word)))
        {
            parts.push(DatePart::Month(month));
            let day = around.iter().find_map(|word| day(word));
            parts.extend(day.map(DatePart::Day));
        }
    }
    parts
}

fn month(word: &str) -> Option<u32> {
    (1..)
        .zip(MONTHS)
        .find(|(_, name)| *name == word)
        .map(|(at, _)| at)
}

fn year(word: &str) -> Option<i64> {
    let is_year = word.len() == 4 && word.starts_with("20") && word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|_| is_year)
}

fn day(word: &str) -> Option<u32> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ending = word.get(digits.len()..)?;
    let day = digits.parse().ok().filter(|day| (1..=31).contains(day));
    day.filter(|_| matches!(ending, "" | "st" | "nd" | "rd" | "th"))
}

fn is_date_word(word: &str) -> bool {
    year(word).is_some() || day(word).is_some() || word == "in" || word == "of"
}

/// `2026-03-02` and `2026-03`.
fn iso_date(word: &str) -> Vec<DatePart> {
    let mut pieces = word.split('-');
    let Some(year) = pieces.next().and_then(year) else {
        return Vec::new();
    };
    let rest: Vec<Option<u32>> = pieces.map(|piece| piece.parse().ok()).collect();
    match rest.as_slice() {
        [Some(month @ 1..=12)] => vec![DatePart::Year(year), DatePart::Month(*month)],
        [Some(month @ 1..=12), Some(day @ 1..=31)] => {
            vec![DatePart::Year(year), DatePart::Month(*month), DatePart::Day(*day)]
        }
        _ => Vec::new(),
    }
}

/// Whether any day between two moments is of that year, month or day.
pub(super) fn covers(part: DatePart, from: Timestamp, to: Timestamp) -> bool {
    let days = to.0.saturating_sub(from.0) / MILLISECONDS_PER_DAY;
    // A session of more than a month has every day of one.
    let between = (0..=days.clamp(0, 31)).map(|day| Timestamp(from.0 + day * MILLISECONDS_PER_DAY));
    between.chain([to]).any(|time| {
        time.utc_date().is_some_and(|(year, month, day)| match part {
            DatePart::Year(wanted) => i64::from(year) == wanted,
            DatePart::Month(wanted) => month == wanted,
            DatePart::Day(wanted) => day == wanted,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use DatePart::{Day, Month, Year};

    #[test]
    fn dates_are_read_as_people_write_them() {
        assert_eq!(parts("the release of March 2026"), [Month(3), Year(2026)]);
        assert_eq!(parts("evening of 7 July, 2023?"), [Month(7), Day(7), Year(2023)]);
        assert_eq!(parts("crash on 2026-03-02"), [Year(2026), Month(3), Day(2)]);
        assert_eq!(parts("migrated in may"), [Month(5)]);
        assert_eq!(parts("it may fail"), []);
        assert_eq!(parts("port 2026x, sum 31"), []);
    }

    #[test]
    fn a_session_covers_the_days_it_ran() {
        let time = |text| Timestamp::parse(text).unwrap();
        let (from, to) = (time("2026-03-30T10:00:00Z"), time("2026-04-02T10:00:00Z"));
        assert!(covers(Month(3), from, to) && covers(Month(4), from, to) && covers(Day(1), from, to));
        assert!(!covers(Month(5), from, to) && !covers(Day(3), from, to) && !covers(Year(2025), from, to));
    }
}
