//! Transcripts as logs of a session query: which events an agent would still send, and which session comes from which.
//!
//! `surface.json` and `lineage.json` beside a corpus case's `expected.json` say it for the cases that have rewinds,
//! compactions, forks or subagents. A line of `surface.json` is one event: its seq, where it stands, what took its
//! place, its type and its first words. Run with `LOOKBACK_UPDATE_EXPECTED=1` to write them, then read them before you
//! believe them.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test binary; its functions that are no tests count otherwise, and one that was not run says so"
)]

use lookback_engine::SOURCES;
use lookback_engine::transcript_persistence::TranscriptPersistence;
use lookback_model::session_query::{PersistedSession, SessionLog, SessionPersistence};
use lookback_model::source::{
    Discovery, EventSink, FileRole, ReadCursor, ReadError, ReadOutcome, ResumeCommand, SourceFile,
};
use lookback_model::{
    Environment, SessionFacts, SessionHeader, SessionSource, Surface, SurfaceState, Timestamp, text,
};
use lookback_readers::walk::{Class, Walk};
use lookback_testkit::memory::Memory;
use lookback_testkit::reading;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The corpus cases whose surfaces and lineages are written down.
const CASES: [&str; 16] = [
    "claude/compaction",
    "claude/compaction-keeps-the-end",
    "claude/copies",
    "claude/cowork",
    "claude/queue",
    "claude/rewind",
    "claude/subagents",
    "codex/compaction",
    "codex/fork-with-copied-history",
    "codex/fork-with-referenced-history",
    "codex/rollback",
    "codex/subagents",
    "gemini/journal-compressed",
    "gemini/journal-history-edited",
    "gemini/journal-rewind",
    "gemini/subagent",
];

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../readers/tests/corpus")
}

fn over(environment: Environment, sources: &'static [&'static dyn SessionSource]) -> TranscriptPersistence {
    TranscriptPersistence::new(environment, sources, Arc::new(Memory::default()))
}

/// Where each event stands, and what took its place.
fn fold(log: &SessionLog) -> (Vec<SurfaceState>, BTreeMap<u64, u64>) {
    let surface = Surface::of(&log.events).unwrap();
    let taken = surface.replacements().iter();
    let replacers = taken.flat_map(|taken| taken.shadowed.iter().map(|&seq| (seq, taken.by)));
    (surface.states(log.events.len() as u64), replacers.collect())
}

fn surface_of(log: &SessionLog) -> Value {
    let (states, replacers) = fold(log);
    let lines = log.events.iter().zip(states).map(|(event, state)| {
        let state = match (state, replacers.get(&event.seq)) {
            (SurfaceState::Current, _) => "current".to_owned(),
            (SurfaceState::LogOnly, _) => "log-only".to_owned(),
            (SurfaceState::Shadowed, by) => format!("shadowed by {}", by.unwrap()),
        };
        let words: Vec<_> = text::pieces(event).into_iter().map(|piece| piece.text).collect();
        let words = lookback_model::facts::one_line(&words.join(" "), 50);
        format!("{} {state} {}: {words}", event.seq, event.type_name())
    });
    Value::from_iter(lines)
}

/// Parents nearest first, and the first one that is not there.
fn ancestry<'a>(
    start: &'a SessionHeader,
    headers: &'a BTreeMap<String, SessionHeader>,
) -> (Vec<&'a str>, Option<&'a str>) {
    let (mut parents, mut at) = (Vec::new(), start);
    while let Some(parent) = &at.parent_session {
        assert!(
            *parent != start.id && !parents.contains(&parent.as_str()),
            "{} descends from itself",
            start.id
        );
        let Some(header) = headers.get(parent) else {
            return (parents, Some(parent));
        };
        parents.push(parent);
        at = header;
    }
    (parents, None)
}

fn lineage_of(header: &SessionHeader, headers: &BTreeMap<String, SessionHeader>) -> Value {
    let (parents, unresolved) = ancestry(header, headers);
    let is_child = |other: &&SessionHeader| other.parent_session.as_ref() == Some(&header.id);
    let children: Vec<_> = headers.values().filter(is_child).map(|child| &child.id).collect();
    let mut lineage = json!({"parents": parents, "children": children});
    match unresolved {
        Some(id) => lineage["unresolvedParentId"] = json!(id),
        None => lineage["root"] = json!(parents.last().copied().unwrap_or(&header.id)),
    }
    for (name, number) in [
        ("seedLength", header.seed_length),
        ("delegationDepth", header.delegation_depth),
    ] {
        if let Some(number) = number {
            lineage[name] = json!(number);
        }
    }
    lineage
}

fn headers(listed: &[PersistedSession]) -> BTreeMap<String, SessionHeader> {
    let header = |session: &PersistedSession| (session.header.id.clone(), session.header.clone());
    listed.iter().map(header).collect()
}

