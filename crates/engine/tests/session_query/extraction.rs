//! What words events hold, and what a session's documents depend on (contract B, B.9).

use crate::scripted::{
    Scripted, ScriptedPersistence, World, code, events_with, has_cause, header, log, other, say, user,
};
use lookback_engine::session_query::{ContentTextExtractor, EventTextExtractor, ExtractError, NewEvent};
use lookback_model::event::{
    BlockedPrompt, ContentBlock, EventData, Message, Todo, TodoList, ToolCall, ToolError, ToolResult,
    TurnEnd, TurnEndReason,
};
use lookback_model::session_query::{AbortSignal, SessionQueryErrorCode};
use lookback_model::{Event, SessionHeader, TextKind, Timestamp};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::scripted::Gate;

/// Says the words under `text`, or a list of them; counts how often it is asked.
#[derive(Default)]
struct Words {
    version: &'static str,
    asked: AtomicUsize,
    fails: bool,
    panics: bool,
    gate: Option<Arc<Gate>>,
}

impl Words {
    fn new(version: &'static str) -> Self {
        Self {
            version,
            ..Self::default()
        }
    }

    fn say(&self, value: &Value) -> Result<Vec<String>, ExtractError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if let Some(gate) = &self.gate {
            gate.pass();
        }
        assert!(!self.panics, "scripted");
        if self.fails {
            return Err(Box::new(Scripted("no words")));
        }
        Ok(match &value["text"] {
            Value::Array(texts) => texts
                .iter()
                .map(|text| text.as_str().unwrap().to_owned())
                .collect(),
            text => vec![text.as_str().unwrap_or_default().to_owned()],
        })
    }
}

impl EventTextExtractor for Words {
    fn version(&self) -> &str {
        self.version
    }

    fn fragments(&self, event: &Event) -> Result<Vec<String>, ExtractError> {
        let EventData::Other(other) = &event.data else {
            panic!("an event of another type");
        };
        self.say(&other.data)
    }
}

impl ContentTextExtractor for Words {
    fn version(&self) -> &str {
        self.version
    }

    fn fragments(&self, block: &Value) -> Result<Vec<String>, ExtractError> {
        self.say(block)
    }
}

fn event(data: EventData) -> NewEvent {
    NewEvent::new(Timestamp(7), data)
}

fn message(content: Vec<ContentBlock>) -> Message {
    Message {
        content,
        ..Message::default()
    }
}

fn ending(kind: &str, reason: Option<&str>, message: Option<&str>, code: Option<&str>) -> NewEvent {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let reason = TurnEndReason {
        kind: kind.to_owned(),
        reason: owned(reason),
        message: owned(message),
        code: owned(code),
    };
    event(EventData::TurnEnd(TurnEnd { turn: None, reason }))
}

/// The text of an event's document.
fn text_of(new: NewEvent) -> Option<String> {
    let world = World::new();
    world.session("s1", &[]).append(new).unwrap();
    world.found("x");
    let documents = world.provider.live("s1").unwrap().documents;
    documents.first().map(|document| document.text())
}

