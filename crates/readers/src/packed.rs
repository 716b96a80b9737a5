//! Hashes in text, for states that are kept as JSON: 48 bits each, in eight characters.

/// Bits of a hash that are kept.
pub const BITS: u32 = 48;

const CHARACTERS: usize = 8;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The upper bits of a hash, as many as are kept.
pub fn shortened(hash: u64) -> u64 {
    hash >> (u64::BITS - BITS)
}

/// Writes hashes of [`BITS`] bits one after the other.
pub fn write(hashes: impl Iterator<Item = u64>) -> String {
    let mut text = String::new();
    for hash in hashes {
        for at in 0..CHARACTERS {
            let digit = ALPHABET.get((hash >> (6 * at)) as usize % ALPHABET.len());
            text.extend(digit.map(|&digit| char::from(digit)));
        }
    }
    text
}

/// Reads what [`write()`] wrote; `None` for anything else.
pub fn read(text: &str) -> Option<Vec<u64>> {
    let chunks = text.as_bytes().chunks(CHARACTERS);
    chunks.map(hash).collect()
}

fn hash(characters: &[u8]) -> Option<u64> {
    if characters.len() != CHARACTERS {
        return None;
    }
    characters.iter().rev().try_fold(0, |hash, &character| {
        let digit = memchr::memchr(character, ALPHABET)?;
        Some(hash << 6 | digit as u64)
    })
}

#[cfg(test)]
mod tests {
    //! Properties: what is written is read again; what was not written is refused.
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn written_is_read(hashes in prop::collection::vec(any::<u64>().prop_map(shortened), 0..9)) {
            let text = write(hashes.iter().copied());
            prop_assert_eq!(text.len(), hashes.len() * CHARACTERS);
            prop_assert_eq!(read(&text), Some(hashes));
        }

        #[test]
        fn anything_is_read_or_refused(text in ".*") {
            if let Some(hashes) = read(&text) {
                prop_assert_eq!(write(hashes.into_iter()), text);
            }
        }
    }
}
