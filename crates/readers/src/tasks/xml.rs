//! Tool calls as tags in an agent's words, which is how models were asked to call tools before they had an
//! interface for it.

use super::envelope::tagged;
use lookback_model::event::ContentBlock;
use serde_json::{Map, Value};

/// Tools that are called by such tags.
const TOOLS: &[&str] = &[
    "execute_command",
    "read_file",
    "write_to_file",
    "replace_in_file",
    "apply_diff",
    "insert_content",
    "search_and_replace",
    "search_files",
    "list_files",
    "list_code_definition_names",
    "codebase_search",
    "browser_action",
    "web_fetch",
    "use_mcp_tool",
    "access_mcp_resource",
    "load_mcp_documentation",
    "fetch_instructions",
    "switch_mode",
    "new_task",
    "new_rule",
    "report_bug",
    "condense",
    "summarize_task",
    "update_todo_list",
    "generate_image",
];

/// Tools by which the agent speaks to the person, and the argument that holds its words.
pub(super) const SPEECH: &[(&str, &str)] = &[
    ("attempt_completion", "result"),
    ("ask_followup_question", "question"),
    ("plan_mode_respond", "response"),
];

/// The blocks of an agent's text.
pub(super) fn blocks(text: &str) -> Vec<ContentBlock> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some((before, tag, inner, after)) = first_tag(rest) {
        words(before, &mut blocks);
        if tag == "thinking" {
            blocks.push(ContentBlock::Reasoning {
                text: inner.trim().to_owned(),
            });
        } else if let Some((_, argument)) = SPEECH.iter().find(|(tool, _)| *tool == tag) {
            let said = tagged(inner, argument).map_or(inner, |(_, said, _)| said);
            words(said, &mut blocks);
        } else {
            blocks.push(ContentBlock::ToolCall {
                id: String::new(),
                name: tag.to_owned(),
                arguments: arguments(inner),
            });
        }
        rest = after;
    }
    words(rest, &mut blocks);
    blocks
}

fn words(text: &str, blocks: &mut Vec<ContentBlock>) {
    let text = text.trim();
    if !text.is_empty() {
        blocks.push(ContentBlock::text(text));
    }
}

fn first_tag(text: &str) -> Option<(&str, &'static str, &str, &str)> {
    if !text.contains('<') {
        return None;
    }
    let speech = SPEECH.iter().map(|(tool, _)| *tool);
    TOOLS
        .iter()
        .copied()
        .chain(speech)
        .chain(["thinking"])
        .filter_map(|tag| tagged(text, tag).map(|(before, inner, after)| (before, tag, inner, after)))
        .min_by_key(|(before, ..)| before.len())
}

/// Arguments as JSON: the tags inside a call's, or all of it as it stands.
fn arguments(inner: &str) -> String {
    let mut fields = Map::new();
    let mut rest = inner;
    while let Some(at) = rest.find('<') {
        let from = rest.get(at + 1..).unwrap_or_default();
        let name = from.split('>').next().unwrap_or_default();
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        match tagged(rest, name).filter(|_| is_name) {
            Some((_, value, after)) => {
                fields.insert(name.to_owned(), Value::from(value.trim()));
                rest = after;
            }
            None => rest = from,
        }
    }
    if fields.is_empty() {
        return inner.trim().to_owned();
    }
    Value::Object(fields).to_string()
}

#[cfg(test)]
mod tests {
    //! Property: tags become calls, reasoning and speech; all other words stay words.
    use super::*;

    #[test]
    fn tags_become_blocks() {
        let text = "I look.\n<thinking>first the list</thinking>\n<execute_command>\n<command>ls <dir></command>\n</execute_command>";
        assert_eq!(blocks(text), [
            ContentBlock::text("I look."),
            ContentBlock::Reasoning {
                text: "first the list".into()
            },
            ContentBlock::ToolCall {
                id: String::new(),
                name: "execute_command".into(),
                arguments: r#"{"command":"ls <dir>"}"#.into()
            },
        ]);
        assert_eq!(
            blocks("<attempt_completion>\n<result>Done: a < b.</result>\n</attempt_completion>"),
            [ContentBlock::text("Done: a < b.")]
        );
        assert_eq!(blocks("Vec<String> stays"), [ContentBlock::text("Vec<String> stays")]);
    }
}
