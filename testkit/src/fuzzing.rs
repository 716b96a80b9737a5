//! What must hold for any bytes at all, as functions of those bytes: the bodies of the fuzz targets, which
//! ordinary tests run as well on what they make of the corpus.
//!
//! A body panics when a property does not hold.

use crate::reading::{self, Kept};
use lookback_model::query::parse::{QUERY_LIMIT, WORD_LIMIT, parse};
use lookback_model::source::{FileRole, FileStamp, ReadAccount, ReadError, SourceFile};
use lookback_model::{SessionSource, Surface, SurfaceState};
use lookback_wire::rpc::{self, Answer, Call, ErrorObject, Frame, FrameReader, Line};
use lookback_wire::session_query as operation;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a format, by the path they have below its root. Names that end in `.zst` are given the bytes
/// in a frame of Zstandard.
#[derive(Clone, Copy, Debug)]
pub struct Shapes {
    /// Paths, with `/` between their parts; not empty.
    pub paths: &'static [&'static str],
}

/// Claude Code's main session, its subagent's, and its title catalogue.
pub const CLAUDE: Shapes = Shapes {
    paths: &[
        "projects/-srv-shop/0b5e6a1c-0000-4000-8000-000000000001.jsonl",
        "projects/-srv-shop/0b5e6a1c-0000-4000-8000-000000000001/subagents/agent-a1.jsonl",
        "projects/-srv-shop/agent-a1.jsonl",
    ],
};

/// Codex's rollouts, plain and compressed, and its title catalogue.
pub const CODEX: Shapes = Shapes {
    paths: &[
        "sessions/2026/05/04/rollout-2026-05-04T10-00-00-0b5e6a1c-0000-7000-8000-000000000001.jsonl",
        "sessions/2026/05/04/rollout-2026-05-04T10-00-00-0b5e6a1c-0000-7000-8000-000000000001.jsonl.zst",
        "session_index.jsonl",
    ],
};

/// Gemini CLI's journals and documents.
pub const GEMINI: Shapes = Shapes {
    paths: &[
        "shop/chats/session-2026-05-04T10-00-0b5e6a1c.jsonl",
        "shop/chats/session-2026-05-04T10-00-0b5e6a1c.json",
        "shop/chats/0b5e6a1c-0000-4000-8000-000000000001/helper.jsonl",
    ],
};

/// Qwen Code's records, and the documents that it wrote before.
pub const QWEN: Shapes = Shapes {
    paths: &[
        "-srv-shop/chats/0b5e6a1c-0000-4000-8000-000000000001.jsonl",
        "-srv-shop/chats/archive/0b5e6a1c-0000-4000-8000-000000000001.jsonl",
        "shop/chats/session-2026-05-04T10-00-0b5e6a1c.json",
    ],
};

/// Pi's sessions, and those that were delegated.
pub const PI: Shapes = Shapes {
    paths: &[
        "--srv-shop--/2026-05-04T10-00-00-000Z_0b5e6a1c-0000-7000-8000-000000000001.jsonl",
        "--srv-shop--/2026-05-04T10-00-00-000Z_0b5e6a1c-0000-7000-8000-000000000001/run/session.jsonl",
    ],
};

/// Droid's sessions.
pub const DROID: Shapes = Shapes {
    paths: &[
        "-srv-shop/0b5e6a1c-0000-4000-8000-000000000001.jsonl",
        "old.jsonl",
    ],
};

/// Copilot CLI's logs, and its oldest documents.
pub const COPILOT_CLI: Shapes = Shapes {
    paths: &[
        "0b5e6a1c-0000-4000-8000-000000000001/events.jsonl",
        "0b5e6a1c-0000-4000-8000-000000000001.jsonl",
        "session_0b5e6a1c-0000-4000-8000-000000000001_1780308000000.json",
    ],
};

/// The logs of both of Kimi's programs.
pub const KIMI: Shapes = Shapes {
    paths: &[
        "0f343b0931126a20f133d67c2b018a3b/0b5e6a1c-0000-4000-8000-000000000001/wire.jsonl",
        "0f343b0931126a20f133d67c2b018a3b/0b5e6a1c-0000-4000-8000-000000000001/context.jsonl",
        "wd_shop_0f343b093112/session_0b5e6a1c/agents/main/wire.jsonl",
        "wd_shop_0f343b093112/session_0b5e6a1c/agents/agent-0/wire.jsonl",
    ],
};

