//! What a rollout's first record says of its session.

use super::payload::{Payload, Words};
use lookback_model::Timestamp;
use std::borrow::Cow;

/// The header of a session; absent fields are those that its release did not write.
#[derive(Debug, Default)]
pub(super) struct Meta {
    pub(super) id: Option<String>,
    pub(super) started: Option<Timestamp>,
    pub(super) cwd: Option<String>,
    pub(super) branch: Option<String>,
    pub(super) version: Option<String>,
    pub(super) originator: Option<String>,
    /// `cli`, `vscode`, `exec`, `mcp`.
    pub(super) source: Option<String>,
    pub(super) thread_source: Option<String>,
    pub(super) parent: Option<String>,
    /// The first session of the lineage.
    pub(super) root: Option<String>,
    pub(super) forked_from: Option<String>,
    pub(super) role: Option<String>,
    /// What kind of subagent it is, where it is one that was not spawned by a tool: `review`, `guardian`.
    pub(super) task: Option<String>,
    pub(super) is_subagent: bool,
    pub(super) own_history_from: Option<u64>,
}

/// Decodes a header.
///
/// # Errors
/// When text of it has bad escapes.
pub(super) fn meta(payload: Payload<'_>) -> Result<Meta, serde_json::Error> {
    let owned = |words: Words<'_>| words.0.map(Cow::into_owned).filter(|words| !words.is_empty());
    let git: Payload<'_> = match payload.git {
        Some(git) if git.get().starts_with('{') => serde_json::from_str(git.get())?,
        _ => Payload::default(),
    };
    let mut meta = Meta {
        id: owned(payload.id),
        started: payload.timestamp.0.as_deref().and_then(Timestamp::parse),
        cwd: owned(payload.cwd),
        branch: owned(git.branch),
        version: owned(payload.cli_version),
        originator: owned(payload.originator),
        thread_source: owned(payload.thread_source),
        parent: owned(payload.parent_thread_id),
        root: owned(payload.session_id),
        forked_from: owned(payload.forked_from_id),
        role: owned(payload.agent_role).or(owned(payload.agent_nickname)),
        own_history_from: payload.subagent_history_start_ordinal.0,
        ..Meta::default()
    };
    if let Some(source) = payload.source {
        read_source(&serde_json::from_str(source.get())?, &mut meta);
    }
    let thread_source = meta.thread_source.as_deref();
    meta.is_subagent |=
        matches!(thread_source, Some("subagent" | "guardian_review")) || meta.parent.is_some();
    Ok(meta)
}

/// `source` is a word, or an object that says whose subagent this is.
fn read_source(source: &serde_json::Value, meta: &mut Meta) {
    let owned = |value: Option<&serde_json::Value>| value.and_then(|value| value.as_str()).map(str::to_owned);
    meta.source = owned(Some(source));
    let Some(subagent) = source.get("subagent") else {
        return;
    };
    meta.is_subagent = true;
    let spawn = subagent.get("thread_spawn");
    let of_spawn = |name: &str| owned(spawn.and_then(|spawn| spawn.get(name)));
    meta.parent = meta.parent.take().or_else(|| of_spawn("parent_thread_id"));
    meta.role = meta
        .role
        .take()
        .or_else(|| of_spawn("agent_role"))
        .or_else(|| of_spawn("agent_nickname"));
    meta.task = owned(Some(subagent)).or_else(|| owned(subagent.get("other")));
}
