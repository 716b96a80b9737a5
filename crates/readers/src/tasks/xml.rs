//! Tool calls as tags in an agent's words, which is how models were asked to call tools before they had an
//! interface for it.

use super::envelope::first_of;
use lookback_model::event::ContentBlock;
use serde_json::{Map, Value};

/// Tags that are something else than words.
const TAGS: &[&str] = &[
    "thinking",
    "attempt_completion",
    "ask_followup_question",
    "plan_mode_respond",
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
    while let Some(found) = first_of(rest, TAGS) {
        words(found.before, &mut blocks);
        let (tag, inside) = (found.tag, found.inside);
        if tag == "thinking" {
            blocks.push(ContentBlock::Reasoning {
                text: inside.trim().to_owned(),
            });
        } else if let Some((_, argument)) = SPEECH.iter().find(|(tool, _)| *tool == tag) {
            let said = first_of(inside, &[*argument]).map_or(inside, |said| said.inside);
            words(said, &mut blocks);
        } else {
            blocks.push(ContentBlock::ToolCall {
                id: String::new(),
                name: tag.to_owned(),
                arguments: arguments(inside),
            });
        }
        rest = found.after;
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

/// Arguments as JSON: the tags inside a call's, or all of it as it stands.
fn arguments(inside: &str) -> String {
    let mut fields = Map::new();
    let mut rest = inside;
    while let Some(at) = memchr::memchr(b'<', rest.as_bytes()) {
        rest = rest.get(at + 1..).unwrap_or_default();
        let Some(name) = argument_name(rest) else {
            continue;
        };
        let value = rest.get(name.len() + 1..).unwrap_or_default();
        let (value, after) = value.split_once(&format!("</{name}>")).unwrap_or((value, ""));
        fields.insert(name.to_owned(), Value::from(value.trim()));
        rest = after;
    }
    if fields.is_empty() {
        return inside.trim().to_owned();
    }
    Value::Object(fields).to_string()
}

/// No argument has a longer name.
const LONGEST_NAME: usize = 40;

/// The name of an argument whose tag is opened here.
fn argument_name(text: &str) -> Option<&str> {
    let end = text.bytes().take(LONGEST_NAME).position(|byte| byte == b'>')?;
    let name = text.get(..end)?;
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    (!name.is_empty() && name.bytes().all(is_name)).then_some(name)
}

#[cfg(test)]
mod tests {
    //! Property: tags become calls, reasoning and speech; all other words stay words.
    use super::*;

    #[test]
    fn tags_become_blocks() {
        let text = "I look.\n<thinking>first the list</thinking>\n<execute_command>\n<command>ls <dir></command>\n</execute_command>";
        assert_eq!(
            blocks(text),
            [
                ContentBlock::text("I look."),
                ContentBlock::Reasoning {
                    text: "first the list".into()
                },
                ContentBlock::ToolCall {
                    id: String::new(),
                    name: "execute_command".into(),
                    arguments: r#"{"command":"ls <dir>"}"#.into()
                },
            ]
        );
        assert_eq!(
            blocks("<attempt_completion>\n<result>Done: a < b.</result>\n</attempt_completion>"),
            [ContentBlock::text("Done: a < b.")]
        );
        assert_eq!(
            blocks("Vec<String> stays"),
            [ContentBlock::text("Vec<String> stays")]
        );
    }
}