/// Amp's threads.
pub const AMP: Shapes = Shapes {
    paths: &["T-0b5e6a1c-0000-4000-8000-000000000001.json"],
};

/// Vibe's older sessions, its first documents, and the file that names the snapshot of a newer session.
pub const VIBE: Shapes = Shapes {
    paths: &[
        "session_20260504_100000_0b5e6a1c/messages.jsonl",
        "session_20260504_100000_0b5e6a1c/agents/helper/messages.jsonl",
        "session_20260504_100000_0b5e6a1c.json",
        "unified/0b5e6a1c-0000-4000-8000-000000000001/CURRENT",
    ],
};

/// What Grok Build sent to the terminal, and to the model.
pub const GROK: Shapes = Shapes {
    paths: &[
        "%2Fsrv%2Fshop/0b5e6a1c-0000-7000-8000-000000000001/updates.jsonl",
        "%2Fsrv%2Fshop/0b5e6a1c-0000-7000-8000-000000000001/chat_history.jsonl",
    ],
};

/// The logs of DeepSeek's harness, plain and compressed.
pub const DSH: Shapes = Shapes {
    paths: &[
        "--srv-shop--/0b5e6a1c/session.jsonl",
        "--srv-shop--/0b5e6a1c/session.jsonl.zst",
        "--srv-shop--/0b5e6a1c.jsonl",
    ],
};

/// Aider's history.
pub const AIDER: Shapes = Shapes {
    paths: &["shop/.aider.chat.history.md"],
};

/// Cline's sessions, and tasks of its old extension.
pub const CLINE: Shapes = Shapes {
    paths: &[
        "sessions/1777885500000_ab1cd/1777885500000_ab1cd.messages.json",
        "tasks/1777885500000/api_conversation_history.json",
        "tasks/1777885500000/ui_messages.json",
    ],
};

/// Roo Code's tasks.
pub const ROO: Shapes = Shapes {
    paths: &[
        "tasks/019d193c-0000-7000-8000-000000000001/api_conversation_history.json",
        "tasks/019d193c-0000-7000-8000-000000000001/ui_messages.json",
    ],
};

/// Continue's sessions.
pub const CONTINUE: Shapes = Shapes {
    paths: &["0b5e6a1c-0000-4000-8000-000000000001.json"],
};

/// Copilot Chat's documents, logs of changes and logs of events.
pub const COPILOT_CHAT: Shapes = Shapes {
    paths: &[
        "workspaceStorage/0123456789abcdef/chatSessions/0b5e6a1c-0000-4000-8000-000000000001.json",
        "workspaceStorage/0123456789abcdef/chatSessions/0b5e6a1c-0000-4000-8000-000000000001.jsonl",
        "workspaceStorage/0123456789abcdef/GitHub.copilot-chat/transcripts/0b5e6a1c-0000-4000-8000-000000000001.jsonl",
    ],
};

/// Antigravity's transcripts, full and short.
pub const ANTIGRAVITY: Shapes = Shapes {
    paths: &[
        "brain/0b5e6a1c-0000-4000-8000-000000000001/.system_generated/logs/transcript_full.jsonl",
        "brain/0b5e6a1c-0000-4000-8000-000000000001/.system_generated/logs/transcript.jsonl",
    ],
};

/// An export of ChatGPT or Claude.ai.
pub const EXPORT: Shapes = Shapes {
    paths: &["conversations.json"],
};

/// Cursor's transcripts.
pub const CURSOR: Shapes = Shapes {
    paths: &["srv-shop/agent-transcripts/0b5e6a1c-0000-4000-8000-000000000001.jsonl"],
};

/// Goose's older files of lines.
pub const GOOSE: Shapes = Shapes {
    paths: &["sessions/20250604_100000.jsonl"],
};

