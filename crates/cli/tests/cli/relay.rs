//! Properties of `relay`: a program on the other side of its pipes gets an answer to each request and to each
//! line that is none, and the process ends when the program does.

use crate::person::Person;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A relay, and the program that talks to it.
struct Relay {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Relay {
    fn start(person: &Person) -> Self {
        let mut command = person.command(&["relay"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The answer to a request.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let method = format!("sessionQuery.{method}");
        self.send(&json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params }).to_string());
        let answer = self.answer();
        assert_eq!(answer["id"], method, "{answer}");
        answer
    }

    /// The result of a request that succeeds.
    fn get(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].take()
    }

    /// Code and data of a request that fails.
    fn fail(&mut self, method: &str, params: Value) -> (i64, Value) {
        let mut error = self.ask(method, params)["error"].take();
        (error["code"].as_i64().unwrap(), error["data"].take())
    }

    /// Ends the input; gives what was still written, and the exit code.
    fn end(mut self) -> (Vec<String>, i32) {
        drop(self.input);
        let rest = self.output.lines().map(Result::unwrap).collect();
        (rest, self.child.wait().unwrap().code().unwrap())
    }
}

fn header(id: &str) -> Value {
    json!({ "version": 0, "id": id, "createdAt": 1, "cwd": "/srv/shop" })
}

fn said(text: &str) -> Value {
    json!({
        "time": 5,
        "type": "user/message",
        "data": { "content": [{ "type": "text", "text": text }] },
        "surfaceOp": { "op": "append" },
    })
}

/// Property: a session that a program runs is listed, read, traced, filtered and ended, by every method.
#[test]
fn a_live_session_goes_all_the_way_round() {
    let person = Person::new();
    let mut relay = Relay::start(&person);
    let mut first = said("first words");
    first["seq"] = json!(0);
    relay.get(
        "attachLive",
        json!({ "header": header("run"), "events": [first] }),
    );
    let mut again = said("other words");
    again["surfaceOp"] = json!({ "op": "replace", "start": 0, "end": 0 });
    again["sourceEventSeqs"] = json!([0]);
    let appended = relay.get("appendLive", json!({ "sessionId": "run", "events": [again] }));
    assert_eq!(appended, json!({ "seqs": [1] }));

    let sessions = relay.get("listSessions", json!({}));
    let record = json!({ "header": header("run"), "live": true, "persisted": false });
    assert_eq!(sessions, json!([record]));
    let events = relay.get("listEvents", json!({ "sessionId": "run" }));
    let states: Vec<_> = events
        .as_array()
        .unwrap()
        .iter()
        .map(|event| &event["surface"])
        .collect();
    assert_eq!(states, ["shadowed", "current"]);
    let read = relay.get("readEvent", json!({ "sessionId": "run", "seq": 1, "before": 50 }));
    assert_eq!(
        (&read["startSeq"], &read["target"]["data"]),
        (&json!(0), &said("other words")["data"])
    );
    let trace = relay.get("traceEvent", json!({ "sessionId": "run", "seq": 0 }));
    assert_eq!(
        (&trace["shadowedBy"], &trace["referencedBy"]),
        (&json!(1), &json!([1]))
    );
    let lineage = relay.get("traceSession", json!({ "sessionId": "run" }));
    assert_eq!((&lineage["root"], &lineage["children"]), (&record, &json!([])));
    let gone = json!([{ "kind": "availability", "values": ["persisted"] }]);
    assert_eq!(
        relay.get(
            "filterSessionResults",
            json!({ "items": sessions, "filters": gone })
        ),
        json!([])
    );
    let current = json!([{ "kind": "surface", "values": ["current"] }]);
    let kept = relay.get(
        "filterEventResults",
        json!({ "items": events, "filters": current }),
    );
    assert_eq!(kept, json!([events[1]]));

    relay.get("detachLive", json!({ "sessionId": "run" }));
    assert_eq!(relay.get("listSessions", json!({})), json!([]));
    let missing = json!({ "code": "SESSION_QUERY_SESSION_NOT_FOUND" });
    assert_eq!(
        relay.fail("readEvent", json!({ "sessionId": "run", "seq": 0 })),
        (-32000, missing)
    );
    assert_eq!(relay.end(), (Vec::new(), 0));
}

/// Ids of the sessions that a search finds.
fn found(relay: &mut Relay, query: &str) -> Vec<String> {
    let page = relay.get("searchSessions", json!({ "query": query }));
    let items = page["items"].as_array().unwrap().iter();
    items
        .map(|hit| hit["header"]["id"].as_str().unwrap().to_owned())
        .collect()
}

