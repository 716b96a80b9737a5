//! Commands as one line of text that a person can paste into a POSIX shell.
//!
//! Session ids and folders come from transcripts: they are quoted so that no shell reads them as anything
//! but one argument.

/// One argument, quoted where it holds anything a shell could take for more than plain text.
pub fn quote(argument: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@%+,=".contains(&byte);
    // A leading `=` is expanded by zsh, a leading assignment is none of ours.
    if !argument.is_empty() && argument.bytes().all(plain) && !argument.starts_with('=') {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

/// A command line of a program and its arguments, run in `directory` when there is one.
///
/// ```
/// use lookback_wire::shell::command_line;
/// let arguments = ["claude", "--resume", "a b"].map(String::from);
/// assert_eq!(command_line(&arguments, Some("/srv/it's")), r"cd '/srv/it'\''s' && claude --resume 'a b'");
/// ```
pub fn command_line(arguments: &[String], directory: Option<&str>) -> String {
    let words: Vec<String> = arguments.iter().map(|argument| quote(argument)).collect();
    let command = words.join(" ");
    match directory {
        // After `--` a folder named like an option is a folder.
        Some(folder) if folder.starts_with('-') => format!("cd -- {} && {command}", quote(folder)),
        Some(folder) => format!("cd {} && {command}", quote(folder)),
        None => command,
    }
}

#[cfg(test)]
mod tests {
    //! Property: a shell's own reading of the line gives back exactly the arguments.
    use super::*;
    use proptest::prelude::*;

    /// Reads a line as a POSIX shell splits it into words; no expansion is known, so any character that
    /// could start one must be inside single quotes.
    fn read(line: &str) -> Vec<String> {
        let mut words = Vec::new();
        let mut word: Option<String> = None;
        let mut characters = line.chars();
        while let Some(character) = characters.next() {
            match character {
                ' ' => words.extend(word.take()),
                '\'' => word
                    .get_or_insert_default()
                    .extend(characters.by_ref().take_while(|&c| c != '\'')),
                '\\' => word.get_or_insert_default().extend(characters.next()),
                other => {
                    assert!(
                        !"$`\"&|;<>()*?[]{}!#~\n\t\r".contains(other),
                        "{other:?} stands unquoted in {line}"
                    );
                    word.get_or_insert_default().push(other);
                }
            }
        }
        words.extend(word);
        words
    }

    #[test]
    fn plain_words_stay_plain() {
        for word in ["claude", "--resume", "0d1e-4f", "/srv/app_1.2", "user@host:/x"] {
            assert_eq!(quote(word), word);
        }
        assert_eq!(quote(""), "''");
        assert_eq!(quote("=ls"), "'=ls'");
        assert_eq!(command_line(&["a".into()], Some("-x")), "cd -- -x && a");
    }

    proptest! {
        #[test]
        fn a_shell_reads_the_arguments_back(arguments in prop::collection::vec(any::<String>(), 1..5)) {
            prop_assert_eq!(read(&command_line(&arguments, None)), arguments);
        }
    }
}
