//! Droid on files that real programs wrote, and what no case of the corpus can say.

use lookback_model::{Environment, SessionSource};
use lookback_readers::formats::droid::Droid;
use lookback_testkit::samples;
use std::path::{Path, PathBuf};

#[test]
fn real_files_lose_nothing() {
    for folder in ["samples/droid", "realcorpus/droid"] {
        let Some(folder) = samples::shared(folder) else {
            continue;
        };
        let paths = samples::files_under(&folder);
        for path in paths
            .iter()
            .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        {
            samples::loses_nothing(&Droid, &samples::source_file(&Droid, &folder, path), 40);
        }
    }
}

/// Property: the counts of the samples are those of their index, but for prompts: the index counts notices of
/// the program among them, and not a prompt that a reminder stands before.
#[test]
fn samples_have_the_counts_of_their_index() {
    for (path, counts) in samples::indexed("droid") {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let prompts = match name.as_str() {
            "real-8534a502" => "u8",
            "real-992853e5" | "real-a31fbbb0" | "made-session_store_schema_drift" => "u1",
            _ => "",
        };
        let wanted = match counts.split_once(' ') {
            Some((_, rest)) if !prompts.is_empty() => format!("{prompts} {rest}"),
            _ => counts,
        };
        let file = samples::source_file(&Droid, &path, &path);
        assert_eq!(samples::counts(&Droid, &file), wanted, "{name}");
    }
}

#[test]
fn variables_move_its_folder() {
    let mut environment = Environment::at_home("/home/one");
    let roots = |environment: &Environment| Droid.roots(environment);
    assert_eq!(
        roots(&environment),
        [PathBuf::from("/home/one/.factory/sessions")]
    );
    let set = |environment: &mut Environment, name: &str, value: &str| {
        environment.variables.insert(name.to_owned(), value.to_owned());
    };
    set(&mut environment, "FACTORY_HOME_OVERRIDE", "/two");
    assert_eq!(roots(&environment), [Path::new("/two/.factory/sessions")]);
    set(&mut environment, "FACTORY_DIR", "/three");
    assert_eq!(roots(&environment), [Path::new("/three/sessions")]);
}
