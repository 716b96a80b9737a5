//! Prompts on the surface and which reply answers each: what tells a rewound conversation.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// Prompts remembered between two reads.
const KEPT: usize = 256;

/// Prompts by the number of their event, ascending, and to each a short hash of the id of its reply.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Prompts(Vec<(u64, Option<u32>)>);

impl Prompts {
    /// Adds the newest prompt.
    pub(super) fn add(&mut self, seq: u64) {
        self.0.push((seq, None));
    }

    /// Whether a prompt stands after an event.
    pub(super) fn any_after(&self, seq: u64) -> bool {
        self.0.last().is_some_and(|&(last, _)| last > seq)
    }

    /// Notes a reply that hangs from an event; whether that is a prompt which another reply answers.
    pub(super) fn answered_anew(&mut self, prompt: u64, reply: &str) -> bool {
        let reply = xxh3_64(reply.as_bytes()) as u32;
        let at = self.0.binary_search_by_key(&prompt, |&(seq, _)| seq);
        let Some((_, answer)) = at.ok().and_then(|at| self.0.get_mut(at)) else {
            return false;
        };
        answer.replace(reply).is_some_and(|first| first != reply)
    }

    /// Drops the prompts after an event.
    pub(super) fn go_back(&mut self, seq: u64) {
        self.0
            .truncate(self.0.partition_point(|&(prompt, _)| prompt <= seq));
    }

    /// Drops all.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Keeps what the next read needs.
    pub(super) fn forget_old(&mut self) {
        let surplus = self.0.len().saturating_sub(KEPT);
        self.0.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: only another reply to the same prompt answers it anew, and going back forgets what came
    /// after.
    #[test]
    fn replies_and_rewinds() {
        let mut prompts = Prompts::default();
        prompts.add(1);
        prompts.add(5);
        assert!(prompts.any_after(4) && !prompts.any_after(5));
        assert!(!prompts.answered_anew(1, "a") && !prompts.answered_anew(1, "a"));
        assert!(prompts.answered_anew(1, "b") && !prompts.answered_anew(2, "c"));
        prompts.go_back(1);
        assert!(!prompts.any_after(1) && prompts.any_after(0));
    }
}
