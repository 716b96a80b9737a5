//! A session of Cline's own store: its messages, and the manifest beside them.

use super::{AGENT, MESSAGES};
use crate::document::{self, Document, items, no_session, text, words};
use crate::tasks::{self, Conversation};
use lookback_model::facts::TitleRank;
use lookback_model::session::SessionKind;
use lookback_model::source::{EventSink, IssueCode, ReadCursor, ReadError, ReadOutcome, SourceFile};
use lookback_model::{SessionFacts, Timestamp};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Members that are long and no part of the conversation.
const SKIPPED: &[&str] = &["system_prompt"];

/// What agents that were given their work by a person are called.
const LEAD: &str = "lead";

/// Where the manifest of a transcript lies.
pub(super) fn manifest_of(transcript: &Path) -> PathBuf {
    let id = id_of(transcript);
    transcript.with_file_name(format!("{id}.json"))
}

fn id_of(transcript: &Path) -> String {
    let name = transcript.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(MESSAGES).unwrap_or(&name).to_owned()
}

/// Reads a session.
pub(super) fn read(
    file: &SourceFile,
    cursor: Option<&ReadCursor>,
    sink: &mut dyn EventSink,
) -> Result<ReadOutcome, ReadError> {
    document::refuse(file, cursor)?;
    let transcript = Document::read(&file.path, SKIPPED)?;
    let root = &transcript.root;
    if !root.get("messages").is_some_and(Value::is_array) {
        return Err(no_session(
            &file.path,
            IssueCode::NoSessionHeader,
            "it holds no messages",
        ));
    }
    let manifest = Document::read(&manifest_of(&file.path), SKIPPED).unwrap_or_default();
    let id = words(root, "sessionId")
        .or_else(|| words(&manifest.root, "session_id"))
        .map_or_else(|| id_of(&file.path), str::to_owned);
    let started = manifest.root.get("started_at").and_then(Timestamp::from_json);
    let start = started.unwrap_or_else(|| file.stamp.modified());
    let mut account = transcript.account();
    let mut talk = Conversation::begin(AGENT, sink, &id, start)?;
    take_manifest(&manifest.root, talk.log.facts());
    let agent = text(root, "agent");
    if !agent.is_empty() && agent != LEAD {
        talk.log.facts().kind = SessionKind::Subagent;
        talk.log.facts().agent_type = Some(agent.to_owned());
    }
    let messages = items(root, "messages");
    tasks::tell(&mut talk, messages, &mut account)?;
    transcript.account_for_end(messages.len(), &mut account);
    talk.finish()?;
    Ok(document::outcome(account))
}

fn take_manifest(manifest: &Value, facts: &mut SessionFacts) {
    let named = |value: &Value, key| words(value, key).map(str::to_owned);
    let metadata = manifest.get("metadata").unwrap_or(&Value::Null);
    let within = |key| metadata.get(key).unwrap_or(&Value::Null);
    facts.cwd = named(manifest, "cwd").or_else(|| named(manifest, "workspace_root"));
    facts.model = named(manifest, "model");
    facts.branch = named(within("git"), "branch");
    facts.forked_from = named(within("fork"), "forkedFromSessionId");
    facts.agent_version = named(within("sessionHistoryOrigin"), "version");
    facts.offer_title(text(metadata, "title"), TitleRank::Given);
    if manifest.get("interactive").and_then(Value::as_bool) == Some(false) {
        facts.kind = SessionKind::Headless;
    }
}
