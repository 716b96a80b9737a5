//! The only place that writes to standard output and standard error.
//!
//! Data goes to standard output, talk to standard error, so that a pipe carries data alone. When the
//! reader of the pipe leaves, that is its right: [`crate::error::ErrorKind::PipeClosed`] is no failure.

use crate::error::{CommandError, ErrorKind};
use crate::paint::Paint;
use crate::terminal::{self, Terminal};
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, BufWriter, Write};

/// Writes output.
pub(crate) struct Printer {
    out: Box<dyn Write>,
    err: Box<dyn Write>,
    /// What the two streams lead to.
    pub(crate) terminal: Terminal,
}

impl Printer {
    /// A printer to the process's own streams.
    pub(crate) fn new(terminal: Terminal) -> Self {
        let out = Box::new(BufWriter::with_capacity(64 * 1024, io::stdout()));
        Self {
            out,
            err: Box::new(io::stderr()),
            terminal,
        }
    }

    /// How to paint text for standard output.
    pub(crate) fn paint(&self) -> Paint {
        Paint {
            colour: self.terminal.stdout_colour,
        }
    }

    /// A line of data. Words of transcripts in it must have gone through [`Paint`].
    pub(crate) fn data(&mut self, line: impl Display) -> Result<(), CommandError> {
        writeln!(self.out, "{line}").map_err(|error| CommandError::output(&error))
    }

    /// A value as one line of JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), CommandError> {
        let write = |out: &mut dyn Write| -> io::Result<()> {
            serde_json::to_writer(&mut *out, value)?;
            writeln!(out)
        };
        write(&mut self.out).map_err(|error| CommandError::output(&error))
    }

    /// Bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), CommandError> {
        self.out
            .write_all(bytes)
            .map_err(|error| CommandError::output(&error))
    }

    /// Standard output itself, for what writes whole lines from several threads. What was written so far comes
    /// before.
    pub(crate) fn stream(&mut self) -> Result<impl Write + Send + use<>, CommandError> {
        self.flush()?;
        Ok(io::stdout())
    }

    /// A line of talk. Nobody may be listening, which does not matter.
    pub(crate) fn note(&mut self, line: impl Display) {
        let line = terminal::sanitize(&line.to_string());
        self.talk(&line);
    }

    /// A line of talk about something that went wrong and did not stop the command.
    pub(crate) fn warn(&mut self, line: impl Display) {
        let line = terminal::sanitize(&line.to_string());
        let paint = Paint {
            colour: self.terminal.stderr_colour,
        };
        self.talk(&format!("{} {line}", paint.warning("warning:")));
    }

    /// Why the command ended early.
    pub(crate) fn error(&mut self, error: &CommandError) {
        if error.kind == ErrorKind::PipeClosed {
            return;
        }
        let paint = Paint {
            colour: self.terminal.stderr_colour,
        };
        self.talk(&format!(
            "{} {}",
            paint.error("error:"),
            terminal::sanitize(&error.message)
        ));
        if let Some(hint) = &error.hint {
            self.talk(&format!("{} {}", paint.dim("hint:"), terminal::sanitize(hint)));
        }
    }

    /// What the grammar says is wrong with a command line; already painted.
    pub(crate) fn usage(&mut self, text: &str) {
        self.talk(text);
    }

    /// Hands on what is still held back.
    pub(crate) fn flush(&mut self) -> Result<(), CommandError> {
        self.out.flush().map_err(|error| CommandError::output(&error))
    }

    /// Talk comes after the data it is about.
    fn talk(&mut self, line: &str) {
        let _ = self.out.flush();
        let _ = writeln!(self.err, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Property: a reader that leaves ends the command without failure, in text and in JSON.
    #[test]
    fn a_closed_pipe_is_told_apart() {
        let terminal = Terminal::plain(80);
        let mut printer = Printer {
            out: Box::new(Closed),
            err: Box::new(io::sink()),
            terminal,
        };
        assert_eq!(printer.data("x").unwrap_err().kind, ErrorKind::PipeClosed);
        assert_eq!(printer.json(&[1, 2]).unwrap_err().kind, ErrorKind::PipeClosed);
    }
}
