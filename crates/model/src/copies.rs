//! Copy keys: how an event and its copy in a resumed, forked or backgrounded session are recognised.
//!
//! Agents copy history when a session is continued under a new id. Where a record carries its own id the
//! copy keeps it, and the key is a hash of that id. Where there are none (Codex) the key is a chain over
//! everything said so far, so that two sessions share keys exactly as far as their beginnings are equal,
//! and two people who once typed the same words share none.

use xxhash_rust::xxh3::Xxh3;

/// The key of an event whose record has an id of its own. Never 0.
pub fn key_of_id(agent: &str, id: &str) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(agent.as_bytes());
    hash.update(&[0]);
    hash.update(id.as_bytes());
    hash.digest().max(1)
}

/// The key that follows `previous` when `role` says `text`. Start a session with 0. Never 0.
pub fn chained_key(previous: u64, role: &str, text: &str) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&previous.to_le_bytes());
    hash.update(role.as_bytes());
    hash.update(&[0]);
    hash.update(text.as_bytes());
    hash.digest().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_equal_exactly_as_far_as_beginnings_are() {
        let chain = |texts: &[&str]| {
            texts
                .iter()
                .scan(0, |key, text| {
                    *key = chained_key(*key, "user", text);
                    Some(*key)
                })
                .collect::<Vec<_>>()
        };
        let first = chain(&["a", "b", "c", "d"]);
        let fork = chain(&["a", "b", "x", "d"]);
        assert_eq!(first[..2], fork[..2]);
        assert!(first[2..].iter().all(|key| !fork.contains(key)));
        assert_ne!(chained_key(0, "user", "a"), chained_key(0, "tool", "a"));
        assert_ne!(key_of_id("claude", "1"), key_of_id("codex", "1"));
    }
}
