//! Damaged lines: what real transcripts hold after crashes, cuts and foreign tools.
//!
//! A line is first taken as it is. Only when it does not parse is it mended: zero bytes go, bad UTF-8
//! becomes U+FFFD, so do halves of surrogate pairs, stray control characters are escaped, and records
//! that were glued together, or begun and never ended, are taken apart.

use lookback_model::source::{IssueCode, ReadAccount};
use std::borrow::Cow;

/// Reads the records of a line, counted from 1, and accounts for it. `take` parses one JSON object and
/// says whether it gave events; it is called again with a mended text when it fails, so it must have no
/// effect before its parsing has succeeded.
pub fn read_line(
    bytes: &[u8],
    line: u64,
    account: &mut ReadAccount,
    take: &mut dyn FnMut(&str) -> Result<Taken, serde_json::Error>,
) {
    account.lines += 1;
    let content = strip(bytes, line);
    if content.is_empty() {
        if bytes.contains(&0) {
            account.note(line, IssueCode::NulBytes, format!("{} zero bytes", bytes.len()));
            account.lost += 1;
        } else {
            account.blank += 1;
        }
        return;
    }
    if content.len() < bytes.len() && bytes.contains(&0) {
        account.note(line, IssueCode::NulBytes, "zero bytes around the record");
    }
    if let Ok(text) = std::str::from_utf8(content)
        && text.starts_with('{')
        && let Ok(taken) = take(text)
    {
        account.count(taken);
        return;
    }
    read_damaged(content, line, account, take);
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It gave events or facts of the conversation.
    Record,
    /// It holds the agent's state.
    Bookkeeping,
}

trait Count {
    fn count(&mut self, taken: Taken);
}

impl Count for ReadAccount {
    fn count(&mut self, taken: Taken) {
        match taken {
            Taken::Record => self.records += 1,
            Taken::Bookkeeping => self.bookkeeping += 1,
        }
    }
}

/// Without a byte order mark on line 1, zero bytes at both ends, and white space.
fn strip(bytes: &[u8], line: u64) -> &[u8] {
    let bytes = if line == 1 {
        bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
    } else {
        bytes
    };
    let is_content = |byte: &u8| *byte != 0 && !byte.is_ascii_whitespace();
    let start = bytes.iter().position(is_content).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(is_content).map_or(start, |at| at + 1);
    bytes.get(start..end).unwrap_or_default()
}

fn read_damaged(
    content: &[u8],
    line: u64,
    account: &mut ReadAccount,
    take: &mut dyn FnMut(&str) -> Result<Taken, serde_json::Error>,
) {
    let mended = mend(&String::from_utf8_lossy(content)).into_owned();
    if !mended.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(&mended).is_ok() {
        account.lost += 1;
        account.note(line, IssueCode::NotARecord, "not a JSON object");
        return;
    }
    let error = match take(&mended) {
        Ok(taken) => {
            account.count(taken);
            account.note(line, IssueCode::Repaired, "bad escapes or bytes were replaced");
            return;
        }
        Err(error) => error,
    };
    let mut best = None;
    let mut whole = true;
    for part in objects(&mended) {
        match part.map(&mut *take) {
            Some(Ok(Taken::Record)) => best = Some(Taken::Record),
            Some(Ok(Taken::Bookkeeping)) => best = best.or(Some(Taken::Bookkeeping)),
            _ => whole = false,
        }
    }
    match best {
        Some(taken) if whole => {
            account.count(taken);
            account.note(line, IssueCode::Repaired, "several records on one line");
        }
        Some(taken) => {
            account.count(taken);
            account.note(line, IssueCode::NotJson, "a record on this line has no end");
        }
        None => {
            account.lost += 1;
            account.note(line, IssueCode::NotJson, error.to_string());
        }
    }
}

/// Makes text acceptable as JSON where only its strings are at fault.
pub fn mend(text: &str) -> Cow<'_, str> {
    let needs = |byte: u8| byte == b'\\' || byte < 0x20 || byte == 0x7F;
    if !text.bytes().any(needs) {
        return Cow::Borrowed(text);
    }
    let mut mended = String::with_capacity(text.len());
    let mut in_string = false;
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let mut length = character.len_utf8();
        match character {
            '"' => {
                in_string = !in_string;
                mended.push('"');
            }
            '\0' => {}
            '\\' if in_string => length = mend_escape(rest, &mut mended),
            control if in_string && control < ' ' => {
                mended.push_str(&format!("\\u{:04x}", u32::from(control)));
            }
            other => mended.push(other),
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    Cow::Owned(mended)
}

