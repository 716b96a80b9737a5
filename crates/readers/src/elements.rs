//! Items of a JSON array of any length, one at a time, in memory that does not grow with the array.
//!
//! Exports of whole accounts are one array of hundreds of megabytes. Items are told apart by their brackets
//! alone; what an item holds is for its reader to parse. Long ones are condensed like long lines.

use crate::lines::{CONDENSE_ABOVE, Condenser};
use std::io::{self, Read};

/// Bytes asked of the input at once.
const BLOCK: usize = 128 << 10;

/// An item of the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Whether it has an end.
    pub complete: bool,
    /// Bytes of text that were cut from it.
    pub cut: u64,
}

/// Splits what a reader gives into the objects of the array that it is, or gives the one object that it is.
pub struct Elements<R> {
    input: R,
    block: Vec<u8>,
    /// Unread part of `block`.
    start: usize,
    end: usize,
    element: Vec<u8>,
    condenser: Option<Condenser>,
    condensed: Vec<u8>,
    /// Bytes taken so far.
    taken: u64,
}

/// Where the scan of an object stands.
#[derive(Default)]
struct Scan {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Scan {
    /// Takes bytes up to the end of the object; gives how many, and whether it ended.
    fn take(&mut self, bytes: &[u8]) -> (usize, bool) {
        for (at, &byte) in bytes.iter().enumerate() {
            if self.in_string {
                if self.escaped {
                    self.escaped = false;
                } else if byte == b'\\' {
                    self.escaped = true;
                } else if byte == b'"' {
                    self.in_string = false;
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return (at + 1, true);
                    }
                }
                _ => {}
            }
        }
        (bytes.len(), false)
    }
}

impl<R: Read> Elements<R> {
    /// The items of what `input` gives.
    pub fn new(input: R) -> Self {
        Self {
            input,
            block: vec![0; BLOCK],
            start: 0,
            end: 0,
            element: Vec::new(),
            condenser: None,
            condensed: Vec::new(),
            taken: 0,
        }
    }

    /// Bytes taken so far.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The next object; `None` at the end. What stands between objects is passed over.
    ///
    /// # Errors
    /// What the input fails with.
    #[expect(
        clippy::should_implement_trait,
        reason = "an item borrows from the reader, which Iterator cannot say"
    )]
    pub fn next(&mut self) -> io::Result<Option<Element<'_>>> {
        self.element.clear();
        self.condenser = None;
        if !self.find_object()? {
            return Ok(None);
        }
        let mut scan = Scan::default();
        let mut complete = false;
        while !complete {
            if self.start == self.end && !self.fill()? {
                break;
            }
            let unread = self.block.get(self.start..self.end).unwrap_or_default();
            let (length, ended) = scan.take(unread);
            let part = unread.get(..length).unwrap_or_default();
            match &mut self.condenser {
                Some(condenser) => condenser.feed(part),
                None => self.element.extend_from_slice(part),
            }
            if self.condenser.is_none() && self.element.len() > CONDENSE_ABOVE {
                let mut condenser = Condenser::new(std::mem::take(&mut self.condensed));
                condenser.feed(&self.element);
                self.element.clear();
                self.condenser = Some(condenser);
            }
            self.start += length;
            complete = ended;
        }
        let Some(condenser) = self.condenser.take() else {
            return Ok(Some(Element {
                bytes: &self.element,
                complete,
                cut: 0,
            }));
        };
        let (kept, cut) = condenser.finish();
        self.condensed = kept;
        Ok(Some(Element {
            bytes: &self.condensed,
            complete,
            cut,
        }))
    }

    /// Goes to the beginning of the next object.
    fn find_object(&mut self) -> io::Result<bool> {
        loop {
            let unread = self.block.get(self.start..self.end).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'{', unread) {
                self.start += at;
                return Ok(true);
            }
            self.start = self.end;
            if !self.fill()? {
                return Ok(false);
            }
        }
    }

    /// Reads more when all was taken; `false` at the end.
    fn fill(&mut self) -> io::Result<bool> {
        loop {
            match self.input.read(&mut self.block) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(count) => {
                    (self.start, self.end) = (0, count);
                    self.taken += count as u64;
                    return Ok(count > 0);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    //! Properties: items are those of the array, however its bytes arrive; the last may lack its end; a long
    //! one loses its images and keeps its words.
    use super::*;
    use proptest::prelude::*;

    /// Gives a few bytes at a time.
    struct Slowly<'b>(&'b [u8], usize);

    impl Read for Slowly<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(into.len());
            into[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    fn elements(text: &str, step: usize) -> Vec<(String, bool)> {
        let mut elements = Elements::new(Slowly(text.as_bytes(), step));
        let mut found = Vec::new();
        while let Some(element) = elements.next().unwrap() {
            found.push((
                String::from_utf8(element.bytes.to_vec()).unwrap(),
                element.complete,
            ));
        }
        found
    }

    #[test]
    fn a_cut_array_keeps_its_items() {
        let text = r#"[{"a":"}\"]"}, 7, {"b":[{}]},{"c":"#;
        let wanted = [
            (r#"{"a":"}\"]"}"#, true),
            (r#"{"b":[{}]}"#, true),
            (r#"{"c":"#, false),
        ];
        assert_eq!(
            elements(text, 3),
            wanted.map(|(text, whole)| (text.to_owned(), whole))
        );
        assert_eq!(elements("  \n", 1), []);
    }

    #[test]
    fn a_long_item_loses_its_image() {
        let image = "A".repeat(3 * CONDENSE_ABOVE);
        let text = format!(r#"[{{"image":"{image}","text":"words"}},{{"next":1}}]"#);
        let found = elements(&text, 1 << 16);
        assert_eq!(found.len(), 2);
        assert!(found[0].0.len() < CONDENSE_ABOVE && found[0].0.ends_with(r#""text":"words"}"#));
        assert_eq!(found[1].0, r#"{"next":1}"#);
    }

    proptest! {
        #[test]
        fn items_are_those_of_the_array(texts in prop::collection::vec("[a\"\\\\\\]\\[{}é]{0,8}", 0..6), step in 1usize..9) {
            let items: Vec<_> = texts.iter().map(|text| serde_json::json!({ "t": [text], "n": {} })).collect();
            let text = serde_json::Value::from(items.clone()).to_string();
            let wanted: Vec<_> = items.iter().map(|item| (item.to_string(), true)).collect();
            prop_assert_eq!(elements(&text, step), wanted);
        }
    }
}
