//! DeepSeek's harness: a session is a log of events in its own folder,
//! `<root>/--<folder>--/<id>/session.jsonl.zstd`, or uncompressed, or in older versions a file in the project's
//! folder. The compressed form is a row of frames, one for each batch that was written.

mod conversation;

use crate::journal;
use crate::lines;
use crate::walk::{Class, Walk};
use conversation::Conversation;
use lookback_model::source::{
    Discovery, EventSink, FileRole, IssueCode, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand,
    SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource};
use std::path::{Path, PathBuf};

const AGENT: &str = "dsh";
/// Projects lie below the root, or below a folder of it.
const DEPTH: usize = 3;

/// Transcripts of DeepSeek's harness.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dsh;

impl SessionSource for Dsh {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        // Who deploys the harness chooses its folder; this is the usual one.
        vec![environment.home.join(".dsh")]
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        Walk {
            agent: AGENT,
            root,
            depth: DEPTH,
            classify: &|path| {
                if is_transcript(path) {
                    Class::File(FileRole::Transcript)
                } else {
                    Class::Other
                }
            },
            enter: &|_| true,
        }
        .run(found);
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        if !is_compressed(&file.path) {
            return journal::read::<Conversation>(file, cursor, sink);
        }
        let input = lines::open(&file.path)?;
        if input.metadata().is_ok_and(|metadata| metadata.len() == 0) {
            return Err(journal::no_session(file, IssueCode::EmptyFile, "it is empty"));
        }
        let decoder = zstd::stream::read::Decoder::new(input);
        let decoder = decoder.map_err(|error| lines::io_error(&file.path, error))?;
        journal::read_whole::<Conversation>(file, cursor, decoder, sink)
    }

    fn raw_words(&self, file: &SourceFile) -> RawWords {
        RawWords {
            is_json: !is_compressed(&file.path),
            added: &[],
        }
    }

    fn resume(&self, _: &SessionHeader, _: &SessionFacts) -> Option<ResumeCommand> {
        None
    }
}

fn is_compressed(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "zstd" || extension == "zst")
}

/// `<project>/<id>/session.jsonl[.zstd]`, or `<project>/<id>.jsonl[.zstd]`.
fn is_transcript(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = [".zstd", ".zst"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(&name);
    if plain == "session.jsonl" {
        return true;
    }
    let folder = path
        .parent()
        .and_then(Path::file_name)
        .unwrap_or_default()
        .to_string_lossy();
    let is_project = folder.starts_with("--") && folder.ends_with("--") || folder == "_no-cwd";
    is_project && plain.ends_with(".jsonl")
}