/// Property: surfaces and lineages of the corpus are those that are written down.
#[test]
fn surfaces_and_lineages_are_as_written_down() {
    let mut wrong = Vec::new();
    for name in CASES {
        let case = corpus().join(name);
        let persistence = over(Environment::at_home(case.join("home")), SOURCES);
        let headers = headers(&persistence.list().unwrap());
        let surface = |id: &String| (id.clone(), surface_of(&persistence.inspect(id).unwrap()));
        let lineage = |header: &SessionHeader| (header.id.clone(), lineage_of(header, &headers));
        let surfaces = Value::Object(headers.keys().map(surface).collect());
        let lineages = Value::Object(headers.values().map(lineage).collect());
        for (file, seen) in [("surface.json", surfaces), ("lineage.json", lineages)] {
            let (seen, path) = (
                serde_json::to_string_pretty(&seen).unwrap() + "\n",
                case.join(file),
            );
            if std::env::var_os("LOOKBACK_UPDATE_EXPECTED").is_some() {
                fs::write(&path, &seen).unwrap();
            }
            if fs::read_to_string(&path).unwrap_or_default() != seen {
                wrong.push(format!("{}: this is seen now:\n{seen}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checks one log: it folds; the shadowed ranges that the reader tells the catalogue are those of the fold; what an
/// event was made from comes before it.
fn check_log(log: &SessionLog, shadowed: &[(u64, u64)]) {
    let id = &log.header.id;
    let (states, _) = fold(log);
    for (event, state) in log.events.iter().zip(states) {
        let has_marker = event.surface_op.is_some() && event.data.surface_eligible();
        let is_told = shadowed
            .iter()
            .any(|(from, to)| (from..=to).contains(&&event.seq));
        let told = match (has_marker, is_told) {
            (false, _) => SurfaceState::LogOnly,
            (true, true) => SurfaceState::Shadowed,
            (true, false) => SurfaceState::Current,
        };
        assert_eq!(told, state, "event {} of {id}", event.seq);
        let sources = event.source_event_seqs.clone().unwrap_or_default();
        assert!(
            sources.iter().all(|&seq| seq < event.seq),
            "event {} of {id}",
            event.seq
        );
        let distinct: HashSet<_> = sources.iter().collect();
        assert_eq!(distinct.len(), sources.len(), "event {} of {id}", event.seq);
    }
}

/// Property: what the catalogue is told of a session's surface is what folding its log gives, in the whole corpus.
#[test]
fn told_surfaces_are_those_of_the_fold() {
    let mut checked = 0;
    for source in SOURCES {
        for case in fs::read_dir(corpus().join(source.agent())).unwrap() {
            let environment = Environment::at_home(case.unwrap().path().join("home"));
            for file in reading::discover(*source, &environment).files {
                let mut kept = reading::Kept::default();
                let _ = source.read(&file, None, &mut kept);
                for kept in kept.sessions.into_iter().filter(|kept| kept.session.is_some()) {
                    let read = kept.session.unwrap();
                    let (header, events) = (read.header, kept.events);
                    check_log(&SessionLog { header, events }, &read.shadowed);
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 60, "only {checked} sessions were seen");
}

/// A format over the files of a folder that is no home of its agent.
struct Anywhere {
    format: &'static dyn SessionSource,
    folder: PathBuf,
}

impl SessionSource for Anywhere {
    fn agent(&self) -> &'static str {
        self.format.agent()
    }

    fn roots(&self, _: &Environment) -> Vec<PathBuf> {
        vec![self.folder.clone()]
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        let is_transcript = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_other = [
                "history.jsonl",
                "session_index.jsonl",
                "journal.jsonl",
                "meta.json",
                "title.json",
            ]
            .into_iter()
            .chain(["projects.json", "replay.json"])
            .any(|end| name.ends_with(end));
            !is_other && [".jsonl", ".json", ".zst"].iter().any(|end| name.ends_with(end))
        };
        let classify = |path: &Path| {
            if is_transcript(path) {
                Class::File(FileRole::Transcript)
            } else {
                Class::Other
            }
        };
        Walk {
            agent: self.agent(),
            root,
            depth: 12,
            classify: &classify,
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
        self.format.read(file, cursor, sink)
    }

    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        self.format.resume(session, facts)
    }
}

/// Agents of which many samples lie at hand, each in a file by itself; the others are held against theirs as readers.
const SAMPLED: [&str; 3] = ["claude", "codex", "gemini"];

/// Property: every sample that such an agent's own program wrote loads and folds; each parent is there, or is told to be
/// missing; no session descends from itself. Without samples at hand the test says so.
#[test]
fn samples_load_and_fold() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("LOOKBACK_SHARED").map_or(beside, PathBuf::from);
    for format in SOURCES.iter().filter(|format| SAMPLED.contains(&format.agent())) {
        let folder = shared.join("samples").join(format.agent());
        if !folder.is_dir() {
            println!("passed over: {} is not there", folder.display());
            continue;
        }
        let source: &'static dyn SessionSource = Box::leak(Box::new(Anywhere {
            format: *format,
            folder,
        }));
        let persistence = over(Environment::at_home("/nobody"), Box::leak(Box::new([source])));
        let listed = persistence.list().unwrap();
        let headers = headers(&listed);
        let (mut events, mut shadowed, mut unresolved) = (0, 0, 0);
        for session in &listed {
            let log = persistence.inspect(&session.header.id).unwrap();
            assert!((0..).zip(&log.events).all(|(seq, event)| event.seq == seq));
            let (states, _) = fold(&log);
            events += states.len();
            shadowed += states
                .iter()
                .filter(|&&state| state == SurfaceState::Shadowed)
                .count();
            unresolved += usize::from(ancestry(&session.header, &headers).1.is_some());
            assert!(log.events.iter().all(|event| event.time >= Timestamp(0)));
        }
        for unread in persistence.unread() {
            println!("{}: {}", unread.path.display(), unread.error);
        }
        assert_eq!(persistence.unread().len(), 0, "{}", format.agent());
        println!(
            "{}: {} sessions, {events} events, {shadowed} of them shadowed, {unresolved} sessions with a parent that is not there",
            format.agent(),
            listed.len()
        );
        assert!(listed.len() > 10, "{}", format.agent());
    }
}
