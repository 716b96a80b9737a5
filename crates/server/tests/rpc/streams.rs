//! Properties of a stream: what is slow holds up nothing else, order is kept where it matters, the end of
//! either stream ends the server as it should, and no line ends it.

use crate::other_side::{Running, answers, notification, request, running, said, service};
use crate::scan::GATED;
use lookback_server::rpc::{ServeError, serve};
use lookback_wire::rpc::FRAME_LIMIT;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufReader, Cursor, Read};

fn header(id: &str) -> Value {
    json!({ "version": 0, "id": id, "createdAt": 1 })
}

fn ids(answers: &[Value]) -> BTreeSet<String> {
    answers.iter().map(|answer| answer["id"].to_string()).collect()
}

/// Property: while a search waits, sessions are attached, appended to, read and filtered.
#[test]
fn a_slow_search_holds_up_nothing() {
    let service = service();
    let mut other = running(&service.dispatcher);
    other.send(&request("slow", "searchSessions", json!({ "query": GATED })));
    service.gate.until_somebody_waits();
    for (method, params) in [
        ("attachLive", json!({ "header": header("s") })),
        (
            "appendLive",
            json!({ "sessionId": "s", "events": [said("hello")] }),
        ),
        ("listEvents", json!({ "sessionId": "s" })),
        ("filterEventResults", json!({ "items": [], "filters": [] })),
    ] {
        other.send(&request(method, method, params));
        let answer = other.answer();
        assert_eq!(answer["id"], method);
        assert!(answer.get("result").is_some(), "{answer}");
    }
    service.gate.open();
    assert_eq!(other.answer()["id"], "slow");
    assert!(other.end().is_empty());
}

/// Property: what is sent later sees what was sent before, without waiting for the answers.
#[test]
fn later_lines_see_earlier_ones() {
    let mut lines = request(0, "attachLive", json!({ "header": header("s"), "events": [] }));
    for number in 0..50 {
        let word = format!("word-{number}.");
        lines += &notification("appendLive", json!({ "sessionId": "s", "events": [said(&word)] }));
        lines += &request(
            1 + number,
            "searchEvents",
            json!({ "sessionId": "s", "query": word }),
        );
    }
    let answers = answers(lines);
    assert_eq!(answers.len(), 51);
    for answer in &answers[..] {
        let Some(number) = answer["id"].as_u64().unwrap().checked_sub(1) else {
            continue;
        };
        assert_eq!(answer["result"]["items"][0]["seq"], number, "{answer}");
    }
}

/// Property: when the input ends, all that was taken is answered; a last line needs no line feed.
#[test]
fn the_end_of_the_input_leaves_nothing_unanswered() {
    let line = |id: usize| request(id, "searchSessions", json!({ "query": "x" }));
    let lines: String = (0..400).map(line).collect();
    let answers = answers(lines.trim_end());
    assert_eq!(answers.len(), 400);
    assert_eq!(ids(&answers).len(), 400);
    assert!(crate::other_side::answers("").is_empty());
}

/// Property: lines that cannot be taken are answered, and the ones after them are as well.
#[test]
fn no_line_ends_the_stream() {
    let ping = |id| request(id, "listSessions", json!({}));
    let lines = [
        "garbage\n",
        "\n",
        "\u{feff}{}\n",
        "[]\n",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"sessionQuery.unknown\"}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"sessionQuery.listEvents\",\"params\":{}}\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"sessionQuery.unknown\"}\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"sessionQuery.listSessions\"}\n",
    ]
    .concat();
    let answers = answers(ping(1) + &lines + &ping(2));
    let mut codes: Vec<_> = answers
        .iter()
        .filter_map(|answer| answer["error"]["code"].as_i64())
        .collect();
    codes.sort_unstable();
    assert_eq!(codes, [-32700, -32700, -32602, -32601, -32600]);
    assert_eq!(answers.len(), 7);
}

/// Property: a line beyond the limit is refused, and the next one is answered.
#[test]
fn an_oversized_line_costs_itself() {
    let service = service();
    let oversized = std::io::repeat(b'x').take(FRAME_LIMIT as u64 + 1);
    let next = Cursor::new(format!("\n{}", request(1, "listSessions", json!({}))));
    let mut output = Vec::new();
    serve(
        &service.dispatcher,
        BufReader::new(oversized.chain(next)),
        &mut output,
    )
    .unwrap();
    let text = String::from_utf8(output).unwrap();
    let refused = text.lines().find(|line| line.contains("\"error\"")).unwrap();
    let refused: Value = serde_json::from_str(refused).unwrap();
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(null), &json!(-32600))
    );
    assert_eq!(refused["error"]["data"]["limit"], FRAME_LIMIT);
    assert_eq!(text.lines().count(), 2);
}

