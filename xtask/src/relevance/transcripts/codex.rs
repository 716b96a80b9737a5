//! Codex: one rollout for each session in a folder for its day. What is said stands there twice, as an item
//! for the model and as an event for the screen; so do real rollouts, and no hit may come of the second.

use super::super::session::{ANSWER_AFTER, Call, Event, Session};
use super::Transcript;
use anyhow::Result;
use serde_json::{Value, json};
use std::path::Path;

/// The tool whose argument is plain text, not JSON.
const PLAIN_TEXT_TOOL: &str = "apply_patch";

pub(super) fn transcript(session: &Session) -> Result<Transcript> {
    let mut lines = vec![header(session)?];
    for (index, event) in session.events.iter().enumerate() {
        let time = session.moment(index, 0)?;
        match event {
            Event::User(words) => {
                lines.push(message(&time, "user", "input_text", words));
                let shown = json!({"type": "user_message", "message": words, "images": []});
                lines.push(record(&time, "event_msg", &shown));
            }
            Event::Agent(words) => {
                let shown = json!({"type": "agent_message", "message": words});
                lines.push(record(&time, "event_msg", &shown));
                lines.push(message(&time, "assistant", "output_text", words));
            }
            Event::Call(call) => lines.extend(exchange(session, index, call)?),
        }
    }
    let day = session.started.strftime("%Y/%m/%d").to_string();
    let time = session.started.strftime("%Y-%m-%dT%H-%M-%S");
    let name = format!("rollout-{time}-{}.jsonl", session.id());
    Ok(Transcript {
        path: Path::new(".codex/sessions").join(day).join(name),
        lines,
    })
}

fn header(session: &Session) -> Result<Value> {
    let time = session.moment(0, 0)?;
    let mut meta = json!({
        "id": session.id(), "timestamp": time, "cwd": session.cwd, "originator": "codex-tui",
        "cli_version": "0.140.0", "source": "cli",
    });
    if let (Some(branch), Some(meta)) = (&session.branch, meta.as_object_mut()) {
        meta.insert("git".to_owned(), json!({"branch": branch}));
    }
    Ok(record(&time, "session_meta", &meta))
}

fn exchange(session: &Session, index: usize, call: &Call) -> Result<Vec<Value>> {
    let id = format!("call_{}", session.event_id(index, "call"));
    let (asks, answers, input) = match plain_text(call) {
        Some(text) => ("custom_tool_call", "input", text.to_owned()),
        None => (
            "function_call",
            "arguments",
            Value::from(call.input.clone()).to_string(),
        ),
    };
    let asked = json!({"type": asks, "name": call.tool, "call_id": id, answers: input});
    let mut lines = vec![record(&session.moment(index, 0)?, "response_item", &asked)];
    if let Some(result) = &call.result {
        let answer = json!({"type": format!("{asks}_output"), "call_id": id, "output": result});
        let time = session.moment(index, ANSWER_AFTER)?;
        lines.push(record(&time, "response_item", &answer));
    }
    Ok(lines)
}

/// The argument of the tool that takes plain text.
fn plain_text(call: &Call) -> Option<&str> {
    let mut arguments = call.input.values();
    let only = arguments.next().filter(|_| call.tool == PLAIN_TEXT_TOOL)?;
    if arguments.next().is_some() {
        return None;
    }
    only.as_str()
}

fn message(time: &str, role: &str, kind: &str, words: &str) -> Value {
    let content = json!([{"type": kind, "text": words}]);
    let payload = json!({"type": "message", "role": role, "content": content});
    record(time, "response_item", &payload)
}

fn record(time: &str, kind: &str, payload: &Value) -> Value {
    json!({"timestamp": time, "type": kind, "payload": payload})
}

#[cfg(test)]
mod tests {
    use super::super::tests::session;
    use super::*;

    #[test]
    fn a_rollout_has_a_header_and_items() {
        let session = session("codex");
        let Transcript { path, lines } = transcript(&session).unwrap();
        let file = format!(
            ".codex/sessions/2026/03/02/rollout-2026-03-02T23-59-30-{}.jsonl",
            session.id()
        );
        assert_eq!(path, Path::new(&file));
        assert_eq!(lines[0]["payload"]["id"], session.id());
        assert_eq!(lines[0]["payload"]["git"]["branch"], "fix");
        let kinds: Vec<_> = lines.iter().map(|line| line["payload"]["type"].clone()).collect();
        let expected = [
            json!(null),
            json!("message"),
            json!("user_message"),
            json!("agent_message"),
            json!("message"),
            json!("function_call"),
            json!("function_call_output"),
        ];
        assert_eq!(kinds, expected);
        assert_eq!(lines[5]["payload"]["arguments"], "{\"at\":7}");
        assert_eq!(lines[5]["payload"]["call_id"], lines[6]["payload"]["call_id"]);
        assert_eq!(lines[6]["payload"]["output"], "seven");
    }

    #[test]
    fn a_patch_is_plain_text() {
        let mut session = session("codex");
        let input = json!({"patch": "*** Begin Patch"});
        session.events = vec![Event::Call(Call {
            tool: PLAIN_TEXT_TOOL.to_owned(),
            input: input.as_object().unwrap().clone(),
            result: Some("Success".to_owned()),
        })];
        let lines = transcript(&session).unwrap().lines;
        assert_eq!(lines[1]["payload"]["type"], "custom_tool_call");
        assert_eq!(lines[1]["payload"]["input"], "*** Begin Patch");
        assert_eq!(lines[2]["payload"]["type"], "custom_tool_call_output");
    }
}
