//! What the process's streams lead to, and keeping control characters of transcripts away from it.

use std::io::{self, IsTerminal};

/// Lines are laid out for this many columns where nothing tells better.
const DEFAULT_WIDTH: usize = 100;
/// Narrower than this nothing can be laid out; lines then run over.
const MIN_WIDTH: usize = 20;

/// What standard output and standard error lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terminal {
    /// Columns to lay out for.
    pub(crate) width: usize,
    /// Whether standard output may be painted.
    pub(crate) stdout_colour: bool,
    /// Whether standard error may be painted.
    pub(crate) stderr_colour: bool,
    /// Whether a person sees standard error as it comes.
    pub(crate) stderr_live: bool,
}

impl Terminal {
    /// What the streams of this process lead to.
    pub(crate) fn detect() -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let dumb = variable("TERM").is_some_and(|term| term == "dumb");
        let allowed = variable("NO_COLOR").is_none() && !dumb;
        let columns = variable("COLUMNS").and_then(|text| text.to_str()?.parse().ok());
        let size = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        Self {
            width: columns.or(size).unwrap_or(DEFAULT_WIDTH).max(MIN_WIDTH),
            stdout_colour: allowed && io::stdout().is_terminal(),
            stderr_colour: allowed && io::stderr().is_terminal(),
            stderr_live: !dumb && io::stderr().is_terminal(),
        }
    }

    /// No terminal, a given width.
    #[cfg(test)]
    pub(crate) fn plain(width: usize) -> Self {
        Self {
            width,
            stdout_colour: false,
            stderr_colour: false,
            stderr_live: false,
        }
    }
}

/// `text` without anything that could move the cursor, change the terminal's state, or make text look
/// like other text: control characters except line break and tab, direction overrides, and characters of
/// no width. For everything that comes from transcripts or file names.
pub(crate) fn sanitize(text: &str) -> String {
    // Nearly all text is printable ASCII, which is copied as a whole.
    let is_printable = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    if text.bytes().all(is_printable) {
        return text.to_owned();
    }
    text.chars().filter(|&character| is_harmless(character)).collect()
}

fn is_harmless(character: char) -> bool {
    match character {
        '\n' | '\t' => true,
        // C0, delete and C1: a C1 control begins an escape sequence without any escape character.
        _ if character.is_control() => false,
        '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}' => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    //! Property: no text makes it to a terminal as anything but what it looks like.
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_and_overrides_are_taken_out() {
        assert_eq!(sanitize("a\u{1b}[31mb\u{7}\r\u{7f}c\u{9b}2J"), "a[31mbc2J");
        assert_eq!(sanitize("a\u{202E}b\u{2066}c\u{200B}\u{FEFF}d"), "abcd");
        assert_eq!(sanitize("line\n\ttab é 日本 😀"), "line\n\ttab é 日本 😀");
    }

    proptest! {
        #[test]
        fn nothing_below_space_survives_but_breaks_and_tabs(text in any::<String>()) {
            let clean = sanitize(&text);
            prop_assert!(clean.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
            prop_assert_eq!(sanitize(&clean), clean.clone());
        }
    }
}