/// Property: each core type says what its words are, and the others say nothing.
#[test]
fn core_events_have_their_words() {
    let blocks = || {
        vec![
            ContentBlock::Reasoning {
                text: " think ".to_owned(),
            },
            ContentBlock::text("say"),
            ContentBlock::text(" "),
            ContentBlock::ToolCall {
                id: "c".to_owned(),
                name: "Run".to_owned(),
                arguments: "now".to_owned(),
            },
            ContentBlock::ToolResult {
                id: "c".to_owned(),
                content: vec![ContentBlock::text("done")],
            },
            ContentBlock::Other(json!({"type": "vendor", "text": "hidden"})),
        ]
    };
    let all = "think\nsay\nRun\nnow\ndone";
    for data in [
        EventData::UserMessage(message(blocks())),
        EventData::AssistantMessage(message(blocks())),
        EventData::SteeringMessage(message(blocks())),
        EventData::ContextMessage(message(blocks())),
    ] {
        let name = data.type_name().to_owned();
        assert_eq!(text_of(event(data)).as_deref(), Some(all), "{name}");
    }
    let error = Some(ToolError {
        name: "Missing".to_owned(),
        code: Some("404".to_owned()),
    });
    let content = vec![ContentBlock::text("no file")];
    let result = ToolResult {
        content: content.clone(),
        error,
        ..ToolResult::default()
    };
    assert_eq!(
        text_of(event(EventData::ToolResult(result))).as_deref(),
        Some("no file\nMissing\n404")
    );
    let blocked = BlockedPrompt {
        content,
        reason: "policy".to_owned(),
        ..BlockedPrompt::default()
    };
    assert_eq!(
        text_of(event(EventData::PromptBlocked(blocked))).as_deref(),
        Some("no file\npolicy")
    );
    let call = ToolCall {
        name: "Run".to_owned(),
        arguments: "ls -la".to_owned(),
        ..ToolCall::default()
    };
    assert_eq!(
        text_of(event(EventData::ToolCall(call))).as_deref(),
        Some("Run\nls -la")
    );
}

/// Property: lists of things to do, and turns that did not end well, say what they are.
#[test]
fn todos_and_endings_have_their_words() {
    let todo = |content: &str, status: &str| Todo {
        content: content.to_owned(),
        status: status.to_owned(),
    };
    let todos = vec![todo("test", "pending"), todo("write", "completed")];
    let todos = event(EventData::TodoWrite(TodoList { todos }));
    assert_eq!(text_of(todos).as_deref(), Some("pending test\ncompleted write"));
    let failed = ending("error", None, Some("overloaded"), Some("529"));
    assert_eq!(text_of(failed).as_deref(), Some("error\noverloaded\n529"));
    assert_eq!(
        text_of(ending("aborted", Some("by hand"), None, None)).as_deref(),
        Some("aborted\nby hand")
    );
    assert_eq!(
        text_of(ending("rejected", Some("policy"), None, None)).as_deref(),
        Some("rejected\npolicy")
    );
    for kind in ["disposed", "max-tokens", "interrupted"] {
        assert_eq!(text_of(ending(kind, None, None, None)).as_deref(), Some(kind));
    }
}

/// Property: chunks, envelopes, completed turns and whatever is only structure or of another owner say nothing.
#[test]
fn structural_events_have_no_words() {
    let words = || json!({"text": "words"});
    for silent in [
        ending("completed", None, None, None),
        event(EventData::TurnStart(words())),
        event(EventData::StepStart(words())),
        event(EventData::StepEnd(words())),
        event(EventData::AssistantChunk(words())),
        event(EventData::RequestHeader(words())),
        event(EventData::RequestHeaderDelta(words())),
        other("vendor/thing", words()),
        user(" \n"),
    ] {
        assert_eq!(text_of(silent.clone()), None, "{silent:?}");
    }
}

/// Property: a registered extractor says the words of its event type, trimmed and without blanks, as context;
/// when it goes they go.
#[test]
fn a_registered_event_extractor_says_words() {
    let world = World::new();
    let session = world.session("s1", &["plain"]);
    session
        .append(other("vendor/thing", json!({"text": [" inner ", " ", "outer"]})))
        .unwrap();
    session
        .append(other("vendor/thing", json!({"text": " "})))
        .unwrap();
    session
        .append(other("vendor/else", json!({"text": "inner"})))
        .unwrap();
    assert_eq!(world.found("inner"), [""; 0]);
    let registered = world
        .query
        .register_event_text_extractor("vendor/thing", Arc::new(Words::new("1")))
        .unwrap();
    assert_eq!(world.found("inner\nouter"), ["s1"]);
    let snapshot = world.provider.live("s1").unwrap();
    assert_eq!(snapshot.extractors, "vendor/thing@1");
    let document = &snapshot.documents[1];
    assert_eq!(document.pieces, [(TextKind::Context, "inner\nouter".to_owned())]);
    assert_eq!((snapshot.documents.len(), document.seq), (2, 1));
    assert_eq!(
        (document.type_name.as_str(), document.has_marker),
        ("vendor/thing", false)
    );
    drop(registered);
    assert_eq!(world.found("inner"), [""; 0]);
    assert_eq!(world.found("plain"), ["s1"]);
    assert_eq!(world.provider.live("s1").unwrap().extractors, "");
}

