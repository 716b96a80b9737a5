//! The older sessions: messages as the model is sent them, without times.

use super::meta::Meta;
use super::{AGENT, META};
use crate::beside;
use crate::blocks::message;
use crate::chat::ChatMessage;
use crate::journal::{Records, Stop, Took};
use crate::lenient::{Flag, Words};
use crate::log::SessionLog;
use crate::telling::{Chain, Telling};
use lookback_model::event::{ContentBlock, EventData};
use lookback_model::session::SessionKind;
use lookback_model::{SourceFile, Timestamp};
use serde::{Deserialize, Serialize};

/// Begins the answer of a tool that failed.
const FAILURE: &str = "<tool_error>";

/// A session as far as it was read.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Conversation {
    chain: Chain,
    /// When the session began, which stands for the times of its messages.
    #[serde(skip)]
    time: Option<Timestamp>,
}

/// A message. Two structs, because the one is shared: its other fields are passed over by each.
pub(super) struct Said<'a> {
    message: ChatMessage<'a>,
    mark: Mark<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Mark<'a> {
    #[serde(borrow)]
    message_id: Words<'a>,
    /// The program wrote it.
    injected: Flag,
}

impl<'de: 'a, 'a> Deserialize<'de> for Said<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&serde_json::value::RawValue>::deserialize(deserializer)?;
        let message = serde_json::from_str(raw.get()).map_err(serde::de::Error::custom)?;
        let mark = serde_json::from_str(raw.get()).map_err(serde::de::Error::custom)?;
        Ok(Self { message, mark })
    }
}

impl Records for Conversation {
    type Record<'a> = Said<'a>;

    fn session_id(&mut self, said: &Said<'_>, file: &SourceFile) -> Option<String> {
        if said.message.role.get().is_empty() {
            return None;
        }
        let meta: Option<Meta> = beside::json(&file.path.with_file_name(META));
        let folder = || Some(file.path.parent()?.file_name()?.to_string_lossy().into_owned());
        meta.and_then(|meta| meta.session_id).or_else(folder)
    }

    fn look_around(&mut self, file: &SourceFile, log: &mut SessionLog<'_>) {
        let meta: Option<Meta> = beside::json(&file.path.with_file_name(META));
        let meta = meta.unwrap_or_default();
        self.time = Some(meta.start().unwrap_or_else(|| file.stamp.modified()));
        meta.tell(log);
        let Some(agents) = file.path.ancestors().find(|folder| folder.ends_with("agents")) else {
            return;
        };
        let of_parent: Option<Meta> = beside::json(&agents.with_file_name(META));
        let facts = log.facts();
        let named = facts.forked_from.take();
        facts.kind = SessionKind::Subagent;
        facts.parent = named.or_else(|| of_parent?.session_id);
    }

    fn take(&mut self, said: Said<'_>, log: &mut SessionLog<'_>) -> Result<Took, Stop> {
        let Some(data) = event(&said.message, said.mark.injected.0) else {
            return Ok(match said.message.role.get() {
                "user" | "assistant" | "tool" | "system" => Took::Bookkeeping,
                other => Took::Unknown(other.to_owned()),
            });
        };
        let mut telling = Telling::new(AGENT, log, self.time);
        telling.id = said
            .mark
            .message_id
            .0
            .as_deref()
            .filter(|id| !id.is_empty())
            .map(str::to_owned);
        if telling.id.is_some() {
            telling.event(data)?;
        } else {
            telling.chained(data, &mut self.chain)?;
        }
        Ok(Took::Record)
    }
}

/// What a message is in a log.
pub(super) fn event(said: &ChatMessage<'_>, is_injected: bool) -> Option<EventData> {
    match said.role.get() {
        "user" if is_injected => {
            let message = message(said.content.content())?;
            Some(EventData::ContextMessage(message.from_source("injected")))
        }
        "user" => message(said.content.content()).map(EventData::UserMessage),
        "assistant" => said.reply().map(EventData::AssistantMessage),
        "tool" => {
            let mut answer = said.answer();
            answer.is_error = matches!(answer.content.first(), Some(ContentBlock::Text { text })
                if text.starts_with(FAILURE));
            Some(EventData::ToolResult(answer))
        }
        _ => None,
    }
}
