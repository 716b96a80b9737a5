//! What a message of the person's role holds: words of theirs in tags, state of the editor, and, before models
//! had an interface for tools, what tools answered.

/// Whose words a part of a text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part<'t> {
    /// The person's.
    Person(&'t str),
    /// What the program tells the model.
    Program(&'t str),
    /// What a tool answered; its name stands in the text.
    Answer(&'t str),
    /// The folder that the editor has open, from its state.
    Folder(&'t str),
}

/// Tags around the person's words.
const PERSON: &[&str] = &["user_input", "task", "user_message", "feedback", "answer"];

/// State of the editor, renewed with every message.
const STATE: &str = "environment_details";

/// How notices of the program begin.
const NOTICES: &[&str] = &["[ERROR]", "[TASK RESUMPTION]", "[NOTICE]", "# Reminder"];

/// The parts of a text block. In `answering` a message's earlier block was a tool's answer, which goes on until
/// there are tags.
pub(super) fn parts<'t>(text: &'t str, answering: &mut bool) -> Vec<Part<'t>> {
    let mut parts = Vec::new();
    let text = without_state(text, &mut parts);
    for text in text {
        person_in(text.trim(), answering, &mut parts);
    }
    parts
}

/// The text without the editor's state, as the stretches around it.
fn without_state<'t>(text: &'t str, parts: &mut Vec<Part<'t>>) -> Vec<&'t str> {
    let mut stretches = Vec::new();
    let mut rest = text;
    while let Some(state) = first_of(rest, &[STATE]) {
        stretches.push(state.before);
        parts.extend(folder(state.inside).map(Part::Folder));
        rest = state.after;
    }
    stretches.push(rest);
    stretches
}

/// `# Current Workspace Directory (/srv/shop) Files`, or `Working`.
fn folder(state: &str) -> Option<&str> {
    let heading = state.lines().find(|line| {
        line.starts_with("# Current Work") && line.contains("Directory (") && line.contains(')')
    })?;
    let (_, after) = heading.split_once("Directory (")?;
    let (folder, _) = after.rsplit_once(')')?;
    Some(folder)
}

fn person_in<'t>(text: &'t str, answering: &mut bool, parts: &mut Vec<Part<'t>>) {
    if text.is_empty() {
        return;
    }
    let is_notice = NOTICES.iter().any(|notice| text.starts_with(notice));
    *answering |= is_answer(text);
    let mut rest = text;
    while let Some(words) = first_of(rest, PERSON) {
        other(words.before, *answering, is_notice, parts);
        parts.push(Part::Person(words.inside.trim()));
        *answering = false;
        rest = words.after;
    }
    other(rest, *answering, is_notice, parts);
}

fn other<'t>(text: &'t str, answering: bool, is_notice: bool, parts: &mut Vec<Part<'t>>) {
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    parts.push(match (answering, is_notice) {
        (true, _) => Part::Answer(text),
        (false, true) => Part::Program(text),
        (false, false) => Part::Person(text),
    });
}

/// Whether an answer of a tool holds words of the person's: it begins with their tags, or has feedback on lines
/// of its own. Files and pages that tools show may hold such tags anywhere else.
pub(super) fn quotes_person(answer: &str) -> bool {
    let answer = answer.trim_start();
    let begins = |tag: &str| {
        answer
            .strip_prefix('<')
            .and_then(|rest| rest.strip_prefix(tag))
            .is_some_and(|rest| rest.starts_with('>'))
    };
    PERSON.iter().any(|tag| begins(tag)) || answer.contains("feedback:\n<feedback>\n")
}

/// `[read_file for 'src/a.rs'] Result:`
pub(super) fn is_answer(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.starts_with('[') && first.contains("] Result:")
}

/// A tag with what stands around it.
pub(super) struct Tagged<'t> {
    pub(super) before: &'t str,
    pub(super) tag: &'static str,
    pub(super) inside: &'t str,
    pub(super) after: &'t str,
}

/// The first of some tags. One that is never closed reaches to the end.
pub(super) fn first_of<'t>(text: &'t str, tags: &[&'static str]) -> Option<Tagged<'t>> {
    for at in memchr::memchr_iter(b'<', text.as_bytes()) {
        let rest = text.get(at + 1..).unwrap_or_default();
        let Some((tag, rest)) = tags.iter().find_map(|tag| Some((*tag, opened(rest, tag)?))) else {
            continue;
        };
        let closing = format!("</{tag}>");
        let (inside, after) = rest.split_once(&closing).unwrap_or((rest, ""));
        let before = text.get(..at).unwrap_or_default();
        return Some(Tagged {
            before,
            tag,
            inside,
            after,
        });
    }
    None
}

/// What follows a tag that is opened here, after its attributes.
fn opened<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(tag)?;
    if let Some(inside) = rest.strip_prefix('>') {
        return Some(inside);
    }
    // A longer name is another tag.
    let attributes = rest.strip_prefix([' ', '\n'])?;
    let end = attributes
        .bytes()
        .take(ATTRIBUTES)
        .position(|byte| byte == b'>')?;
    attributes.get(end + 1..)
}

/// No tag has attributes that are longer.
const ATTRIBUTES: usize = 200;

#[cfg(test)]
mod tests {
    //! Properties: the person's words come without their tags, the editor's state not at all.
    use super::Part::{Answer, Folder, Person, Program};
    use super::*;

    fn parts_of(text: &str) -> Vec<Part<'_>> {
        parts(text, &mut false)
    }

    #[test]
    fn words_come_without_tags() {
        assert_eq!(
            parts_of("<user_input mode=\"act\">fix it</user_input>"),
            [Person("fix it")]
        );
        assert_eq!(
            parts_of(
                "<task>\nfix it\n</task>\n<environment_details>\n# Current Workspace Directory (/srv/a (b)) Files\nx\n</environment_details>"
            ),
            [Folder("/srv/a (b)"), Person("fix it")]
        );
        assert_eq!(
            parts_of("plain <taskless> words"),
            [Person("plain <taskless> words")]
        );
        assert_eq!(parts_of("<environment_details>never closed"), []);
    }

    #[test]
    fn answers_and_notices_are_not_the_persons() {
        assert_eq!(
            parts_of("[execute_command for 'ls'] Result:\na.txt\n<feedback>\nnot that\n</feedback>"),
            [
                Answer("[execute_command for 'ls'] Result:\na.txt"),
                Person("not that")
            ]
        );
        assert_eq!(
            parts_of("[ERROR] You did not use a tool"),
            [Program("[ERROR] You did not use a tool")]
        );
        assert!(quotes_person("<answer>\nyes\n</answer>") && !quotes_person("a page: <answer>\nno"));
        let mut answering = true;
        assert_eq!(parts("more of it", &mut answering), [Answer("more of it")]);
    }
}