/// Property: what a block's extractor says stands where the block stands, with the words around it, at any
/// depth, and is gone with the extractor.
#[test]
fn a_registered_block_extractor_says_words_in_place() {
    let world = World::new();
    let session = world.session("s1", &[]);
    let vendor = |text: &str| ContentBlock::Other(json!({"type": "vendor", "text": text}));
    let nested = ContentBlock::ToolResult {
        id: "c".to_owned(),
        content: vec![vendor("deep")],
    };
    let said = vec![
        ContentBlock::text("before"),
        vendor("within"),
        ContentBlock::text("after"),
        nested,
    ];
    let media = ContentBlock::Media {
        media_type: "image/png".to_owned(),
        bytes: 9,
    };
    session
        .append(event(EventData::AssistantMessage(message(said))))
        .unwrap();
    let result = ToolResult {
        content: vec![vendor("answer"), media],
        ..ToolResult::default()
    };
    session.append(event(EventData::ToolResult(result))).unwrap();
    let blocked = BlockedPrompt {
        content: vec![vendor("refused")],
        ..BlockedPrompt::default()
    };
    session.append(event(EventData::PromptBlocked(blocked))).unwrap();
    assert_eq!(world.found("within"), [""; 0]);
    let extractor = Arc::new(Words::new("3"));
    let registered = world
        .query
        .register_content_text_extractor("vendor", extractor.clone())
        .unwrap();
    assert_eq!(world.found("within"), ["s1"]);
    let snapshot = world.provider.live("s1").unwrap();
    let pieces: Vec<_> = snapshot
        .documents
        .iter()
        .map(|document| document.pieces.clone())
        .collect();
    let owned = |kind, text: &str| (kind, text.to_owned());
    assert_eq!(
        pieces,
        [
            vec![
                owned(TextKind::Agent, "before\nwithin\nafter"),
                owned(TextKind::Result, "deep")
            ],
            vec![owned(TextKind::Result, "answer")],
            vec![owned(TextKind::User, "refused")],
        ]
    );
    assert_eq!(snapshot.extractors, "[vendor]@3");
    let asked = extractor.asked.load(Ordering::SeqCst);
    drop(registered);
    assert_eq!(world.found("within"), [""; 0]);
    assert_eq!(world.found("before\nafter"), ["s1"]);
    assert_eq!(extractor.asked.load(Ordering::SeqCst), asked);
}

/// Property: an extractor is asked once about each event, however often is searched.
#[test]
fn an_event_is_extracted_once() {
    let world = World::new();
    let extractor = Arc::new(Words::new("1"));
    let _registered = world
        .query
        .register_event_text_extractor("vendor/thing", extractor.clone())
        .unwrap();
    let session = world.session("s1", &[]);
    for asked in 1..5 {
        session
            .append(other("vendor/thing", json!({"text": "word"})))
            .unwrap();
        world.found("word");
        world.found_in("s1", "word");
        assert_eq!(extractor.asked.load(Ordering::SeqCst), asked);
    }
}

/// Property: a version must say something; that is looked at before whether the type is taken.
#[test]
fn a_blank_version_is_refused_first() {
    let world = World::new();
    let invalid = SessionQueryErrorCode::InvalidExtractor;
    for version in ["", " \t"] {
        for name in ["vendor/thing", "user/message"] {
            let refused = world
                .query
                .register_event_text_extractor(name, Arc::new(Words::new(version)));
            assert_eq!(code(refused), invalid);
        }
        let refused = world
            .query
            .register_content_text_extractor("text", Arc::new(Words::new(version)));
        assert_eq!(code(refused), invalid);
    }
}

