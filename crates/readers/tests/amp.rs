//! Amp on threads made after what is known of real ones, and what no case of the corpus can say.

use lookback_model::{Environment, SessionSource};
use lookback_readers::formats::amp::Amp;
use lookback_testkit::samples;
use std::path::Path;

#[test]
fn samples_lose_nothing_and_have_the_counts_of_their_index() {
    for (path, counts) in samples::indexed("amp") {
        let file = samples::source_file(&Amp, &path, &path);
        samples::loses_nothing(&Amp, &file, 5);
        assert_eq!(samples::counts(&Amp, &file), counts, "{}", path.display());
    }
}

#[test]
fn variables_and_systems_move_its_folders() {
    let mut environment = Environment::at_home("/home/one");
    let first = |environment: &Environment| Amp.roots(environment).first().cloned();
    assert_eq!(
        first(&environment),
        Some("/home/one/.local/share/amp/threads".into())
    );
    for (name, value) in [
        ("XDG_DATA_HOME", "/data"),
        ("LOCALAPPDATA", "/local"),
        ("APPDATA", "/roaming"),
    ] {
        environment.variables.insert(name.to_owned(), value.to_owned());
    }
    let roots = Amp.roots(&environment);
    let extension = Path::new("User/globalStorage/sourcegraph.amp/threads3");
    for wanted in [
        "/data/amp/threads".into(),
        "/local/amp/threads".into(),
        Path::new("/roaming/Code").join(extension),
        Path::new("/home/one/Library/Application Support/Cursor").join(extension),
        Path::new("/home/one/.config/VSCodium").join(extension),
    ] {
        assert!(roots.contains(&wanted), "{}", wanted.display());
    }
}
