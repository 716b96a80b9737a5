//! Properties: the examples of the specification hold; ids come back letter for letter; no bytes end the
//! stream; what is written is read back.
use super::*;
use proptest::prelude::*;
use serde_json::json;

/// What a server without methods says to a line, `None` for silence.
fn answer(line: &str) -> Option<Value> {
    let reply = |call: Result<Call, Answer>| match call {
        Ok(call) => call.id.map(|id| Answer {
            id,
            outcome: Err(ErrorObject::method_not_found(&call.method)),
        }),
        Err(answer) => Some(answer),
    };
    let text = match decode(line.as_bytes()) {
        Frame::One(call) => reply(call).map(|answer| encode_answer(&answer)),
        Frame::Batch(calls) => encode_batch(&calls.into_iter().filter_map(reply).collect::<Vec<_>>()),
    };
    text.map(|text| serde_json::from_str(&text).unwrap())
}

fn code_of(line: &str) -> (Value, i64) {
    let answer = answer(line).unwrap();
    assert_eq!(answer["jsonrpc"], "2.0");
    (answer["id"].clone(), answer["error"]["code"].as_i64().unwrap())
}

/// Property: each way of being wrong has its code, and the id is told where it can be read.
#[test]
fn codes_are_told_apart() {
    for (line, id, code) in [
        ("{\"jsonrpc\"", json!(null), code::PARSE_ERROR),
        ("[{\"jsonrpc\":\"2.0\"", json!(null), code::PARSE_ERROR),
        ("{} {}", json!(null), code::PARSE_ERROR),
        ("[]", json!(null), code::INVALID_REQUEST),
        ("1", json!(null), code::INVALID_REQUEST),
        ("{\"foo\":\"boo\"}", json!(null), code::INVALID_REQUEST),
        (
            r#"{"jsonrpc":"2.0","method":1,"params":"bar"}"#,
            json!(null),
            code::INVALID_REQUEST,
        ),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":1}"#,
            json!(5),
            code::INVALID_REQUEST,
        ),
        (
            r#"{"jsonrpc":"1.0","id":5,"method":"m"}"#,
            json!(5),
            code::INVALID_REQUEST,
        ),
        (r#"{"id":5,"method":"m"}"#, json!(5), code::INVALID_REQUEST),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"m","params":"x"}"#,
            json!(5),
            code::INVALID_REQUEST,
        ),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"m","params":null}"#,
            json!(5),
            code::INVALID_REQUEST,
        ),
        (
            r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#,
            json!(null),
            code::INVALID_REQUEST,
        ),
        (
            r#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#,
            json!(null),
            code::INVALID_REQUEST,
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
            json!(null),
            code::METHOD_NOT_FOUND,
        ),
        (
            r#" {"method":"m","extra":1,"id":"a","jsonrpc":"2.0"} "#,
            json!("a"),
            code::METHOD_NOT_FOUND,
        ),
    ] {
        assert_eq!(code_of(line), (id, code), "{line}");
    }
    assert!(
        matches!(decode(b"\xff"), Frame::One(Err(answer)) if answer.outcome.clone().unwrap_err().code == code::PARSE_ERROR)
    );
}

/// Property: notifications are never answered, alone or in a batch, and a batch has one answer for each
/// request and each thing that is none.
#[test]
fn batches_are_answered_as_the_specification_says() {
    let notification = r#"{"jsonrpc":"2.0","method":"update","params":[1,2]}"#;
    assert_eq!(answer(notification), None);
    assert_eq!(answer(&format!("[{notification},{notification}]")), None);
    let mixed = format!(r#"[1,{notification},{{"jsonrpc":"2.0","method":"m","id":"9"}},{{"foo":1}}]"#);
    let answers = answer(&mixed).unwrap();
    let got: Vec<_> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| (&answer["id"], &answer["error"]["code"]))
        .collect();
    assert_eq!(
        got,
        [
            (&json!(null), &json!(-32600)),
            (&json!("9"), &json!(-32601)),
            (&json!(null), &json!(-32600))
        ]
    );
}