/// Property: a type has one extractor at a time, and core types have theirs.
#[test]
fn a_type_has_one_extractor() {
    let world = World::new();
    let words = || Arc::new(Words::new("1"));
    let duplicate = SessionQueryErrorCode::DuplicateExtractor;
    let core = [
        "user/message",
        "assistant/message",
        "tool/result",
        "context/message",
        "steering/message",
        "prompt/blocked",
        "tool/call",
        "todo/write",
        "turn/end",
    ];
    for name in core {
        assert_eq!(
            code(world.query.register_event_text_extractor(name, words())),
            duplicate,
            "{name}"
        );
    }
    for name in ["text", "reasoning", "tool-call", "tool-result"] {
        assert_eq!(
            code(world.query.register_content_text_extractor(name, words())),
            duplicate,
            "{name}"
        );
    }
    let first = world
        .query
        .register_event_text_extractor("vendor/thing", words())
        .unwrap();
    assert_eq!(
        code(world.query.register_event_text_extractor("vendor/thing", words())),
        duplicate
    );
    let _block = world
        .query
        .register_content_text_extractor("vendor/thing", words())
        .unwrap();
    drop(first);
    let _again = world
        .query
        .register_event_text_extractor("vendor/thing", words())
        .unwrap();
}

/// Property: an extractor that fails or panics fails the searches that need it with its cause, and nothing else;
/// without it they succeed.
#[test]
fn a_failing_extractor_fails_searches_alone() {
    for panics in [false, true] {
        let world = World::new();
        let session = world.session("s1", &["word"]);
        let faulty = Words {
            fails: true,
            panics,
            ..Words::new("1")
        };
        let registered = world
            .query
            .register_event_text_extractor("vendor/thing", Arc::new(faulty))
            .unwrap();
        assert_eq!(world.found("word"), ["s1"]);
        session
            .append(other("vendor/thing", json!({"text": "x"})))
            .unwrap();
        world.provider.take_calls();
        let error = world.search("word").unwrap_err();
        assert_eq!(error.code, SessionQueryErrorCode::IndexFailed);
        assert_eq!(has_cause(&error, &Scripted("no words")), !panics);
        let events = world
            .query
            .search_events(&events_with("s1", "word"), &AbortSignal::new());
        assert_eq!(code(events), SessionQueryErrorCode::IndexFailed);
        assert_eq!(world.provider.take_calls(), [""; 0]);
        assert_eq!(say(&session, "word again"), 2);
        assert_eq!(world.query.list_events("s1").unwrap().len(), 3);
        drop(registered);
        assert_eq!(world.found("again"), ["s1"]);
    }
}

/// Property: an extractor is drained when no search uses it any more.
#[test]
fn an_extractor_is_drained_when_no_search_uses_it() {
    let world = World::new();
    let session = world.session("s1", &[]);
    session
        .append(other("vendor/thing", json!({"text": "word"})))
        .unwrap();
    let gate = Arc::new(Gate::default());
    let extractor = Words {
        gate: Some(gate.clone()),
        ..Words::new("1")
    };
    let registered = world
        .query
        .register_event_text_extractor("vendor/thing", Arc::new(extractor))
        .unwrap();
    thread::scope(|scope| {
        let search = scope.spawn(|| world.found("word"));
        gate.wait_until_reached();
        let drain = registered.drain();
        assert!(!drain.is_done());
        gate.open();
        drain.wait();
        assert_eq!(search.join().unwrap(), ["s1"]);
    });
    assert_eq!(world.found("word"), [""; 0]);
}

fn vendor_session(id: &str) -> (SessionHeader, Vec<Event>) {
    let block = ContentBlock::Other(json!({"type": "vendor", "text": "block"}));
    let events = vec![
        other("vendor/thing", json!({"text": "event"})),
        event(EventData::UserMessage(message(vec![block]))),
    ];
    (header(id), log(events))
}

