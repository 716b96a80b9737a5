//! Pi and its descendants on files that real programs wrote, and what no case of the corpus can say.

use lookback_model::source::{FileRole, FileStamp, SourceFile};
use lookback_model::{Environment, SessionSource};
use lookback_readers::formats::omp::OhMyPi;
use lookback_readers::formats::pi::Pi;
use lookback_testkit::reading::Kept;
use lookback_testkit::samples;
use std::fs;
use std::path::Path;

const KINDS: [&str; 4] = ["user", "assistant", "tool_call", "tool_result"];

fn lines_of(source: &dyn SessionSource, folder: &str) -> Vec<SourceFile> {
    let Some(folder) = samples::shared(folder) else {
        return Vec::new();
    };
    let paths = samples::files_under(&folder);
    let lines = paths
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"));
    lines
        .map(|path| samples::source_file(source, &folder, path))
        .collect()
}

#[test]
fn real_files_lose_nothing() {
    let mut files = lines_of(&Pi, "samples/pi");
    files.extend(lines_of(&Pi, "realcorpus/pi"));
    // A line of it was damaged by hand.
    files.retain(|file| !file.path.to_string_lossy().contains("handmade"));
    for file in files {
        samples::loses_nothing(&Pi, &file, 12);
    }
    for file in lines_of(&OhMyPi, "samples/omp") {
        samples::loses_nothing(&OhMyPi, &file, 60);
    }
}

#[test]
fn samples_have_the_counts_of_their_index() {
    for source in [&Pi as &dyn SessionSource, &OhMyPi] {
        for (path, records) in samples::indexed_records(source.agent()) {
            let file = samples::source_file(source, path.parent().unwrap(), &path);
            let counts = samples::written(&records, KINDS);
            assert_eq!(samples::counts(source, &file), counts, "{}", path.display());
        }
    }
}

#[test]
fn variables_and_settings_move_its_folders() {
    let home = tempfile::tempdir().unwrap();
    let at = |path: &str| home.path().join(path);
    let mut environment = Environment::at_home(home.path());
    assert_eq!(Pi.roots(&environment), [at(".pi/agent/sessions")]);
    let set = |environment: &mut Environment, name: &str, value: &str| {
        environment.variables.insert(name.to_owned(), value.to_owned());
    };
    set(&mut environment, "PI_CODING_AGENT_DIR", "~/p");
    set(&mut environment, "PI_CODING_AGENT_SESSION_DIR", "/elsewhere");
    fs::create_dir(at("p")).unwrap();
    fs::write(at("p/settings.json"), r#"{"sessionDir":"~/told"}"#).unwrap();
    assert_eq!(
        Pi.roots(&environment),
        ["/elsewhere".into(), at("told"), at("p/sessions")]
    );
    fs::create_dir_all(at(".omp/profiles/work")).unwrap();
    set(&mut environment, "XDG_DATA_HOME", "/data");
    let own = [at(".omp/agent/sessions"), at(".omp/profiles/work/agent/sessions")];
    let roots = OhMyPi.roots(&environment);
    assert_eq!(roots[..2], own);
    assert_eq!(
        roots[2..],
        [Path::new("/data/omp/sessions")],
        "the variable names a folder of Pi's"
    );
    set(&mut environment, "PI_CODING_AGENT_DIR", "/srv/.omp/agent");
    assert_eq!(
        OhMyPi.roots(&environment)[3],
        Path::new("/srv/.omp/agent/sessions")
    );
}

/// Property: a title that is changed in place, in the first bytes of the file, is read.
#[test]
fn a_title_that_changed_in_place_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("2026-06-01T10-00-00-000Z_s-1.jsonl");
    let write = |title: &str| {
        let slot = format!("{{\"type\":\"title\",\"v\":1,\"title\":\"{title}\",\"pad\":\"");
        let pad = " ".repeat(253 - slot.len());
        let rest =
            "{\"type\":\"session\",\"version\":3,\"id\":\"s-1\",\"timestamp\":\"2026-06-01T10:00:00Z\"}\n";
        fs::write(&path, format!("{slot}{pad}\"}}\n{rest}")).unwrap();
    };
    let read = |cursor: Option<&_>| {
        let file = SourceFile {
            agent: "omp".to_owned(),
            root: folder.path().to_owned(),
            path: path.clone(),
            role: FileRole::Transcript,
            stamp: FileStamp::default(),
        };
        let mut kept = Kept::default();
        let outcome = OhMyPi.read(&file, cursor, &mut kept);
        let title = kept
            .sessions
            .first()
            .and_then(|kept| kept.session.clone()?.facts.title);
        (outcome, title.map(|title| title.text))
    };
    write("");
    let (first, title) = read(None);
    assert_eq!(title, None);
    write("A loaf");
    let cursor = first.unwrap().cursor;
    assert!(read(Some(&cursor)).0.is_err(), "what was read has changed");
    assert_eq!(read(None).1.as_deref(), Some("A loaf"));
}
