//! JSON-RPC 2.0 over lines: one message a line, UTF-8, ended by a line feed.
//!
//! Everything here is encode and decode; who reads and writes the lines is the transport's business. A line
//! that cannot be taken becomes the error that answers it, never the end of the stream: [`frame`] cuts the
//! stream into lines and refuses those beyond [`FRAME_LIMIT`], [`decode`] reads a line as the specification
//! says, batches included, and [`encode_answer`] writes what goes back.
//!
//! ```
//! use lookback_wire::rpc::{self, Frame};
//! let frame = rpc::decode(br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#);
//! let Frame::One(Ok(call)) = frame else { panic!("{frame:?}") };
//! assert_eq!(call.method, "ping");
//! let answer = rpc::Answer { id: call.id.unwrap_or_default(), outcome: Err(rpc::ErrorObject::method_not_found("ping")) };
//! let line = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no method ping"}}"#;
//! assert_eq!(rpc::encode_answer(&answer), line);
//! ```

pub mod frame;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

pub use frame::{FRAME_LIMIT, FrameReader, Line};

/// The version every message names.
pub const VERSION: &str = "2.0";

/// The codes that JSON-RPC itself gives, and one of ours.
pub mod code {
    /// The line is no JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// It is JSON, and no request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// There is no such method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The method does not take these parameters.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The program itself failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The operation failed, in a way its `data` tells.
    pub const OPERATION_FAILED: i64 = -32000;
}

/// A request's id: a number, a text or `null`, kept letter for letter so that it is echoed as it came.
#[derive(Clone, Debug)]
pub struct Id(Box<RawValue>);

impl Id {
    /// The id of a whole number.
    pub fn number(number: u64) -> Self {
        Self::of(&number)
    }

    /// The id of a text.
    pub fn text(text: &str) -> Self {
        Self::of(text)
    }

    /// The id as JSON, as it stood in the message.
    pub fn as_json(&self) -> &str {
        self.0.get()
    }

    fn of(value: &(impl Serialize + ?Sized)) -> Self {
        serde_json::value::to_raw_value(value).map_or_else(|_| Self::default(), Self)
    }

    /// Ids of JSON-RPC are scalars other than booleans.
    fn accept(raw: &RawValue) -> Option<Self> {
        let is_id = raw.get().starts_with(|first: char| {
            first == '"' || first == '-' || first == 'n' || first.is_ascii_digit()
        });
        is_id.then(|| Self(raw.to_owned()))
    }
}

/// `null`, which stands in answers to what has no id that could be read.
impl Default for Id {
    fn default() -> Self {
        Self(RawValue::NULL.to_owned())
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.as_json() == other.as_json()
    }
}

impl Eq for Id {}

/// What a call is given: members by name, or values by position.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Params {
    /// None at all.
    #[default]
    Absent,
    /// By name.
    Named(serde_json::Map<String, Value>),
    /// By position.
    Positional(Vec<Value>),
}

/// A request, or a notification when it has no id.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What the answer is to name. Without it the call is a notification and is never answered.
    pub id: Option<Id>,
    /// The method's name.
    pub method: String,
    /// What it is given. Parameters that cannot be held are the error that answers the call once its method
    /// is known to exist.
    pub params: Result<Params, ErrorObject>,
}

/// What a line holds: calls, and refusals of what is no call, which are answers already.
#[derive(Clone, Debug)]
pub enum Frame {
    /// One message.
    One(Result<Call, Answer>),
    /// A batch; never empty. What is answered goes into one array, and nothing is said when that is empty.
    Batch(Vec<Result<Call, Answer>>),
}

/// What a request got.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Of the request.
    pub id: Id,
    /// Its result as JSON, or why there is none.
    pub outcome: Result<Box<RawValue>, ErrorObject>,
}

/// Why a request has no result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct ErrorObject {
    /// Which kind of failure, see [`code`].
    pub code: i64,
    /// In one line, for people.
    pub message: String,
    /// More of it, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// The same with data.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// There is no method of this name.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(code::METHOD_NOT_FOUND, format!("no method {method}"))
    }

    /// The method does not take what it was given.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// The program itself failed.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(code::INTERNAL_ERROR, message)
    }
}

impl Answer {
    /// The answer to what has no id that could be read.
    pub fn refusal(error: ErrorObject) -> Self {
        Self {
            id: Id::default(),
            outcome: Err(error),
        }
    }
}

/// Reads a line. Blank lines are for the reader of frames to leave out: here they are no JSON.
pub fn decode(line: &[u8]) -> Frame {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => return refuse(parse_error(format!("the line is not UTF-8: {error}"))),
    };
    let whole: &RawValue = match serde_json::from_str(text) {
        Ok(whole) => whole,
        Err(error) => return refuse(parse_error(format!("the line is no JSON: {error}"))),
    };
    if !whole.get().starts_with('[') {
        return Frame::One(decode_call(whole));
    }
    match serde_json::from_str::<Vec<&RawValue>>(whole.get()) {
        Ok(calls) if calls.is_empty() => refuse(invalid_request("the batch is empty")),
        Ok(calls) => Frame::Batch(calls.into_iter().map(decode_call).collect()),
        Err(error) => refuse(parse_error(format!("the line is no JSON: {error}"))),
    }
}

