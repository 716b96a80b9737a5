//! Recalled text: what an agent was told when it asked a history of sessions.
//!
//! Such calls and answers quote other sessions. They are context and no words of this one, or else every
//! search that was ever made would be found by the next, before the session that it was about.

/// Programs that search sessions, as a shell runs them.
const PROGRAMS: &[&str] = &[
    "lookback ",
    "deja ",
    "claudex ",
    "agentsview ",
    "claude-session-index ",
];
/// What a search of sessions or memories has in its tool's name.
const SUBJECTS: &[&str] = &[
    "history",
    "memory",
    "memories",
    "session",
    "sessions",
    "conversation",
    "conversations",
    "chats",
    "transcript",
    "transcripts",
];
/// What it does with them.
const ACTIONS: &[&str] = &["search", "find", "query", "recall", "grep", "lookup", "recent"];

/// Whether a tool call asks a history of sessions.
///
/// ```
/// use lookback_model::recall::asks_history;
/// assert!(asks_history("mcp__history__search", "{}"));
/// assert!(asks_history("Bash", r#"{"command": "lookback search 'pool exhausted'"}"#));
/// assert!(!asks_history("Bash", r#"{"command": "git log --grep history"}"#));
/// ```
pub fn asks_history(name: &str, arguments: &str) -> bool {
    let lowered = name.to_ascii_lowercase();
    let words: Vec<&str> = lowered
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    if words.iter().any(|word| matches!(*word, "lookback" | "recall")) {
        return true;
    }
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    if has(SUBJECTS) && has(ACTIONS) {
        return true;
    }
    let is_shell = words
        .iter()
        .any(|word| matches!(*word, "bash" | "shell" | "exec" | "terminal" | "command"));
    is_shell && PROGRAMS.iter().any(|program| is_run(arguments, program))
}

/// Whether a program stands where a command begins: not within a word or a path, and not as what another
/// command is about.
fn is_run(arguments: &str, program: &str) -> bool {
    arguments.match_indices(program).any(|(at, _)| {
        let before = arguments.get(..at).unwrap_or_default();
        let before = before.trim_end_matches(' ');
        before.is_empty() || before.ends_with(['"', '\'', ';', '|', '&', '(', '`']) || before.ends_with("\\n")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_of_sessions_are_told_from_work_on_them() {
        for (name, arguments) in [
            ("mcp__lookback__search", ""),
            ("mcp__memory__search_nodes", ""),
            ("conversation_search", "{\"query\":\"x\"}"),
            ("recent_chats", ""),
            (
                "exec_command",
                "{\"cmd\":\"cd /x && lookback grep -F 'line 900'\"}",
            ),
            ("shell", "[\"bash\",\"-lc\",\"deja search pool\"]"),
        ] {
            assert!(asks_history(name, arguments), "{name} {arguments}");
        }
        for (name, arguments) in [
            ("Bash", "{\"command\":\"ls ~/src/lookback \"}"),
            ("Bash", "{\"command\":\"grep -rn 'the lookback window' .\"}"),
            ("Edit", "{\"new_string\":\"lookback search finds it\"}"),
            ("Read", "{\"file_path\":\"src/session/history.rs\"}"),
            ("WebSearch", "{\"query\":\"lookback option\"}"),
            ("Grep", "{\"pattern\":\"history\"}"),
        ] {
            assert!(!asks_history(name, arguments), "{name} {arguments}");
        }
    }
}
