//! A person with a home folder, sessions in it, and a `lookback` to call.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// 2026-05-04T09:00:00Z, when sessions of these tests begin.
const BEGIN: i64 = 1_777_885_200_000;

pub(crate) struct Person {
    folder: TempDir,
}

/// What a call came to.
pub(crate) struct Call {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Call {
    /// Standard output as one line of JSON.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{}", self.err);
        assert_eq!(self.out.lines().count(), 1, "{}", self.out);
        serde_json::from_str(&self.out).unwrap()
    }

    /// The ids of an answer's hits.
    pub(crate) fn hits(&self) -> Vec<String> {
        ids(&self.json()["hits"])
    }
}

/// The ids of hits or sessions.
pub(crate) fn ids(rows: &Value) -> Vec<String> {
    let id = |row: &Value| row["sessionId"].as_str().unwrap().to_owned();
    rows.as_array().unwrap().iter().map(id).collect()
}

impl Person {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        Self { folder }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A call that is not yet made.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lookback"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.home())
            .env("LOOKBACK_DATA_DIR", self.data())
            .env("TZ", "UTC")
            .env("TMPDIR", self.folder.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn call(&self, arguments: &[&str]) -> Call {
        finish(&mut self.command(arguments))
    }

    pub(crate) fn write(&self, path: &str, content: &str) -> PathBuf {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// A Claude Code session in which person and agent speak in turn, a minute apart.
    pub(crate) fn claude(&self, id: &str, turns: &[&str]) -> PathBuf {
        let mut records = Vec::new();
        for (number, words) in turns.iter().enumerate() {
            let number = number as i64;
            let role = if number % 2 == 0 { "user" } else { "assistant" };
            records.push(record(
                id,
                number,
                (number > 0).then(|| number - 1),
                role,
                json!(words),
            ));
        }
        self.claude_records(id, &records)
    }

    pub(crate) fn claude_records(&self, id: &str, records: &[Value]) -> PathBuf {
        self.write(&format!(".claude/projects/-srv-shop/{id}.jsonl"), &lines(records))
    }

    /// A session of a subagent of `parent`.
    pub(crate) fn subagent(&self, parent: &str, agent: &str, turns: &[&str]) -> PathBuf {
        let mut records = Vec::new();
        for (number, words) in turns.iter().enumerate() {
            let number = number as i64;
            let role = if number % 2 == 0 { "user" } else { "assistant" };
            let mut record = record(
                parent,
                100 + number,
                (number > 0).then_some(99 + number),
                role,
                json!(words),
            );
            record["isSidechain"] = json!(true);
            record["agentId"] = json!(agent);
            records.push(record);
        }
        let path = format!(".claude/projects/-srv-shop/{parent}/subagents/agent-{agent}.jsonl");
        self.write(&path, &lines(&records))
    }

    /// A Codex session of one prompt and one reply.
    pub(crate) fn codex(&self, id: &str, prompt: &str, reply: &str) -> PathBuf {
        let at = |minute: i64| time(600 + minute);
        let message = |role: &str, block: &str, words: &str| json!({"type": "message", "role": role, "content": [{"type": block, "text": words}]});
        let records = [
            json!({"timestamp": at(0), "type": "session_meta", "payload": {"id": id, "timestamp": at(0),
                "cwd": "/srv/warehouse", "originator": "codex_cli_rs", "cli_version": "0.130.0", "source": "cli"}}),
            json!({"timestamp": at(0), "type": "event_msg", "payload": {"type": "user_message", "message": prompt}}),
            json!({"timestamp": at(0), "type": "response_item", "payload": message("user", "input_text", prompt)}),
            json!({"timestamp": at(1), "type": "response_item", "payload": message("assistant", "output_text", reply)}),
        ];
        self.write(
            &format!(".codex/sessions/2026/05/04/rollout-2026-05-04T19-00-00-{id}.jsonl"),
            &lines(&records),
        )
    }
}

/// Makes a call and waits for its end.
pub(crate) fn finish(command: &mut Command) -> Call {
    let output = command.output().unwrap();
    Call {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A record of Claude Code; `content` is text or blocks.
pub(crate) fn record(session: &str, number: i64, parent: Option<i64>, role: &str, content: Value) -> Value {
    let content = match content {
        Value::String(words) if role == "assistant" => json!([{"type": "text", "text": words}]),
        other => other,
    };
    let mut message = json!({"role": role, "content": content});
    if role == "assistant" {
        message["id"] = json!(format!("msg_{session}_{number}"));
        message["model"] = json!("claude-test");
    }
    json!({"parentUuid": parent.map(|parent| uuid(session, parent)), "isSidechain": false, "userType": "external", "cwd": "/srv/shop",
        "sessionId": session, "version": "2.1.200", "gitBranch": "main", "type": role, "message": message,
        "uuid": uuid(session, number), "timestamp": time(number)})
}

/// The id of a record; two sessions share none, or they would be copies of one another.
pub(crate) fn uuid(session: &str, number: i64) -> String {
    let mark = session
        .bytes()
        .fold(7u32, |mark, byte| mark.wrapping_mul(31).wrapping_add(byte.into()));
    format!("{mark:08x}-0000-4000-8000-{number:012}")
}

/// Minutes after the beginning.
pub(crate) fn time(minute: i64) -> String {
    let instant = lookback_model::Timestamp(BEGIN + minute * 60_000);
    instant.to_rfc3339()
}

pub(crate) fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// Adds a record at a transcript's end.
pub(crate) fn append(path: &Path, text: &str) {
    let mut content = fs::read_to_string(path).unwrap();
    content.push_str(text);
    fs::write(path, content).unwrap();
}
