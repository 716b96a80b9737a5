//! Vibe on files that real programs wrote, and what no case of the corpus can say.

use lookback_model::{Environment, SessionSource};
use lookback_readers::formats::vibe::Vibe;
use lookback_testkit::{reading, samples};
use std::fs;
use std::path::Path;

/// Property: the counts of the samples are those of their index, and nothing in them is lost.
#[test]
fn samples_have_the_counts_of_their_index() {
    for (path, records) in samples::indexed_records("vibe") {
        let name = path.to_string_lossy().into_owned();
        let file = samples::source_file(&Vibe, &path, &path);
        if name.ends_with("messages.jsonl") && file.stamp.size > 0 {
            samples::loses_nothing(&Vibe, &file, 60);
            let wanted = samples::written(&records, ["user", "assistant", "tool_call", "tool"]);
            assert_eq!(samples::counts(&Vibe, &file), wanted, "{name}");
        }
    }
    let store = samples::shared("samples/vibe/unified-3.0.2/logs/session/unified");
    let current = store.map(|store| store.join("90b87181-2b5d-0448-0911-d75b662778d1/CURRENT"));
    if let Some(current) = current {
        let file = samples::source_file(&Vibe, &current, &current);
        samples::loses_nothing(&Vibe, &file, 3);
        assert_eq!(samples::counts(&Vibe, &file), "u1 a3 c2 r2");
    }
}

/// Property: the journal alone gives what the snapshot gives that was made from it.
#[test]
fn a_journal_gives_what_its_snapshot_gives() {
    let Some(store) = samples::shared("samples/vibe/unified-3.0.2") else {
        return;
    };
    let home = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    for path in samples::files_under(&store) {
        let below = path.strip_prefix(&store).unwrap_or(&path);
        let copy = home.path().join(".vibe").join(below);
        let folder = copy.parent().unwrap_or(&copy);
        let copied = fs::create_dir_all(folder).and_then(|()| fs::copy(&path, &copy));
        copied.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let events = || {
        let seen = reading::describe(&Vibe, home.path());
        let files = seen["files"].as_array().cloned().unwrap_or_default();
        files
            .iter()
            .find_map(|file| Some(file["sessions"].get(0)?["events"].clone()))
    };
    let from_snapshot = events();
    assert!(from_snapshot.is_some());
    let session = home
        .path()
        .join(".vibe/logs/session/unified/90b87181-2b5d-0448-0911-d75b662778d1");
    let first = r#"{"generation":"0000000000000001","session_id":"90b87181-2b5d-0448-0911-d75b662778d1","snapshot_sequence":0}"#;
    fs::write(session.join("CURRENT"), first).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(events(), from_snapshot);
    let found = reading::discover(&Vibe, &Environment::at_home(home.path()));
    let current = found.files.iter().find(|file| file.path.ends_with("CURRENT"));
    assert!(
        current.is_some_and(|file| file.stamp.size > 90_000),
        "the file changes with its journal"
    );
}

#[test]
fn variables_and_settings_move_its_folder() {
    let home = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let mut environment = Environment::at_home("/home/one");
    assert_eq!(
        Vibe.roots(&environment),
        [Path::new("/home/one/.vibe/logs/session")]
    );
    let path = home.path().to_string_lossy().into_owned();
    environment.variables.insert("VIBE_HOME".to_owned(), path);
    let settings = "active_model = \"x\"\n[session_logging]\nenabled = true\nsave_dir = \"~/talks\"\n[other]\nsave_dir = \"/no\"\n";
    fs::write(home.path().join("config.toml"), settings).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        Vibe.roots(&environment),
        [home.path().join("logs/session"), "/home/one/talks".into()]
    );
}
