//! What the place of a file and the files around it say.

use crate::beside;
use crate::log::SessionLog;
use lookback_model::{SourceFile, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// What a file is, by its name and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `state.json`
    State,
    /// An agent's records of `kimi-code`.
    Agent,
    /// What `kimi-cli` sent to the terminal.
    Wire,
    /// What it sent to the model.
    Context,
}

/// What a file is.
pub(super) fn form(path: &Path) -> Form {
    let name = path.file_name().unwrap_or_default();
    let folder = path.parent().and_then(Path::parent).and_then(Path::file_name);
    match name.to_str() {
        Some("state.json") => Form::State,
        Some("wire.jsonl") if folder.is_some_and(|folder| folder == "agents") => Form::Agent,
        Some("wire.jsonl") => Form::Wire,
        _ => Form::Context,
    }
}

/// `state.json` beside a session, in all its versions.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct State {
    pub(super) title: Option<String>,
    pub(super) custom_title: Option<String>,
    pub(super) archived: bool,
    pub(super) cwd: Option<String>,
    #[serde(rename = "workDir")]
    pub(super) work_dir: Option<String>,
    #[serde(rename = "createdAt")]
    pub(super) created_at: Value,
    pub(super) agents: BTreeMap<String, AgentState>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AgentState {
    #[serde(rename = "parentAgentId")]
    pub(super) parent: Option<String>,
}

/// The name of a folder above a file: 1 is the one that holds it.
pub(super) fn folder(file: &SourceFile, above: usize) -> Option<&str> {
    file.path.ancestors().nth(above)?.file_name()?.to_str()
}

/// The session of a file of `kimi-cli`: its folder's name, or its own in the oldest versions.
pub(super) fn session_of(file: &SourceFile) -> String {
    let stem = file.path.file_stem().unwrap_or_default().to_string_lossy();
    match folder(file, 1) {
        Some(folder) if stem == "wire" || stem == "context" => folder.to_owned(),
        _ => stem.into_owned(),
    }
}

/// Takes what stands beside a session of `kimi-cli`.
pub(super) fn look_around(file: &SourceFile, log: &mut SessionLog<'_>) {
    let stem = file.path.file_stem().unwrap_or_default();
    let above = if stem == "wire" || stem == "context" { 2 } else { 1 };
    let directory = folder(file, above).and_then(|folder| registered(&file.root, folder));
    let state: Option<State> = beside::json(&file.path.with_file_name("state.json"));
    let facts = log.facts();
    facts.cwd = facts.cwd.take().or(directory);
    facts.archived = state.is_some_and(|state| state.archived);
}

/// The working directory whose hash names a folder.
fn registered(sessions: &Path, folder: &str) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Registry {
        work_dirs: Vec<WorkDir>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct WorkDir {
        path: String,
    }
    let registry: Registry = beside::json(&sessions.parent()?.join("kimi.json"))?;
    // On another machine the folder's name begins with the machine's.
    let hash = folder.rsplit('_').next().unwrap_or(folder);
    let mut paths = registry.work_dirs.into_iter().map(|folder| folder.path);
    paths.find(|path| md5(path.as_bytes()) == hash)
}

/// Takes what stands beside a session of `kimi-code`.
pub(super) fn state_of(file: &SourceFile) -> Option<State> {
    beside::json(&file.path.ancestors().nth(3)?.join("state.json"))
}

impl State {
    /// When the session began: text in older versions, a number in newer ones.
    pub(super) fn created(&self) -> Option<Timestamp> {
        Timestamp::from_json(&self.created_at)
    }
}

/// Shifts of MD5's rounds.
const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// MD5 in hexadecimal digits: here the name of a folder, not a guard against anybody.
fn md5(text: &[u8]) -> String {
    let mut padded = text.to_vec();
    padded.push(0x80);
    padded.resize((text.len() + 9).next_multiple_of(64) - 8, 0);
    padded.extend((text.len() as u64 * 8).to_le_bytes());
    let mut state: [u32; 4] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476];
    for block in padded.chunks_exact(64) {
        let words: Vec<u32> = block
            .chunks_exact(4)
            .map(|bytes| {
                bytes
                    .iter()
                    .rev()
                    .fold(0, |word, &byte| word << 8 | u32::from(byte))
            })
            .collect();
        let [mut a, mut b, mut c, mut d] = state;
        for step in 0..64_usize {
            let (mixed, word) = match step / 16 {
                0 => (b & c | !b & d, step),
                1 => (d & b | !d & c, 5 * step + 1),
                2 => (b ^ c ^ d, 3 * step + 5),
                _ => (c ^ (b | !d), 7 * step),
            };
            // The constants are what the sine of the step's number has behind the point.
            let sine = ((step as f64 + 1.0).sin().abs() * 4_294_967_296.0) as u32;
            let word = words.get(word % 16).copied().unwrap_or_default();
            let shift = SHIFTS
                .get(step / 16)
                .and_then(|round| round.get(step % 4))
                .copied();
            let sum = a.wrapping_add(mixed).wrapping_add(sine).wrapping_add(word);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(shift.unwrap_or_default()));
        }
        for (word, added) in state.iter_mut().zip([a, b, c, d]) {
            *word = word.wrapping_add(added);
        }
    }
    state
        .iter()
        .map(|word| format!("{:08x}", word.swap_bytes()))
        .collect()
}

#[cfg(test)]
mod tests {
    //! Property: hashes are those of RFC 1321.
    use super::md5;

    #[test]
    fn hashes_are_those_of_the_standard() {
        let long = "1234567890".repeat(8);
        for (text, hash) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            (&long, "57edf4a22be3c955ac49da2e2107b67a"),
            (&"a".repeat(55), "ef1772b6dff9a122358552954ad0df65"),
            (&"a".repeat(56), "3b0c8ac703f828b04c6c197006d17218"),
            (&"a".repeat(64), "014842d480b571495a4a0363793f7367"),
        ] {
            assert_eq!(md5(text.as_bytes()), hash, "{text:?}");
        }
    }
}
