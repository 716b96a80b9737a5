//! Facts of a session that change while it grows: title, branch, times, counts.
//!
//! A reader builds them up as it reads; they are stored with the catalogue's row and with the read
//! cursor, so that an appended file continues where it stood.

use crate::Timestamp;
use crate::session::SessionKind;
use serde::{Deserialize, Serialize};

/// Where a title came from. Later ones win over earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TitleRank {
    /// The first prompt.
    Prompt,
    /// A summary the agent wrote.
    Summary,
    /// A title the agent gave.
    Given,
    /// The name of the session's agent.
    Name,
    /// A title the person gave.
    Custom,
}

/// A title and where it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Title {
    /// The words, on one line.
    pub text: String,
    /// Where it came from.
    pub rank: TitleRank,
}

/// The changing facts of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionFacts {
    /// The best title so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Title>,
    /// Working directory of the session's start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Last branch that was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Last model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Version of the agent's program that wrote last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// Who drove the session.
    #[serde(skip_serializing_if = "is_default")]
    pub kind: SessionKind,
    /// Session that delegated to this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Session whose history this one copied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<String>,
    /// Role of a subagent, such as `general-purpose`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// Whether the agent keeps it as archived.
    #[serde(skip_serializing_if = "is_default")]
    pub archived: bool,
    /// Machine-made and of no interest in lists (permission checks).
    #[serde(skip_serializing_if = "is_default")]
    pub hidden: bool,
    /// Time of the first event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// Time of the last event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// Events in the log.
    #[serde(skip_serializing_if = "is_default")]
    pub events: u64,
    /// Prompts of the person.
    #[serde(skip_serializing_if = "is_default")]
    pub prompts: u64,
    /// Messages of the agent; one that was written in several records counts once.
    #[serde(skip_serializing_if = "is_default")]
    pub replies: u64,
    /// Calls of tools.
    #[serde(skip_serializing_if = "is_default")]
    pub tool_calls: u64,
    /// Answers of tools.
    #[serde(skip_serializing_if = "is_default")]
    pub tool_results: u64,
    /// Calls that asked a history of sessions, see [`crate::recall`].
    #[serde(skip_serializing_if = "is_default")]
    pub recalls: u64,
    /// Prompts and replies that hold words.
    #[serde(skip_serializing_if = "is_default")]
    pub turns: u64,
    /// How often the history was compacted.
    #[serde(skip_serializing_if = "is_default")]
    pub compactions: u64,
    /// How often the conversation was rewound.
    #[serde(skip_serializing_if = "is_default")]
    pub rewinds: u64,
    /// Copy key of the first reply, the same in every copy of a session that starts at its beginning. A
    /// prompt would not do: many sessions begin with the same words.
    #[serde(skip_serializing_if = "is_default")]
    pub first_copy_key: u64,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl SessionFacts {
    /// Offers a title; it is taken when its rank is at least that of the one held, so that the last of
    /// equals wins, except for prompts, of which the first wins. Blank ones are ignored.
    pub fn offer_title(&mut self, text: &str, rank: TitleRank) {
        let text = one_line(text, TITLE_LIMIT);
        if text.is_empty() {
            return;
        }
        let held = self.title.as_ref().map(|title| title.rank);
        let better = match held {
            None => true,
            Some(TitleRank::Prompt) if rank == TitleRank::Prompt => false,
            Some(held) => rank >= held,
        };
        if better {
            self.title = Some(Title { text, rank });
        }
    }

    /// Messages as contract A counts them: prompts and replies.
    pub fn message_count(&self) -> u64 {
        self.prompts + self.replies
    }
}

/// Titles are kept to this many characters.
const TITLE_LIMIT: usize = 200;

/// `text` on one line: runs of white space become one space, cut with an ellipsis after `limit`
/// characters.
pub fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        for character in line_break(&line).chain(word.chars()) {
            if length == limit {
                line.push('…');
                return line;
            }
            line.push(character);
            length += 1;
        }
    }
    line
}

fn line_break(line: &str) -> std::option::IntoIter<char> {
    (!line.is_empty()).then_some(' ').into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_persons_title_wins_and_the_first_prompt_stays() {
        let mut facts = SessionFacts::default();
        facts.offer_title("  first\n prompt ", TitleRank::Prompt);
        facts.offer_title("second prompt", TitleRank::Prompt);
        assert_eq!(facts.title.as_ref().unwrap().text, "first prompt");
        facts.offer_title("mine", TitleRank::Custom);
        facts.offer_title("the agent's", TitleRank::Given);
        facts.offer_title(" ", TitleRank::Custom);
        assert_eq!(facts.title.as_ref().unwrap().text, "mine");
        facts.offer_title("mine, renamed", TitleRank::Custom);
        assert_eq!(facts.title.as_ref().unwrap().text, "mine, renamed");
    }

    #[test]
    fn one_line_cuts_with_an_ellipsis() {
        assert_eq!(one_line("a  b\tc", 5), "a b c");
        assert_eq!(one_line("a  b\tc", 4), "a b …");
        assert_eq!(one_line("", 4), "");
    }
}
