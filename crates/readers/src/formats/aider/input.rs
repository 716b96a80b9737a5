//! The log of what was typed, which lies beside a history and alone knows when: a line with the time, then the
//! words, each line behind a `+`.

use lookback_model::Timestamp;
use std::fs;
use std::path::Path;

const FILE_NAME: &str = ".aider.input.history";

/// A prompt is answered, and the next one typed, within so many milliseconds; what was typed later was typed in
/// another session.
const LATER: i64 = 24 * 60 * 60 * 1_000;

/// What was typed, in order.
#[derive(Debug, Default)]
pub(super) struct Input(Vec<(Timestamp, String)>);

impl Input {
    /// What was typed where a history lies; nothing when nothing is noted.
    pub(super) fn beside(history: &Path) -> Self {
        let bytes = fs::read(history.with_file_name(FILE_NAME)).unwrap_or_default();
        Self::parse(&String::from_utf8_lossy(&bytes))
    }

    fn parse(text: &str) -> Self {
        let mut typed: Vec<(Timestamp, String)> = Vec::new();
        for line in text.lines() {
            if let Some(time) = line.strip_prefix("# ").and_then(Timestamp::parse) {
                typed.push((time, String::new()));
            } else if let (Some(words), Some((_, last))) = (line.strip_prefix('+'), typed.last_mut()) {
                last.push_str(words);
                last.push('\n');
            }
        }
        Self(typed)
    }

    /// When words were typed that were not typed before `since`.
    pub(super) fn time_of(&self, words: &str, since: Timestamp) -> Option<Timestamp> {
        let from = self.0.partition_point(|(time, _)| *time < since);
        let later = self.0.get(from..).unwrap_or_default().iter();
        later
            .take_while(|(time, _)| time.0 - since.0 <= LATER)
            .find(|(_, typed)| typed.trim() == words.trim())
            .map(|(time, _)| *time)
    }
}

#[cfg(test)]
mod tests {
    //! Property: words have the first time at which they were typed since the time that is known.
    use super::*;

    #[test]
    fn words_have_their_time() {
        let input = Input::parse(
            "\n# 2026-05-04 09:00:10.5\n+hi\n\n# 2026-05-04 09:01:00\n+two\n+lines\n\n# 2026-05-04 09:02:00\n+hi\n",
        );
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let start = at("2026-05-04 09:00:00");
        assert_eq!(input.time_of("hi", start), Some(at("2026-05-04 09:00:10.5")));
        assert_eq!(
            input.time_of("hi", at("2026-05-04 09:01:00")),
            Some(at("2026-05-04 09:02:00"))
        );
        assert_eq!(
            input.time_of("two\nlines", start),
            Some(at("2026-05-04 09:01:00"))
        );
        assert_eq!(input.time_of("hi", at("2026-05-02 09:00:00")), None);
        assert_eq!(input.time_of("never", start), None);
    }
}
