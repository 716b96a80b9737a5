//! How quickly transcripts become events, beside serde_json, which only checks that the lines are JSON.
//!
//! `cargo bench -p lookback-readers --bench reading`. They take turns, so that a busy machine slows both, and
//! the best of each is taken. Both read the file from the page cache.

#![allow(clippy::print_stdout, reason = "its only output")]

use lookback_model::source::{EventSink, ReadSession, SideTitle, SinkClosed, SourceFile};
use lookback_model::{Environment, Event, SessionSource};
use lookback_readers::formats::{claude::Claude, codex::Codex, gemini::Gemini};
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

type Failure = Box<dyn std::error::Error>;

const ROUNDS: usize = 15;
/// Turns of each transcript; one is about seven kilobytes.
const TURNS: usize = 600;
const SESSION: &str = "5e551011-0000-4000-8000-000000000001";
const PROMPT: &str = "why does the ticket printer stall, and what of \"retry\" in spooler.py?";
const ANSWER: &str =
    "The spooler waits until its queue has room, which never happens while the lock is held.";

fn main() -> Result<(), Failure> {
    // Tests of all targets start this as well, without the word that `cargo bench` passes.
    if !std::env::args().any(|word| word == "--bench") {
        return Ok(());
    }
    println!("| transcript | lookback | serde_json, all ignored | ratio |\n|---|---|---|---|");
    let home = tempfile::tempdir()?;
    let sources: [(&dyn SessionSource, &str, String); 3] = [
        (
            &Claude,
            ".claude/projects/-home-dev-kiosk/5e551011-0000-4000-8000-000000000001.jsonl",
            claude(),
        ),
        (
            &Codex,
            ".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-5e551011-0000-4000-8000-000000000001.jsonl",
            codex(),
        ),
        (
            &Gemini,
            ".gemini/tmp/kiosk/chats/session-2026-03-01T10-00-5e551011.jsonl",
            gemini(),
        ),
    ];
    for (source, path, text) in sources {
        compare(source, home.path(), path, &text)?;
    }
    Ok(())
}

fn compare(source: &dyn SessionSource, home: &Path, path: &str, text: &str) -> Result<(), Failure> {
    let path = home.join(path);
    std::fs::create_dir_all(path.parent().ok_or("a transcript lies in a folder")?)?;
    std::fs::write(&path, text)?;
    let found = lookback_testkit::reading::discover(source, &Environment::at_home(home));
    let file = found.files.first().ok_or("the transcript is not found")?;
    let mut best = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        let ours = seconds(|| events(source, file))?;
        let theirs = seconds(|| lines(&path))?;
        for (best, time) in best.iter_mut().zip([ours, theirs]) {
            *best = best.min(time);
        }
    }
    let [ours, theirs] = best.map(|seconds| text.len() as f64 / 1e6 / seconds);
    let (agent, ratio) = (source.agent(), ours / theirs);
    println!("| {agent} | {ours:.0} MB/s | {theirs:.0} MB/s | {ratio:.2} |");
    Ok(())
}

/// Reads a transcript; an error unless it gives at least an event for each prompt and answer.
fn events(source: &dyn SessionSource, file: &SourceFile) -> Result<(), Failure> {
    let mut counted = Counted(0);
    source.read(file, None, &mut counted)?;
    match counted.0 {
        count if count >= 2 * TURNS => Ok(()),
        count => Err(format!("{} gave {count} events", source.agent()).into()),
    }
}

fn lines(path: &Path) -> Result<(), Failure> {
    for line in std::fs::read(path)?.split(|&byte| byte == b'\n') {
        if !line.is_empty() {
            serde_json::from_slice::<IgnoredAny>(line)?;
        }
    }
    Ok(())
}

fn seconds(run: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
    let started = Instant::now();
    run()?;
    Ok(started.elapsed().as_secs_f64())
}

/// Counts events.
struct Counted(usize);

