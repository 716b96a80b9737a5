//! From a line's calls to its answers, without a transport.
//!
//! An operation that changes what is live is carried out at once, in the order of the lines, so that whatever
//! is asked later sees it; all others may take as long as they need, side by side. That is why a line is
//! *begun* by who reads and *finished* by whoever has time.

use super::failure::Failure;
use super::methods::METHODS;
use lookback_engine::session_query::SessionQuery;
use lookback_model::session_query::AbortSignal;
use lookback_wire::rpc::{self, Answer, Call, ErrorObject, Frame, Params};
use lookback_wire::session_query::{Operation, decode};
use serde_json::value::{RawValue, to_raw_value};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// When an operation is carried out, seen from the other lines of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Before anything of a later line. For what is quick and changes what is live.
    InOrder,
    /// Whenever there is time. For what only reads.
    Concurrent,
}

/// How an operation is carried out.
pub(crate) trait Handler: Operation {
    /// When.
    const TURN: Turn;

    /// Carries it out.
    fn handle(
        service: &SessionQuery,
        request: Self::Request,
        abort: &AbortSignal,
    ) -> Result<Self::Answer, Failure>;
}

type Run = fn(&SessionQuery, Params, &AbortSignal) -> Result<Box<RawValue>, ErrorObject>;

/// An entry of the table of operations.
#[derive(Clone, Copy)]
pub(crate) struct Method {
    name: &'static str,
    turn: Turn,
    run: Run,
}

impl Method {
    /// The entry of an operation.
    pub(crate) const fn of<H: Handler>() -> Self {
        Self {
            name: H::NAME,
            turn: H::TURN,
            run: run::<H>,
        }
    }
}

fn run<H: Handler>(
    service: &SessionQuery,
    params: Params,
    abort: &AbortSignal,
) -> Result<Box<RawValue>, ErrorObject> {
    let request = decode::<H>(params)?;
    let answer = H::handle(service, request, abort).map_err(|Failure(error)| error)?;
    to_raw_value(&answer)
        .map_err(|error| ErrorObject::internal(format!("the result cannot be written: {error}")))
}

/// Answers calls from one service. Cheap to clone.
#[derive(Clone)]
pub struct Dispatcher {
    service: SessionQuery,
}

/// A line of which all is done that must be done in order.
pub struct Begun {
    is_batch: bool,
    parts: Vec<Part>,
}

/// One message of a line.
enum Part {
    Answered(Answer),
    Waiting { id: rpc::Id, params: Params, run: Run },
}

impl Dispatcher {
    /// Answers from `service`.
    pub fn new(service: SessionQuery) -> Self {
        Self { service }
    }

    /// The names of all operations.
    pub fn methods() -> impl Iterator<Item = &'static str> {
        METHODS.iter().map(|method| method.name)
    }

    /// Begins a line: what has to be in order is done when this returns.
    pub fn begin(&self, frame: Frame, abort: &AbortSignal) -> Begun {
        let (is_batch, calls) = match frame {
            Frame::One(call) => (false, vec![call]),
            Frame::Batch(calls) => (true, calls),
        };
        let parts = calls.into_iter().filter_map(|call| match call {
            Ok(call) => self.begin_call(call, abort),
            Err(answer) => Some(Part::Answered(answer)),
        });
        Begun {
            is_batch,
            parts: parts.collect(),
        }
    }

    /// Finishes a line; gives what to write, without a line feed, or nothing when nothing is to be said.
    pub fn finish(&self, begun: Begun, abort: &AbortSignal) -> Option<String> {
        let answers: Vec<Answer> = begun
            .parts
            .into_iter()
            .map(|part| match part {
                Part::Answered(answer) => answer,
                Part::Waiting { id, params, run } => Answer {
                    id,
                    outcome: self.carry_out(run, params, abort),
                },
            })
            .collect();
        if begun.is_batch {
            return rpc::encode_batch(&answers);
        }
        answers.first().map(rpc::encode_answer)
    }

    /// Nothing is left of a notification: either it is done, or it asks for what nobody would be told.
    fn begin_call(&self, call: Call, abort: &AbortSignal) -> Option<Part> {
        let answered = |id, outcome| Some(Part::Answered(Answer { id, outcome }));
        let Some(method) = METHODS.iter().find(|method| method.name == call.method) else {
            return answered(call.id?, Err(ErrorObject::method_not_found(&call.method)));
        };
        let params = match call.params {
            Ok(params) => params,
            Err(error) => return answered(call.id?, Err(error)),
        };
        let run = method.run;
        if method.turn == Turn::Concurrent {
            return Some(Part::Waiting {
                id: call.id?,
                params,
                run,
            });
        }
        let outcome = self.carry_out(run, params, abort);
        answered(call.id?, outcome)
    }

    /// A defect in one operation is the answer to that one, not the end of all.
    fn carry_out(&self, run: Run, params: Params, abort: &AbortSignal) -> Result<Box<RawValue>, ErrorObject> {
        let outcome = catch_unwind(AssertUnwindSafe(|| run(&self.service, params, abort)));
        outcome.unwrap_or_else(|_| {
            Err(ErrorObject::internal(
                "the operation stopped at a defect of lookback",
            ))
        })
    }
}

impl Begun {
    /// Whether nothing is left to wait for.
    pub fn is_done(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Answered(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookback_engine::session_query::{LiveSessions, SessionQueryConfig};

    /// Property: a defect in an operation is that call's answer, and the next call is carried out.
    #[test]
    fn a_defect_answers_its_own_call() {
        let service = SessionQuery::new(SessionQueryConfig::default(), LiveSessions::new()).unwrap();
        let dispatcher = Dispatcher::new(service);
        let broken: Run = |_, _, _| panic!("a defect on purpose");
        let error = dispatcher.carry_out(broken, Params::Absent, &AbortSignal::new());
        assert_eq!(error.unwrap_err().code, rpc::code::INTERNAL_ERROR);
        let whole: Run = |_, _, _| Ok(RawValue::TRUE.to_owned());
        let answer = dispatcher.carry_out(whole, Params::Absent, &AbortSignal::new());
        assert_eq!(answer.unwrap().get(), "true");
    }

    /// Property: every operation has a name of its own, and only those that change what is live take turns.
    #[test]
    fn the_table_is_sound() {
        let mut names: Vec<_> = Dispatcher::methods().collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), METHODS.len());
        for method in METHODS {
            let changes = method.name.ends_with("Live");
            assert_eq!(method.turn == Turn::InOrder, changes, "{}", method.name);
        }
    }
}
