//! What was typed while the agent was at work. It waits in a queue, and when it leaves, another record
//! hands it to the agent; but some versions write no such record, and what a person takes back has none.

use super::content::hash_of;
use super::conversation::{AGENT, Conversation, Halt, Origin};
use super::record::Record;
use super::words;
use crate::log::{Draft, Placement};
use lookback_model::event::{ContentBlock, EventData, Message};
use lookback_model::{Timestamp, copies};
use serde::{Deserialize, Serialize};

/// Texts that may wait, and texts whose record may be awaited, before the oldest is given up.
const KEPT: usize = 16;
/// Bytes of a text that may wait; a longer one is given out at once.
const LONGEST: usize = 16 << 10;

/// The queue of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Queue {
    /// What waits, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting: Vec<Waiting>,
    /// What left to be the next prompt, whose record was not met yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    due: Vec<Waiting>,
}

/// A text in the queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Waiting {
    /// The words; empty for the program's.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// When it was typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// A record handed it to the agent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    arrived: bool,
}

impl Waiting {
    /// A text as it was typed.
    pub(super) fn new(text: &str, time: Option<Timestamp>) -> Self {
        let own = if text.starts_with(r#"{"task_id":"#) {
            // Notifications of old versions.
            String::new()
        } else {
            words::of_user(text).own.trim().to_owned()
        };
        Self {
            time: time.filter(|_| !own.is_empty()),
            text: own,
            arrived: false,
        }
    }

    /// Whether another event does not hold it.
    fn is_missing(&self) -> bool {
        !self.arrived && !self.text.is_empty()
    }

    /// Whether it is a command for the program, which has no prompt of its own.
    pub(super) fn is_command(&self) -> bool {
        let name = self.text.split_whitespace().next().unwrap_or_default();
        name.strip_prefix('/').is_some_and(|name| !name.contains('/'))
    }
}

/// All operations give the texts that no other record will bring.
impl Queue {
    /// Whether nothing is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.due.is_empty()
    }

    /// A text joins the queue.
    pub(super) fn enqueue(&mut self, text: Waiting) -> Vec<Waiting> {
        if text.text.len() > LONGEST {
            return vec![text];
        }
        self.waiting.push(text);
        surplus(&mut self.waiting)
    }

    /// One leaves to be the next prompt. Those of the person go before the program's.
    pub(super) fn dequeue(&mut self) -> Vec<Waiting> {
        let missing = self.waiting.iter().position(Waiting::is_missing);
        let text = take(&mut self.waiting, missing.unwrap_or(0));
        self.due
            .extend(text.filter(|text| text.is_missing() && !text.is_command()));
        surplus(&mut self.due)
    }

    /// One leaves while the agent is at work. Which it is, is not always said; then it is one whose record
    /// was met, if there is any, and else a person's, so that their words are not lost.
    pub(super) fn remove(&mut self, said: Option<Waiting>) -> Vec<Waiting> {
        let at = match &said {
            Some(said) => self.waiting.iter().position(|text| text.text == said.text),
            None => {
                let arrived = self.waiting.iter().position(|text| text.arrived);
                let missing = || self.waiting.iter().position(Waiting::is_missing);
                Some(arrived.or_else(missing).unwrap_or(0))
            }
        };
        let text = at.and_then(|at| take(&mut self.waiting, at)).or(said);
        text.into_iter().filter(Waiting::is_missing).collect()
    }

    /// All leave, back to the person.
    pub(super) fn pop_all(&mut self, said: Option<Waiting>) -> Vec<Waiting> {
        if self.waiting.is_empty() {
            self.waiting.extend(said);
        }
        let all = std::mem::take(&mut self.waiting);
        all.into_iter().filter(Waiting::is_missing).collect()
    }

    /// A record brought this text.
    pub(super) fn arrived(&mut self, text: &str) {
        let text = text.trim();
        if let Some(at) = self.due.iter().position(|due| due.text == text) {
            self.due.remove(at);
            return;
        }
        let waits = |waiting: &&mut Waiting| waiting.is_missing() && waiting.text == text;
        if let Some(waiting) = self.waiting.iter_mut().find(waits) {
            waiting.arrived = true;
        }
    }

    /// The agent replies: what was typed before and has not come will not. Replies that are copied into
    /// a fork are older.
    pub(super) fn overdue(&mut self, reply: Option<Timestamp>) -> Vec<Waiting> {
        self.due.extract_if(.., |due| due.time <= reply).collect()
    }
}

