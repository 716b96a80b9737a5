//! ChatGPT's export of an account: a list of conversations, each a tree of messages, of which one way from the
//! root is what the person last saw.

mod message;
mod tree;

use crate::document::{text, words};
use crate::exports::{self, Taken};
use crate::log::{Draft, Placement, SessionLog};
use lookback_model::copies::key_of_id;
use lookback_model::event::EventData;
use lookback_model::facts::TitleRank;
use lookback_model::source::{
    Discovery, EventSink, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource, Timestamp};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Reads exports of ChatGPT.
pub struct ChatGpt;

const AGENT: &str = "chatgpt";

impl SessionSource for ChatGpt {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        exports::folders(environment)
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        exports::discover(AGENT, "\"mapping\"", root, found);
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        let id = |conversation: &Value| {
            let id = words(conversation, "conversation_id").or_else(|| words(conversation, "id"));
            id.map(str::to_owned)
        };
        let modified = file.stamp.modified();
        exports::read(file, cursor, &id, &mut |conversation, id| {
            tell(conversation, id, modified, sink)
        })
    }

    fn raw_words(&self, _: &SourceFile) -> RawWords {
        RawWords {
            is_json: true,
            added: &[],
        }
    }

    fn resume(&self, _: &SessionHeader, _: &SessionFacts) -> Option<ResumeCommand> {
        None
    }
}

/// Tells a conversation: the way that was last seen, and off the surface what was regenerated or edited away.
fn tell(
    conversation: &Value,
    id: &str,
    modified: Timestamp,
    sink: &mut dyn EventSink,
) -> Result<Taken, ReadError> {
    let Some(mapping) = conversation.get("mapping").and_then(Value::as_object) else {
        return Ok(Taken::NotOne);
    };
    let nodes = tree::in_order(mapping, text(conversation, "current_node"));
    if !nodes.iter().any(|node| node.message.is_some()) {
        return Ok(Taken::Empty);
    }
    let mut log = SessionLog::begin(sink, id, None)?;
    for key in ["create_time", "update_time"] {
        if let Some(time) = conversation.get(key).and_then(Timestamp::from_json) {
            log.saw_time(time);
        }
    }
    if log.facts().created_at.is_none() {
        log.saw_time(modified);
    }
    let facts = log.facts();
    facts.offer_title(text(conversation, "title"), TitleRank::Given);
    facts.archived = conversation.get("is_archived").and_then(Value::as_bool) == Some(true);
    facts.rewinds = tree::abandoned(&nodes);
    let mut time = log.facts().created_at;
    let mut exchange = None;
    for node in nodes {
        let Some(message) = node.message else {
            continue;
        };
        let Some(said) = message::said(message) else {
            continue;
        };
        if let Some(model) = message
            .get("metadata")
            .and_then(|metadata| words(metadata, "model_slug"))
            && node.is_active
        {
            log.facts().model = Some(model.to_owned());
        }
        let id = words(message, "id").unwrap_or(node.id);
        if matches!(said, EventData::UserMessage(_)) {
            exchange = Some(id.to_owned());
        }
        time = message.get("create_time").and_then(Timestamp::from_json).or(time);
        let mut draft = Draft::new(said, time);
        if !node.is_active {
            draft.placement = Placement::LogOnly;
        }
        draft.native_id = Some(id.to_owned());
        draft.copy_key = key_of_id(AGENT, id);
        // Reasoning, calls and words of one answer are messages of their own.
        draft.reply_id = exchange
            .as_ref()
            .map(|prompt| format!("{prompt}/{}", node.is_active));
        log.append(draft)?;
    }
    log.finish()?;
    Ok(Taken::Told)
}
