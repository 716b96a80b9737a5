//! Whose words a user record holds: the person's, or text the program put there.
//!
//! The program writes commands, their output, notices and reminders as if the user had said them, marked
//! by tags at the start of a text or anywhere inside it.

/// A text taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// What the person typed; blank when nothing.
    pub own: String,
    /// What the program put in: why, and the words.
    pub injected: Vec<(&'static str, String)>,
}

/// Texts that are injected as a whole, by how they begin.
const WHOLE: &[(&str, &str)] = &[
    ("<local-command-stdout>", "command-output"),
    ("<local-command-stderr>", "command-output"),
    ("<local-command-caveat>", "caveat"),
    ("Caveat: The messages below", "caveat"),
    ("[Request interrupted by user", "interrupted"),
    ("<task-notification>", "task-notification"),
    ("<agent-notification>", "task-notification"),
    ("<teammate-message", "teammate"),
    ("<user-memory-input>", "memory"),
];

/// What the program writes for a command without output.
const NO_OUTPUT: &str = "(no content)";

/// Tags whose content is injected into a text.
const INSIDE: &[Tag] = &[
    ("<system-reminder>", "</system-reminder>", "reminder"),
    ("<ide_opened_file>", "</ide_opened_file>", "ide"),
    ("<ide_selection>", "</ide_selection>", "ide"),
    ("<ide_diagnostics>", "</ide_diagnostics>", "ide"),
];

/// Takes a text of a user record apart.
pub(super) fn of_user(text: &str) -> Words {
    let start = text.trim_start();
    if start == NO_OUTPUT {
        return Words {
            own: String::new(),
            injected: vec![("command-output", text.to_owned())],
        };
    }
    if !start.starts_with(['<', '[', 'C']) && !text.contains('<') {
        return Words {
            own: text.to_owned(),
            injected: Vec::new(),
        };
    }
    if start.starts_with("<bash-std") {
        return Words {
            own: String::new(),
            injected: vec![("command-output", streams(start))],
        };
    }
    if let Some(source) = whole(start) {
        return Words {
            own: String::new(),
            injected: vec![(source, bare(text).to_owned())],
        };
    }
    if start.starts_with("<command-name>") || start.starts_with("<command-message>") {
        return command(start);
    }
    if let Some(typed) = inside(start, "<bash-input>", "</bash-input>") {
        return Words {
            own: String::new(),
            injected: vec![("command", typed.trim().to_owned())],
        };
    }
    split(text)
}

/// Why a text that begins like this is injected, if it is as a whole.
fn whole(start: &str) -> Option<&'static str> {
    WHOLE
        .iter()
        .find(|(prefix, _)| start.starts_with(prefix))
        .map(|&(_, source)| source)
}

/// Takes injected tags out of a text. What is left of a text without any is the text itself.
pub(super) fn split(text: &str) -> Words {
    let mut words = Words::default();
    let mut tags = INSIDE.to_vec();
    let mut rest = text;
    while let Some((before, source, content, after)) = first_tag(rest, &mut tags) {
        words.own.push_str(before);
        words.injected.push((source, content.trim().to_owned()));
        rest = after;
    }
    words.own.push_str(rest);
    if !words.injected.is_empty() {
        words.own = words.own.trim().to_owned();
    }
    words
}

/// A tag that is injected: how it opens, how it closes, and why it is there.
type Tag = (&'static str, &'static str, &'static str);

/// The first of `tags` that is also closed: what is before it, why, its content, what is after it. A tag
/// that is not closed is taken off the list, since no later one of its kind can be closed either.
fn first_tag<'a>(text: &'a str, tags: &mut Vec<Tag>) -> Option<(&'a str, &'static str, &'a str, &'a str)> {
    let mut from = 0;
    loop {
        from += text.get(from..)?.find('<')?;
        let tagged = text.get(from..)?;
        let found = tags.iter().position(|(open, ..)| tagged.starts_with(open));
        if let Some((at, &(open, close, source))) = found.and_then(|at| Some((at, tags.get(at)?))) {
            let inner = tagged.get(open.len()..)?;
            if let Some((content, after)) = inner.split_once(close) {
                return Some((text.get(..from)?, source, content, after));
            }
            tags.remove(at);
        }
        from += 1;
    }
}