impl Conversation<'_> {
    /// A record of what happened to the queue.
    pub(super) fn queue_operation(
        &mut self,
        record: &Record<'_>,
        origin: &mut Origin<'_>,
    ) -> Result<(), Halt> {
        let said = record.content.get().map(|text| Waiting::new(text, origin.time));
        let queue = &mut self.state.queue;
        let missing = match &*record.operation.0 {
            "enqueue" => queue.enqueue(said.unwrap_or_default()),
            "dequeue" => queue.dequeue(),
            "remove" => queue.remove(said),
            "popAll" => queue.pop_all(said),
            _ => Vec::new(),
        };
        let reached_agent = &*record.operation.0 != "popAll";
        for text in missing {
            origin.events += usize::from(self.say(text, origin.time, reached_agent)?);
        }
        Ok(())
    }

    /// A record brought these words of the person's.
    pub(super) fn note_arrival(&mut self, content: &[ContentBlock]) {
        if self.state.queue.is_empty() {
            return;
        }
        for block in content {
            if let ContentBlock::Text { text } = block {
                self.state.queue.arrived(text);
            }
        }
    }

    /// Says what should have been a prompt before the reply that comes now.
    pub(super) fn say_what_is_overdue(&mut self, reply: Option<Timestamp>) -> Result<(), Halt> {
        let overdue = self.state.queue.overdue(reply);
        overdue
            .into_iter()
            .try_for_each(|text| self.say(text, None, true).map(|_| ()))
    }

    /// Adds a text that no other record may bring; whether it was not there yet. It counts as a prompt only
    /// when a record does bring it, which then is a repetition. What did not reach the agent stays off the
    /// surface, and may still be sent.
    fn say(&mut self, text: Waiting, time: Option<Timestamp>, reached_agent: bool) -> Result<bool, Halt> {
        let command = text.is_command();
        let on_surface = reached_agent && !command;
        let content = vec![ContentBlock::Text { text: text.text }];
        let said = hash_of(&content);
        let known = [&self.state.unconfirmed, &self.state.steered];
        if known.iter().any(|known| known.contains(&said)) {
            return Ok(false);
        }
        let message = Message {
            content,
            ..Message::default()
        };
        let data = if command {
            EventData::ContextMessage(message.from_source("command"))
        } else {
            EventData::SteeringMessage(message.from_source("queue"))
        };
        let mut draft = Draft::new(data, time);
        if !on_surface {
            draft.placement = Placement::LogOnly;
        }
        if let Some(typed) = text.time {
            draft.copy_key = copies::key_of_id(AGENT, &format!("queue/{}/{said}", typed.0));
        }
        self.append_uncounted(draft)?;
        if !on_surface {
            return Ok(true);
        }
        if self.state.unconfirmed.len() == KEPT {
            self.state.unconfirmed.remove(0);
        }
        self.state.unconfirmed.push(said);
        Ok(true)
    }
}

fn take(texts: &mut Vec<Waiting>, at: usize) -> Option<Waiting> {
    (at < texts.len()).then(|| texts.remove(at))
}

fn surplus(texts: &mut Vec<Waiting>) -> Vec<Waiting> {
    let surplus = texts.len().saturating_sub(KEPT);
    texts.drain(..surplus).filter(Waiting::is_missing).collect()
}

#[cfg(test)]
mod tests {
    //! Property: every text of a person is given out once, unless a record brought it.
    use super::*;

    fn typed(text: &str) -> Waiting {
        Waiting::new(text, None)
    }

    fn texts(given: Vec<Waiting>) -> Vec<String> {
        given.into_iter().map(|text| text.text).collect()
    }

    #[test]
    fn removed_texts_are_given_out_unless_they_arrived() {
        let mut queue = Queue::default();
        for text in ["<task-notification>n</task-notification>", "one", "two", "three"] {
            assert!(queue.enqueue(typed(text)).is_empty());
        }
        queue.arrived("two");
        assert!(queue.remove(None).is_empty());
        assert_eq!(texts(queue.remove(None)), ["one"]);
        assert_eq!(texts(queue.remove(Some(typed("three")))), ["three"]);
        assert!(queue.remove(None).is_empty() && queue.is_empty());
        assert_eq!(texts(queue.remove(Some(typed("never seen")))), ["never seen"]);
    }

    #[test]
    fn what_was_to_be_a_prompt_is_given_out_when_it_was_none() {
        let mut queue = Queue::default();
        for text in ["one", "two", "/tidy all"] {
            queue.enqueue(typed(text));
            assert!(queue.dequeue().is_empty());
        }
        queue.arrived(" two\n");
        assert_eq!(texts(queue.overdue(None)), ["one"]);
        assert!(queue.is_empty());
    }

    #[test]
    fn nothing_is_lost_when_many_wait() {
        let mut queue = Queue::default();
        let mut given: Vec<_> = (0..40)
            .flat_map(|at| queue.enqueue(typed(&format!("t{at}"))))
            .collect();
        assert_eq!(given.len(), 40 - KEPT);
        given.extend(queue.pop_all(None));
        assert_eq!(given.len(), 40);
    }

    #[test]
    fn commands_are_told_from_paths() {
        assert!(typed("/model opus").is_command());
        assert!(!typed("/home/kim is full").is_command() && !typed("tidy").is_command());
    }
}
