//! Qwen Code on files that real programs wrote, and what no case of the corpus can say.

use lookback_model::{Environment, SessionSource};
use lookback_readers::formats::qwen::Qwen;
use lookback_testkit::samples;
use std::fs;
use std::path::PathBuf;

#[test]
fn real_files_lose_nothing() {
    for folder in ["samples/qwen", "realcorpus/qwen"] {
        let Some(folder) = samples::shared(folder) else {
            continue;
        };
        for path in samples::files_under(&folder) {
            let is_chat = path.parent().unwrap().ends_with("chats");
            if is_chat {
                samples::loses_nothing(&Qwen, &samples::source_file(&Qwen, &folder, &path), 60);
            }
        }
    }
}

/// Property: the counts of the samples are those of their index, but for two that were made by hand: the index
/// counts a notification as a prompt in one, and in the other it does not take two glued records apart.
#[test]
fn samples_have_the_counts_of_their_index() {
    for (path, mut counts) in samples::indexed("qwen") {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        match name.as_str() {
            "made-019f0000-0000-7000-8000-000000000001" => counts = "u1 a2 c1 r1".to_owned(),
            "made-019f0000-0000-7000-8000-000000000005" => counts = "u1 a1 c0 r0".to_owned(),
            "real-usage_record" => continue,
            _ => {}
        }
        let file = samples::source_file(&Qwen, path.parent().unwrap(), &path);
        assert_eq!(samples::counts(&Qwen, &file), counts, "{name}");
    }
}

#[test]
fn variables_and_settings_move_its_folders() {
    let home = tempfile::tempdir().unwrap();
    let at = |path: &str| home.path().join(path);
    let mut environment = Environment::at_home(home.path());
    assert_eq!(Qwen.roots(&environment), [at(".qwen/projects"), at(".qwen/tmp")]);
    let set = |environment: &mut Environment, name: &str, path: PathBuf| {
        let path = path.to_string_lossy().into_owned();
        environment.variables.insert(name.to_owned(), path);
    };
    set(&mut environment, "QWEN_HOME", at("q"));
    fs::create_dir(at("q")).unwrap();
    fs::write(
        at("q/settings.json"),
        r#"{"advanced":{"runtimeOutputDir":"~/written"}}"#,
    )
    .unwrap();
    set(&mut environment, "QWEN_RUNTIME_DIR", at("run"));
    assert_eq!(
        Qwen.roots(&environment),
        [
            "run/projects",
            "run/tmp",
            "written/projects",
            "written/tmp",
            "q/projects",
            "q/tmp"
        ]
        .map(at)
    );
    fs::write(
        at("q/settings.json"),
        r#"{"advanced":{"runtimeOutputDir":"of/each"}}"#,
    )
    .unwrap();
    assert_eq!(Qwen.roots(&environment).len(), 4);
}
