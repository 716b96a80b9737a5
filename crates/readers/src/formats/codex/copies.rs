//! Recognising the copies of one text inside one rollout.
//!
//! A prompt, a reply or a call is written up to three times: as it went to the model, as it was shown,
//! and as a completed item. Whichever comes first is taken. Copies are matched one to one, so that a
//! prompt that was typed twice stays two prompts.

use super::record::Origin;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

/// Texts that were taken lately, by hash, with the origins that were seen of each. Copies stand within a
/// few lines of each other; at most `KEPT` are remembered, which keeps cursors small.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Recent<const KEPT: usize>(Vec<(u64, u8)>);

impl<const KEPT: usize> Recent<KEPT> {
    /// Whether this is a copy of a text that was taken, of another origin. If not, it is remembered.
    pub(super) fn is_copy(&mut self, text: &str, origin: Origin) -> bool {
        let (hash, bit) = (hash(text), bit(origin));
        if let Some((_, seen)) = self
            .0
            .iter_mut()
            .find(|(known, seen)| *known == hash && seen & bit == 0)
        {
            *seen |= bit;
            return true;
        }
        if self.0.len() == KEPT {
            self.0.remove(0);
        }
        self.0.push((hash, bit));
        false
    }
}

fn bit(origin: Origin) -> u8 {
    match origin {
        Origin::Item => 1,
        Origin::Shown => 2,
        Origin::Completed => 4,
    }
}

/// Copies differ in white space where they were put together from several blocks.
fn hash(text: &str) -> u64 {
    let mut hash = Xxh3::new();
    text.split_whitespace()
        .for_each(|word| hash.update(word.as_bytes()));
    hash.digest()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Origin::{Completed, Item, Shown};

    fn taken(arrivals: &[(&str, Origin)]) -> usize {
        let mut recent = Recent::<8>::default();
        arrivals
            .iter()
            .filter(|(text, origin)| !recent.is_copy(text, *origin))
            .count()
    }

    /// Property: n times said is n times taken, in whatever order the copies come.
    #[test]
    fn copies_are_matched_one_to_one() {
        assert_eq!(taken(&[("go on", Item), ("go  on\n", Shown)]), 1);
        assert_eq!(
            taken(&[("go on", Shown), ("go on", Item), ("go on", Completed)]),
            1
        );
        assert_eq!(taken(&[("go on", Item), ("go on", Item)]), 2);
        assert_eq!(
            taken(&[
                ("go on", Item),
                ("go on", Shown),
                ("go on", Item),
                ("go on", Shown)
            ]),
            2
        );
        assert_eq!(
            taken(&[
                ("go on", Item),
                ("go on", Item),
                ("go on", Shown),
                ("go on", Shown)
            ]),
            2
        );
    }
}
