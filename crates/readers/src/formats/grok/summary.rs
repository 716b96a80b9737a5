//! What `summary.json` and the names of folders say of a session.

use super::{AGENT, SUMMARY};
use crate::log::SessionLog;
use crate::{beside, percent};
use lookback_model::session::SessionKind;
use lookback_model::source::SideTitle;
use lookback_model::{SourceFile, Timestamp};
use serde_json::Value;
use std::path::Path;

/// The session of a file: the name of its folder.
pub(super) fn session_of(file: &SourceFile) -> Option<String> {
    Some(file.path.parent()?.file_name()?.to_str()?.to_owned())
}

fn words(summary: &Value, key: &str) -> Option<String> {
    summary
        .get(key)?
        .as_str()
        .filter(|text| !text.trim().is_empty())
        .map(str::to_owned)
}

/// Takes what stands beside a session; gives when it began.
pub(super) fn look_around(file: &SourceFile, log: &mut SessionLog<'_>) -> Option<Timestamp> {
    let summary: Value = beside::json(&file.path.with_file_name(SUMMARY)).unwrap_or_default();
    let times = ["created_at", "updated_at"].map(|key| Timestamp::parse(&words(&summary, key)?));
    times.into_iter().flatten().for_each(|time| log.saw_time(time));
    let facts = log.facts();
    facts.cwd = directory(&summary)
        .or_else(|| encoded_directory(&file.path))
        .or(facts.cwd.take());
    facts.branch = words(&summary, "head_branch").or(facts.branch.take());
    facts.model = words(&summary, "current_model_id").or(facts.model.take());
    let parent = words(&summary, "parent_session_id");
    if words(&summary, "session_kind").is_some_and(|kind| kind.contains("subagent")) {
        facts.kind = SessionKind::Subagent;
        facts.parent = parent;
        facts.agent_type = words(&summary, "agent_name");
    } else {
        facts.forked_from = parent;
    }
    times.first().copied().flatten()
}

/// The working directory; of a session in a tree that was made for it, that of the project.
fn directory(summary: &Value) -> Option<String> {
    let own = words(summary.get("info")?, "cwd")?;
    let is_made = own.split(['/', '\\']).any(|part| part.contains("worktrees"));
    let source = words(summary, "source_workspace_dir").filter(|_| is_made);
    Some(source.unwrap_or(own))
}

/// The working directory that a folder's name stands for; one that is too long for a name is in a file.
fn encoded_directory(path: &Path) -> Option<String> {
    let folder = path.parent()?.parent()?;
    if let Some(text) = beside::text(&folder.join(".cwd")) {
        return Some(text.trim().to_owned());
    }
    let name = folder.file_name()?.to_str()?;
    name.contains('%').then(|| percent::decode(name))
}

/// The title that such a file names.
pub(super) fn title(text: &str, path: &Path) -> Option<SideTitle> {
    let summary: Value = serde_json::from_str(text).ok()?;
    let title = words(&summary, "generated_title").or_else(|| words(&summary, "session_summary"))?;
    Some(SideTitle {
        agent: AGENT.to_owned(),
        session_id: path.parent()?.file_name()?.to_str()?.to_owned(),
        title,
    })
}
