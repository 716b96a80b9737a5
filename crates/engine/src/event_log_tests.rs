//! Properties of the event log: what was appended is read back; every torn tail is healed and never costs more than
//! itself; damage elsewhere is named by file and line; readers see whole events only, and change nothing.

use super::*;
use lookback_model::event::{Message, OtherEvent, ToolCall, ToolResult, TurnEnd, TurnEndReason};
use lookback_model::{ContentBlock, EventData, SurfaceOp, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

fn header(id: &str) -> SessionHeader {
    SessionHeader {
        cwd: Some("/work".to_owned()),
        ..SessionHeader::new(id, Timestamp(1_000))
    }
}

fn event(seq: u64, data: EventData) -> Event {
    Event {
        seq,
        time: Timestamp(2_000 + i64::try_from(seq).unwrap()),
        surface_op: data.surface_eligible().then_some(SurfaceOp::Append),
        data,
        source_event_seqs: None,
        native_id: None,
        copy_key: 0,
    }
}

fn said(seq: u64, text: &str) -> Event {
    event(seq, EventData::UserMessage(Message::text(text)))
}

fn log_in(folder: &Path) -> EventLog {
    EventLog::open(folder.join("log"), Fsync::Never).unwrap()
}

fn file_of(log: &EventLog, id: &str) -> PathBuf {
    log.path(id)
}

fn ids(log: &EventLog) -> Vec<String> {
    let listed = log.list().unwrap();
    listed.into_iter().map(|session| session.header.id).collect()
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,4}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn data() -> impl Strategy<Value = EventData> {
    prop_oneof![
        ".{0,40}".prop_map(|text| EventData::UserMessage(Message::text(text))),
        json_value().prop_map(EventData::TurnStart),
        (".{0,8}", ".{0,20}").prop_map(|(name, arguments)| EventData::ToolCall(ToolCall {
            name,
            arguments,
            ..ToolCall::default()
        })),
        ("vendor/[a-z]{1,6}", json_value())
            .prop_map(|(r#type, data)| EventData::Other(OtherEvent { r#type, data })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Property: header and events read back equal, in whatever portions they were appended, also by a resume.
    #[test]
    fn what_is_appended_is_read_back(
        id in ".{0,300}",
        all in prop::collection::vec(prop::collection::vec(data(), 0..4), 0..5),
        end in ".{0,10}",
    ) {
        let folder = tempfile::tempdir().unwrap();
        let log = log_in(folder.path());
        let header = header(&id);
        let writer = log.create(&header).unwrap();
        let mut events = Vec::new();
        for portion in all {
            let portion: Vec<_> = portion.into_iter().zip(events.len() as u64..).map(|(data, seq)| event(seq, data)).collect();
            writer.append(&portion).unwrap();
            events.extend(portion);
        }
        // An ended turn, so that there is nothing to repair.
        let reason = TurnEndReason { kind: end, ..TurnEndReason::default() };
        let last = event(events.len() as u64, EventData::TurnEnd(TurnEnd { turn: Some(1), reason }));
        writer.append(std::slice::from_ref(&last)).unwrap();
        events.push(last);
        writer.close().unwrap();
        let expected = SessionLog { header, events };
        prop_assert_eq!(&log.inspect(&id).unwrap(), &expected);
        let resumed = log.resume(&id).unwrap();
        prop_assert_eq!((&resumed.log, resumed.dropped_bytes, resumed.repairs), (&expected, 0, 0));
        prop_assert_eq!(ids(&log), [id]);
    }
}

/// Property: a log cut at any byte lists and reads as its whole records, untouched; opened for writing it loses the
/// torn record and nothing else, and goes on.
#[test]
fn a_torn_tail_at_every_byte_costs_itself() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_in(folder.path());
    let writer = log.create(&header("s")).unwrap();
    let events: Vec<_> = (0..5).map(|seq| said(seq, &format!("wörd {seq}"))).collect();
    writer.append(&events).unwrap();
    drop(writer);
    let path = file_of(&log, "s");
    let whole = fs::read(&path).unwrap();
    for cut in 0..=whole.len() {
        let head = &whole[..cut];
        fs::write(&path, head).unwrap();
        let lines = head.iter().filter(|&&byte| byte == b'\n').count();
        let kept = lines.saturating_sub(1);
        // A listing that knows a file must not be fooled by its having become shorter.
        let listed: &[&str] = if kept == 0 { &[] } else { &["s"] };
        assert_eq!(ids(&log), listed, "cut at {cut}");
        match log.inspect("s") {
            Ok(read) => assert_eq!(
                (lines > 0, &read.events[..]),
                (true, &events[..kept]),
                "cut at {cut}"
            ),
            Err(PersistenceError::NotFound { .. }) => assert_eq!(lines, 0, "cut at {cut}"),
            Err(error) => panic!("cut at {cut}: {error}"),
        }
        assert_eq!(
            fs::read(&path).unwrap(),
            head,
            "reading changed the file cut at {cut}"
        );
        let writer = match log.resume("s") {
            Ok(resumed) => {
                assert_eq!(resumed.log.events, events[..kept], "cut at {cut}");
                let torn = head.iter().rev().take_while(|&&byte| byte != b'\n').count();
                assert_eq!((resumed.dropped_bytes, resumed.repairs), (torn as u64, 0));
                resumed.writer
            }
            Err(LogError::NotFound { .. }) => {
                assert_eq!(lines, 0, "cut at {cut}");
                log.create(&header("s")).unwrap()
            }
            Err(error) => panic!("cut at {cut}: {error}"),
        };
        writer.append(&events[kept..]).unwrap();
        drop(writer);
        assert_eq!(fs::read(&path).unwrap(), whole, "cut at {cut}");
    }
}

/// Property: damage in the committed part makes the session unloadable, for reading and for writing, with file and
/// line; other sessions are read all the same, and nothing is written.
#[test]
fn damage_is_named_by_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_in(folder.path());
    let writer = log.create(&header("s")).unwrap();
    writer
        .append(&[said(0, "a"), said(1, "b"), said(2, "c")])
        .unwrap();
    drop(writer);
    log.create(&header("other"))
        .unwrap()
        .append(&[said(0, "x")])
        .unwrap();
    let path = file_of(&log, "s");
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let cases: [(Vec<&str>, u64, &str); 6] = [
        (
            vec![lines[0], lines[1], "{\"seq\":1", lines[3]],
            3,
            "it is no record",
        ),
        (vec![lines[0], lines[1], "", lines[3]], 3, "it is no record"),
        (
            vec![lines[0], lines[1], lines[3]],
            3,
            "event 2 stands where 1 is expected",
        ),
        (
            vec![lines[0], lines[1], lines[1]],
            3,
            "event 0 stands where 1 is expected",
        ),
        (vec![lines[0], lines[1], "\0\0\0\0"], 3, "it is no record"),
        (vec!["{}", lines[1]], 1, "it is no record"),
    ];
    for (damaged, line, what) in cases {
        let bytes = damaged.join("\n") + "\n";
        fs::write(&path, &bytes).unwrap();
        let read = match log.inspect("s") {
            Err(PersistenceError::Other(error)) => *error.downcast::<LogError>().unwrap(),
            other => panic!("{other:?}"),
        };
        for error in [read, log.resume("s").unwrap_err()] {
            let LogError::Damaged {
                path: found_path,
                line: found_line,
                damage,
            } = error
            else {
                panic!("{error:?}");
            };
            assert_eq!((found_path, found_line), (path.clone(), line), "{damaged:?}");
            assert_eq!(damage.to_string(), what, "{damaged:?}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), bytes);
        assert!(ids(&log).contains(&"other".to_owned()));
    }
    let fresh = EventLog::open(folder.path().join("log"), Fsync::Never).unwrap();
    assert_eq!(ids(&fresh), ["other"], "a file without a header is no session");
    assert_eq!(fresh.damaged().unwrap().len(), 1);
}

/// Property: a file under the name of another session is not taken for it.
#[test]
fn a_header_of_another_session_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_in(folder.path());
    log.create(&header("a")).unwrap().append(&[said(0, "x")]).unwrap();
    fs::copy(file_of(&log, "a"), file_of(&log, "b")).unwrap();
    assert_eq!(ids(&log), ["a"]);
    assert!(matches!(
        log.resume("b"),
        Err(LogError::Damaged {
            line: 1,
            damage: Damage::OtherSession { .. },
            ..
        })
    ));
}

/// Property: only version 0 is written and read.
#[test]
fn another_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_in(folder.path());
    let newer = SessionHeader {
        version: 1,
        ..header("s")
    };
    assert!(matches!(
        log.create(&newer),
        Err(LogError::Version { found: 1, .. })
    ));
    assert!(!file_of(&log, "s").exists());
    let line = json!({"v": 2, "header": header("s")}).to_string();
    fs::write(
        file_of(&log, "s"),
        line + "\n" + &serde_json::to_string(&said(0, "x")).unwrap() + "\n",
    )
    .unwrap();
    assert_eq!(ids(&log), [""; 0]);
    assert!(matches!(log.resume("s"), Err(LogError::Version { found: 2, .. })));
}

/// Property: a session without an event is not listed; with one it is (B.15, 27).
#[test]
fn a_session_without_events_is_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_in(folder.path());
    let writer = log.create(&header("s")).unwrap();
    assert_eq!(ids(&log), [""; 0]);
    writer.append(&[]).unwrap();
    assert_eq!(ids(&log), [""; 0]);
    writer.append(&[said(0, "x")]).unwrap();
    assert_eq!(ids(&log), ["s"]);
}

/// Property: the revision changes with every append, and only then; headers are what they were.
#[test]
fn a_revision_changes_with_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_in(folder.path());
    let writer = log.create(&header("s")).unwrap();
    let mut revisions = Vec::new();
    for seq in 0..20 {
        writer.append(&[said(seq, "x")]).unwrap();
        let [first, again] = [log.list().unwrap(), log.list().unwrap()];
        assert_eq!(first, again);
        assert_eq!(first[0].header, header("s"));
        revisions.push(first[0].revision.clone().unwrap());
    }
    revisions.sort();
    revisions.dedup();
    assert_eq!(revisions.len(), 20);
}

