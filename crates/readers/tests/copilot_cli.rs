//! Copilot CLI on files that real programs wrote, and what no case of the corpus can say.

use lookback_model::{Environment, SessionSource};
use lookback_readers::formats::copilot_cli::CopilotCli;
use lookback_testkit::samples;
use std::path::Path;

#[test]
fn real_files_lose_nothing() {
    for folder in ["samples/copilot-cli", "realcorpus/copilot-cli"] {
        let Some(folder) = samples::shared(folder) else {
            continue;
        };
        let paths = samples::files_under(&folder);
        for path in paths
            .iter()
            .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        {
            samples::loses_nothing(&CopilotCli, &samples::source_file(&CopilotCli, &folder, path), 6);
        }
    }
}

/// Property: the counts of the samples are those of their index, but for prompts that the program or a
/// subagent's caller wrote, which the index counts as the person's.
#[test]
fn samples_have_the_counts_of_their_index() {
    for (path, counts) in samples::indexed("copilot-cli") {
        let name = path.to_string_lossy().into_owned();
        let prompts = match () {
            () if name.ends_with("real-1.0.74-70b173ed.events.jsonl") => "u1",
            () if name.ends_with("13347a17-85ef-4cca-b702-ac566cf15dc1/events.jsonl") => "u2",
            () => "",
        };
        let wanted = match counts.split_once(' ') {
            Some((_, rest)) if !prompts.is_empty() => format!("{prompts} {rest}"),
            _ => counts,
        };
        let file = samples::source_file(&CopilotCli, &path, &path);
        assert_eq!(samples::counts(&CopilotCli, &file), wanted, "{name}");
    }
}

#[test]
fn variables_move_its_folder() {
    let mut environment = Environment::at_home("/home/one");
    let set = |environment: &mut Environment, name: &str, value: &str| {
        environment.variables.insert(name.to_owned(), value.to_owned());
    };
    assert_eq!(
        CopilotCli.roots(&environment),
        ["session-state", "history-session-state"].map(|name| Path::new("/home/one/.copilot").join(name))
    );
    set(&mut environment, "COPILOT_HOME", "/two");
    set(&mut environment, "XDG_STATE_HOME", "/state");
    let roots = CopilotCli.roots(&environment);
    assert_eq!(
        roots.first().map(|path| path.as_path()),
        Some(Path::new("/two/session-state"))
    );
    assert!(roots.contains(&"/state/.copilot/history-session-state".into()));
}