/// Kiro's files of lines, by envelopes and by events.
pub const KIRO: Shapes = Shapes {
    paths: &[
        "cli/0b5e6a1c-0000-4000-8000-000000000001.jsonl",
        "a1b2c3/sess_0b5e6a1c/messages.jsonl",
    ],
};

/// Bytes before the content: one selects the path, two where the content is cut.
pub const PREFIX: usize = 3;

/// Reads `data` as a transcript, whole and in two parts. Its first [`PREFIX`] bytes select the file's path
/// and the cut, the others are the file.
///
/// # Panics
/// When a line is accounted for other than once, the log cannot be folded or disagrees with the facts, or
/// the parts differ from the whole.
pub fn reader(source: &dyn SessionSource, shapes: Shapes, data: &[u8]) {
    let Some((&[select, high, low], content)) = data.split_first_chunk::<PREFIX>() else {
        return;
    };
    let Some(path) = shapes.paths.get(usize::from(select) % shapes.paths.len()) else {
        return;
    };
    let content = if path.ends_with(".zst") {
        zstd_frame(content)
    } else {
        content.to_vec()
    };
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary folder: {error}"));
    let file = write(folder.path(), path, &content, source.agent());

    let mut kept = Kept::default();
    let outcome = source.read(&file, None, &mut kept);
    match &outcome {
        Ok(outcome) => check_account(&outcome.account),
        // A file that stands still can neither be stale nor change.
        Err(ReadError::StaleCursor { .. } | ReadError::Changed { .. } | ReadError::Closed(_)) => {
            panic!("a whole read ended in {outcome:?}")
        }
        Err(_) => {}
    }
    kept.sessions.iter().for_each(check_session);

    // The two bytes are a fraction of the length, so that a cut means the same when the content grows.
    let fraction = usize::from(u16::from_be_bytes([high, low]));
    let cut = content.len() * fraction / usize::from(u16::MAX);
    let parts = folder.path().join("parts");
    let made = fs::create_dir(&parts).map_err(|error| error.to_string());
    if let Err(error) = made.and_then(|()| reading::read_in_parts(source, &file, cut, &parts)) {
        panic!("{path}: {error}");
    }
}

fn write(folder: &Path, path: &str, content: &[u8], agent: &str) -> SourceFile {
    let root = folder.join("root");
    let path: PathBuf = path.split('/').fold(root.clone(), |path, part| path.join(part));
    let parent = path.parent().unwrap_or(&root);
    if let Err(error) = fs::create_dir_all(parent).and_then(|()| fs::write(&path, content)) {
        panic!("cannot write {}: {error}", path.display());
    }
    let is_side = path.ends_with("session_index.jsonl");
    SourceFile {
        agent: agent.to_owned(),
        root,
        path,
        role: if is_side {
            FileRole::Side
        } else {
            FileRole::Transcript
        },
        stamp: FileStamp {
            size: content.len() as u64,
            // Any time will do, as long as it is the same in every run.
            modified_ns: 1_780_000_000_000_000_000,
            ..FileStamp::default()
        },
    }
}

fn check_account(account: &ReadAccount) {
    let sum = account.records + account.bookkeeping + account.blank + account.lost;
    assert_eq!(
        account.lines, sum,
        "every line is accounted for once: {account:?}"
    );
}

fn check_session(session: &reading::KeptSession) {
    let seqs = session.events.iter().map(|event| event.seq);
    assert!(seqs.eq(0..session.events.len() as u64), "seqs are not 0, 1, 2, …");
    let surface = match Surface::of(&session.events) {
        Ok(surface) => surface,
        Err(error) => panic!("the log cannot be folded: {error}"),
    };
    let Some(read) = &session.session else {
        return;
    };
    assert_eq!(
        read.facts.events,
        session.events.len() as u64,
        "events are counted"
    );
    assert_eq!(read.header.id, session.id);
    let states = surface.states(read.facts.events);
    let shadowed = (0..)
        .zip(states)
        .filter(|(_, state)| *state == SurfaceState::Shadowed);
    let said = read.shadowed.iter().flat_map(|&(from, to)| from..=to);
    assert!(
        shadowed.map(|(seq, _)| seq).eq(said),
        "the shadowed events are not those of the fold"
    );
}