/// Property: any id is a session of its own, in one file inside the folder.
#[test]
fn any_id_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_in(folder.path());
    let long = "é".repeat(500);
    let longer = "é".repeat(501);
    let mut all = vec![
        "",
        ".",
        "..",
        "../s",
        "/etc/passwd",
        "a",
        "A",
        "con",
        "nul.txt",
        "a\0b",
        "a\nb",
        "日本",
        "%41",
        &long,
        &longer,
    ];
    for id in &all {
        log.create(&header(id)).unwrap().append(&[said(0, id)]).unwrap();
    }
    let mut listed = ids(&log);
    listed.sort();
    all.sort_unstable();
    assert_eq!(listed, all);
    for id in &all {
        assert_eq!(log.inspect(id).unwrap().events, [said(0, id)]);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(
        fs::read_dir(folder.path().join("log")).unwrap().count(),
        all.len()
    );
}

/// Property: folder and files are for their owner only.
#[cfg(unix)]
#[test]
fn nobody_else_may_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let log = EventLog::open(folder.path().join("deep/log"), Fsync::Never).unwrap();
    log.create(&header("s")).unwrap().append(&[said(0, "x")]).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path().join("deep")), 0o700);
    assert_eq!(mode(&folder.path().join("deep/log")), 0o700);
    assert_eq!(mode(&file_of(&log, "s")), 0o600);
}