/// Property: another version of an extractor changes the fingerprints of sessions that use it, and no others;
/// only those are replaced, whether revisions are told or not.
#[test]
fn another_version_changes_sessions_that_use_it() {
    for persistence in [ScriptedPersistence::new(), ScriptedPersistence::with_revisions()] {
        let world = World::new();
        let (with, events) = vendor_session("s1");
        persistence.keep(with, events);
        persistence.keep(header("s2"), log(vec![user("plain")]));
        let _mounted = world.query.mount(persistence);
        let replaced = || {
            world.found("x");
            let calls = world.provider.take_calls().into_iter();
            calls
                .filter(|call| call.starts_with("replace"))
                .collect::<Vec<_>>()
        };
        assert_eq!(replaced(), ["replace s1", "replace s2"]);
        let words = |version| Arc::new(Words::new(version));
        let first = world
            .query
            .register_event_text_extractor("vendor/thing", words("1"))
            .unwrap();
        assert_eq!(replaced(), ["replace s1"]);
        let block = world
            .query
            .register_content_text_extractor("vendor", words("1"))
            .unwrap();
        assert_eq!(replaced(), ["replace s1"]);
        let _unused = world
            .query
            .register_content_text_extractor("unused", words("1"))
            .unwrap();
        assert_eq!(replaced(), [""; 0]);
        drop(first);
        let _second = world
            .query
            .register_event_text_extractor("vendor/thing", words("2"))
            .unwrap();
        assert_eq!(replaced(), ["replace s1"]);
        drop(block);
        let _block = world
            .query
            .register_content_text_extractor("vendor", words("1"))
            .unwrap();
        assert_eq!(replaced(), [""; 0]);
        assert_eq!(world.found("block"), ["s1"]);
    }
}

/// The fingerprint by which a session is put into the base, on the side of a live one or not.
fn fingerprint_of(header: &SessionHeader, events: &[Event], lives: bool) -> String {
    let world = World::new();
    let persistence = ScriptedPersistence::new();
    persistence.keep(header.clone(), events.to_vec());
    let _mounted = world.query.mount(persistence);
    if lives {
        world.live.create(header.clone(), events.to_vec()).unwrap();
    }
    world.found("x");
    world.provider.persisted(&header.id).unwrap().fingerprint
}

/// Property: a fingerprint depends on header and events, and not on the order of keys or on where else the
/// session is.
#[test]
fn a_fingerprint_depends_on_header_and_events_alone() {
    let parsed = |json: &str| vec![serde_json::from_str::<Event>(json).unwrap()];
    let one = parsed(r#"{"seq":0,"time":1,"type":"vendor/thing","data":{"a":1,"b":[true]}}"#);
    let other_order = parsed(r#"{"data":{"b":[true],"a":1},"type":"vendor/thing","time":1,"seq":0}"#);
    let base = fingerprint_of(&header("s1"), &one, false);
    assert_eq!(fingerprint_of(&header("s1"), &other_order, false), base);
    assert_eq!(fingerprint_of(&header("s1"), &one, true), base);
    for changed in [
        r#"{"seq":0,"time":2,"type":"vendor/thing","data":{"a":1,"b":[true]}}"#,
        r#"{"seq":0,"time":1,"type":"vendor/else","data":{"a":1,"b":[true]}}"#,
        r#"{"seq":0,"time":1,"type":"vendor/thing","data":{"a":1,"b":[false]}}"#,
        r#"{"seq":0,"time":1,"type":"vendor/thing","data":{"a":1,"b":[true]},"nativeId":"n"}"#,
    ] {
        assert_ne!(
            fingerprint_of(&header("s1"), &parsed(changed), false),
            base,
            "{changed}"
        );
    }
    let moved = SessionHeader {
        cwd: Some("/w".to_owned()),
        ..header("s1")
    };
    assert_ne!(fingerprint_of(&moved, &one, false), base);
}