/// Property: parameters that are JSON and cannot be held refuse the parameters, not the stream.
#[test]
fn parameters_that_cannot_be_held_are_invalid_parameters() {
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    let Frame::One(Ok(call)) =
        decode(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{deep}}}"#).as_bytes())
    else {
        panic!("a call")
    };
    assert_eq!(call.params.unwrap_err().code, code::INVALID_PARAMS);
}

/// Property: a result of `null` is a result, and an answer without any is none.
#[test]
fn null_is_a_result() {
    let read = |members: &str| decode_answer(format!(r#"{{"jsonrpc":"2.0","id":1{members}}}"#).as_bytes());
    assert_eq!(read(r#","result":null"#).unwrap().outcome.unwrap().get(), "null");
    assert!(read("").is_err());
    assert!(read(r#","result":1,"error":{"code":1,"message":""}"#).is_err());
}

#[test]
fn a_line_beyond_the_limit_is_named() {
    let line = encode_answer(&refuse_oversized(16));
    assert_eq!(
        line,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the line is longer than 16 bytes, the most a message may have","data":{"limit":16}}}"#
    );
}

fn any_id() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|id| id.to_string()),
        any::<f64>()
            .prop_filter("JSON has no such number", |id| id.is_finite())
            .prop_map(|id| json!(id).to_string()),
        "[0-9]{20,40}".prop_map(|digits| format!("1{digits}")),
        Just("1.0".to_owned()),
        Just("null".to_owned()),
        Just(r#""\u0041\/""#.to_owned()),
        any::<String>().prop_map(|id| json!(id).to_string()),
    ]
}

proptest! {
    /// Property: an id of any kind is echoed letter for letter.
    #[test]
    fn ids_come_back_as_they_came(id in any_id()) {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        let Frame::One(Ok(call)) = decode(line.as_bytes()) else { panic!("{line}") };
        let answer = Answer { id: call.id.unwrap(), outcome: Ok(RawValue::from_string("[]".into()).unwrap()) };
        prop_assert_eq!(encode_answer(&answer), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":[]}}"#));
    }

    /// Property: a call that was written is read as it was, and so is an answer.
    #[test]
    fn what_is_written_is_read_back(method in any::<String>(), id in prop::option::of(any::<String>()), key in any::<String>(), value in any::<i64>(), message in any::<String>(), fails in any::<bool>()) {
        let id = id.map(|id| Id::text(&id));
        let line = encode_call(id.as_ref(), &method, &json!({ key.clone(): value }));
        prop_assert!(!line.contains('\n'));
        let Frame::One(Ok(call)) = decode(line.as_bytes()) else { panic!("{line}") };
        let params = serde_json::Map::from_iter([(key, json!(value))]);
        prop_assert_eq!(&call, &Call { id: id.clone(), method, params: Ok(Params::Named(params)) });

        let outcome = if fails {
            Err(ErrorObject::new(value, message).with_data(json!([null])))
        } else {
            Ok(serde_json::value::to_raw_value(&message).unwrap())
        };
        let answer = Answer { id: id.unwrap_or_default(), outcome };
        let line = encode_answer(&answer);
        prop_assert!(!line.contains('\n'));
        let read = decode_answer(line.as_bytes()).unwrap();
        prop_assert_eq!(&read.id, &answer.id);
        prop_assert_eq!(read.outcome.map(|json| json.get().to_owned()), answer.outcome.map(|json| json.get().to_owned()));
    }

    /// Property: no bytes make it panic, and what is no call is answered by one line of JSON.
    #[test]
    fn any_bytes_are_taken(bytes in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..60),
        "[\\[\\]{}:,\" a-z0-9.-]{0,60}".prop_map(String::into_bytes),
    ]) {
        let calls = match decode(&bytes) {
            Frame::One(call) => vec![call],
            Frame::Batch(calls) => calls,
        };
        prop_assert!(!calls.is_empty());
        for answer in calls.into_iter().filter_map(Result::err) {
            let line = encode_answer(&answer);
            prop_assert!(decode_answer(line.as_bytes()).is_ok_and(|read| read.outcome.is_err()), "{}", line);
        }
    }
}
