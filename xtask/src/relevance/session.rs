//! A session of the coding set, as its TOML file describes it. What the types cannot hold is refused while
//! a file is read, so that the error names the line.

use anyhow::{Context, Result};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::fmt;

/// Events follow each other so many seconds apart.
const STEP: usize = 40;
/// A tool answers so many seconds after its call.
pub(super) const ANSWER_AFTER: usize = 8;

/// A session and what is asked about it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Session {
    /// The file's name without its ending; not in the file itself.
    #[serde(skip)]
    pub(super) slug: String,
    pub(super) agent: Agent,
    pub(super) cwd: String,
    pub(super) branch: Option<String>,
    #[serde(deserialize_with = "instant")]
    pub(super) started: Timestamp,
    #[serde(rename = "event")]
    pub(super) events: Vec<Event>,
    #[serde(rename = "question", default)]
    pub(super) questions: Vec<Entry>,
}

/// The agent whose transcript it becomes.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Agent {
    Claude,
    Codex,
    Gemini,
}

/// One thing that happened.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(try_from = "EventTable")]
pub(super) enum Event {
    User(String),
    Agent(String),
    Call(Call),
}

/// A tool call, and what came back when anything did.
#[derive(Debug, PartialEq)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) input: Map<String, Value>,
    pub(super) result: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EventTable {
    user: Option<String>,
    agent: Option<String>,
    call: Option<String>,
    input: Option<Map<String, Value>>,
    result: Option<String>,
}

impl TryFrom<EventTable> for Event {
    type Error = &'static str;

    fn try_from(table: EventTable) -> Result<Self, Self::Error> {
        let belongs_to_call = table.input.is_some() || table.result.is_some();
        match (table.user, table.agent, table.call) {
            (None, None, Some(tool)) => Ok(Self::Call(Call {
                tool,
                input: table.input.unwrap_or_default(),
                result: table.result,
            })),
            _ if belongs_to_call => Err("`input` and `result` need a `call`, and nothing beside it"),
            (Some(words), None, None) => Ok(Self::User(words)),
            (None, Some(words), None) => Ok(Self::Agent(words)),
            _ => Err("an event has exactly one of `user`, `agent` and `call`"),
        }
    }
}

/// A question as the file holds it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) ask: String,
    pub(super) kind: Kind,
    /// Slugs of other sessions that answer as well.
    #[serde(default)]
    pub(super) also: Vec<String>,
}

/// What kind of question it is; the README of the set says what each is for.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Identifier,
    Path,
    Code,
    Error,
    Decision,
    Change,
    Language,
    Typo,
    Prose,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Identifier => "identifier",
            Self::Path => "path",
            Self::Code => "code",
            Self::Error => "error",
            Self::Decision => "decision",
            Self::Change => "change",
            Self::Language => "language",
            Self::Typo => "typo",
            Self::Prose => "prose",
        })
    }
}

fn instant<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(serde::de::Error::custom)
}

impl Session {
    /// Reads a file's text; `slug` is the file's name.
    pub(super) fn parse(slug: &str, text: &str) -> Result<Self> {
        let mut session: Self = toml::from_str(text)?;
        slug.clone_into(&mut session.slug);
        Ok(session)
    }

    /// The id of the session called `slug`.
    pub(super) fn id_of(slug: &str) -> String {
        uuid(slug)
    }

    pub(super) fn id(&self) -> String {
        uuid(&self.slug)
    }

    /// An id for the event at `index`, or for a part of it.
    pub(super) fn event_id(&self, index: usize, part: &str) -> String {
        uuid(&format!("{}/{index}/{part}", self.slug))
    }

    /// When the event at `index` happened, with `seconds` more, as agents write it.
    pub(super) fn moment(&self, index: usize, seconds: usize) -> Result<String> {
        let at = self.instant(index * STEP + seconds)?;
        Ok(at.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string())
    }

    fn instant(&self, seconds: usize) -> Result<Timestamp> {
        let passed = SignedDuration::from_secs(i64::try_from(seconds)?);
        let at = self.started.checked_add(passed);
        at.with_context(|| format!("{} goes on until after the end of time", self.slug))
    }
}

/// A UUID that is the same on every machine. It looks like a random one, as those of agents are.
fn uuid(name: &str) -> String {
    let hash = xxhash_rust::xxh3::xxh3_128(name.as_bytes());
    let version = (hash & !(0xf << 76)) | (0x4 << 76);
    let variant = (version & !(0x3 << 62)) | (0x2 << 62);
    let digits = format!("{variant:032x}");
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
