//! Fields of protocol buffers, without a schema: none is published for what the agent keeps.

/// A field: its number and what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field<'b> {
    pub(super) number: u64,
    pub(super) value: Value<'b>,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'b> {
    Number(u64),
    /// A text, bytes or a message: the schema alone says which.
    Bytes(&'b [u8]),
}

/// The fields of a message as far as it can be read.
pub(super) fn fields(bytes: &[u8]) -> impl Iterator<Item = Field<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (field, after) = field(rest)?;
        rest = after;
        Some(field)
    })
}

fn field(bytes: &[u8]) -> Option<(Field<'_>, &[u8])> {
    let (key, rest) = varint(bytes)?;
    let (value, rest) = match key & 7 {
        0 => {
            let (number, rest) = varint(rest)?;
            (Value::Number(number), rest)
        }
        1 => fixed::<8>(rest)?,
        2 => {
            let (length, rest) = varint(rest)?;
            let (bytes, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            (Value::Bytes(bytes), rest)
        }
        5 => fixed::<4>(rest)?,
        _ => return None,
    };
    let number = key >> 3;
    (number > 0).then_some((Field { number, value }, rest))
}

fn fixed<const LENGTH: usize>(bytes: &[u8]) -> Option<(Value<'_>, &[u8])> {
    let (bytes, rest) = bytes.split_at_checked(LENGTH)?;
    let number = bytes
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 8 | u64::from(byte));
    Some((Value::Number(number), rest))
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0;
    for (at, &byte) in bytes.iter().enumerate().take(10) {
        number |= u64::from(byte & 0x7F).checked_shl(7 * at as u32)?;
        if byte & 0x80 == 0 {
            return Some((number, bytes.get(at + 1..)?));
        }
    }
    None
}

/// The bytes of a field.
pub(super) fn bytes(message: &[u8], number: u64) -> Option<&[u8]> {
    fields(message).find_map(|field| match field.value {
        Value::Bytes(bytes) if field.number == number => Some(bytes),
        _ => None,
    })
}

/// A field that is a text with something in it.
pub(super) fn text(message: &[u8], number: u64) -> Option<&str> {
    let text = std::str::from_utf8(bytes(message, number)?).ok()?;
    (!text.trim().is_empty()).then_some(text)
}

/// A field that is a number.
pub(super) fn number(message: &[u8], number: u64) -> Option<u64> {
    fields(message).find_map(|field| match field.value {
        Value::Number(value) if field.number == number => Some(value),
        _ => None,
    })
}

/// How deep messages are taken apart for their texts.
const DEPTH: usize = 8;

/// The texts in a message, wherever they stand. What could be a message as well as a text is a text when all of
/// it is printable.
pub(super) fn texts<'b>(message: &'b [u8], found: &mut Vec<&'b str>) {
    texts_below(message, DEPTH, found);
}

fn texts_below<'b>(message: &'b [u8], depth: usize, found: &mut Vec<&'b str>) {
    for field in fields(message) {
        let Value::Bytes(bytes) = field.value else {
            continue;
        };
        let is_printable = |text: &&str| {
            !text
                .chars()
                .any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
        };
        match std::str::from_utf8(bytes).ok().filter(is_printable) {
            Some(text) if !text.trim().is_empty() => found.push(text),
            Some(_) => {}
            None if depth > 0 => texts_below(bytes, depth - 1, found),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    //! Properties: fields are read as they were written; any bytes are read without harm.
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_are_read() {
        let message = b"\x08\x96\x01\x12\x05hello\x1a\x05\x0a\x03abc\x2d\x01\x00\x00\x00";
        assert_eq!(number(message, 1), Some(150));
        assert_eq!(text(message, 2), Some("hello"));
        assert_eq!(bytes(message, 3).and_then(|inner| text(inner, 1)), Some("abc"));
        assert_eq!(number(message, 5), Some(1));
        let mut found = Vec::new();
        texts(b"\x1a\x06\x08\x01\x12\x02hi", &mut found);
        assert_eq!(found, ["hi"]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(message in prop::collection::vec(any::<u8>(), 0..60)) {
            let read: usize = fields(&message).count();
            prop_assert!(read <= message.len());
            texts(&message, &mut Vec::new());
        }
    }
}
