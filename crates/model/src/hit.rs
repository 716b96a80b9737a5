//! Hits: the sessions a search found, each with the place that shows why.

use crate::Timestamp;
use crate::session::SessionKind;
use crate::text::TextKind;
use std::ops::Range;

/// A session that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The session.
    pub session: SessionRow,
    /// Larger is better; comparable only within one answer.
    pub score: f64,
    /// The best event, or `None` when no text was searched for.
    pub evidence: Option<Evidence>,
}

/// A session as lists and hits show it: a row of the catalogue.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRow {
    /// The catalogue's number of it.
    pub ordinal: crate::SessionOrdinal,
    /// Agent that wrote it.
    pub agent: String,
    /// The agent's id of it.
    pub session_id: String,
    /// Its header and changing facts.
    pub header: crate::SessionHeader,
    /// Its changing facts; the title is the one to show.
    pub facts: crate::SessionFacts,
    /// The title to show: of a side file, else of the transcript, else the id.
    pub title: String,
    /// Seqs that are shadowed, as inclusive ranges.
    pub shadowed: Vec<(u64, u64)>,
    /// Where the transcript is.
    pub path: std::path::PathBuf,
    /// Whether the transcript is there.
    pub presence: Presence,
    /// How to go on with it, while its transcript is present.
    pub resume: Option<crate::source::ResumeCommand>,
    /// How many further files hold the same session.
    pub copies: u64,
}

impl SessionRow {
    /// Who drove the session.
    pub fn kind(&self) -> SessionKind {
        self.facts.kind
    }
}

/// Whether a session's transcript is where it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// It was there at the last look.
    #[default]
    Present,
    /// Its root could not be looked at; nothing is proven.
    Unverifiable,
    /// It is gone; what was indexed can still be read.
    Missing,
}

impl Presence {
    /// Contract A's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Unverifiable => "unverifiable",
            Self::Missing => "missing",
        }
    }

    /// The presence of a word written by [`Self::as_str`].
    pub fn from_name(name: &str) -> Self {
        match name {
            "missing" => Self::Missing,
            "unverifiable" => Self::Unverifiable,
            _ => Self::Present,
        }
    }
}

/// The place that shows why a session was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The words around the match.
    pub snippet: Snippet,
    /// Whose words.
    pub kind: TextKind,
    /// When they were said.
    pub time: Timestamp,
    /// The event, for `show --at`.
    pub seq: u64,
}

/// A piece of text and where in it the matches are. Every surface paints its own marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The words; an ellipsis stands where text was cut.
    pub text: String,
    /// Byte ranges of matches, ascending, not touching one another, on character boundaries.
    pub matches: Vec<Range<usize>>,
    /// Whether the source held more than the snippet's limit allowed to show of the match.
    pub cut: bool,
}
