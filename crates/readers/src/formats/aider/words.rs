//! What the blocks of a history say: prompts and commands, replies with their reasoning, and what the
//! program's notices tell of the session.

use lookback_model::SessionFacts;
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use lookback_model::session::SessionKind;

/// What an empty line of a prompt is written as.
const BLANK: &str = "<blank>";

/// Commands whose words are the person's, to the model or to a shell. The others steer the program.
const SPOKEN: &[&str] = &[
    "architect",
    "ask",
    "code",
    "context",
    "help",
    "run",
    "test",
    "web",
];

/// Commands that empty the conversation.
const CLEARING: &[&str] = &["clear", "reset"];

/// What a person typed.
#[derive(Debug, PartialEq)]
pub(super) enum Typed {
    /// Nothing.
    Nothing,
    /// Words for the model, or a command for a shell.
    Prompt(Message),
    /// A command for the program.
    Command {
        message: Message,
        /// Whether the conversation begins anew after it.
        clears: bool,
    },
}

/// What the lines of a prompt say.
pub(super) fn typed(lines: &str) -> Typed {
    let words: Vec<&str> = lines.lines().map(prompt_line).collect();
    let words = words.join("\n");
    let words = words.trim();
    if words.is_empty() {
        return Typed::Nothing;
    }
    let Some(command) = words.strip_prefix('/') else {
        return Typed::Prompt(Message::text(words));
    };
    let name = command.split_whitespace().next().unwrap_or_default();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let has_words = command.len() > name.len();
    if !is_name || SPOKEN.contains(&name) && has_words {
        return Typed::Prompt(Message::text(words));
    }
    Typed::Command {
        message: Message::text(words).from_source("command"),
        clears: CLEARING.contains(&name),
    }
}

/// A line without its mark, which is taken off once: what the person typed may begin like it.
fn prompt_line(line: &str) -> &str {
    let line = line.strip_prefix(super::blocks::PROMPT).unwrap_or(line);
    let line = line.strip_prefix(' ').unwrap_or(line);
    let line = line.strip_suffix("  ").unwrap_or(line);
    if line == BLANK { "" } else { line }
}

const THINKING: &str = "► **THINKING**";
const ANSWER: &str = "► **ANSWER**";

/// A reply; reasoning stands before a heading of the agent's.
pub(super) fn reply(text: &str) -> Option<Message> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let mut message = Message::default();
    let answer = match text.split_once(THINKING) {
        Some((before, rest)) if is_ruled(before) => {
            let (reasoning, answer) = rest.split_once(ANSWER).unwrap_or((rest, ""));
            let text = reasoning.trim().trim_end_matches('-').trim().to_owned();
            message.content.push(ContentBlock::Reasoning { text });
            answer.trim()
        }
        _ => text,
    };
    if !answer.is_empty() {
        message.content.push(ContentBlock::text(answer));
    }
    Some(message)
}

/// Whether there is nothing but a rule.
fn is_ruled(text: &str) -> bool {
    text.trim().bytes().all(|byte| byte == b'-')
}

/// What the program said, if it is worth keeping, and what it tells of the session. Before the first prompt
/// it presents itself.
pub(super) fn notice(text: &str, is_banner: bool, facts: &mut SessionFacts) -> Option<EventData> {
    let mut lines: Vec<&str> = text.lines().map(notice_line).collect();
    if is_banner {
        take_command_line(&mut lines, facts);
    }
    lines.iter().for_each(|line| take_fact(line, facts));
    lines.retain(|line| !line.starts_with("Tokens: "));
    let kept = lines.join("\n");
    let kept = kept.trim();
    if kept.is_empty() {
        return None;
    }
    if is_banner {
        return Some(EventData::ContextMessage(
            Message::text(kept).from_source("banner"),
        ));
    }
    Some(EventData::ToolResult(ToolResult {
        content: vec![ContentBlock::text(kept)],
        ..ToolResult::default()
    }))
}

fn notice_line(line: &str) -> &str {
    let line = line.strip_prefix('>').unwrap_or(line);
    line.strip_prefix(' ').unwrap_or(line).trim_end()
}

/// Takes out the command line, which stands before the version and may hold keys; a prompt on it stands
/// below once more.
fn take_command_line(lines: &mut Vec<&str>, facts: &mut SessionFacts) {
    let version = lines.iter().position(|line| line.starts_with(VERSION));
    let Some(at) = version.and_then(|at| at.checked_sub(1)) else {
        return;
    };
    let command = lines.remove(at);
    let mut arguments = command.split_whitespace();
    let is_message = |argument: &str| {
        let name = argument.split('=').next().unwrap_or_default();
        matches!(name, "--message" | "--msg" | "-m" | "--message-file" | "-f")
    };
    if arguments.any(is_message) {
        facts.kind = SessionKind::Headless;
    }
}

const VERSION: &str = "Aider v";

fn take_fact(line: &str, facts: &mut SessionFacts) {
    if let Some(version) = line.strip_prefix(VERSION) {
        facts.agent_version = Some(version.to_owned());
    }
    let model = ["Model: ", "Models: ", "Main model: "]
        .into_iter()
        .find_map(|label| line.strip_prefix(label));
    if let Some((model, _)) = model.and_then(|model| model.split_once(" with ")) {
        facts.model = Some(model.to_owned());
    }
}

#[cfg(test)]
mod tests {
    //! Properties: a mark is taken off once; commands that speak are prompts; keys are not kept.
    use super::*;

    fn prompt(text: &str) -> Typed {
        Typed::Prompt(Message::text(text))
    }

    #[test]
    fn prompts_and_commands() {
        assert_eq!(
            typed("#### What is the #### heading for?  \n#### <blank>  \n####  indented  "),
            prompt("What is the #### heading for?\n\n indented")
        );
        assert_eq!(typed("#### #### twice"), prompt("#### twice"));
        assert_eq!(typed("#### <blank>  "), Typed::Nothing);
        assert_eq!(typed("#### /ask why?  "), prompt("/ask why?"));
        assert_eq!(typed("#### /usr/bin/env fails"), prompt("/usr/bin/env fails"));
        let command = |text: &str, clears| Typed::Command {
            message: Message::text(text).from_source("command"),
            clears,
        };
        assert_eq!(typed("#### /add x.rs  "), command("/add x.rs", false));
        assert_eq!(typed("#### /ask"), command("/ask", false));
        assert_eq!(typed("#### /clear  "), command("/clear", true));
    }

    #[test]
    fn the_command_line_is_left_out() {
        let mut facts = SessionFacts::default();
        let banner = "> aider --openai-api-key sk-made-up -m hi  \n> Aider v0.86.2  \n> Main model: a/b with diff edit format  ";
        let Some(EventData::ContextMessage(message)) = notice(banner, true, &mut facts) else {
            panic!("no context");
        };
        assert_eq!(
            message.content,
            [ContentBlock::text(
                "Aider v0.86.2\nMain model: a/b with diff edit format"
            )]
        );
        assert_eq!(facts.kind, SessionKind::Headless);
        assert_eq!(facts.model.as_deref(), Some("a/b"));
        assert_eq!(facts.agent_version.as_deref(), Some("0.86.2"));
    }

    #[test]
    fn reasoning_stands_before_the_answer() {
        let text = "--------------\n► **THINKING**\n\nhmm\n\n------------\n► **ANSWER**\n\nyes";
        let content = reply(text).unwrap().content;
        let reasoning = ContentBlock::Reasoning { text: "hmm".into() };
        assert_eq!(content, [reasoning, ContentBlock::text("yes")]);
    }
}
