//! Protocol buffers without their schema: numbered fields, and what can be told of their content.

/// A field's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content<'b> {
    Number(u64),
    /// Words, bytes or a message: the wire does not tell.
    Bytes(&'b [u8]),
    /// A number of fixed length.
    Fixed,
}

/// The fields of a message in order; ends at the first that is damaged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'b> {
    rest: &'b [u8],
    is_damaged: bool,
}

impl<'b> Fields<'b> {
    pub(super) fn of(message: &'b [u8]) -> Self {
        Self {
            rest: message,
            is_damaged: false,
        }
    }

    /// The first content of a field that is bytes.
    pub(super) fn bytes(self, number: u64) -> Option<&'b [u8]> {
        self.into_iter().find_map(|(at, content)| match content {
            Content::Bytes(bytes) if at == number => Some(bytes),
            _ => None,
        })
    }

    /// The message in a field; empty when there is none.
    pub(super) fn message(self, number: u64) -> Self {
        Self::of(self.bytes(number).unwrap_or_default())
    }

    /// The words in a field.
    pub(super) fn text(self, number: u64) -> Option<String> {
        let text = String::from_utf8_lossy(self.bytes(number)?);
        (!text.is_empty()).then(|| text.into_owned())
    }

    pub(super) fn number(self, number: u64) -> Option<u64> {
        self.into_iter().find_map(|(at, content)| match content {
            Content::Number(value) if at == number => Some(value),
            _ => None,
        })
    }

    /// Whether every byte belongs to a field.
    fn is_message(mut self) -> bool {
        let count = self.by_ref().count();
        count > 0 && !self.is_damaged
    }

    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let &[byte] = self.take(1)? else { return None };
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn field(&mut self) -> Option<(u64, Content<'b>)> {
        let tag = self.varint()?;
        let content = match tag & 7 {
            0 => Content::Number(self.varint()?),
            1 => self.take(8).map(|_| Content::Fixed)?,
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                Content::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Content::Fixed)?,
            _ => return None,
        };
        (tag >> 3 > 0).then_some((tag >> 3, content))
    }
}

impl<'b> Iterator for Fields<'b> {
    type Item = (u64, Content<'b>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() || self.is_damaged {
            return None;
        }
        let field = self.field();
        self.is_damaged = field.is_none();
        field
    }
}

/// So deep are messages looked into.
const DEPTH: usize = 8;

/// All words in a message whose fields are not known, in order.
pub(super) fn words(message: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    collect(message, DEPTH, &mut found);
    found
}

fn collect(message: &[u8], depth: usize, found: &mut Vec<String>) {
    for (_, content) in Fields::of(message) {
        let Content::Bytes(bytes) = content else { continue };
        // Short words may look like a message by chance; a message does not look like words.
        if depth > 0 && Fields::of(bytes).is_message() {
            collect(bytes, depth - 1, found);
        } else if let Ok(text) = std::str::from_utf8(bytes)
            && text
                .chars()
                .all(|c| !c.is_control() || c.is_whitespace() || c == '\u{1b}')
            && !text.trim().is_empty()
        {
            found.push(text.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    //! Properties: what is written is read; any bytes are read to an end.
    use super::*;
    use proptest::prelude::*;

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, u8::try_from(bytes.len()).unwrap()], bytes].concat()
    }

    #[test]
    fn fields_and_words() {
        let inner = [field(1, b"ls -la"), vec![0x18, 0x96, 0x01]].concat();
        let message = [field(1, b"call_1"), field(2, &inner)].concat();
        let fields = Fields::of(&message);
        assert_eq!(fields.text(1).as_deref(), Some("call_1"));
        assert_eq!(fields.message(2).number(3), Some(150));
        assert_eq!(words(&message), ["call_1", "ls -la"]);
        assert_eq!(Fields::of(&message[..9]).text(2), None);
    }

    proptest! {
        #[test]
        fn any_bytes_come_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            prop_assert!(Fields::of(&bytes).count() <= bytes.len());
            let length: usize = words(&bytes).iter().map(String::len).sum();
            prop_assert!(length <= bytes.len());
        }
    }
}
