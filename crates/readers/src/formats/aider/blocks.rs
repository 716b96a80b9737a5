//! Whose words a line of a history is.
//!
//! The agent writes a person's prompt with `#### ` before each line and what its program says with `> `, and
//! ends both kinds of line with two blanks, which make a line break in Markdown. Replies stand as the model
//! wrote them, so that headings and quotes in them look the same but for those blanks. Histories without the
//! blanks exist; in them the marks alone must do.

use serde::{Deserialize, Serialize};

/// Whose words a block of lines is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Speaker {
    /// The person.
    Person,
    /// The model.
    Model,
    /// The agent's program: notices, and what commands printed.
    Program,
}

/// What stands in front of a prompt's lines.
pub(super) const PROMPT: &str = "####";

/// What is known of a session's lines so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Reading {
    /// Who spoke last; `None` after a blank line that ended it.
    pub(super) speaker: Option<Speaker>,
    /// Whether there was a prompt.
    pub(super) prompted: bool,
    /// Whether the program ends its lines and the person's with two blanks.
    hard_breaks: bool,
    /// The fence of a block of code that is open in a reply.
    fence: Option<String>,
    /// The program says something of several lines, of which only the first is marked.
    in_notice: bool,
}

impl Reading {
    /// Takes the next line that is not blank; says whose it is.
    pub(super) fn line(&mut self, line: &str) -> Speaker {
        let speaker = self.whose(line);
        if speaker != Speaker::Program {
            self.in_notice = false;
        }
        if speaker == Speaker::Person {
            self.prompted = true;
        }
        self.speaker = Some(speaker);
        speaker
    }

    /// Takes a blank line; says whether what was said goes on after it.
    pub(super) fn blank(&mut self) -> bool {
        let goes_on = match self.speaker {
            Some(Speaker::Model) => true,
            Some(Speaker::Program) => self.in_notice,
            Some(Speaker::Person) | None => false,
        };
        if !goes_on {
            self.speaker = None;
        }
        goes_on
    }

    fn whose(&mut self, line: &str) -> Speaker {
        let is_prompt = line
            .strip_prefix(PROMPT)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        let is_notice = line.starts_with("> ") || line == ">";
        let is_broken = line.ends_with("  ");
        if let Some(fence) = &self.fence {
            // A reply that was cut off leaves its fence open; what the agent wrote itself comes after it.
            let is_own = is_broken && (is_prompt || is_notice) || line.starts_with("> Tokens: ");
            if !is_own {
                if closes(line, fence) {
                    self.fence = None;
                }
                return Speaker::Model;
            }
            self.fence = None;
        }
        if is_prompt && !self.prompted {
            self.hard_breaks = is_broken;
            return Speaker::Person;
        }
        if is_prompt && (is_broken || !self.hard_breaks) {
            return Speaker::Person;
        }
        if is_notice {
            return self.notice(is_broken);
        }
        if self.in_notice || !self.prompted {
            self.in_notice &= !is_broken;
            return Speaker::Program;
        }
        self.fence = opens(line);
        Speaker::Model
    }

    /// Whose a line is that is marked as the program's.
    fn notice(&mut self, is_broken: bool) -> Speaker {
        let is_whole = is_broken || !self.hard_breaks;
        if !is_whole && self.speaker == Some(Speaker::Model) {
            return Speaker::Model;
        }
        self.in_notice = !is_whole;
        Speaker::Program
    }
}

/// The fence that a line opens.
fn opens(line: &str) -> Option<String> {
    let line = line.trim_start();
    ['`', '~'].into_iter().find_map(|mark| {
        let length = line.chars().take_while(|&character| character == mark).count();
        let info = line.get(length..).unwrap_or_default();
        // Code between such marks on one line is no fence.
        (length >= 3 && !info.contains(mark)).then(|| mark.to_string().repeat(length))
    })
}

/// Whether a line closes a fence: the same mark, at least as often, and nothing else.
fn closes(line: &str, fence: &str) -> bool {
    let line = line.trim();
    line.starts_with(fence)
        && line
            .trim_start_matches(fence.get(..1).unwrap_or_default())
            .is_empty()
}

#[cfg(test)]
mod tests {
    //! Properties: marks inside a reply's code are the model's; with hard breaks, marks without them are
    //! the model's as well; a fence that was left open does not swallow what the agent wrote after it.
    use super::*;
    use Speaker::{Model, Person, Program};

    fn speakers(lines: &[&str]) -> Vec<Speaker> {
        let mut reading = Reading::default();
        let mut speakers = Vec::new();
        for line in lines {
            if line.is_empty() {
                reading.blank();
            } else {
                speakers.push(reading.line(line));
            }
        }
        speakers
    }

    #[test]
    fn marks_in_code_are_the_models() {
        let lines = [
            "#### ask",
            "",
            "text",
            "````md",
            "#### not a prompt",
            "```",
            "> nor a notice",
            "````",
            "> Applied edit to x",
            "#### more",
        ];
        assert_eq!(
            speakers(&lines),
            [Person, Model, Model, Model, Model, Model, Model, Program, Person]
        );
    }

    #[test]
    fn hard_breaks_tell_marks_from_markdown() {
        let lines = [
            "> Aider v0.86.2  ",
            "",
            "#### ask  ",
            "#### more  ",
            "",
            "#### A heading",
            "> a quote",
            "",
            "> Tokens: 1 sent, 2 received.  ",
            "> lint says",
            "line 2",
            "",
            "line 4  ",
            "after all",
        ];
        assert_eq!(
            speakers(&lines),
            [
                Program, Person, Person, Model, Model, Program, Program, Program, Program, Model
            ]
        );
    }

    #[test]
    fn an_open_fence_ends_where_the_agent_writes() {
        let lines = ["#### ask  ", "", "```python", "cut off", "", "#### again  "];
        assert_eq!(speakers(&lines), [Person, Model, Model, Person]);
        let lines = ["#### ask", "", "```python", "cut off", "> Tokens: 1 sent", "> x"];
        assert_eq!(speakers(&lines), [Person, Model, Model, Program, Program]);
    }
}
