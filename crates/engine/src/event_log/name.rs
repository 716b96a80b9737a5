//! File names of sessions: any id becomes a name that every file system takes, and no two ids one name.
//!
//! Small letters, digits, `-`, `_` and `.` stand for themselves, any other byte is `%` and two hex digits. Capital
//! letters are spelled as well, since some file systems do not tell them from small ones. The `s-` in front keeps
//! names from being empty, from beginning with a dot and from being those of devices. Where that would be too long
//! for a name, its beginning and a hash stand for the id; the header holds the id itself.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use xxhash_rust::xxh3::xxh3_128;

const SUFFIX: &str = ".jsonl";
/// Names are at most 255 bytes nearly everywhere, and some tools add to them.
const LIMIT: usize = 200;
/// How much of a long id can be read in its name.
const SHOWN: usize = 120;

/// The name of a session's file.
pub(super) fn of_session(id: &str) -> OsString {
    let spelled = spell(id);
    if spelled.len() <= LIMIT {
        return format!("s-{spelled}{SUFFIX}").into();
    }
    let shown: String = spelled.chars().take(SHOWN).collect();
    format!("l-{shown}-{:032x}{SUFFIX}", xxh3_128(id.as_bytes())).into()
}

/// Whether a name is one that [`of_session`] may have given.
pub(super) fn is_log(name: &OsStr) -> bool {
    let name = name.to_str().unwrap_or_default();
    (name.starts_with("s-") || name.starts_with("l-")) && name.ends_with(SUFFIX)
}

fn spell(id: &str) -> String {
    let mut spelled = String::with_capacity(id.len());
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => spelled.push(char::from(byte)),
            // Writing to a string cannot fail.
            _ => drop(write!(spelled, "%{byte:02x}")),
        }
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_ids_can_be_read() {
        assert_eq!(of_session("0198-ab_c.d"), OsString::from("s-0198-ab_c.d.jsonl"));
        assert_eq!(of_session("../A b"), OsString::from("s-..%2f%41%20b.jsonl"));
        assert_eq!(of_session(""), OsString::from("s-.jsonl"));
    }

    proptest! {
        /// Property: names are short, plain, one path segment, and differ where ids do, without regard to case.
        #[test]
        fn names_are_safe_and_differ(one in ".{0,300}", other in ".{0,300}") {
            let name = of_session(&one).into_string().unwrap();
            prop_assert!(name.len() < 220);
            prop_assert!(name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/' && byte != b'\\' && !byte.is_ascii_uppercase()));
            prop_assert!(is_log(OsStr::new(&name)));
            prop_assert_eq!(one == other, name == of_session(&other).into_string().unwrap());
        }
    }
}
