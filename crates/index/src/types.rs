//! Event types as the numbers that columns hold.
//!
//! Those of the vocabulary have fixed numbers. Any other name gets the next one when it is first met, and the
//! catalogue remembers it: a number is never given to another name.

use crate::error::Result;
use rusqlite::{Connection, params};
use std::collections::HashMap;

/// The vocabulary. A number is never changed and never given away.
const KNOWN: [(u64, &str); 15] = [
    (1, "user/message"),
    (2, "assistant/message"),
    (3, "tool/result"),
    (4, "context/message"),
    (5, "steering/message"),
    (6, "prompt/blocked"),
    (7, "tool/call"),
    (8, "todo/write"),
    (9, "turn/end"),
    (10, "turn/start"),
    (11, "step/start"),
    (12, "step/end"),
    (13, "assistant/chunk"),
    (14, "request/header"),
    (15, "request/header-delta"),
];
/// The first number of other names; those below are for the vocabulary to grow.
const FIRST_OTHER: u64 = 64;

/// What a column says of a document's event: its type, and in the lowest bit whether it entered the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventMark(pub u64);

impl EventMark {
    /// A type's number with its bit.
    pub(crate) fn of(code: u64, has_marker: bool) -> Self {
        Self(code << 1 | u64::from(has_marker))
    }

    /// The type's number.
    pub(crate) fn code(self) -> u64 {
        self.0 >> 1
    }

    /// Whether the event entered the surface.
    pub(crate) fn has_marker(self) -> bool {
        self.0 & 1 == 1
    }
}

/// The names beyond the vocabulary, and their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventTypes {
    /// By number, from [`FIRST_OTHER`].
    others: Vec<String>,
    numbers: HashMap<String, u64>,
    /// So many of them the catalogue has.
    recorded: usize,
}

impl EventTypes {
    /// Those of a catalogue.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn read(connection: &Connection) -> Result<Self> {
        let mut statement = connection.prepare_cached("SELECT name FROM event_types ORDER BY code")?;
        let names = statement.query_map([], |row| row.get(0))?;
        let mut types = Self::default();
        for name in names {
            types.add(name?);
        }
        types.recorded = types.others.len();
        Ok(types)
    }

    /// Writes those that the catalogue does not have; gives how many there are.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn record(&self, connection: &Connection) -> Result<usize> {
        let all = (FIRST_OTHER..).zip(&self.others);
        for (code, name) in all.skip(self.recorded) {
            connection
                .prepare_cached("INSERT OR REPLACE INTO event_types (code, name) VALUES (?1, ?2)")?
                .execute(params![code as i64, name])?;
        }
        Ok(self.others.len())
    }

    /// The catalogue has so many of them for good.
    pub(crate) fn recorded(&mut self, count: usize) {
        self.recorded = self.recorded.max(count);
    }

    fn add(&mut self, name: String) -> u64 {
        let code = FIRST_OTHER + self.others.len() as u64;
        self.others.push(name.clone());
        self.numbers.insert(name, code);
        code
    }

    /// The number of a name, a new one when it has none.
    pub(crate) fn number(&mut self, name: &str) -> u64 {
        match self.code(name) {
            Some(code) => code,
            None => self.add(name.to_owned()),
        }
    }

    /// The number of a name; `None` when it has none.
    pub(crate) fn code(&self, name: &str) -> Option<u64> {
        known(name).or_else(|| self.numbers.get(name).copied())
    }

    /// The name of a number; empty for one that was never given.
    pub(crate) fn name(&self, code: u64) -> &str {
        let known = KNOWN.iter().find(|(known, _)| *known == code);
        let other = || {
            let at = usize::try_from(code.checked_sub(FIRST_OTHER)?).ok()?;
            self.others.get(at).map(String::as_str)
        };
        known.map(|(_, name)| *name).or_else(other).unwrap_or_default()
    }
}

/// The number of a name of the vocabulary.
pub(crate) fn known(name: &str) -> Option<u64> {
    let known = KNOWN.iter().find(|(_, known)| *known == name);
    known.map(|(code, _)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookback_model::event::EVENT_TYPES;
    use std::collections::HashSet;

    /// Property: every name of the vocabulary has a number of its own that leads back to it.
    #[test]
    fn the_vocabulary_has_numbers() {
        let types = EventTypes::default();
        let codes: HashSet<u64> = EVENT_TYPES.iter().filter_map(|name| known(name)).collect();
        assert_eq!(codes.len(), EVENT_TYPES.len());
        assert!(codes.iter().all(|code| (1..FIRST_OTHER).contains(code)));
        for name in EVENT_TYPES {
            assert_eq!(types.code(name).map(|code| types.name(code)), Some(name));
        }
    }

    /// Property: other names keep their numbers, and the bit of a mark is no part of them.
    #[test]
    fn other_names_keep_their_numbers() {
        let connection = Connection::open_in_memory().unwrap();
        let table = "CREATE TABLE event_types (code INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)";
        connection.execute_batch(table).unwrap();
        let mut types = EventTypes::default();
        let codes = ["b/one", "a/two", "b/one"].map(|name| types.number(name));
        assert_eq!(codes, [64, 65, 64]);
        let recorded = types.record(&connection).unwrap();
        types.recorded(recorded);
        types.number("c");
        types.record(&connection).unwrap();
        let read = EventTypes::read(&connection).unwrap();
        assert_eq!(
            (read.name(64), read.name(65), read.name(66)),
            ("b/one", "a/two", "c")
        );
        assert_eq!(
            (read.code("a/two"), read.code("never"), read.name(67)),
            (Some(65), None, "")
        );
        for has_marker in [false, true] {
            let mark = EventMark::of(65, has_marker);
            assert_eq!((mark.code(), mark.has_marker()), (65, has_marker));
        }
    }
}
