//! Times as people write and read them: `7d`, `2026-05-04`, "3 hours ago".

use jiff::civil::Date;
use jiff::tz::TimeZone;
use lookback_model::Timestamp;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const WEEK: i64 = 7 * DAY;

/// The time now.
pub(crate) fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}

/// The instant that `text` names: RFC 3339 with a zone, a day (from its beginning, here), or a span back
/// from `now` in hours, days or weeks. `None` when it is none of these.
pub(crate) fn parse(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(instant) = text.parse::<jiff::Timestamp>() {
        return Some(Timestamp(instant.as_millisecond()));
    }
    if let Some(span) = span(text) {
        return Some(Timestamp(now.0.checked_sub(span)?));
    }
    // jiff would take a date and time without a zone for a date; here that is too little said.
    let date = text
        .parse::<Date>()
        .ok()
        .filter(|_| text.len() == "2026-05-04".len())?;
    let midnight = date.to_zoned_datetime(TimeZone::system()).ok()?;
    Some(Timestamp(midnight.timestamp().as_millisecond()))
}

/// A span such as `36h`, `7d` or `2w`, in milliseconds.
fn span(text: &str) -> Option<i64> {
    let unit = text.chars().last()?;
    let number = text.strip_suffix(unit)?;
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let unit = match unit.to_ascii_lowercase() {
        'h' => HOUR,
        'd' => DAY,
        'w' => WEEK,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(unit)
}

/// How long before `now` something was.
pub(crate) fn age(then: Timestamp, now: Timestamp) -> String {
    let passed = now.0.saturating_sub(then.0);
    let units = [
        (HOUR, MINUTE, "minute"),
        (DAY, HOUR, "hour"),
        (14 * DAY, DAY, "day"),
        (60 * DAY, WEEK, "week"),
        (730 * DAY, 30 * DAY, "month"),
    ];
    if passed < MINUTE {
        return "just now".to_owned();
    }
    let (_, length, unit) =
        units
            .into_iter()
            .find(|(below, ..)| passed < *below)
            .unwrap_or((i64::MAX, 365 * DAY, "year"));
    let count = passed / length;
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

/// Day and minute, by this machine's clock; empty for a time that is not known.
pub(crate) fn local(time: Timestamp) -> String {
    if time == Timestamp::default() {
        return String::new();
    }
    match jiff::Timestamp::from_millisecond(time.0) {
        Ok(instant) => instant
            .to_zoned_datetime(TimeZone::system())
            .strftime("%Y-%m-%d %H:%M")
            .to_string(),
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    //! Properties: the three forms of `--since` and nothing else; ages grow and read as English.
    use super::*;

    const NOW: Timestamp = Timestamp(1_777_885_500_000);

    #[test]
    fn spans_days_and_instants_are_times() {
        assert_eq!(parse("7d", NOW), Some(Timestamp(NOW.0 - 7 * DAY)));
        assert_eq!(parse(" 24h ", NOW), Some(Timestamp(NOW.0 - DAY)));
        assert_eq!(parse("2W", NOW), Some(Timestamp(NOW.0 - 2 * WEEK)));
        assert_eq!(parse("2026-05-04T11:05:00+02:00", NOW), Some(NOW));
        let day = parse("2026-05-04", NOW).unwrap();
        assert!((day.0 - NOW.0).abs() < 36 * HOUR);
        assert!(local(day).starts_with("2026-05-04 00:00"), "{}", local(day));
    }

    #[test]
    fn anything_else_is_none() {
        let vague = [
            "",
            "d",
            "7",
            "7m",
            "-7d",
            "yesterday",
            "2026-05-04T09:05:00",
            "2026-13-01",
        ];
        for text in vague
            .into_iter()
            .chain(["99999999999999999999d", "9223372036854775807w"])
        {
            assert_eq!(parse(text, NOW), None, "{text}");
        }
    }

    #[test]
    fn ages_read_as_english() {
        for (passed, words) in [
            (-5, "just now"),
            (59_999, "just now"),
            (MINUTE, "1 minute ago"),
            (3 * HOUR, "3 hours ago"),
            (13 * DAY, "13 days ago"),
            (21 * DAY, "3 weeks ago"),
            (100 * DAY, "3 months ago"),
            (800 * DAY, "2 years ago"),
        ] {
            assert_eq!(age(Timestamp(NOW.0 - passed), NOW), words);
        }
    }
}