/// A slash command. One that the program runs itself begins with its name; one that sends a prompt to
/// the agent begins with its message, and what follows its name is the person's.
fn command(start: &str) -> Words {
    let name = inside(start, "<command-name>", "</command-name>")
        .unwrap_or_default()
        .trim();
    let arguments = inside(start, "<command-args>", "</command-args>")
        .unwrap_or_default()
        .trim();
    let slash = if name.starts_with('/') { "" } else { "/" };
    let typed = format!("{slash}{name} {arguments}").trim_end().to_owned();
    if start.starts_with("<command-message>") && !arguments.is_empty() {
        return Words {
            own: typed,
            injected: Vec::new(),
        };
    }
    Words {
        own: String::new(),
        injected: vec![("command", typed)],
    }
}

/// What a command of the person's wrote to both its streams.
fn streams(text: &str) -> String {
    let stream = |open, close| inside(text, open, close).unwrap_or_default().trim();
    let written = [
        stream("<bash-stdout>", "</bash-stdout>"),
        stream("<bash-stderr>", "</bash-stderr>"),
    ];
    written.join("\n").trim().to_owned()
}

/// The text between two tags.
fn inside<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, inner) = text.split_once(open)?;
    Some(inner.split_once(close).map_or(inner, |(content, _)| content))
}

/// A text without the one tag around it.
fn bare(text: &str) -> &str {
    let text = text.trim();
    let content = || {
        let (name, inner) = text.strip_prefix('<')?.split_once('>')?;
        inner.strip_suffix('>')?.strip_suffix(name)?.strip_suffix("</")
    };
    content().map_or(text, str::trim)
}

#[cfg(test)]
mod tests {
    //! Properties: the person keeps exactly their own words; every injected text names its reason.
    use super::*;

    fn seen(text: &str) -> (String, Vec<(&'static str, String)>) {
        let words = of_user(text);
        (words.own, words.injected)
    }

    fn only(source: &'static str, text: &str) -> (String, Vec<(&'static str, String)>) {
        (String::new(), vec![(source, text.to_owned())])
    }

    #[test]
    fn commands() {
        let run = "<command-name>/tidy</command-name>\n  <command-message>tidy</command-message>\n  <command-args>all</command-args>";
        assert_eq!(seen(run), only("command", "/tidy all"));
        let prompt = "<command-message>explain</command-message>\n<command-name>/explain</command-name>\n<command-args>the cache</command-args>";
        assert_eq!(seen(prompt), ("/explain the cache".to_owned(), Vec::new()));
        let bare = "<command-message>init is running</command-message>\n<command-name>/init</command-name>";
        assert_eq!(seen(bare), only("command", "/init"));
        assert_eq!(seen("<bash-input>ls -a</bash-input>"), only("command", "ls -a"));
    }

    #[test]
    fn notices() {
        assert_eq!(
            seen("<local-command-stdout>done</local-command-stdout>"),
            only("command-output", "done")
        );
        assert_eq!(
            seen("<bash-stdout>out</bash-stdout><bash-stderr>err</bash-stderr>"),
            only("command-output", "out\nerr")
        );
        assert_eq!(seen("(no content)"), only("command-output", "(no content)"));
        assert_eq!(
            seen("[Request interrupted by user]"),
            only("interrupted", "[Request interrupted by user]")
        );
        assert_eq!(
            seen("<task-notification>\n<x>1</x>\n</task-notification>"),
            only("task-notification", "<x>1</x>")
        );
    }

    #[test]
    fn reminders_inside_a_prompt() {
        let text = "fix <b>it</b>\n<system-reminder>be kind</system-reminder>\n";
        assert_eq!(
            seen(text),
            (
                "fix <b>it</b>".to_owned(),
                vec![("reminder", "be kind".to_owned())]
            )
        );
        let open = "why does <system-reminder> never close?";
        assert_eq!(seen(open), (open.to_owned(), Vec::new()));
        assert_eq!(seen("  a < b  ").0, "  a < b  ");
    }
}