/// Property: what is on disk and what a program runs are found as one corpus, what was appended is found by the
/// next search, and live events hide stored ones of the same session until it is ended.
#[test]
fn stored_and_live_sessions_are_one_corpus() {
    let person = Person::new();
    person.claude("stored", &["mend the barometer", "mended"]);
    let mut relay = Relay::start(&person);
    assert_eq!(found(&mut relay, "barometer"), ["stored"]);
    let sessions = relay.get("listSessions", json!({}));
    assert_eq!(
        (&sessions[0]["live"], &sessions[0]["persisted"]),
        (&json!(false), &json!(true))
    );

    relay.get("attachLive", json!({ "header": header("run"), "events": [] }));
    assert_eq!(found(&mut relay, "thermometer"), [""; 0]);
    relay.get(
        "appendLive",
        json!({ "sessionId": "run", "events": [said("the thermometer is broken")] }),
    );
    assert_eq!(found(&mut relay, "thermometer"), ["run"]);
    let hits = relay.get(
        "searchEvents",
        json!({ "sessionId": "run", "query": "thermometer" }),
    );
    assert_eq!(
        (&hits["items"][0]["seq"], &hits["items"][0]["surface"]),
        (&json!(0), &json!("current"))
    );

    let own = &sessions[0]["header"];
    relay.get("attachLive", json!({ "header": own, "events": [] }));
    relay.get(
        "appendLive",
        json!({ "sessionId": "stored", "events": [said("the hygrometer")] }),
    );
    assert_eq!(found(&mut relay, "barometer"), [""; 0]);
    assert_eq!(found(&mut relay, "hygrometer"), ["stored"]);
    relay.get("detachLive", json!({ "sessionId": "stored" }));
    relay.get("detachLive", json!({ "sessionId": "run" }));
    assert_eq!(found(&mut relay, "barometer"), ["stored"]);
    assert_eq!(found(&mut relay, "thermometer"), [""; 0]);

    let mut other = own.clone();
    other["cwd"] = json!("/srv/elsewhere");
    relay.get("attachLive", json!({ "header": other, "events": [] }));
    let conflict = json!({ "code": "SESSION_QUERY_SOURCE_CONFLICT" });
    assert_eq!(relay.fail("listSessions", json!({})), (-32000, conflict));
    assert_eq!(relay.end(), (Vec::new(), 0));
}

/// Property: pages follow one another, and a cursor that does not is refused with a reason.
#[test]
fn cursors_go_on_or_are_refused() {
    let person = Person::new();
    person.claude("one", &["mend the barometer", "mended"]);
    person.claude("two", &["buy a barometer", "bought"]);
    let mut relay = Relay::start(&person);
    let first = relay.get("searchSessions", json!({ "query": "barometer", "limit": 1 }));
    let next = json!({ "query": "barometer", "limit": 1, "cursor": first["nextCursor"] });
    let second = relay.get("searchSessions", next.clone());
    assert_ne!(
        first["items"][0]["header"]["id"],
        second["items"][0]["header"]["id"]
    );
    assert_eq!(second.get("nextCursor"), None);
    relay.get("attachLive", json!({ "header": header("run"), "events": [] }));
    relay.get(
        "appendLive",
        json!({ "sessionId": "run", "events": [said("a barometer as well")] }),
    );
    let (code, data) = relay.fail("searchSessions", next);
    assert_eq!(
        (code, &data["code"], &data["reason"]),
        (
            -32000,
            &json!("SESSION_QUERY_PROVIDER_ERROR"),
            &json!("stale-cursor")
        )
    );
    let (_, data) = relay.fail(
        "searchSessions",
        json!({ "query": "barometer", "cursor": "made up" }),
    );
    assert_eq!(data["reason"], "malformed-cursor");
    assert_eq!(relay.end(), (Vec::new(), 0));
}

/// Property: what is wrong is answered with its code, and the relay goes on.
#[test]
fn what_is_wrong_is_answered() {
    let person = Person::new();
    let mut relay = Relay::start(&person);
    assert_eq!(relay.fail("forget", json!({})).0, -32601);
    assert_eq!(
        relay.fail("listEvents", json!({})),
        (-32602, json!({ "parameter": "sessionId" }))
    );
    assert_eq!(
        relay.fail("listEvents", json!([1])),
        (-32602, json!({ "parameter": "params" }))
    );
    let limit = json!({ "code": "SESSION_QUERY_INVALID_LIMIT" });
    assert_eq!(
        relay.fail("searchSessions", json!({ "query": "x", "limit": "10" })),
        (-32000, limit)
    );
    let window = json!({ "code": "SESSION_QUERY_INVALID_WINDOW" });
    let too_many = json!({ "sessionId": "s", "seq": 0, "before": 51 });
    assert_eq!(relay.fail("readEvent", too_many), (-32000, window));
    relay.send("garbage");
    assert_eq!(relay.answer()["error"]["code"], -32700);
    relay.send("[]");
    assert_eq!(relay.answer()["error"]["code"], -32600);
    let oversized = vec![b'x'; (16 << 20) + 1];
    relay.input.write_all(&oversized).unwrap();
    relay.send("");
    let refused = relay.answer();
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(null), &json!(-32600))
    );
    assert_eq!(relay.get("listSessions", json!({})), json!([]));
    assert_eq!(relay.end(), (Vec::new(), 0));
}

/// Property: the end of the input leaves nothing unanswered, and without a request there is no answer.
#[test]
fn the_end_of_the_input_is_the_end() {
    let person = Person::new();
    assert_eq!(Relay::start(&person).end(), (Vec::new(), 0));
    let mut relay = Relay::start(&person);
    for id in 0..100 {
        relay.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "sessionQuery.listSessions" }).to_string());
    }
    let (answers, code) = relay.end();
    assert_eq!((answers.len(), code), (100, 0));
}

/// Property: when the program goes away while its input is open, the relay ends, and that is no failure.
#[test]
fn a_closed_output_is_the_end_too() {
    let person = Person::new();
    let Relay {
        mut child,
        mut input,
        output,
    } = Relay::start(&person);
    drop(output);
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "sessionQuery.listSessions" });
    writeln!(input, "{request}").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(input);
}

/// Property: a configuration that makes no sense is wrong use.
#[test]
fn limits_must_make_sense() {
    let person = Person::new();
    let call = person.call(&["relay", "--default-limit", "20", "--max-limit", "10"]);
    assert_eq!((call.code, call.out.as_str()), (2, ""), "{}", call.err);
    assert!(call.err.contains("20 is over maxLimit 10"), "{}", call.err);
}
