//! Points in time, as every agent writes them.
//!
//! Transcripts carry ISO-8601 text with and without a zone, seconds, milliseconds, fractions of seconds
//! and numbers in quotes. All become milliseconds since the Unix epoch, the unit of all three contracts.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Milliseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Timestamp(pub i64);

/// Numbers below this are seconds, above it milliseconds: as seconds it is the year 5138, as
/// milliseconds it is 1973, before any coding agent.
const SECONDS_BELOW: f64 = 1e11;
/// Numbers above this are microseconds or finer, which no agent is known to write as a bare number.
const MILLISECONDS_BELOW: f64 = 1e14;

impl Timestamp {
    /// From a bare number of unknown unit: seconds (with or without a fraction) or milliseconds.
    /// `None` when the number can be neither.
    pub fn from_number(number: f64) -> Option<Self> {
        if !number.is_finite() || number <= 0.0 || number >= MILLISECONDS_BELOW {
            return None;
        }
        let milliseconds = if number < SECONDS_BELOW {
            number * 1000.0
        } else {
            number
        };
        Some(Self(milliseconds.round() as i64))
    }

    /// From text: RFC 3339 with an offset or `Z`, the same without a zone (taken as UTC), or a number.
    /// `None` when it is none of these.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(instant) = text.parse::<jiff::Timestamp>() {
            return Some(Self(instant.as_millisecond()));
        }
        if let Ok(number) = text.parse::<f64>() {
            return Self::from_number(number);
        }
        let local = text.parse::<jiff::civil::DateTime>().ok()?;
        let instant = jiff::tz::Offset::UTC.to_timestamp(local).ok()?;
        Some(Self(instant.as_millisecond()))
    }

    /// From a JSON value: text or number.
    pub fn from_json(value: &serde_json::Value) -> Option<Self> {
        match value {
            serde_json::Value::String(text) => Self::parse(text),
            serde_json::Value::Number(number) => Self::from_number(number.as_f64()?),
            _ => None,
        }
    }

    /// Year, month and day in UTC; `None` outside the years that a calendar is kept for.
    pub fn utc_date(self) -> Option<(i16, u32, u32)> {
        let instant = jiff::Timestamp::from_millisecond(self.0).ok()?;
        let date = jiff::tz::Offset::UTC.to_datetime(instant);
        Some((
            date.year(),
            date.month().unsigned_abs().into(),
            date.day().unsigned_abs().into(),
        ))
    }

    /// RFC 3339 in UTC with milliseconds, as contract A writes times.
    pub fn to_rfc3339(self) -> String {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(instant) => format!("{instant:.3}"),
            Err(_) => String::new(),
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_rfc3339())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: every shape seen in real transcripts names the same instant.
    #[test]
    fn all_shapes_of_one_instant_agree() {
        let instant = Timestamp(1_777_885_500_000);
        for text in [
            "2026-05-04T09:05:00Z",
            "2026-05-04T09:05:00.000Z",
            "2026-05-04T11:05:00+02:00",
            "2026-05-04T09:05:00",
            "2026-05-04 09:05:00",
            "1777885500",
            "1777885500000",
            "1777885500.000",
        ] {
            assert_eq!(Timestamp::parse(text), Some(instant), "{text}");
        }
        assert_eq!(
            Timestamp::from_number(1_777_885_500.75),
            Some(Timestamp(1_777_885_500_750))
        );
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in ["", "yesterday", "-1", "NaN", "1e300", "2026-13-01T00:00:00Z"] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn writes_rfc3339_with_milliseconds() {
        assert_eq!(
            Timestamp(1_777_885_500_007).to_rfc3339(),
            "2026-05-04T09:05:00.007Z"
        );
    }
}
