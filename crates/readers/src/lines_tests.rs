//! Properties: any input in any block sizes gives the lines a plain split gives; condensing keeps JSON
//! valid, drops base64 and keeps the words around it.

use super::*;
use proptest::prelude::*;

/// Gives its bytes in pieces of the given sizes.
struct Pieces<'a>(&'a [u8], Vec<usize>);

impl Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let size = self.1.pop().unwrap_or(7).clamp(1, into.len()).min(self.0.len());
        let (now, later) = self.0.split_at(size);
        into[..size].copy_from_slice(now);
        self.0 = later;
        Ok(size)
    }
}

fn collect(input: impl Read) -> Vec<(Vec<u8>, u64, u64, bool)> {
    let mut lines = Lines::new(input, 10);
    let mut found = Vec::new();
    while let Some(line) = lines.next().unwrap() {
        found.push((line.bytes.to_vec(), line.offset, line.length, line.complete));
    }
    found
}

proptest! {
    #[test]
    fn lines_are_what_a_split_gives(text in "[ab\n\r\u{2028}]{0,60}", sizes in prop::collection::vec(1usize..9, 0..40)) {
        let found = collect(Pieces(text.as_bytes(), sizes));
        let joined: Vec<u8> = found
            .iter()
            .flat_map(|(bytes, .., complete)| bytes.iter().copied().chain(complete.then_some(b'\n')))
            .collect();
        prop_assert_eq!(joined, text.as_bytes());
        let mut offset = 10;
        for (bytes, at, length, complete) in &found {
            prop_assert_eq!(*at, offset);
            prop_assert_eq!(*length, bytes.len() as u64 + u64::from(*complete));
            prop_assert!(!bytes.contains(&b'\n'));
            offset += length;
        }
        prop_assert!(found.iter().rev().skip(1).all(|line| line.3));
    }
}

#[test]
fn a_long_line_loses_its_image_and_keeps_its_words() {
    let image = "iVBORw0KGgo".repeat(300_000);
    let text = format!(r#"{{"text":"before \" it","image":"{image}","after":"words after it"}}"#);
    let file = format!("first\n{text}\nlast");
    let mut lines = Lines::new(file.as_bytes(), 0);
    assert_eq!(lines.next().unwrap().unwrap().bytes, b"first");
    let line = lines.next().unwrap().unwrap();
    assert_eq!(
        (line.length, line.complete, line.cut),
        (text.len() as u64 + 1, true, 0)
    );
    assert!(line.bytes.len() < 4_000);
    let value: serde_json::Value = serde_json::from_slice(line.bytes).unwrap();
    assert_eq!(value["text"], "before \" it");
    assert_eq!(value["after"], "words after it");
    let last = lines.next().unwrap().unwrap();
    assert_eq!((last.bytes, last.complete), (&b"last"[..], false));
    assert!(lines.next().unwrap().is_none());
}

#[test]
fn long_prose_is_kept_in_full() {
    let prose = "many words of prose ".repeat(100_000);
    let (kept, cut) = document(format!(r#"{{"text":"{prose}"}}"#).as_bytes()).unwrap();
    let value: serde_json::Value = serde_json::from_slice(&kept).unwrap();
    assert_eq!((value["text"].as_str(), cut), (Some(prose.as_str()), 0));
}

#[test]
fn endless_text_is_cut_and_stays_json() {
    let line = format!(r#"{{"a":"{}","b":"end"}}"#, r#"\" x"#.repeat(STRING_LIMIT / 3));
    let (kept, cut) = document(line.as_bytes()).unwrap();
    let value: serde_json::Value = serde_json::from_slice(&kept).unwrap();
    assert_eq!(value["b"], "end");
    assert!(cut > 0 && kept.len() < STRING_LIMIT + 100);
    assert_eq!(kept.len() as u64 + cut, line.len() as u64);
}

#[test]
fn a_guard_tells_appended_from_rewritten() {
    use std::io::Write;
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&b"line\n".repeat(500)).unwrap();
    let seen = guard(&mut file, 2_500).unwrap();
    assert!(guard_holds(&mut file, 2_500, seen).unwrap());
    file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(b"more\n").unwrap();
    assert!(guard_holds(&mut file, 2_500, seen).unwrap());
    file.seek(SeekFrom::Start(2_490)).unwrap();
    file.write_all(b"L").unwrap();
    assert!(!guard_holds(&mut file, 2_500, seen).unwrap());
    file.set_len(2_000).unwrap();
    assert!(!guard_holds(&mut file, 2_500, seen).unwrap());
}
