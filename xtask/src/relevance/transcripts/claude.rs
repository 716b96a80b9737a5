//! Claude Code: one file for each session in a folder named after the project's path, a line for each
//! message, which names the one it follows. A tool's answer is a message of the user's.

use super::super::session::{ANSWER_AFTER, Call, Event, Session};
use super::Transcript;
use anyhow::Result;
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn transcript(session: &Session) -> Result<Transcript> {
    let mut log = Log {
        session,
        lines: Vec::new(),
        parent: None,
    };
    for (index, event) in session.events.iter().enumerate() {
        match event {
            Event::User(words) => log.user(index, json!(words))?,
            Event::Agent(words) => log.agent(index, &json!({"type": "text", "text": words}))?,
            Event::Call(call) => log.call(index, call)?,
        }
    }
    let folder = Path::new(".claude/projects").join(folder_name(&session.cwd));
    Ok(Transcript {
        path: folder.join(format!("{}.jsonl", session.id())),
        lines: log.lines,
    })
}

/// The agent keeps letters and digits of a path.
fn folder_name(cwd: &str) -> String {
    cwd.replace(|character: char| !character.is_ascii_alphanumeric(), "-")
}

struct Log<'s> {
    session: &'s Session,
    lines: Vec<Value>,
    /// Id of the last message.
    parent: Option<String>,
}

impl Log<'_> {
    fn user(&mut self, index: usize, content: Value) -> Result<()> {
        let time = self.session.moment(index, 0)?;
        let message = json!({"role": "user", "content": content});
        self.push(self.session.event_id(index, "user"), "user", &time, message);
        Ok(())
    }

    fn agent(&mut self, index: usize, block: &Value) -> Result<()> {
        let time = self.session.moment(index, 0)?;
        let message = json!({
            "id": format!("msg_{}", self.session.event_id(index, "message")), "type": "message",
            "role": "assistant", "model": "claude-made-up", "content": [block],
        });
        self.push(self.session.event_id(index, "agent"), "assistant", &time, message);
        Ok(())
    }

    fn call(&mut self, index: usize, call: &Call) -> Result<()> {
        let id = format!("toolu_{}", self.session.event_id(index, "call"));
        self.agent(
            index,
            &json!({"type": "tool_use", "id": id, "name": call.tool, "input": call.input}),
        )?;
        let Some(result) = &call.result else {
            return Ok(());
        };
        let time = self.session.moment(index, ANSWER_AFTER)?;
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": result});
        let message = json!({"role": "user", "content": [block]});
        self.push(self.session.event_id(index, "result"), "user", &time, message);
        Ok(())
    }

    fn push(&mut self, id: String, kind: &str, time: &str, message: Value) {
        let branch = self.session.branch.as_deref().unwrap_or_default();
        self.lines.push(json!({
            "parentUuid": self.parent, "isSidechain": false, "userType": "external",
            "cwd": self.session.cwd, "sessionId": self.session.id(), "version": "2.1.0",
            "gitBranch": branch, "type": kind, "uuid": id, "timestamp": time, "message": message,
        }));
        self.parent = Some(id);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::session;
    use super::*;

    #[test]
    fn a_conversation_is_a_chain_of_messages() {
        let session = session("claude");
        let Transcript { path, lines } = transcript(&session).unwrap();
        let file = format!(".claude/projects/-home-dev-my-app/{}.jsonl", session.id());
        assert_eq!(path, Path::new(&file));
        let kinds: Vec<_> = lines.iter().map(|line| line["type"].clone()).collect();
        assert_eq!(kinds, ["user", "assistant", "assistant", "user"]);
        assert_eq!(lines[0]["parentUuid"], Value::Null);
        for pair in lines.windows(2) {
            assert_eq!(pair[1]["parentUuid"], pair[0]["uuid"]);
        }
        let call = &lines[2]["message"]["content"][0];
        let result = &lines[3]["message"]["content"][0];
        assert_eq!(call["input"], json!({"at": 7}));
        assert_eq!(call["id"], result["tool_use_id"]);
        assert_eq!(result["content"], "seven");
        assert_eq!(lines[3]["timestamp"], "2026-03-03T00:00:58.000Z");
    }
}
