//! Grok Build on samples made with its own types, and what no case of the corpus can say.

use lookback_model::{Environment, SessionSource};
use lookback_readers::formats::grok::Grok;
use lookback_testkit::samples;
use std::path::Path;

/// Property: every record of the samples is told. Their index counts pieces of words, and what the program
/// wrote as the person's, so that the counts are not its.
#[test]
fn samples_are_read_whole() {
    for (path, _) in samples::indexed_records("grok") {
        let name = path.to_string_lossy().into_owned();
        let file = samples::source_file(&Grok, path.ancestors().nth(3).unwrap_or(&path), &path);
        let wanted = match () {
            () if name.contains("/current-chat-history/") => "u2 a2 c2 r1",
            () if name.contains("/legacy-chat-history/") => "u1 a2 c1 r1",
            () => "u1 a3 c2 r2",
        };
        assert_eq!(samples::counts(&Grok, &file), wanted, "{name}");
        let (_, account) = samples::read(&Grok, &file);
        assert_eq!(account.lost, 0, "{name}");
        samples::reads_in_parts(&Grok, &file, 100);
    }
}

#[test]
fn the_agents_variable_moves_its_folder() {
    let mut environment = Environment::at_home("/home/one");
    assert_eq!(Grok.roots(&environment), [Path::new("/home/one/.grok/sessions")]);
    environment
        .variables
        .insert("GROK_HOME".to_owned(), "/two".to_owned());
    assert_eq!(Grok.roots(&environment), [Path::new("/two/sessions")]);
}
