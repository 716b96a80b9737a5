//! Which part of a user message a person typed, and which part the agent's program put in.

use lookback_model::event::ContentBlock;

/// A user message taken apart.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Parts {
    /// Texts that stand in the message by themselves, with why.
    pub(super) injected: Vec<(&'static str, String)>,
    /// Texts that an editor put around the prompt.
    pub(super) wrapping: Vec<String>,
    /// What the person typed and pasted.
    pub(super) own: Vec<ContentBlock>,
}

/// Openings of texts that are never typed.
const OPENINGS: &[&str] = &[
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions for ",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<skills_instructions>",
    "<apps_instructions>",
    "<plugins_instructions>",
    "<skill>",
    "<turn_aborted>",
    "<recommended_plugins>",
    "<subagent_notification>",
    "<multi_agent_mode>",
    "<model_switch>",
    "<personality_spec>",
];

/// Above it an editor describes what the person has open.
const REQUEST_HEADING: &str = "## My request for Codex:";

/// Text after an image.
const IMAGE_END: &str = "</image>";

/// Takes a user message apart.
pub(super) fn take_apart(blocks: Vec<ContentBlock>) -> Parts {
    let mut parts = Parts::default();
    let is_end =
        |block: &ContentBlock| matches!(block, ContentBlock::Text { text } if text.trim() == IMAGE_END);
    let mut image_ends = blocks.iter().filter(|block| is_end(block)).count();
    let mut in_image = false;
    for block in blocks {
        let ContentBlock::Text { text } = block else {
            parts.own.push(block);
            continue;
        };
        let trimmed = text.trim();
        // Around an image stand two texts that name it; between them a note when it is missing.
        if trimmed == "<image>" || (trimmed.starts_with("<image name=") && trimmed.ends_with('>')) {
            in_image = image_ends > 0;
            continue;
        }
        if trimmed == IMAGE_END {
            image_ends -= 1;
            in_image = false;
            continue;
        }
        if in_image {
            parts.injected.push(("image", text));
            continue;
        }
        if let Some(source) = injection(trimmed) {
            parts.injected.push((source, text));
            continue;
        }
        match request(&text) {
            Some((before, request)) => {
                if !before.trim().is_empty() {
                    parts.wrapping.push(before.trim().to_owned());
                }
                parts.own.push(ContentBlock::text(request.trim()));
            }
            None => parts.own.push(ContentBlock::Text { text }),
        }
    }
    parts
}

/// Why a text was put in by the agent's program; `None` when a person may have typed it.
fn injection(trimmed: &str) -> Option<&'static str> {
    if trimmed.starts_with("<user_shell_command>") {
        return Some("command");
    }
    let is_known = OPENINGS.iter().any(|opening| trimmed.starts_with(opening));
    (is_known || is_wrapped(trimmed)).then_some("injected")
}

/// Whether a text as a whole stands in one tag of the kind that new releases add: `<some_name>`.
fn is_wrapped(trimmed: &str) -> bool {
    let Some((tag, _)) = trimmed.strip_prefix('<').and_then(|rest| rest.split_once('>')) else {
        return false;
    };
    let is_name = tag.contains('_') && tag.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_name
        && trimmed
            .strip_suffix('>')
            .and_then(|rest| rest.strip_suffix(tag))
            .is_some_and(|rest| rest.ends_with("</"))
}

/// Splits at the line that heads the person's request.
fn request(text: &str) -> Option<(&str, &str)> {
    let at = match text.starts_with(REQUEST_HEADING) {
        true => 0,
        false => text
            .match_indices(REQUEST_HEADING)
            .map(|(at, _)| at)
            .find(|&at| {
                text.get(..at)
                    .is_some_and(|before| before.trim_start().starts_with("# ") && before.ends_with('\n'))
            })?,
    };
    let request = text.get(at + REQUEST_HEADING.len()..)?;
    Some((text.get(..at)?, request))
}

/// The working directory that an `<environment_context>` names.
pub(super) fn working_directory(text: &str) -> Option<&str> {
    let context = text.trim_start().strip_prefix("<environment_context>")?;
    let (_, rest) = context.split_once("<cwd>")?;
    let (cwd, _) = rest.split_once("</cwd>")?;
    Some(cwd.trim()).filter(|cwd| !cwd.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(texts: &[&str]) -> (Vec<(&'static str, String)>, Vec<String>, Vec<String>) {
        let parts = take_apart(texts.iter().map(|text| ContentBlock::text(*text)).collect());
        let own = parts.own.into_iter().filter_map(|block| match block {
            ContentBlock::Text { text } => Some(text),
            _ => None,
        });
        (parts.injected, parts.wrapping, own.collect())
    }

    /// Property: what the program put in never counts as typed, known tag or new one.
    #[test]
    fn injected_texts_are_told_from_typed_ones() {
        for text in [
            "# AGENTS.md instructions for /w\n\nbe brief",
            "<environment_context>\n<cwd>/w</cwd>\n</environment_context>",
            "<some_new_notice>\nhello\n</some_new_notice>\n",
            "<skill>\n<name>x</name>",
        ] {
            assert_eq!(
                apart(&[text]),
                (vec![("injected", text.to_owned())], vec![], vec![]),
                "{text}"
            );
        }
        assert_eq!(
            apart(&["<user_shell_command>ls</user_shell_command>"]).0[0].0,
            "command"
        );
        for text in [
            "why does <environment_context> appear?",
            "<b>bold</b>",
            "<a_b> is what </c_d>",
            "a < b > c",
            "<",
        ] {
            assert_eq!(apart(&[text]), (vec![], vec![], vec![text.to_owned()]), "{text}");
        }
    }

    /// Property: of a prompt with an editor's context only the request is the person's.
    #[test]
    fn the_request_is_what_follows_its_heading() {
        let text =
            "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nfix a.rs\n";
        let (injected, wrapping, own) = apart(&[text]);
        assert!(injected.is_empty());
        assert_eq!(
            wrapping,
            ["# Context from my IDE setup:\n\n## Open tabs:\n- a.rs"]
        );
        assert_eq!(own, ["fix a.rs"]);
        let quoted = "what does `## My request for Codex:` do?";
        assert_eq!(apart(&[quoted]).2, [quoted]);
    }

    #[test]
    fn the_texts_around_an_image_are_no_words() {
        let texts = [
            "<image name=[Image #1] path=\"/tmp/a.png\">",
            "could not be processed",
            "</image>",
            "what is it?",
        ];
        assert_eq!(apart(&texts).2, ["what is it?"]);
        assert_eq!(apart(&["<image>", "</image>"]).2, [""; 0]);
        assert_eq!(
            apart(&["<image>", "an image without an end"]).2,
            ["an image without an end"]
        );
    }

    #[test]
    fn environment_context_names_the_working_directory() {
        let text = "<environment_context>\n  <cwd>/home/dev/shop</cwd>\n</environment_context>";
        assert_eq!(working_directory(text), Some("/home/dev/shop"));
        assert_eq!(working_directory("<cwd>/x</cwd>"), None);
    }
}