/// Copies the escape at the start of `rest`, mended; gives how many bytes of `rest` it took.
fn mend_escape(rest: &str, mended: &mut String) -> usize {
    let Some(kind) = rest.chars().nth(1) else {
        return 1;
    };
    if kind != 'u' {
        if matches!(kind, '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') {
            mended.push('\\');
            mended.push(kind);
            return 2;
        }
        mended.push_str("\\\\");
        return 1;
    }
    let Some(unit) = unit_at(rest) else {
        mended.push('\u{FFFD}');
        let digits = rest
            .get(2..)
            .unwrap_or_default()
            .bytes()
            .take(4)
            .take_while(u8::is_ascii_hexdigit);
        return 2 + digits.count();
    };
    let pair = rest
        .get(6..)
        .and_then(unit_at)
        .filter(|low| (0xDC00..0xE000).contains(low));
    match (unit, pair) {
        (0xD800..0xDC00, Some(_)) => {
            mended.push_str(rest.get(..12).unwrap_or_default());
            12
        }
        (0xD800..0xE000, _) => {
            mended.push('\u{FFFD}');
            6
        }
        (0, _) => 6,
        _ => {
            mended.push_str(rest.get(..6).unwrap_or_default());
            6
        }
    }
}

/// The text of a JSON string as far as `units` UTF-16 units and a little more, mended where it must be.
/// `literal` stands with its quotes, as it was found; what is not wanted of it is not decoded.
pub fn head_of_string(literal: &str, units: usize) -> String {
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let end = if inner.len() <= units {
        inner.len()
    } else {
        raw_length(inner, units)
    };
    let quoted = format!("\"{}\"", inner.get(..end).unwrap_or(inner));
    serde_json::from_str(&quoted)
        .or_else(|_| serde_json::from_str(&mend(&quoted)))
        .unwrap_or_default()
}

/// How many bytes of the inside of a JSON string hold more than `units` UTF-16 units; escapes and characters
/// are counted whole.
fn raw_length(inner: &str, units: usize) -> usize {
    let bytes = inner.as_bytes();
    let (mut at, mut counted) = (0, 0);
    while counted <= units {
        let rest = bytes.get(at..).unwrap_or_default();
        let plain = rest
            .iter()
            .take(units + 1 - counted)
            .take_while(|&&byte| byte < 0x80 && byte != b'\\')
            .count();
        at += plain;
        counted += plain;
        if counted > units {
            break;
        }
        let (length, held) = match rest.get(plain..) {
            None | Some([]) => return inner.len(),
            Some([b'\\', b'u', ..]) => (6, 1),
            Some([b'\\', ..]) => (2, 1),
            Some([0xF0..=0xFF, ..]) => (4, 2),
            Some([0xE0..=0xEF, ..]) => (3, 1),
            Some(_) => (2, 1),
        };
        at += length;
        counted += held;
    }
    at.min(inner.len())
}

/// The UTF-16 unit that a `\uXXXX` escape at the start of `text` names.
fn unit_at(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

/// How many starts of objects are tried on one damaged line.
const STARTS_TRIED: usize = 64;

/// The objects on a line: complete ones as text, `None` for a stretch that has no end or no beginning.
fn objects(text: &str) -> Vec<Option<&str>> {
    let mut found = Vec::new();
    let mut rest = text;
    for _ in 0..STARTS_TRIED {
        let Some(start) = rest.find('{') else {
            break;
        };
        if !rest.get(..start).unwrap_or_default().trim().is_empty() {
            found.push(None);
        }
        let from_start = rest.get(start..).unwrap_or_default();
        if let Some(object) = complete_object(from_start) {
            found.push(Some(object));
            rest = from_start.get(object.len()..).unwrap_or_default();
            continue;
        }
        // Begun and never ended: go on at the next object that begins like a record.
        found.push(None);
        match from_start.get(1..).and_then(|inner| inner.find("{\"")) {
            Some(next) => rest = from_start.get(1 + next..).unwrap_or_default(),
            None => return found,
        }
    }
    if !rest.trim().is_empty() && rest.find('{').is_none() {
        found.push(None);
    }
    found
}

/// The JSON object at the start of `text`, when it has an end and is valid.
fn complete_object(text: &str) -> Option<&str> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    values.next()?.ok()?;
    text.get(..values.byte_offset())
}