/// Parses `data` as a query.
///
/// # Panics
/// When the plan holds more than its limits allow, or words that no query could hold.
pub fn query_parse(data: &[u8]) {
    let query = String::from_utf8_lossy(data);
    let plan = parse(&query);
    assert!(plan.words.len() <= WORD_LIMIT);
    assert!(
        plan.words
            .iter()
            .all(|word| query.contains(&word.text) && !word.text.trim().is_empty())
    );
    let values = plan.operators.repo.iter().chain(&plan.operators.path);
    let texts = plan.words.iter().map(|word| &word.text).chain(values);
    let units: usize = texts.map(|text| text.encode_utf16().count()).sum();
    assert!(units <= QUERY_LIMIT, "{units} units of text");
    assert_eq!(plan, parse(&query), "the same text has the same plan");
    if query.encode_utf16().count() > QUERY_LIMIT {
        assert!(plan.cut, "a long query says that it was cut");
    }
}

/// Reads `data` as what a program writes to a relay. Its first byte is the limit of a line.
///
/// # Panics
/// When a line is longer than its limit, or what answers it is no line or cannot be read back.
pub fn rpc_stream(data: &[u8]) {
    let Some((&limit, mut stream)) = data.split_first() else {
        return;
    };
    let limit = usize::from(limit) * 4;
    let mut frames = FrameReader::new(limit);
    while !stream.is_empty() {
        let (taken, line) = frames.take(stream);
        let (_, rest) = stream.split_at(taken);
        stream = rest;
        if let Some(line) = line {
            rpc_line(line, limit);
        }
    }
    if let Some(line) = frames.finish() {
        rpc_line(line, limit);
    }
}

fn rpc_line(line: Line, limit: usize) {
    let frame = match line {
        Line::Whole(line) => {
            assert!(line.len() <= limit, "a line of {} bytes", line.len());
            rpc::decode(&line)
        }
        Line::TooLong => Frame::One(Err(rpc::refuse_oversized(limit))),
    };
    let calls = match frame {
        Frame::One(call) => vec![call],
        Frame::Batch(calls) => calls,
    };
    for call in calls {
        let answer = call.map_or_else(|refusal| refusal, rpc_answer);
        let line = rpc::encode_answer(&answer);
        assert!(!line.contains('\n'), "an answer is one line: {line}");
        let read = rpc::decode_answer(line.as_bytes());
        assert!(
            read.as_ref().is_ok_and(|read| read.id == answer.id),
            "{line} is read as {read:?}"
        );
    }
}

/// What answers a call of any operation with these parameters: its parameters are read, and no more is done.
fn rpc_answer(call: Call) -> Answer {
    let readings: [fn(rpc::Params) -> Option<operation::Refusal>; 5] = [
        |params| operation::decode::<operation::SearchSessions>(params).err(),
        |params| operation::decode::<operation::ReadEvent>(params).err(),
        |params| operation::decode::<operation::FilterEventResults>(params).err(),
        |params| operation::decode::<operation::AttachLive>(params).err(),
        |params| operation::decode::<operation::AppendLive>(params).err(),
    ];
    let refusals = call
        .params
        .iter()
        .flat_map(|params| readings.iter().filter_map(|read| read(params.clone())));
    let error = refusals
        .last()
        .map_or_else(|| ErrorObject::method_not_found(&call.method), Into::into);
    Answer {
        id: call.id.unwrap_or_default(),
        outcome: Err(error),
    }
}

/// Bytes of a block of a Zstandard frame, at most.
const BLOCK: usize = 1 << 17;

/// A Zstandard frame that holds `content` in stored blocks.
pub fn zstd_frame(content: &[u8]) -> Vec<u8> {
    // Magic number, no size and no checksum, a window of 128 KiB.
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x38];
    let mut rest = content;
    loop {
        let (block, after) = rest.split_at(rest.len().min(BLOCK));
        let header = (block.len() as u32) << 3 | u32::from(after.is_empty());
        frame.extend(header.to_le_bytes().into_iter().take(3));
        frame.extend(block);
        rest = after;
        if rest.is_empty() {
            return frame;
        }
    }
}