impl EventSink for Counted {
    fn begin(&mut self, _: &str, _: bool) -> Result<(), SinkClosed> {
        Ok(())
    }

    fn event(&mut self, event: Event) -> Result<(), SinkClosed> {
        std::hint::black_box(event);
        self.0 += 1;
        Ok(())
    }

    fn end(&mut self, _: ReadSession) -> Result<(), SinkClosed> {
        Ok(())
    }

    fn title(&mut self, _: SideTitle) {}
}

/// What a tool printed, about six kilobytes.
fn output() -> String {
    "spooler.py:42:    while queue.full(): wait()  # \"held\" by printer\\0\n".repeat(90)
}

fn time(turn: usize) -> String {
    format!("2026-03-01T{:02}:{:02}:00.000Z", turn / 60 % 24, turn % 60)
}

fn joined(records: impl Iterator<Item = Value>) -> String {
    records.map(|record| format!("{record}\n")).collect()
}

fn claude() -> String {
    let output = output();
    joined((0..TURNS).flat_map(|turn| {
        let call = format!("toolu_{turn}");
        let messages = [
            ("user", json!({"role": "user", "content": PROMPT})),
            (
                "assistant",
                json!({"id": format!("m{turn}"), "role": "assistant", "content": [
                {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "cat spooler.py"}}]}),
            ),
            (
                "user",
                json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": call, "content": output}]}),
            ),
            (
                "assistant",
                json!({"id": format!("n{turn}"), "role": "assistant", "content": [
                {"type": "text", "text": ANSWER}]}),
            ),
        ];
        (0..).zip(messages).map(move |(part, (kind, message))| {
            let at = 4 * turn + part;
            let parent = at.checked_sub(1).map(|before| format!("u{before:08}"));
            json!({"type": kind, "uuid": format!("u{at:08}"), "parentUuid": parent, "sessionId": SESSION,
                "cwd": "/home/dev/kiosk", "timestamp": time(turn), "isSidechain": false, "version": "2.1.0",
                "message": message})
        })
    }))
}

fn codex() -> String {
    let output = output();
    let meta = json!({"timestamp": time(0), "type": "session_meta", "payload": {"id": SESSION,
        "timestamp": time(0), "cwd": "/home/dev/kiosk", "originator": "codex-tui", "cli_version": "0.140.0",
        "source": "cli"}});
    let turns = (0..TURNS).flat_map(|turn| {
        let call = format!("c{turn}");
        let payloads = [
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": PROMPT}]}),
            json!({"type": "function_call", "name": "exec_command", "arguments": "{\"cmd\":\"cat spooler.py\"}",
                "call_id": call}),
            json!({"type": "function_call_output", "call_id": call, "output": output}),
            json!({"type": "message", "role": "assistant", "content": [
                {"type": "output_text", "text": ANSWER}]}),
        ];
        payloads
            .into_iter()
            .map(move |payload| json!({"timestamp": time(turn), "type": "response_item", "payload": payload}))
    });
    joined([meta].into_iter().chain(turns))
}

fn gemini() -> String {
    let output = output();
    let head = json!({"sessionId": SESSION, "projectHash": "ph", "startTime": time(0), "lastUpdated": time(0),
        "kind": "main"});
    let turns = (0..TURNS).flat_map(|turn| {
        let call = format!("c{turn}");
        [
            json!({"id": format!("p{turn}"), "timestamp": time(turn), "type": "user",
                "content": [{"text": PROMPT}]}),
            json!({"id": format!("a{turn}"), "timestamp": time(turn), "type": "gemini", "content": ANSWER,
                "model": "gemini-3-pro", "toolCalls": [{"id": call, "name": "read_file",
                "args": {"path": "spooler.py"}, "status": "success", "timestamp": time(turn),
                "result": [{"functionResponse": {"id": call, "name": "read_file",
                "response": {"output": output}}}]}]}),
        ]
    });
    joined([head].into_iter().chain(turns))
}
