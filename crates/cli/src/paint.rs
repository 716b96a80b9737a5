//! Colours and weights. Whatever is painted is made harmless first, so that a line composed of painted
//! parts never carries a control character of a transcript.

use crate::terminal::sanitize;
use anstyle::{AnsiColor, Style};

/// Paints text, or leaves it plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paint {
    /// Whether escape sequences are wanted.
    pub(crate) colour: bool,
}

/// What a piece of text is, for painting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Text.
    #[default]
    Plain,
    /// Of less weight.
    Dim,
    /// Of more weight.
    Bold,
    /// A match.
    Match,
    /// Who.
    Who,
    /// A warning's name.
    Warning,
    /// An error's name.
    Error,
}

impl Tone {
    fn style(self) -> Style {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        match self {
            Self::Plain => Style::new(),
            Self::Dim => Style::new().dimmed(),
            Self::Bold => Style::new().bold(),
            Self::Match => colour(AnsiColor::Yellow).bold(),
            Self::Who => colour(AnsiColor::Cyan),
            Self::Warning => colour(AnsiColor::Yellow).bold(),
            Self::Error => colour(AnsiColor::Red).bold(),
        }
    }
}

impl Paint {
    /// `text`, made harmless and painted.
    pub(crate) fn tone(self, tone: Tone, text: &str) -> String {
        let text = sanitize(text);
        if !self.colour || tone == Tone::Plain || text.is_empty() {
            return text;
        }
        let style = tone.style();
        format!("{}{text}{}", style.render(), style.render_reset())
    }

    /// Text as it is.
    pub(crate) fn plain(self, text: &str) -> String {
        self.tone(Tone::Plain, text)
    }

    /// Text of less weight.
    pub(crate) fn dim(self, text: &str) -> String {
        self.tone(Tone::Dim, text)
    }

    /// Text of more weight.
    pub(crate) fn bold(self, text: &str) -> String {
        self.tone(Tone::Bold, text)
    }

    /// Who said or wrote something.
    pub(crate) fn who(self, text: &str) -> String {
        self.tone(Tone::Who, text)
    }

    /// A warning's name.
    pub(crate) fn warning(self, text: &str) -> String {
        self.tone(Tone::Warning, text)
    }

    /// An error's name.
    pub(crate) fn error(self, text: &str) -> String {
        self.tone(Tone::Error, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: paint is added and taken off again, and nothing of the text's own is taken for paint.
    #[test]
    fn text_cannot_paint_itself() {
        let on = Paint { colour: true };
        let off = Paint { colour: false };
        assert_eq!(off.bold("a\u{1b}[31mb"), "a[31mb");
        let painted = on.bold("a\u{1b}[31mb");
        assert!(painted.starts_with("\u{1b}[1m") && painted.ends_with("\u{1b}[0m"));
        assert_eq!(painted.matches('\u{1b}').count(), 2);
    }
}
