//! Property: a process that is killed at any instant of appending loses nothing that an append acknowledged. Its log
//! is then a beginning of what it meant to write, without a gap, and after the repair without a torn record.
//!
//! The binary runs itself: the child appends as fast as it can and says how far it came, until it is killed after a
//! seeded number of these words, in half of the rounds as soon as the file is seen to grow after that, so that the
//! kill meets a record half-written. `LOOKBACK_CRASH_ROUNDS` sets how many rounds each policy gets; what was seen is
//! printed. The machine survives, so every policy must keep everything.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that cannot go on has failed, and tells its seed"
)]

use lookback_engine::event_log::{EventLog, Fsync};
use lookback_model::event::Message;
use lookback_model::session_query::SessionPersistence;
use lookback_model::{Event, EventData, SessionHeader, SurfaceOp, Timestamp};
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const ROUNDS: u64 = 8;
const CHILD: &str = "LOOKBACK_EVENT_LOG_CHILD";
const ID: &str = "Session of a killed process";

const POLICIES: [(&str, Fsync); 4] = [
    ("never", Fsync::Never),
    ("each-append", Fsync::EachAppend),
    ("every", Fsync::Every(Duration::from_millis(5))),
    ("each-bytes", Fsync::EachBytes(100_000)),
];

/// Pseudo-random numbers, the same for each seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// The event that belongs at a seq, whoever writes it. Some are long, so that the kill meets them half-written.
fn event(seq: u64) -> Event {
    let length = match seq % 7 {
        0 | 2 => 2_000_000,
        3 => 200_000,
        other => 20 * other,
    };
    let text = format!("{seq} {}", "word ".repeat(usize::try_from(length).unwrap() / 5));
    Event {
        seq,
        time: Timestamp(i64::try_from(seq).unwrap()),
        data: EventData::UserMessage(Message::text(text)),
        surface_op: Some(SurfaceOp::Append),
        source_event_seqs: None,
        native_id: None,
        copy_key: 0,
    }
}

/// Appends until it is killed, and says the number of acknowledged events after each append.
fn append_until_killed(folder: &Path, fsync: Fsync) {
    let log = EventLog::open(folder, fsync).unwrap();
    let writer = match log.resume(ID) {
        Ok(resumed) => resumed.writer,
        Err(_) => log.create(&SessionHeader::new(ID, Timestamp(1))).unwrap(),
    };
    let mut out = std::io::stdout().lock();
    loop {
        let next = writer.next_seq().unwrap();
        let portion: Vec<_> = (next..next + 1 + next % 3).map(event).collect();
        writer.append(&portion).unwrap();
        writeln!(out, "{}", next + portion.len() as u64).unwrap();
        out.flush().unwrap();
    }
}

/// What a round saw.
struct Round {
    acknowledged: u64,
    torn: bool,
}

/// The length of the only file in a folder.
fn length_in(folder: &Path) -> u64 {
    let file = fs::read_dir(folder).unwrap().next().unwrap().unwrap();
    file.metadata().unwrap().len()
}

fn kill_once(folder: &Path, name: &str, fsync: Fsync, words: u64, is_growing: bool) -> Round {
    let mut child = Command::new(env::current_exe().unwrap())
        .env(CHILD, name)
        .env("LOOKBACK_EVENT_LOG_FOLDER", folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let mut acknowledged = 0;
    let mut line = String::new();
    let mut hear = |acknowledged: &mut u64| {
        line.clear();
        let length = said.read_line(&mut line).unwrap();
        if line.ends_with('\n') {
            *acknowledged = line.trim().parse().unwrap();
        }
        length > 0
    };
    for _ in 0..words {
        assert!(hear(&mut acknowledged), "the child ended by itself");
    }
    let length = length_in(folder);
    while is_growing && length_in(folder) == length {
        assert!(child.try_wait().unwrap().is_none(), "the child ended by itself");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    while hear(&mut acknowledged) {}

    let log = EventLog::open(folder, fsync).unwrap();
    let read = log.inspect(ID).unwrap().events;
    assert!(
        read.len() as u64 >= acknowledged,
        "{} of {acknowledged} are there",
        read.len()
    );
    for (seq, held) in (0..).zip(&read) {
        assert!(*held == event(seq), "event {seq} is not what was appended");
    }
    let resumed = log.resume(ID).unwrap();
    assert_eq!(resumed.log.events.len(), read.len());
    resumed.writer.close().unwrap();
    let again = log.resume(ID).unwrap();
    assert_eq!((again.dropped_bytes, again.repairs), (0, 0));
    Round {
        acknowledged,
        torn: resumed.dropped_bytes > 0,
    }
}

/// Whether the arguments ask for other tests. Only a binary without the usual harness can run itself as a child.
fn is_filtered_out() -> bool {
    const NAME: &str = "event_log_kill";
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        println!("{NAME}: test");
        return true;
    }
    let wanted = arguments.iter().find(|argument| !argument.starts_with('-'));
    wanted.is_some_and(|wanted| !NAME.contains(wanted.as_str()))
}

fn main() {
    if let Some(name) = env::var_os(CHILD) {
        let folder = env::var_os("LOOKBACK_EVENT_LOG_FOLDER").unwrap();
        let (_, fsync) = *POLICIES.iter().find(|(policy, _)| name == *policy).unwrap();
        return append_until_killed(Path::new(&folder), fsync);
    }
    if is_filtered_out() {
        return;
    }
    let rounds = env::var("LOOKBACK_CRASH_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok());
    let rounds = rounds.unwrap_or(ROUNDS);
    for (name, fsync) in POLICIES {
        let mut numbers = Numbers(0x5eed + name.len() as u64);
        let folder = tempfile::tempdir().unwrap();
        let (mut acknowledged, mut torn) = (0, 0);
        for round in 0..rounds {
            // A log that grew long is left for a new one.
            let folder = folder.path().join((round / 4).to_string());
            let words = 1 + numbers.next() % 12;
            let seen = kill_once(&folder, name, fsync, words, numbers.next().is_multiple_of(2));
            acknowledged += seen.acknowledged;
            torn += u64::from(seen.torn);
        }
        println!(
            "{name}: {rounds} kills, {acknowledged} events acknowledged and there, {torn} torn tails healed"
        );
    }
}
