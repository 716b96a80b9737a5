//! The bodies of the fuzz targets on what can be made of the corpus: its files as they are, and with pieces
//! of them taken out, doubled, exchanged and damaged. A fuzzer finds more; this runs with every test.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use lookback_readers::registry::SOURCES;
use lookback_testkit::fuzzing::{self, PREFIX, Shapes};
use proptest::prelude::*;
use proptest::sample::Index;
use std::fs;
use std::path::Path;

const FORMATS: &[(&str, Shapes)] = &[
    ("aider", fuzzing::AIDER),
    ("cline", fuzzing::CLINE),
    ("continue", fuzzing::CONTINUE),
    ("copilot-chat", fuzzing::COPILOT_CHAT),
    ("antigravity", fuzzing::ANTIGRAVITY),
    ("chatgpt", fuzzing::EXPORT),
    ("claude-ai", fuzzing::EXPORT),
    ("cursor", fuzzing::CURSOR),
    ("roo", fuzzing::ROO),
    ("claude", fuzzing::CLAUDE),
    ("codex", fuzzing::CODEX),
    ("gemini", fuzzing::GEMINI),
    ("qwen", fuzzing::QWEN),
    ("pi", fuzzing::PI),
    ("omp", fuzzing::PI),
    ("droid", fuzzing::DROID),
    ("copilot-cli", fuzzing::COPILOT_CLI),
    ("kimi", fuzzing::KIMI),
    ("amp", fuzzing::AMP),
    ("vibe", fuzzing::VIBE),
    ("grok", fuzzing::GROK),
    ("dsh", fuzzing::DSH),
    ("goose", fuzzing::GOOSE),
    ("kiro", fuzzing::KIRO),
];
/// Larger files of the corpus are about size, not about shape.
const SEED_LIMIT: u64 = 16 << 10;

fn seeds(folder: &Path) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            seeds.extend(self::seeds(&path));
        } else if path
            .extension()
            .is_some_and(|extension| ["json", "jsonl", "md"].iter().any(|known| extension == *known))
            && !path.ends_with("expected.json")
            && fs::metadata(&path).unwrap().len() <= SEED_LIMIT
        {
            seeds.push(fs::read(&path).unwrap());
        }
    }
    seeds
}

fn corpus(agent: &str) -> Vec<Vec<u8>> {
    let seeds = seeds(
        &Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/corpus")
            .join(agent),
    );
    assert!(!seeds.is_empty(), "{agent} has no seeds");
    seeds
}

fn run(agent: &str, shapes: Shapes, select: u8, cut: u16, content: &[u8]) {
    let source = SOURCES.iter().find(|source| source.agent() == agent).unwrap();
    let mut data = vec![select];
    data.extend(cut.to_be_bytes());
    assert_eq!(data.len(), PREFIX);
    data.extend(content);
    fuzzing::reader(*source, shapes, &data);
}

/// A change to a file, in lines or in bytes.
#[derive(Clone, Debug)]
enum Change {
    TakeLine(Index),
    DoubleLine(Index, Index),
    ExchangeLines(Index, Index),
    GlueLines(Index),
    ReplaceByte(Index, u8),
    TakeBytes(Index, usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        any::<Index>().prop_map(Change::TakeLine),
        any::<(Index, Index)>().prop_map(|(from, to)| Change::DoubleLine(from, to)),
        any::<(Index, Index)>().prop_map(|(a, b)| Change::ExchangeLines(a, b)),
        any::<Index>().prop_map(Change::GlueLines),
        (
            any::<Index>(),
            prop_oneof![any::<u8>(), Just(0), Just(b'\n'), Just(b'"'), Just(b'\\')]
        )
            .prop_map(|(at, byte)| Change::ReplaceByte(at, byte)),
        (any::<Index>(), 1usize..30).prop_map(|(at, length)| Change::TakeBytes(at, length)),
    ]
}

fn apply(change: &Change, content: &mut Vec<u8>) {
    if content.is_empty() {
        return;
    }
    if let Change::ReplaceByte(at, byte) = change {
        let at = at.index(content.len());
        content[at] = *byte;
        return;
    }
    if let Change::TakeBytes(at, length) = change {
        let at = at.index(content.len());
        let end = (at + length).min(content.len());
        content.drain(at..end);
        return;
    }
    let mut lines: Vec<Vec<u8>> = content
        .split_inclusive(|&byte| byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let count = lines.len();
    match change {
        Change::TakeLine(at) => drop(lines.remove(at.index(count))),
        Change::DoubleLine(from, to) => lines.insert(to.index(count), lines[from.index(count)].clone()),
        Change::ExchangeLines(a, b) => lines.swap(a.index(count), b.index(count)),
        Change::GlueLines(at) => lines[at.index(count)].retain(|&byte| byte != b'\n'),
        Change::ReplaceByte(..) | Change::TakeBytes(..) => {}
    }
    *content = lines.concat();
}

#[test]
fn whole_files_of_the_corpus() {
    for &(agent, shapes) in FORMATS {
        for content in corpus(agent) {
            for select in 0..shapes.paths.len() {
                run(
                    agent,
                    shapes,
                    u8::try_from(select).unwrap(),
                    u16::MAX / 2,
                    &content,
                );
            }
        }
    }
}

proptest! {
    // What fails depends on the corpus, which grows; so a failure is worth a case of its own, not a seed.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_files_of_the_corpus(
        seed in any::<Index>(),
        select in any::<u8>(),
        cut in any::<u16>(),
        changes in prop::collection::vec(change(), 1..6),
    ) {
        for &(agent, shapes) in FORMATS {
            let seeds = corpus(agent);
            let mut content = seed.get(&seeds).clone();
            changes.iter().for_each(|change| apply(change, &mut content));
            run(agent, shapes, select, cut, &content);
        }
    }

    #[test]
    fn queries(data in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'"'), Just(b' '), Just(b':')], 0..700), head in "(repo:|path:|\")?") {
        fuzzing::query_parse(&[head.as_bytes(), &data].concat());
    }
}