/// The answer to a line beyond the limit.
pub fn refuse_oversized(limit: usize) -> Answer {
    let message = format!("the line is longer than {limit} bytes, the most a message may have");
    Answer::refusal(invalid_request(message).with_data(serde_json::json!({ "limit": limit })))
}

fn refuse(error: ErrorObject) -> Frame {
    Frame::One(Err(Answer::refusal(error)))
}

fn parse_error(message: impl Into<String>) -> ErrorObject {
    ErrorObject::new(code::PARSE_ERROR, message)
}

fn invalid_request(message: impl Into<String>) -> ErrorObject {
    ErrorObject::new(code::INVALID_REQUEST, message)
}

/// Reads one message of a line. Members that JSON-RPC does not know are left alone.
fn decode_call(message: &RawValue) -> Result<Call, Answer> {
    let members = serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(message.get())
        .map_err(|_| Answer::refusal(invalid_request("the message is no object")))?;
    let given = members.get("id").map(|raw| Id::accept(raw));
    let id = match given {
        Some(None) => {
            let error = invalid_request("id is neither a number nor a text");
            return Err(Answer::refusal(error));
        }
        Some(Some(id)) => Some(id),
        None => None,
    };
    // What is no request is answered in any case: only a valid one can be a notification.
    let refuse = |message: &str| Answer {
        id: id.clone().unwrap_or_default(),
        outcome: Err(invalid_request(message)),
    };
    if text_of(members.get("jsonrpc")).as_deref() != Some(VERSION) {
        return Err(refuse("jsonrpc is not \"2.0\""));
    }
    let Some(method) = text_of(members.get("method")) else {
        return Err(refuse("method is no text"));
    };
    let params = match members.get("params").map(|raw| raw.get()) {
        None => Ok(Params::Absent),
        Some(json) if json.starts_with('{') => held(json).map(Params::Named),
        Some(json) if json.starts_with('[') => held(json).map(Params::Positional),
        Some(_) => return Err(refuse("params is neither an object nor an array")),
    };
    Ok(Call { id, method, params })
}

fn text_of(raw: Option<&&RawValue>) -> Option<String> {
    serde_json::from_str(raw?.get()).ok()
}

/// JSON can be right and still not be held: it may nest too deep, or have half of a surrogate pair.
fn held<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, ErrorObject> {
    serde_json::from_str(json)
        .map_err(|error| ErrorObject::invalid_params(format!("params cannot be held: {error}")))
}

#[derive(Serialize)]
struct AnswerLine<'a> {
    jsonrpc: &'a str,
    id: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a ErrorObject>,
}

impl<'a> AnswerLine<'a> {
    fn of(answer: &'a Answer) -> Self {
        Self {
            jsonrpc: VERSION,
            id: &answer.id.0,
            result: answer.outcome.as_deref().ok(),
            error: answer.outcome.as_ref().err(),
        }
    }
}

/// An answer as a line, without the line feed.
pub fn encode_answer(answer: &Answer) -> String {
    to_line(&AnswerLine::of(answer))
}

/// The answers to a batch as a line, without the line feed; none when nothing is to be answered.
pub fn encode_batch(answers: &[Answer]) -> Option<String> {
    let lines: Vec<AnswerLine<'_>> = answers.iter().map(AnswerLine::of).collect();
    (!lines.is_empty()).then(|| to_line(&lines))
}

/// A request as a line, without the line feed; a notification when it has no id.
pub fn encode_call(id: Option<&Id>, method: &str, params: &Value) -> String {
    #[derive(Serialize)]
    struct CallLine<'a> {
        jsonrpc: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a RawValue>,
        method: &'a str,
        #[serde(skip_serializing_if = "Value::is_null")]
        params: &'a Value,
    }
    to_line(&CallLine {
        jsonrpc: VERSION,
        id: id.map(|id| &*id.0),
        method,
        params,
    })
}

/// Strings, numbers and JSON that is written already cannot fail to be written, and no raw value holds a line
/// feed: it would have ended the line it came in.
fn to_line(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Reads the answer that a line holds.
///
/// # Errors
/// When the line is no answer: an [`ErrorObject`] of the reader's own, with the code of what is wrong.
pub fn decode_answer(line: &[u8]) -> Result<Answer, ErrorObject> {
    #[derive(Deserialize)]
    struct Members {
        jsonrpc: String,
        id: Box<RawValue>,
        #[serde(default, deserialize_with = "present")]
        result: Option<Box<RawValue>>,
        #[serde(default)]
        error: Option<ErrorObject>,
    }
    /// A result of `null` is a result.
    fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Box<RawValue>>, D::Error> {
        Deserialize::deserialize(value).map(Some)
    }
    let members: Members = serde_json::from_slice(line)
        .map_err(|error| parse_error(format!("the line is no answer: {error}")))?;
    if members.jsonrpc != VERSION {
        return Err(invalid_request("jsonrpc is not \"2.0\""));
    }
    let id = Id::accept(&members.id).ok_or_else(|| invalid_request("id is neither a number nor a text"))?;
    let outcome = match (members.result, members.error) {
        (Some(result), None) => Ok(result),
        (None, Some(error)) => Err(error),
        _ => return Err(invalid_request("an answer has either a result or an error")),
    };
    Ok(Answer { id, outcome })
}

#[cfg(test)]
#[path = "rpc_tests.rs"]
mod tests;
