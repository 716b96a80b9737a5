//! Gemini CLI: one journal for each session in a folder for its project. The transcript does not tell the
//! project's path; a registry in the agent's folder does.

use super::super::session::{ANSWER_AFTER, Call, Event, Session};
use super::Transcript;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Where the agent notes which folder is which project's.
pub(super) const REGISTRY: &str = ".gemini/projects.json";

/// Folders given to projects so far, by the project's path.
#[derive(Default)]
pub(super) struct Projects(BTreeMap<String, String>);

impl Projects {
    /// The folder of the project at `cwd`: its last name, with a number when another project has that.
    pub(super) fn folder_of(&mut self, cwd: &str) -> &str {
        let name = cwd.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let name = name.to_lowercase();
        let name = name.replace(|character: char| !character.is_ascii_alphanumeric(), "-");
        let is_free = |name: &String| !self.0.values().any(|taken| taken == name);
        let numbered = (1..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(is_free);
        self.0.entry(cwd.to_owned()).or_insert(free.unwrap_or(name))
    }

    /// What the registry holds.
    pub(super) fn registry(&self) -> Value {
        json!({"projects": self.0})
    }
}

pub(super) fn transcript(session: &Session, project: &str) -> Result<Transcript> {
    let id = session.id();
    let start = session.moment(0, 0)?;
    let mut lines = vec![json!({
        "sessionId": id, "projectHash": session.event_id(0, "project"), "startTime": start,
        "lastUpdated": start, "kind": "main",
    })];
    for (index, event) in session.events.iter().enumerate() {
        lines.push(message(session, index, event)?);
        lines.push(json!({"$set": {"lastUpdated": session.moment(index, 0)?}}));
    }
    let time = session.started.strftime("%Y-%m-%dT%H-%M");
    let short = id.split('-').next().unwrap_or_default();
    let chats = Path::new(".gemini/tmp").join(project).join("chats");
    Ok(Transcript {
        path: chats.join(format!("session-{time}-{short}.jsonl")),
        lines,
    })
}

fn message(session: &Session, index: usize, event: &Event) -> Result<Value> {
    let id = session.event_id(index, "message");
    let time = session.moment(index, 0)?;
    Ok(match event {
        Event::User(words) => {
            json!({"id": id, "timestamp": time, "type": "user", "content": [{"text": words}]})
        }
        Event::Agent(words) => json!({
            "id": id, "timestamp": time, "type": "gemini", "content": words, "thoughts": [],
            "tokens": null, "model": "gemini-made-up",
        }),
        Event::Call(call) => json!({
            "id": id, "timestamp": time, "type": "gemini", "content": "", "thoughts": [],
            "tokens": null, "model": "gemini-made-up", "toolCalls": [tool_call(session, index, call)?],
        }),
    })
}

fn tool_call(session: &Session, index: usize, call: &Call) -> Result<Value> {
    let id = format!("{}-{}", call.tool, session.event_id(index, "call"));
    let result = call.result.as_ref().map(
        |output| json!([{"functionResponse": {"id": id, "name": call.tool, "response": {"output": output}}}]),
    );
    let status = if result.is_some() { "success" } else { "executing" };
    Ok(json!({
        "id": id, "name": call.tool, "args": call.input, "status": status,
        "timestamp": session.moment(index, ANSWER_AFTER)?, "result": result,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::session;
    use super::*;

    #[test]
    fn a_journal_has_a_header_and_messages() {
        let session = session("gemini");
        let Transcript { path, lines } = transcript(&session, "my-app").unwrap();
        let short = &session.id()[..8];
        let file = format!(".gemini/tmp/my-app/chats/session-2026-03-02T23-59-{short}.jsonl");
        assert_eq!(path, Path::new(&file));
        assert_eq!(lines[0]["sessionId"], session.id());
        assert_eq!(lines[1]["content"][0]["text"], "why");
        assert_eq!(lines[3]["content"], "because");
        let call = &lines[5]["toolCalls"][0];
        assert_eq!(call["args"], json!({"at": 7}));
        assert_eq!(
            call["result"][0]["functionResponse"]["response"]["output"],
            "seven"
        );
        assert_eq!(lines.len(), 7);
    }

    #[test]
    fn each_project_has_a_folder_of_its_own() {
        let mut projects = Projects::default();
        assert_eq!(projects.folder_of("/home/a/My_App"), "my-app");
        assert_eq!(projects.folder_of("/home/b/my-app"), "my-app-1");
        assert_eq!(projects.folder_of("/home/a/My_App"), "my-app");
        let expected = json!({"projects": {"/home/a/My_App": "my-app", "/home/b/my-app": "my-app-1"}});
        assert_eq!(projects.registry(), expected);
    }
}