/// Property: a batch is one line, whatever it holds, and its requests are all answered in it.
#[test]
fn a_batch_is_answered_in_one_line() {
    let parts = [
        request(1, "attachLive", json!({ "header": header("s"), "events": [] })),
        notification(
            "appendLive",
            json!({ "sessionId": "s", "events": [said("hello")] }),
        ),
        request(2, "searchSessions", json!({ "query": "hello" })),
        "5".to_owned(),
    ];
    let answers = answers(format!(
        "[{}]",
        parts.map(|part| part.trim().to_owned()).join(",")
    ));
    let [Value::Array(batch)] = &answers[..] else {
        panic!("{answers:?}")
    };
    assert_eq!(ids(batch), ["1", "2", "null"].map(str::to_owned).into());
    let found = batch.iter().find(|answer| answer["id"] == 2).unwrap();
    assert_eq!(found["result"]["items"][0]["bestMatch"]["snippet"], "hello");
    let silent = notification("listSessions", json!({}));
    assert!(crate::other_side::answers(format!("[{}]", silent.trim())).is_empty());
}

/// Property: when nobody reads the answers any more, a search that waits is aborted and serving ends, though the
/// input is open.
#[test]
fn a_closed_output_ends_serving() {
    let service = service();
    let mut other = running(&service.dispatcher);
    other.send(&request("slow", "searchSessions", json!({ "query": GATED })));
    service.gate.until_somebody_waits();
    other.send(&request("lost", "listSessions", json!({})));
    let Running {
        input,
        output,
        server,
    } = other;
    drop(output);
    // Whichever answer comes first, writing it fails; a further request makes sure that there is one.
    let line = request("more", "listSessions", json!({}));
    let _ = std::io::Write::write_all(&mut &input, line.as_bytes());
    let ended = server.join().unwrap();
    assert!(matches!(ended, Err(ServeError::Write(_))), "{ended:?}");
    drop(input);
}

/// Property: live sessions end as they begin, each step told, and impossible ones refused with a reason.
#[test]
fn live_sessions_come_and_go() {
    let service = service();
    let mut other = running(&service.dispatcher);
    let mut ask = |method: &str, params: Value| {
        other.send(&request(1, method, params));
        let answer = other.answer();
        answer
            .get("result")
            .cloned()
            .unwrap_or_else(|| answer["error"]["data"].clone())
    };
    let append = |events: Value| json!({ "sessionId": "s", "events": events });
    assert_eq!(
        ask("appendLive", append(json!([]))),
        json!({ "reason": "not-live" })
    );
    let mut first = said("one");
    first["seq"] = json!(0);
    let attach = json!({ "header": header("s"), "events": [first] });
    assert_eq!(
        ask("attachLive", attach.clone()),
        json!({ "sessionId": "s", "length": 1 })
    );
    assert_eq!(ask("attachLive", attach), json!({ "reason": "already-live" }));
    let more = json!([said("two"), said("three")]);
    assert_eq!(ask("appendLive", append(more)), json!({ "seqs": [1, 2] }));
    let mut wrong = said("four");
    wrong["seq"] = json!(9);
    assert_eq!(
        ask("appendLive", append(json!([said("four"), wrong]))),
        json!({ "parameter": "events[1].seq" })
    );
    let mut dangling = said("four");
    dangling["surfaceOp"] = json!({ "op": "replace", "start": 7, "end": 7 });
    assert_eq!(
        ask("appendLive", append(json!([dangling]))),
        json!({ "reason": "invalid-event" })
    );
    let events = ask("listEvents", json!({ "sessionId": "s" }));
    assert_eq!(events.as_array().unwrap().len(), 3);
    assert_eq!(
        ask("detachLive", json!({ "sessionId": "s" })),
        json!({ "sessionId": "s" })
    );
    assert_eq!(
        ask("detachLive", json!({ "sessionId": "s" })),
        json!({ "reason": "not-live" })
    );
    assert_eq!(
        ask("listEvents", json!({ "sessionId": "s" })),
        json!({ "code": "SESSION_QUERY_SESSION_NOT_FOUND" })
    );
    let relative = json!({ "header": { "version": 0, "id": "t", "createdAt": 1, "cwd": "not/absolute" } });
    assert_eq!(ask("attachLive", relative), json!({ "reason": "invalid-header" }));
    assert_eq!(ask("listSessions", json!({})), json!([]));
}
