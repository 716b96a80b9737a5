//! A session that grows while it is measured: a copy of one of the corpus, under an id of its own, which
//! is taken away again at the end.

use super::corpus::Corpus;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::PathBuf;

/// The copy's id.
const ID: &str = "0be7c4a0-9d3e-4f21-8a55-6c1d2e3f4a5b";

/// A copy of a session that is appended to.
pub(super) struct GrowingSession {
    path: PathBuf,
    /// A record of the session; what is appended is like it.
    model: Value,
    /// Id of the last record.
    last_record: String,
    messages: usize,
    last_word: String,
}

impl GrowingSession {
    /// Copies the session of middle length, next to it.
    pub(super) fn beside(corpus: &Corpus) -> Result<Self> {
        let original = &corpus.middle_session;
        let id = original
            .file_stem()
            .context("a transcript without a name")?
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read_to_string(original)?.replace(&id, ID);
        let (model, last_record) = last_message(&text).context("the session has no record with an id")?;
        let path = original.with_file_name(format!("{ID}.jsonl"));
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self {
            path,
            model,
            last_record,
            messages: 0,
            last_word: String::new(),
        })
    }

    /// Appends a prompt with a word that stands nowhere else.
    pub(super) fn say_something(&mut self) -> Result<()> {
        self.messages += 1;
        self.last_word = format!("quillimander{:04}", self.messages);
        let record = format!("5eed0000-0000-4000-8000-{:012}", self.messages);
        let line = prompt(
            &self.model,
            &self.last_record,
            &record,
            &format!("now look at {}", self.last_word),
        );
        let mut file = std::fs::OpenOptions::new().append(true).open(&self.path)?;
        file.write_all(format!("{line}\n").as_bytes())?;
        self.last_record = record;
        Ok(())
    }

    /// The word of the last prompt.
    pub(super) fn last_word(&self) -> &str {
        &self.last_word
    }

    /// The session's id.
    pub(super) fn session(&self) -> &'static str {
        ID
    }

    /// Its length.
    pub(super) fn bytes(&self) -> Result<u64> {
        Ok(std::fs::metadata(&self.path)?.len())
    }
}

impl Drop for GrowingSession {
    fn drop(&mut self) {
        // Nobody is left to tell of an error here; a later benchmark writes over what stayed.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The last record that has an id and a session, and that id.
fn last_message(text: &str) -> Option<(Value, String)> {
    text.lines().rev().find_map(|line| {
        let record: Value = serde_json::from_str(line).ok()?;
        let id = record.get("uuid")?.as_str()?.to_owned();
        record.get("sessionId")?;
        Some((record, id))
    })
}

/// A prompt after the record `parent`, with the outer facts of `model`.
fn prompt(model: &Value, parent: &str, id: &str, words: &str) -> Value {
    let fact = |key: &str| model.get(key).cloned().unwrap_or(Value::Null);
    json!({
        "parentUuid": parent,
        "isSidechain": false,
        "userType": "external",
        "cwd": fact("cwd"),
        "sessionId": fact("sessionId"),
        "version": fact("version"),
        "gitBranch": fact("gitBranch"),
        "type": "user",
        "message": {"role": "user", "content": words},
        "uuid": id,
        "timestamp": fact("timestamp"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: what is appended belongs to the session and goes on from its last record.
    #[test]
    fn a_prompt_continues_the_session() {
        let text = "{\"uuid\":\"r1\",\"sessionId\":\"s\",\"cwd\":\"/w\"}\n{\"type\":\"summary\"}\n";
        let (model, last) = last_message(text).unwrap();
        let prompt = prompt(&model, &last, "r2", "hello");
        let facts =
            ["parentUuid", "uuid", "sessionId", "cwd"].map(|key| prompt[key].as_str().unwrap().to_owned());
        assert_eq!(facts, ["r1", "r2", "s", "/w"]);
        assert_eq!(prompt["message"]["content"], "hello");
        assert!(last_message("{}\n").is_none());
    }
}
