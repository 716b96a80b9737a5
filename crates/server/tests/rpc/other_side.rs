//! The program on the other side of the streams.

use crate::scan::{Gate, Scan};
use lookback_engine::session_query::{LiveSessions, Registration, SessionQuery, SessionQueryConfig};
use lookback_server::rpc::{Dispatcher, ServeError, serve};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Cursor, PipeReader, PipeWriter, Write};
use std::sync::Arc;
use std::thread::JoinHandle;

/// A service with a provider, and what may be asked of it.
pub(crate) struct Service {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) gate: Arc<Gate>,
    _registration: Registration,
}

pub(crate) fn service() -> Service {
    let service = SessionQuery::new(SessionQueryConfig::default(), LiveSessions::new()).unwrap();
    let provider = Arc::new(Scan::default());
    let gate = Arc::clone(&provider.gate);
    Service {
        _registration: service.register_search_provider(provider).unwrap(),
        dispatcher: Dispatcher::new(service),
        gate,
    }
}

/// All answers to a whole input, in the order in which they were written.
pub(crate) fn answers(input: impl Into<Vec<u8>>) -> Vec<Value> {
    let mut output = Vec::new();
    serve(&service().dispatcher, Cursor::new(input.into()), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A request as a line.
pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> String {
    let method = format!("sessionQuery.{method}");
    format!(
        "{}\n",
        json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
    )
}

/// A notification as a line.
pub(crate) fn notification(method: &str, params: Value) -> String {
    let method = format!("sessionQuery.{method}");
    format!(
        "{}\n",
        json!({ "jsonrpc": "2.0", "method": method, "params": params })
    )
}

/// What a person said, at the end of the surface.
pub(crate) fn said(text: &str) -> Value {
    json!({
        "time": 5,
        "type": "user/message",
        "data": { "content": [{ "type": "text", "text": text }] },
        "surfaceOp": { "op": "append" },
    })
}

/// A server on a thread of its own, and the two ends that a program has of its streams.
pub(crate) struct Running {
    pub(crate) input: PipeWriter,
    pub(crate) output: BufReader<PipeReader>,
    pub(crate) server: JoinHandle<Result<(), ServeError>>,
}

pub(crate) fn running(dispatcher: &Dispatcher) -> Running {
    let (their_input, input) = std::io::pipe().unwrap();
    let (output, their_output) = std::io::pipe().unwrap();
    let dispatcher = dispatcher.clone();
    let server = std::thread::spawn(move || serve(&dispatcher, BufReader::new(their_input), their_output));
    Running {
        input,
        output: BufReader::new(output),
        server,
    }
}

impl Running {
    pub(crate) fn send(&mut self, line: &str) {
        self.input.write_all(line.as_bytes()).unwrap();
    }

    /// The next answer, whenever it comes.
    pub(crate) fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Ends the input; gives what is still answered.
    pub(crate) fn end(self) -> Vec<Value> {
        drop(self.input);
        let rest: Vec<Value> = self
            .output
            .lines()
            .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
            .collect();
        self.server.join().unwrap().unwrap();
        rest
    }
}