/// Property: a session has one writer at a time, also when the logs are opened apart; afterwards another may come.
#[test]
fn a_session_has_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (log_in(folder.path()), log_in(folder.path()));
    let writer = one.create(&header("s")).unwrap();
    writer.append(&[said(0, "x")]).unwrap();
    assert!(matches!(two.resume("s"), Err(LogError::InUse { .. })));
    assert!(matches!(two.create(&header("s")), Err(LogError::InUse { .. })));
    let clone = writer.clone();
    writer.close().unwrap();
    assert!(matches!(
        clone.append(&[said(1, "y")]),
        Err(LogError::Closed { .. })
    ));
    assert!(matches!(two.create(&header("s")), Err(LogError::Exists { .. })));
    two.resume("s").unwrap().writer.append(&[said(1, "y")]).unwrap();
    assert!(matches!(two.resume("nobody"), Err(LogError::NotFound { .. })));
    assert!(!file_of(&two, "nobody").exists());
}

/// Property: an append that is refused leaves nothing, and the next one works.
#[test]
fn a_refused_append_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_in(folder.path());
    let writer = log.create(&header("s")).unwrap();
    writer.append(&[said(0, "x")]).unwrap();
    let deep = (0..200).fold(Value::Null, |value, _| Value::Array(vec![value]));
    let deep = event(
        2,
        EventData::Other(OtherEvent {
            r#type: "vendor/deep".to_owned(),
            data: deep,
        }),
    );
    let refused: [(Vec<Event>, &str); 4] = [
        (vec![said(0, "again")], "event 0 was appended where 1 is next"),
        (vec![said(2, "later")], "event 2 was appended where 1 is next"),
        (
            vec![said(1, "y"), said(3, "z")],
            "event 3 was appended where 2 is next",
        ),
        (vec![said(1, "y"), deep], "event 2 cannot be kept as JSON"),
    ];
    for (events, why) in refused {
        assert_eq!(writer.append(&events).unwrap_err().to_string(), why);
        assert_eq!(log.inspect("s").unwrap().events, [said(0, "x")]);
    }
    writer.append(&[said(1, "y")]).unwrap();
    assert_eq!(log.inspect("s").unwrap().events.len(), 2);
}

