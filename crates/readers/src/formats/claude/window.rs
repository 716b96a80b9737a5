//! Which records a file holds, by hashes of their ids, and where each stands in the log.
//!
//! One read knows all records it met. Between two reads only the last ones are remembered, which is
//! where the records that follow hang from; [`Window::forgot`] says that there were more.

use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};

/// Records remembered between two reads.
const KEPT: usize = 256;

/// Records by the hash of their id.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Remembered", into = "Remembered")]
pub(super) struct Window {
    /// To each record the event that later records of its chain hang from.
    known: HashMap<u64, Option<u64>>,
    /// The last of them, oldest first.
    recent: VecDeque<u64>,
    forgot: bool,
}

impl Window {
    /// Whether there were records that this read does not know.
    pub(super) fn forgot(&self) -> bool {
        self.forgot
    }

    /// Whether the record is known.
    pub(super) fn contains(&self, record: u64) -> bool {
        self.known.contains_key(&record)
    }

    /// Where the record stands.
    pub(super) fn anchor(&self, record: u64) -> Option<u64> {
        self.known.get(&record).copied().flatten()
    }

    /// Adds a record.
    pub(super) fn add(&mut self, record: u64, anchor: Option<u64>) {
        self.known.insert(record, anchor);
        if self.recent.len() == KEPT {
            self.recent.pop_front();
        }
        self.recent.push_back(record);
    }
}

/// A window as it is kept between two reads.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Remembered {
    recent: Vec<(u64, Option<u64>)>,
    forgot: bool,
}

impl From<Remembered> for Window {
    fn from(kept: Remembered) -> Self {
        Self {
            recent: kept.recent.iter().map(|&(record, _)| record).collect(),
            known: kept.recent.into_iter().collect(),
            forgot: kept.forgot,
        }
    }
}

impl From<Window> for Remembered {
    fn from(window: Window) -> Self {
        let forgot = window.forgot || window.known.len() > window.recent.len();
        let recent = window
            .recent
            .iter()
            .map(|&record| (record, window.anchor(record)))
            .collect();
        Self { recent, forgot }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: what is kept does not grow, and says so when it left something out.
    #[test]
    fn only_the_last_are_kept() {
        let mut window = Window::default();
        for record in 0..300 {
            window.add(record, Some(record * 2));
        }
        assert!(window.contains(0) && !window.forgot());
        let json = serde_json::to_string(&window).unwrap();
        let window: Window = serde_json::from_str(&json).unwrap();
        assert!(window.forgot() && !window.contains(43) && window.contains(44));
        assert_eq!(window.anchor(299), Some(598));
        assert_eq!(serde_json::to_string(&window).unwrap(), json);
    }
}
