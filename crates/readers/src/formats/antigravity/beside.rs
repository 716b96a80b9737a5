//! What is noted about a conversation beside its steps: the log of prompts knows the folder, a cache and a note
//! the title.

use crate::document::{Document, items, text, words};
use crate::vscode;
use lookback_model::SessionFacts;
use lookback_model::facts::TitleRank;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Takes what is noted about a conversation.
pub(super) fn take(root: &Path, id: &str, facts: &mut SessionFacts) {
    let prompts = prompts(root, id);
    let cached = cached(root, id).unwrap_or_default();
    let logged = prompts.iter().find_map(|prompt| words(prompt, "workspace"));
    let uris = ["workspaceUris", "workspaces", "workspace_uris"];
    let first = uris.iter().find_map(|key| items(&cached, key).first());
    let open = first
        .and_then(Value::as_str)
        .or_else(|| words(&cached, "workspace"));
    // What steps say of a folder is only where a command was run.
    if let Some(folder) = logged.or(open) {
        facts.cwd = Some(vscode::path_of_uri(folder));
    }
    facts.offer_title(text(&cached, "title"), TitleRank::Given);
    let note = root.join("annotations").join(format!("{id}.pbtxt"));
    if let Some(title) = fs::read_to_string(note).ok().as_deref().and_then(noted_title) {
        facts.offer_title(&title, TitleRank::Given);
    }
}

/// The prompts of a conversation in the log of all of them.
pub(super) fn prompts(root: &Path, id: &str) -> Vec<Value> {
    let log = fs::read(root.join("history.jsonl")).unwrap_or_default();
    let lines = log.split(|&byte| byte == b'\n');
    lines
        .filter(|line| memchr::memmem::find(line, id.as_bytes()).is_some())
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
        .filter(|prompt| text(prompt, "conversationId") == id)
        .collect()
}

/// The cache's entry, which stands under the id, at the top or one below.
fn cached(root: &Path, id: &str) -> Option<Value> {
    let path = root.join("cache").join("conversation_metadata.json");
    let bytes = fs::read(path).ok()?;
    memchr::memmem::find(&bytes, id.as_bytes())?;
    let cache = Document::parse(&bytes, &[]).root;
    let below = cache.as_object()?.values().find_map(|value| value.get(id));
    cache.get(id).or(below).cloned()
}

/// `title: "Fix the webhook"`
fn noted_title(note: &str) -> Option<String> {
    let quoted = note
        .lines()
        .find_map(|line| line.trim().strip_prefix("title:"))?
        .trim();
    serde_json::from_str(quoted).ok()
}