/// Property: each policy syncs when it says so.
#[test]
fn policies_sync_when_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let day = Duration::from_secs(86_400);
    for (fsync, is_due) in [
        (Fsync::Never, [false, false, false]),
        (Fsync::EachAppend, [true, true, true]),
        (Fsync::Every(Duration::ZERO), [true, true, true]),
        (Fsync::Every(day), [false, false, false]),
        (Fsync::EachBytes(1_000), [false, true, false]),
    ] {
        let folder = folder
            .path()
            .join(format!("{fsync:?}").replace(|c: char| !c.is_alphanumeric(), "-"));
        let log = EventLog::open(folder, fsync).unwrap();
        let writer = log.create(&header("s")).unwrap();
        for (seq, is_due) in (0..).zip(is_due) {
            writer.append(&[said(seq, &"x".repeat(500))]).unwrap();
            assert_eq!(writer.unsynced().unwrap() == 0, is_due, "{fsync:?} append {seq}");
        }
        writer.sync().unwrap();
        assert_eq!(writer.unsynced().unwrap(), 0);
        writer.close().unwrap();
    }
}

/// Property: appends that race for a seq succeed once each, and readers meanwhile see a beginning of the log.
#[test]
fn appends_and_inspections_run_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_in(folder.path());
    let writer = log.create(&header("s")).unwrap();
    const EVENTS: u64 = 400;
    let appended = AtomicU64::new(0);
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let appenders: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let seq = writer.next_seq().unwrap();
                        if seq >= EVENTS {
                            return;
                        }
                        match writer
                            .append(&[said(seq, &"x".repeat(usize::try_from(seq * 37 % 5_000).unwrap()))])
                        {
                            Ok(()) => drop(appended.fetch_add(1, Ordering::SeqCst)),
                            Err(LogError::OutOfOrder { .. }) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                })
            })
            .collect();
        let reader = scope.spawn(|| {
            let mut seen = 0;
            let mut rounds = 0;
            while !is_done.load(Ordering::SeqCst) || rounds == 0 {
                let events = log.inspect("s").unwrap().events;
                assert!(events.len() >= seen, "a log does not become shorter");
                seen = events.len();
                assert!(log.list().unwrap().len() <= 1);
                rounds += 1;
            }
        });
        let appenders: Vec<_> = appenders
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect();
        is_done.store(true, Ordering::SeqCst);
        assert!(appenders.into_iter().all(|result| result.is_ok()));
        reader.join().unwrap();
    });
    assert_eq!(appended.load(Ordering::SeqCst), EVENTS);
    assert_eq!(log.inspect("s").unwrap().events.len() as u64, EVENTS);
}

fn call(seq: u64, id: &str) -> Event {
    event(
        seq,
        EventData::ToolCall(ToolCall {
            call_id: id.to_owned(),
            name: "Bash".to_owned(),
            turn: Some(2),
            step: Some(1),
            ..ToolCall::default()
        }),
    )
}