#[cfg(test)]
mod tests {
    //! Properties: the damage of public bug reports costs at most the damaged part; mending any text
    //! never panics and leaves valid JSON as it means; every line is accounted for once.
    use super::*;
    use proptest::prelude::*;

    fn read(line: &[u8]) -> (Vec<String>, ReadAccount) {
        let mut account = ReadAccount::default();
        let mut seen = Vec::new();
        read_line(line, 2, &mut account, &mut |json| {
            let value: serde_json::Value = serde_json::from_str(json)?;
            seen.push(value["t"].as_str().unwrap_or_default().to_owned());
            Ok(Taken::Record)
        });
        (seen, account)
    }

    #[test]
    fn half_a_surrogate_costs_one_character() {
        let (seen, account) = read(br#"{"t":"plan \ud83d and \ud83d\ude00 and \ude00"}"#);
        assert_eq!(seen, ["plan \u{FFFD} and 😀 and \u{FFFD}"]);
        assert_eq!((account.records, account.lost), (1, 0));
    }

    #[test]
    fn zero_bytes_cost_nothing_but_themselves() {
        assert_eq!(read(b"{\"t\":\"padded\"}\0\0\0").0, ["padded"]);
        assert_eq!(read(b"\0\0{\"t\":\"in\0side\"}").0, ["inside"]);
        let (seen, account) = read(b"\0\0\0\0");
        assert!(seen.is_empty());
        assert_eq!((account.lost, account.issue_counts["nul_bytes"]), (1, 1));
    }

    #[test]
    fn bad_bytes_and_escapes_cost_themselves() {
        assert_eq!(read(b"{\"t\":\"a\xFFb\"}").0, ["a\u{FFFD}b"]);
        assert_eq!(read(br#"{"t":"C:\Users\dev"}"#).0, [r"C:\Users\dev"]);
        assert_eq!(read(b"{\"t\":\"tab\there\"}").0, ["tab\there"]);
        assert_eq!(read(br#"{"t":"cut \u12"}"#).0, ["cut \u{FFFD}"]);
    }

    #[test]
    fn glued_and_unfinished_records_are_taken_apart() {
        let (seen, account) = read(br#"{"t":"one"}{"t":"two"}"#);
        assert_eq!(seen, ["one", "two"]);
        assert_eq!((account.records, account.lost), (1, 0));
        let (seen, account) = read(br#"{"t":"begun","m{"t":"whole"}"#);
        assert_eq!(seen, ["whole"]);
        assert_eq!(account.issue_counts["not_json"], 1);
        let (seen, account) = read(br#"{"t":"never ends"#);
        assert!(seen.is_empty());
        assert_eq!(account.lost, 1);
    }

    #[test]
    fn what_is_json_and_no_object_is_no_record() {
        for line in [&b"[1,2,3]"[..], b"null", b"\"text\"", b"17"] {
            let (seen, account) = read(line);
            assert!(seen.is_empty());
            assert_eq!((account.lost, account.issue_counts["not_a_record"]), (1, 1));
        }
    }

    proptest! {
        #[test]
        fn every_line_is_accounted_for_once(line in prop::collection::vec(prop_oneof![Just(b'{'), Just(b'}'), Just(b'"'), Just(b'\\'), Just(b'u'), Just(0u8), any::<u8>()], 0..40)) {
            let (_, account) = read(&line);
            prop_assert_eq!(account.lines, 1);
            prop_assert_eq!(account.records + account.bookkeeping + account.blank + account.lost, 1);
        }

        #[test]
        fn the_head_of_a_string_is_its_beginning(text in "[a\n\"\\\\é語😀]{0,40}", units in 0usize..50) {
            let literal = serde_json::to_string(&text).unwrap();
            let head = head_of_string(&literal, units);
            prop_assert!(text.starts_with(&head), "{:?} of {:?}", head, text);
            prop_assert!(head == text || head.encode_utf16().count() > units);
        }

        #[test]
        fn valid_json_keeps_its_meaning(text in "\\PC{0,30}") {
            let json = serde_json::json!({"t": text}).to_string();
            let value: serde_json::Value = serde_json::from_str(&mend(&json)).unwrap();
            prop_assert_eq!(value["t"].as_str(), Some(text.as_str()));
        }
    }
}
