//! What a message of the person's role holds: the person's words in a tag, and what the editor adds around them.

/// The tag around the person's words.
const QUERY: &str = "user_query";

/// Tags of what the editor adds.
const ADDED: &[&str] = &[
    "user_info",
    "external_links",
    "attached_files",
    "open_and_recently_viewed_files",
    "system_reminder",
    "system-reminder",
    "project_layout",
    "rules",
    "agent_skills",
    "git_status",
    "agent_transcripts",
    "additional_data",
    "current_file",
    "linter_errors",
    "manually_added_selection",
    "timestamp",
    "image_files",
    "cursor_commands",
    "mcp_instructions",
];

/// The person's words: those in the tags, or, where there are none, what is left without the editor's.
pub(super) fn words(text: &str) -> String {
    let mut queries = Vec::new();
    let mut rest = text;
    while let Some((_, inside, after)) = tagged(rest, QUERY) {
        queries.push(inside.trim());
        rest = after;
    }
    if !queries.is_empty() {
        return queries.join("\n\n");
    }
    let mut left = text.to_owned();
    for tag in ADDED {
        left = without(&left, tag);
    }
    left.trim().to_owned()
}

/// A text without what is in a tag.
fn without(text: &str, tag: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, _, after)) = tagged(rest, tag) {
        kept.push_str(before);
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// The folder that the editor says is open.
pub(super) fn folder(text: &str) -> Option<&str> {
    let (_, info, _) = tagged(text, "user_info")?;
    let line = info.lines().find_map(|line| line.split_once("Workspace Path:"));
    line.map(|(_, path)| path.trim()).filter(|path| !path.is_empty())
}

/// What stands before a tag, in it and after it. One that is never closed reaches to the end.
fn tagged<'t>(text: &'t str, tag: &str) -> Option<(&'t str, &'t str, &'t str)> {
    let (before, after) = text.split_once(&format!("<{tag}>"))?;
    let (inside, after) = after.split_once(&format!("</{tag}>")).unwrap_or((after, ""));
    Some((before, inside, after))
}

#[cfg(test)]
mod tests {
    //! Property: what the editor adds goes, what the person wrote stays.
    use super::*;

    #[test]
    fn the_persons_words_stay() {
        assert_eq!(
            words("<external_links>\nx\n</external_links>\n<user_query>\nfix it\n</user_query>"),
            "fix it"
        );
        assert_eq!(words("<user_info>\nOS\n</user_info>"), "");
        assert_eq!(words("What is 2<3?"), "What is 2<3?");
        assert_eq!(
            folder("<user_info>\nOS\nWorkspace Path: /srv/shop\n</user_info>"),
            Some("/srv/shop")
        );
    }
}
