//! The one error commands end with: what went wrong in one line, what to do about it, the exit code.

use lookback_engine::EngineError;
use lookback_model::ports::StoreError;
use lookback_model::session_query::{SessionQueryError, SessionQueryErrorCode};
use std::error::Error;
use std::process::ExitCode;

/// How a command failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// What was asked for is not there.
    NotFound,
    /// The command line asks for something impossible.
    Usage,
    /// Something on the machine did not work.
    Failed,
    /// Whoever read the output has read enough.
    PipeClosed,
}

/// Why a command ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandError {
    /// How it failed.
    pub(crate) kind: ErrorKind,
    /// What went wrong, with its cause, in one line.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
}

impl CommandError {
    /// What was asked for is not there.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::NotFound,
            message: message.into(),
            hint: None,
        }
    }

    /// The command line asks for something impossible.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Usage,
            message: message.into(),
            hint: None,
        }
    }

    /// Something on the machine did not work.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Failed,
            message: message.into(),
            hint: None,
        }
    }

    /// The same with a hint.
    pub(crate) fn hinted(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Writing to an output failed.
    pub(crate) fn output(error: &std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self {
                kind: ErrorKind::PipeClosed,
                message: String::new(),
                hint: None,
            };
        }
        Self::failed(format!("cannot write to standard output: {error}"))
    }

    /// What the process ends with.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self.kind {
            ErrorKind::PipeClosed => 0,
            ErrorKind::NotFound => 1,
            ErrorKind::Usage => 2,
            ErrorKind::Failed => 3,
        })
    }
}

/// An error and its causes on one line. A cause that the text before already tells is left out.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let text = inner.to_string();
        if !line.contains(&text) {
            line.push_str(": ");
            line.push_str(&text);
        }
        cause = inner.source();
    }
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        let failed = Self::failed(chain(&error));
        match error {
            StoreError::Newer { .. } => {
                failed.hinted("update lookback, or name another folder with --data-dir")
            }
            StoreError::Write { .. } => {
                failed.hinted("free some space, or name a folder you may write to with --data-dir")
            }
            StoreError::Read { .. } => failed.hinted("`lookback index --verify` reads all transcripts again"),
        }
    }
}

impl From<EngineError> for CommandError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Store(error) => error.into(),
            EngineError::NoSuchSession { id } => Self::not_found(format!("no session {id}"))
                .hinted("`lookback sessions --all` lists them; any unique beginning of an id will do"),
            EngineError::AmbiguousSession { id, candidates } => {
                let shown: Vec<&str> = candidates
                    .iter()
                    .take(5)
                    .map(|row| row.session_id.as_str())
                    .collect();
                let more = if candidates.len() > shown.len() {
                    ", …"
                } else {
                    ""
                };
                Self::usage(format!("{id} is the beginning of {} sessions", candidates.len()))
                    .hinted(format!("name one of {}{more}", shown.join(", ")))
            }
            EngineError::Query(error) => error.into(),
        }
    }
}

impl From<SessionQueryError> for CommandError {
    fn from(error: SessionQueryError) -> Self {
        use SessionQueryErrorCode as Code;
        let message = chain(&error);
        match error.code {
            Code::SessionNotFound | Code::EventNotFound => Self::not_found(message),
            Code::InvalidConfig
            | Code::InvalidFilter
            | Code::InvalidLimit
            | Code::InvalidQuery
            | Code::InvalidWindow => Self::usage(message),
            _ => Self::failed(message),
        }
    }
}

#[cfg(test)]
mod tests {
    //! Properties: an error is one line with its causes; each kind has its exit code.
    use super::*;

    #[test]
    fn a_full_disk_is_one_clear_line() {
        let full = std::io::Error::other("no space\nleft on device");
        let error = StoreError::Write {
            path: "/data".into(),
            source: Box::new(full),
        };
        let error = CommandError::from(error);
        assert_eq!(error.message, "cannot write to /data: no space left on device");
        assert_eq!(error.exit_code(), ExitCode::from(3));
        assert!(error.hint.is_some());
    }

    #[test]
    fn a_closed_pipe_is_success() {
        let error = CommandError::output(&std::io::ErrorKind::BrokenPipe.into());
        assert_eq!(error.exit_code(), ExitCode::SUCCESS);
        assert_eq!(CommandError::usage("").exit_code(), ExitCode::from(2));
        assert_eq!(CommandError::not_found("").exit_code(), ExitCode::from(1));
    }
}
