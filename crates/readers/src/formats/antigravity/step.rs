//! What a step says, and what it tells of the conversation.

use crate::document::{items, text, words};
use lookback_model::SessionFacts;
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use serde_json::{Map, Value};

/// What a step says; `None` for what the program adds for the model.
pub(super) fn said(step: &Value, facts: &mut SessionFacts) -> Option<EventData> {
    let content = text(step, "content");
    match (text(step, "type"), text(step, "source")) {
        ("USER_INPUT", _) => {
            take_model(content, facts);
            let request = request(content);
            (!request.is_empty()).then(|| EventData::UserMessage(Message::text(request)))
        }
        ("PLANNER_RESPONSE", _) => reply(step, facts),
        ("CHECKPOINT", _) => {
            facts.compactions += 1;
            (!content.trim().is_empty())
                .then(|| EventData::ContextMessage(Message::text(content).from_source("compaction")))
        }
        ("ERROR_MESSAGE", _) => (!content.trim().is_empty())
            .then(|| EventData::ContextMessage(Message::text(content).from_source("error"))),
        ("CONVERSATION_HISTORY" | "SYSTEM_MESSAGE" | "EPHEMERAL_MESSAGE", _) => None,
        // What tools answer counts as the model's.
        (_, "MODEL") => Some(EventData::ToolResult(ToolResult {
            content: vec![ContentBlock::text(without_times(content))],
            is_error: text(step, "status") == "ERROR",
            ..ToolResult::default()
        })),
        _ => None,
    }
}

const REQUEST: &str = "<USER_REQUEST>";

/// What the person asked, without what the editor says beside it.
pub(super) fn request(content: &str) -> &str {
    let Some((_, inside)) = content.split_once(REQUEST) else {
        let added = ["<ADDITIONAL_METADATA>", "<USER_SETTINGS_CHANGE>"];
        let end = added.iter().filter_map(|tag| content.find(tag)).min();
        return content
            .get(..end.unwrap_or(content.len()))
            .unwrap_or(content)
            .trim();
    };
    inside.split("</USER_REQUEST>").next().unwrap_or(inside).trim()
}

/// `The user changed setting `Model Selection` from None to Gemini 3.5 Flash (Medium).`
fn take_model(content: &str, facts: &mut SessionFacts) {
    let Some((_, change)) = content.split_once("setting `Model Selection` from ") else {
        return;
    };
    let line = change.lines().next().unwrap_or_default();
    let chosen = line.split_once(" to ").map(|(_, to)| to.trim_end());
    let sentence_end = chosen.and_then(|to| to.split_once(". ")).map(|(model, _)| model);
    if let Some(model) = sentence_end.or(chosen) {
        let model = model.strip_suffix('.').unwrap_or(model);
        facts.model = Some(model.to_owned());
    }
}

fn reply(step: &Value, facts: &mut SessionFacts) -> Option<EventData> {
    let mut message = Message::default();
    let thoughts = words(step, "thinking").map(str::to_owned);
    message
        .content
        .extend(thoughts.map(|text| ContentBlock::Reasoning { text }));
    message
        .content
        .extend(words(step, "content").map(ContentBlock::text));
    for call in items(step, "tool_calls") {
        let arguments = arguments(call.get("args").unwrap_or(&Value::Null));
        if let (None, Some(folder)) = (&facts.cwd, words(&arguments, "Cwd")) {
            facts.cwd = Some(folder.to_owned());
        }
        message.content.push(ContentBlock::ToolCall {
            id: text(call, "id").to_owned(),
            name: text(call, "name").to_owned(),
            arguments: crate::document::plain(&arguments),
        });
    }
    (!message.content.is_empty()).then_some(EventData::AssistantMessage(message))
}

/// Arguments of which each is JSON in a text.
pub(super) fn arguments(written: &Value) -> Value {
    let Value::Object(fields) = written else {
        return written.clone();
    };
    let read = fields.iter().map(|(name, value)| {
        let inner = value.as_str().and_then(|text| serde_json::from_str(text).ok());
        (name.clone(), inner.unwrap_or_else(|| value.clone()))
    });
    Value::Object(read.collect::<Map<_, _>>())
}

/// An answer without the lines that say when it was made.
fn without_times(content: &str) -> &str {
    let mut rest = content;
    while let Some((line, after)) = rest.split_once('\n') {
        if !line.starts_with("Created At: ") && !line.starts_with("Completed At: ") {
            break;
        }
        rest = after;
    }
    rest
}

#[cfg(test)]
mod tests {
    //! Property: of what stands beside a request only the model is kept, and arguments are read as they are meant.
    use super::*;
    use serde_json::json;

    #[test]
    fn requests_and_models() {
        let content = "<USER_REQUEST>\nList it.\n</USER_REQUEST>\n<USER_SETTINGS_CHANGE>\nThe user changed setting `Model Selection` from None to Ada 3.5 (Low). No need to comment.\n</USER_SETTINGS_CHANGE>";
        let mut facts = SessionFacts::default();
        take_model(content, &mut facts);
        assert_eq!(request(content), "List it.");
        assert_eq!(facts.model.as_deref(), Some("Ada 3.5 (Low)"));
        assert_eq!(request("plain\n<ADDITIONAL_METADATA>x"), "plain");
        assert_eq!(
            arguments(&json!({"Path": "\"/srv\"", "N": "3", "Text": "say \"hi"})),
            json!({"Path": "/srv", "N": 3, "Text": "say \"hi"})
        );
        assert_eq!(without_times("Created At: x\nCompleted At: y\nout"), "out");
    }
}
