//! Conversations whose records name the record they follow.
//!
//! A record that follows another than the latest one begins a new branch: what the agent sends from then on
//! is the history of that record, and the branch that was left is shadowed. Whether a record is one of those
//! that were read long ago cannot be told between two reads, see [`Window`]; then the file is read anew.

use crate::journal::Stop;
use crate::lenient::Words;
use crate::log::Placement;
use crate::window::{Anchor, Window, hash_of_id};
use lookback_model::{Surface, Timestamp};
use serde::Serialize;
use serde::de::{Deserialize, Deserializer};
use std::borrow::Cow;

/// The record that another one follows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Follows<'a> {
    /// It does not say.
    #[default]
    Unsaid,
    /// None: it begins the conversation.
    Nothing,
    /// This one.
    Record(Cow<'a, str>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Follows<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A value of another type says as little as `null`.
        let words = Words::deserialize(deserializer)?;
        Ok(words.0.map_or(Self::Nothing, Self::Record))
    }
}

/// Where the records of a conversation stand in its log.
#[derive(Clone, Debug, Default, Serialize, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Tree(Window);

impl Tree {
    /// Whether a record was read before.
    ///
    /// # Errors
    /// [`Stop::Stale`] when only the whole file can tell.
    pub(crate) fn knows(
        &self,
        id: &str,
        follows: &Follows<'_>,
        time: Option<Timestamp>,
    ) -> Result<bool, Stop> {
        if self.0.contains(hash_of_id(id)) {
            return Ok(true);
        }
        let hangs = match follows {
            Follows::Record(parent) => self.0.contains(hash_of_id(parent)),
            _ => false,
        };
        if !hangs && self.0.may_have_held(time) {
            return Err(Stop::Stale);
        }
        Ok(false)
    }

    /// Where the first event of a record goes that follows another.
    ///
    /// # Errors
    /// [`Stop::Stale`] when only the whole file can tell.
    pub(crate) fn place(&self, follows: &Follows<'_>, surface: &Surface) -> Result<Placement, Stop> {
        let anchor = match follows {
            Follows::Unsaid => return Ok(Placement::Append),
            Follows::Nothing => Anchor::Start,
            // The record before this one was lost: it goes on from what is there.
            Follows::Record(parent) if !self.0.contains(hash_of_id(parent)) && !self.0.forgot() => {
                return Ok(Placement::Append);
            }
            Follows::Record(parent) => self.0.anchor(hash_of_id(parent)),
        };
        match anchor {
            Anchor::Forgotten => Err(Stop::Stale),
            Anchor::Start if surface.current().is_empty() => Ok(Placement::Append),
            Anchor::Start => Ok(Placement::ReplaceAll),
            Anchor::Event(seq) if surface.current().last() == Some(&seq) => Ok(Placement::Append),
            Anchor::Event(seq) => Ok(after(seq, surface)),
        }
    }

    /// The last event of a record, as far as it is known.
    pub(crate) fn event_of(&self, id: &str) -> Anchor {
        self.0.anchor(hash_of_id(id))
    }

    /// Remembers a record, once its events are in the log. `told` says whether any joined the surface.
    pub(crate) fn add(
        &mut self,
        id: &str,
        follows: &Follows<'_>,
        time: Option<Timestamp>,
        (told, surface): (bool, &Surface),
    ) {
        let last = surface.current().last();
        let latest = || last.map_or(Anchor::Start, |&seq| Anchor::Event(seq));
        let anchor = match follows {
            _ if told => latest(),
            Follows::Unsaid => latest(),
            Follows::Nothing => Anchor::Start,
            Follows::Record(parent) if self.0.contains(hash_of_id(parent)) => {
                self.0.anchor(hash_of_id(parent))
            }
            Follows::Record(_) => latest(),
        };
        self.0.add(hash_of_id(id), anchor, time);
    }
}

/// Behind `seq`, or behind what is left on the surface of its history: what was on the surface when it was
/// added and is there still has smaller numbers.
fn after(seq: u64, surface: &Surface) -> Placement {
    let left = surface.current().iter().rev().find(|&&at| at <= seq);
    left.map_or(Placement::ReplaceAll, |&at| Placement::ReplaceAfter(at))
}

#[cfg(test)]
mod tests {
    //! Property: a record goes behind what is left of the history of the one it follows.
    use super::*;

    fn follows(id: &str) -> Follows<'_> {
        Follows::Record(Cow::Borrowed(id))
    }

    #[test]
    fn branches_are_left_and_taken_up_again() {
        let mut tree = Tree::default();
        let at = |seqs: &[u64]| Surface::resume(seqs.to_vec());
        assert_eq!(tree.place(&Follows::Nothing, &at(&[])), Ok(Placement::Append));
        tree.add("model", &Follows::Nothing, None, (false, &at(&[])));
        tree.add("a", &follows("model"), None, (true, &at(&[0])));
        tree.add("b", &follows("a"), None, (true, &at(&[0, 1])));
        tree.add("note", &follows("b"), None, (false, &at(&[0, 1])));
        let place = |id, seqs: &[u64]| tree.place(&follows(id), &at(seqs));
        assert_eq!(place("note", &[0, 1]), Ok(Placement::Append));
        assert_eq!(place("a", &[0, 1]), Ok(Placement::ReplaceAfter(0)));
        assert_eq!(place("model", &[0, 1]), Ok(Placement::ReplaceAll));
        assert_eq!(place("lost", &[0, 1]), Ok(Placement::Append));
        // Event 2 has taken the place of 1, to which the conversation returns.
        assert_eq!(place("b", &[0, 2]), Ok(Placement::ReplaceAfter(0)));
        assert_eq!(tree.place(&Follows::Unsaid, &at(&[0, 2])), Ok(Placement::Append));
        assert_eq!(tree.knows("b", &follows("a"), None), Ok(true));
        assert_eq!(tree.knows("c", &follows("a"), None), Ok(false));
    }

    #[test]
    fn what_was_forgotten_is_asked_of_the_file() {
        let mut tree = Tree::default();
        let surface = Surface::resume(vec![0]);
        for number in 0..400 {
            let parent = format!("r{}", number - 1);
            let parent = if number == 0 {
                Follows::Nothing
            } else {
                follows(&parent)
            };
            tree.add(
                &format!("r{number}"),
                &parent,
                Some(Timestamp(number)),
                (true, &surface),
            );
        }
        let kept = serde_json::to_string(&tree).unwrap();
        let tree: Tree = serde_json::from_str(&kept).unwrap();
        assert_eq!(tree.place(&follows("r3"), &surface), Err(Stop::Stale));
        assert_eq!(tree.place(&follows("r399"), &surface), Ok(Placement::Append));
        assert_eq!(
            tree.knows("r3", &follows("r2"), Some(Timestamp(3))),
            Err(Stop::Stale)
        );
        assert_eq!(tree.knows("new", &follows("r2"), Some(Timestamp(401))), Ok(false));
    }
}
