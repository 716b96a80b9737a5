//! What `kimi-cli` sends to the model: messages without times, written anew when they are compacted.

use super::place::{look_around, session_of};
use crate::blocks::message;
use crate::chat::ChatMessage;
use crate::journal::{Records, Stop, Took};
use crate::log::SessionLog;
use crate::telling::{Chain, Telling};
use lookback_model::event::{ContentBlock, EventData};
use lookback_model::{SourceFile, Timestamp};
use serde::{Deserialize, Serialize};

/// A session as far as it was read.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Conversation {
    chain: Chain,
    #[serde(skip)]
    time: Option<Timestamp>,
}

impl Records for Conversation {
    type Record<'a> = ChatMessage<'a>;

    fn session_id(&mut self, said: &ChatMessage<'_>, file: &SourceFile) -> Option<String> {
        (!said.role.get().is_empty()).then(|| session_of(file))
    }

    fn look_around(&mut self, file: &SourceFile, log: &mut SessionLog<'_>) {
        self.time = Some(file.stamp.modified());
        look_around(file, log);
    }

    fn take(&mut self, said: ChatMessage<'_>, log: &mut SessionLog<'_>) -> Result<Took, Stop> {
        let data = match said.role.get() {
            "user" => prompt(&said),
            "assistant" => said.reply().map(EventData::AssistantMessage),
            "tool" => {
                let mut answer = said.answer();
                answer.is_error = matches!(answer.content.first(), Some(ContentBlock::Text { text })
                    if text.starts_with("<system>ERROR"));
                Some(EventData::ToolResult(answer))
            }
            "" => return Ok(Took::Unknown("(none)".to_owned())),
            own if own.starts_with('_') => return Ok(Took::Bookkeeping),
            other => return Ok(Took::Unknown(other.to_owned())),
        };
        let Some(data) = data else {
            return Ok(Took::Bookkeeping);
        };
        Telling::new(super::AGENT, log, self.time).chained(data, &mut self.chain)?;
        Ok(Took::Record)
    }
}

/// A prompt, or what the program says in a prompt's place.
fn prompt(said: &ChatMessage<'_>) -> Option<EventData> {
    let content = said.content.content();
    let is_own = content.iter().any(|block| !is_injected(block));
    let said = message(content)?;
    if is_own {
        return Some(EventData::UserMessage(said));
    }
    Some(EventData::ContextMessage(said.from_source("reminder")))
}

/// Whether the program put a block into a prompt.
pub(super) fn is_injected(block: &ContentBlock) -> bool {
    let ContentBlock::Text { text } = block else {
        return false;
    };
    let text = text.trim_start();
    text.starts_with("<system-reminder>") || text.starts_with("<system>")
}
