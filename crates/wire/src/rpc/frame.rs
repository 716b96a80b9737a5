//! Cutting a stream of bytes into lines, in bounded memory.
//!
//! A line beyond the limit is dropped as it arrives and told of once it has ended, so that what follows it is
//! read as if it had not been there.

/// The most bytes a message may have, its line feed not counted.
pub const FRAME_LIMIT: usize = 16 << 20;

/// A line of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Its bytes, without the line feed. Never blank.
    Whole(Vec<u8>),
    /// It was longer than the limit and is gone.
    TooLong,
}

/// Takes a stream in pieces of any size and gives its lines.
#[derive(Debug)]
pub struct FrameReader {
    limit: usize,
    held: Vec<u8>,
    /// The line that is being read has passed the limit.
    dropping: bool,
}

impl FrameReader {
    /// A reader that refuses lines of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            held: Vec::new(),
            dropping: false,
        }
    }

    /// The limit.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Takes bytes up to the end of a line, or all of them. Gives how many it took, and the line that ended
    /// with them, if one did; call it again with the rest.
    pub fn take(&mut self, bytes: &[u8]) -> (usize, Option<Line>) {
        let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else {
            self.hold(bytes);
            return (bytes.len(), None);
        };
        let (line, _) = bytes.split_at(end);
        self.hold(line);
        (end + 1, self.finish())
    }

    /// What stands at the end of the stream without a line feed; also what ends each line.
    pub fn finish(&mut self) -> Option<Line> {
        let line = std::mem::take(&mut self.held);
        if std::mem::take(&mut self.dropping) {
            return Some(Line::TooLong);
        }
        (!line.trim_ascii().is_empty()).then_some(Line::Whole(line))
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.dropping {
            return;
        }
        if bytes.len() > self.limit - self.held.len() {
            self.dropping = true;
            self.held = Vec::new();
            return;
        }
        self.held.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(limit: usize, pieces: &[&[u8]]) -> Vec<Line> {
        let mut reader = FrameReader::new(limit);
        let mut lines = Vec::new();
        for piece in pieces {
            let mut rest = *piece;
            while !rest.is_empty() {
                let (taken, line) = reader.take(rest);
                lines.extend(line);
                rest = &rest[taken..];
            }
        }
        lines.extend(reader.finish());
        lines
    }

    /// Property: a line of exactly the limit is whole, one more is told of once, and the next is read.
    #[test]
    fn the_limit_is_exact_and_the_stream_goes_on() {
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(
            lines(3, &[b"abc\nabcd\n\n  \r\nx"]),
            [whole("abc"), Line::TooLong, whole("x")]
        );
        assert_eq!(lines(3, &[b"abcdefgh"]), [Line::TooLong]);
        assert_eq!(lines(3, &[]), []);
    }

    proptest! {
        /// Property: how a stream is cut into pieces changes nothing, and its lines are those between its line
        /// feeds, blank ones left out.
        #[test]
        fn pieces_do_not_show(bytes in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b' '), any::<u8>()], 0..200), cuts in prop::collection::vec(0usize..200, 0..8), limit in 0usize..40) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
            let expected: Vec<Line> = bytes
                .split(|&byte| byte == b'\n')
                .filter(|line| !line.trim_ascii().is_empty() || line.len() > limit)
                .map(|line| if line.len() > limit { Line::TooLong } else { Line::Whole(line.to_vec()) })
                .collect();
            prop_assert_eq!(lines(limit, &pieces), expected);
        }
    }
}