fn answer(seq: u64, id: &str) -> Event {
    let result = ToolResult {
        call_id: id.to_owned(),
        ..ToolResult::default()
    };
    event(seq, EventData::ToolResult(result))
}

/// Property: an open turn is ended when its log is opened for writing, once; answers, step and turn in this order,
/// at the time of the last real event; reading makes nothing up.
#[test]
fn an_open_turn_is_ended_by_a_resume() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_in(folder.path());
    let in_message = Message {
        content: vec![
            ContentBlock::text("I look"),
            ContentBlock::ToolCall {
                id: "in message".to_owned(),
                name: "Read".to_owned(),
                arguments: String::new(),
            },
        ],
        turn: Some(2),
        step: Some(1),
        ..Message::default()
    };
    let events = [
        event(0, EventData::TurnStart(json!({"turn": 1}))),
        call(1, "of an ended turn"),
        event(2, EventData::TurnEnd(TurnEnd::default())),
        event(3, EventData::TurnStart(json!({"turn": 2, "trigger": {}}))),
        event(4, EventData::StepStart(json!({"turn": 2, "step": 1}))),
        event(5, EventData::AssistantMessage(in_message)),
        call(6, "in message"),
        call(7, "answered"),
        call(8, "open"),
        answer(9, "answered"),
    ];
    let writer = log.create(&header("s")).unwrap();
    writer.append(&events).unwrap();
    writer.close().unwrap();
    assert_eq!(log.inspect("s").unwrap().events, events);
    let resumed = log.resume("s").unwrap();
    assert_eq!(resumed.repairs, 4);
    let repairs = &resumed.log.events[10..];
    assert!(repairs.iter().all(|repair| repair.time == events[9].time));
    let answers: Vec<_> = repairs
        .iter()
        .filter_map(|repair| match &repair.data {
            EventData::ToolResult(result) => {
                Some((result.call_id.as_str(), result.is_error, result.turn, result.step))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        answers,
        [
            ("in message", true, Some(2), Some(1)),
            ("open", true, Some(2), Some(1))
        ]
    );
    assert!(
        repairs[..2]
            .iter()
            .all(|repair| repair.surface_op == Some(SurfaceOp::Append))
    );
    assert_eq!(repairs[2].data, EventData::StepEnd(json!({"turn": 2, "step": 1})));
    let reason = TurnEndReason {
        kind: "interrupted".to_owned(),
        ..TurnEndReason::default()
    };
    assert_eq!(
        repairs[3].data,
        EventData::TurnEnd(TurnEnd {
            turn: Some(2),
            reason
        })
    );
    resumed.writer.close().unwrap();
    assert_eq!(log.inspect("s").unwrap(), resumed.log);
    let again = log.resume("s").unwrap();
    assert_eq!((again.repairs, again.log), (0, resumed.log));
}

/// Property: a recorder writes sessions through, goes on with those it resumed, and refuses to begin one twice.
#[test]
fn a_recorder_writes_sessions_through() {
    let folder = tempfile::tempdir().unwrap();
    let log = std::sync::Arc::new(log_in(folder.path()));
    let recorder = LogRecorder::new(log.clone());
    recorder.began(&header("s"), &[said(0, "seed")]).unwrap();
    recorder.appended("s", &[said(1, "x"), said(2, "y")]).unwrap();
    recorder.ended("s").unwrap();
    recorder.ended("s").unwrap();
    assert!(matches!(
        recorder.appended("s", &[said(3, "z")]),
        Err(LogError::NotFound { .. })
    ));
    assert!(matches!(
        recorder.began(&header("s"), &[]),
        Err(LogError::Exists { .. })
    ));
    let seed = recorder.resume("s").unwrap();
    assert!(matches!(
        recorder.began(&seed.header, &seed.events[..1]),
        Err(LogError::OutOfOrder { .. })
    ));
    recorder.began(&seed.header, &seed.events).unwrap();
    recorder.appended("s", &[said(3, "z")]).unwrap();
    let expected = [said(0, "seed"), said(1, "x"), said(2, "y"), said(3, "z")];
    assert_eq!(log.inspect("s").unwrap().events, expected);
}
