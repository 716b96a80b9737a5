//! Kimi on files that real programs wrote, and what no case of the corpus can say.

use lookback_model::source::SourceFile;
use lookback_model::{Environment, SessionSource};
use lookback_readers::formats::kimi::Kimi;
use lookback_testkit::{reading, samples};
use serde_json::Value;
use std::path::{Path, PathBuf};

const KINDS: [&str; 4] = ["user", "assistant", "tool_call", "tool_result"];

fn file(path: &Path) -> SourceFile {
    let up = |levels: usize| path.ancestors().nth(levels).unwrap_or(path);
    let is_agent = up(2).ends_with("agents");
    samples::source_file(&Kimi, up(if is_agent { 5 } else { 3 }), path)
}

#[test]
fn real_files_lose_nothing() {
    let Some(folder) = samples::shared("samples/kimi") else {
        return;
    };
    for path in samples::files_under(&folder) {
        let name = path.file_name().and_then(|name| name.to_str());
        if matches!(name, Some("wire.jsonl" | "context.jsonl")) {
            samples::loses_nothing(&Kimi, &file(&path), 40);
        }
    }
}

/// Property: the counts of the samples are those of their index. It counts texts of replies where a step makes
/// a reply here, so that replies are compared where a step has one text.
#[test]
fn samples_have_the_counts_of_their_index() {
    for (path, records) in samples::indexed_records("kimi") {
        let name = path.to_string_lossy().into_owned();
        let steps = match () {
            () if name.contains("/archived/wire") => Some(2),
            () if name.contains("legacy-protocol-1.3/wire") => Some(1),
            () if name.contains("with-image/wire") => Some(2),
            () if name.contains("code-deja-handmade") => Some(2),
            () => None,
        };
        let mut records = records;
        if let (Some(steps), Value::Object(counts)) = (steps, &mut records) {
            counts.insert("assistant".to_owned(), steps.into());
        }
        let is_context = name.ends_with("context.jsonl");
        if is_context && !name.contains("cli-1.40.0") || name.ends_with("session_index.jsonl") {
            continue;
        }
        let wanted = match is_context {
            // The index does not count what a context calls.
            true => "u2 a6 c4 r4".to_owned(),
            false => samples::written(&records, KINDS),
        };
        assert_eq!(samples::counts(&Kimi, &file(&path)), wanted, "{name}");
    }
}

/// Property: of the two files of a session one is read, and the folder it was begun in is known.
#[test]
fn a_session_is_read_once() {
    let Some(home) = samples::shared("samples/kimi/cli-1.40.0") else {
        return;
    };
    let seen = reading::describe(&Kimi, &home);
    let files = seen["files"].as_array().map(Vec::len);
    assert_eq!(files, Some(2), "the session and its title");
    let session = seen["files"]
        .as_array()
        .into_iter()
        .flatten()
        .find_map(|file| file["sessions"].get(0));
    assert_eq!(
        session.map(|session| &session["header"]["cwd"]),
        Some(&"/tmp/fx/home/dev/demo".into())
    );
}

#[test]
fn variables_move_its_folders() {
    let mut environment = Environment::at_home("/home/one");
    let roots = Kimi.roots(&environment);
    assert_eq!(roots.first(), Some(&PathBuf::from("/home/one/.kimi/sessions")));
    assert_eq!(
        roots.get(1),
        Some(&PathBuf::from("/home/one/.kimi-code/sessions"))
    );
    for (name, value) in [("KIMI_SHARE_DIR", "/a"), ("KIMI_CODE_HOME", "/b")] {
        environment.variables.insert(name.to_owned(), value.to_owned());
    }
    let roots = Kimi.roots(&environment);
    assert_eq!(
        roots.get(..2),
        Some(["/a/sessions", "/b/sessions"].map(PathBuf::from).as_slice())
    );
}

/// Property: a session of which the terminal's log holds nothing is read from its context, which has no times,
/// so that its file's time stands for all of them.
#[test]
fn a_context_is_read_where_the_log_is_empty() {
    let home = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let folder = home.path().join(".kimi/sessions/h/s-1");
    let metadata = "{\"type\":\"metadata\",\"protocol_version\":\"1.10\"}\n";
    let context = concat!(
        "{\"role\":\"_system_prompt\",\"content\":\"You are\"}\n",
        "{\"role\":\"user\",\"content\":\"knead\"}\n",
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"think\",\"think\":\"how long\"},{\"type\":\"text\",\"text\":\"Kneading.\"}],",
        "\"tool_calls\":[{\"type\":\"function\",\"id\":\"c1\",\"function\":{\"name\":\"Shell\",\"arguments\":\"{\\\"a\\\":1}\"}}]}\n",
        "{\"role\":\"tool\",\"content\":[{\"type\":\"text\",\"text\":\"<system>ERROR: no hands</system>\"}],\"tool_call_id\":\"c1\"}\n",
        "{\"role\":\"user\",\"content\":\"<system-reminder>\\nYou are not interactive.</system-reminder>\"}\n",
    );
    std::fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{error}"));
    for (name, text) in [
        ("wire.jsonl", metadata),
        ("context.jsonl", context),
        ("state.json", "{"),
    ] {
        std::fs::write(folder.join(name), text).unwrap_or_else(|error| panic!("{error}"));
    }
    let seen = reading::describe(&Kimi, home.path());
    let session = &seen["files"][0]["sessions"][0];
    let texts = session["events"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|event| &event["text"]);
    let wanted = serde_json::json!([
        {"user": "knead"},
        {"reasoning": "how long", "agent": "Kneading.", "call": "Shell\na: 1"},
        {"result": "<system>ERROR: no hands</system>"},
        {"context": "<system-reminder>\nYou are not interactive.</system-reminder>"},
    ]);
    assert_eq!(session["id"], "s-1");
    assert_eq!(
        texts.cloned().collect::<Vec<Value>>(),
        wanted.as_array().cloned().unwrap_or_default()
    );
    assert_ne!(session["events"][0]["time"], "1970-01-01T00:00:00.000Z");
}
