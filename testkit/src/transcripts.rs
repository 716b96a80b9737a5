//! Transcripts made up for tests: small homes whose every word is known.

use serde_json::json;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A number that looks random and is the same on every run.
#[derive(Clone, Copy, Debug)]
pub struct Seed(pub u64);

impl Seed {
    /// The next number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        // The generator of Numerical Recipes; its low bits are poor, so the high ones are taken.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

/// A Claude Code transcript in a home folder.
#[derive(Clone, Debug)]
pub struct ClaudeTranscript {
    /// Where it is.
    pub path: PathBuf,
    /// Its session id.
    pub session_id: String,
    lines: u64,
}

impl ClaudeTranscript {
    /// An empty one for the session numbered `number`.
    ///
    /// # Errors
    /// When its folder cannot be made.
    pub fn create(home: &Path, number: u64) -> io::Result<Self> {
        let session_id = format!("5e551011-0000-4000-8000-{number:012}");
        let folder = home.join(".claude/projects/-home-dev-made-up");
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{session_id}.jsonl"));
        fs::write(&path, "")?;
        Ok(Self {
            path,
            session_id,
            lines: 0,
        })
    }

    /// Appends a prompt and an answer, one write each.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append_turn(&mut self, prompt: &str, answer: &str) -> io::Result<()> {
        self.append("user", &json!({"role": "user", "content": prompt}))?;
        let id = format!("msg_{}_{}", self.session_id, self.lines);
        let content = json!([{"type": "text", "text": answer}]);
        let message = json!({"id": id, "role": "assistant", "model": "made-up", "content": content});
        self.append("assistant", &message)
    }

    fn append(&mut self, kind: &str, message: &serde_json::Value) -> io::Result<()> {
        let uuid = |line: u64| format!("{}-{line:08}", self.session_id);
        let parent = self.lines.checked_sub(1).map(uuid);
        let minute = self.lines % 60;
        let hour = self.lines / 60 % 24;
        let line = json!({
            "type": kind, "uuid": uuid(self.lines), "parentUuid": parent, "sessionId": self.session_id,
            "cwd": "/home/dev/made-up", "timestamp": format!("2026-03-01T{hour:02}:{minute:02}:00.000Z"),
            "isSidechain": false, "version": "2.1.0", "message": message,
        });
        self.lines += 1;
        let mut file = fs::File::options().append(true).open(&self.path)?;
        file.write_all(format!("{line}\n").as_bytes())
    }
}

/// The word that stands in the prompt of one turn of one session and nowhere else. No two are alike enough
/// to pass for a misspelling of one another.
pub fn needle(session: u64, turn: u64) -> String {
    let mut seed = Seed(
        session
            .wrapping_mul(1_000_003)
            .wrapping_add(turn)
            .wrapping_mul(2_654_435_761),
    );
    (0..12)
        .map(|_| char::from(b'a' + u8::try_from(seed.below(26)).unwrap_or(0)))
        .collect()
}

/// A home of `sessions` transcripts with `turns` turns each; every prompt holds its [`needle`].
///
/// # Errors
/// When it cannot be written.
pub fn home(folder: &Path, sessions: u64, turns: u64) -> io::Result<Vec<ClaudeTranscript>> {
    let mut made = Vec::new();
    for session in 0..sessions {
        let mut transcript = ClaudeTranscript::create(folder, session)?;
        for turn in 0..turns {
            let prompt = format!("please look at {} in the importer", needle(session, turn));
            transcript.append_turn(&prompt, &format!("done, turn {turn} of the importer is mended"))?;
        }
        made.push(transcript);
    }
    Ok(made)
}
