//! JSON-RPC over a pair of streams: lines in, lines out.
//!
//! One thread reads, the caller's begins each line in order, and a few finish them, so that a search that takes
//! long holds up nothing else. Answers may come in another order than their requests; each is written whole.
//! When the input ends, all that was taken is answered first. When nobody takes the answers any more, what is
//! under way is aborted.

use super::dispatch::{Begun, Dispatcher};
use lookback_model::session_query::AbortSignal;
use lookback_wire::rpc::{self, FRAME_LIMIT, Frame, FrameReader, Line};
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Lines that are finished side by side.
const WORKERS: usize = 4;
/// Lines that may wait for a worker. Beyond it reading waits, so that memory stays bounded.
const WAITING: usize = 256;
/// Lines that may have been read ahead.
const READ_AHEAD: usize = 4;

/// Why serving ended before the input did.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The input cannot be read.
    #[error("cannot read requests")]
    Read(#[source] io::Error),
    /// The output cannot be written.
    #[error("cannot write answers")]
    Write(#[source] io::Error),
}

/// What the caller's thread waits for.
enum Event {
    Line(Line),
    /// The input ended, or cannot be read.
    Ended(io::Result<()>),
    /// Look at the output: it is closed.
    OutputClosed,
}

/// Answers the lines of `input` on `output` until the input ends.
///
/// The thread that reads is left behind when the output closes first, for a read cannot be interrupted; it ends
/// with the next line, or with the process.
///
/// # Errors
/// When a stream fails. Lines that cannot be taken are answered and are no error.
pub fn serve(
    dispatcher: &Dispatcher,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send,
) -> Result<(), ServeError> {
    let (events, arriving) = sync_channel(READ_AHEAD);
    let output = Output::new(output, events.clone());
    thread::spawn(move || read(input, &events));
    let (jobs, waiting) = sync_channel(WAITING);
    let waiting = Mutex::new(waiting);
    let ended = thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| finish_all(dispatcher, &waiting, &output));
        }
        // The sender goes with the closure: the workers end when they have done what is queued.
        begin_all(dispatcher, &arriving, jobs, &output)
    });
    output.outcome().and(ended)
}

/// Reads to the end of the input, or until nobody waits for its lines.
fn read(mut input: impl BufRead, events: &SyncSender<Event>) {
    let mut frames = FrameReader::new(FRAME_LIMIT);
    loop {
        let (taken, line) = match input.fill_buf() {
            Ok([]) => break,
            Ok(bytes) => frames.take(bytes),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                let _ = events.send(Event::Ended(Err(error)));
                return;
            }
        };
        input.consume(taken);
        if let Some(line) = line
            && events.send(Event::Line(line)).is_err()
        {
            return;
        }
    }
    if let Some(line) = frames.finish() {
        let _ = events.send(Event::Line(line));
    }
    let _ = events.send(Event::Ended(Ok(())));
}

/// Begins each line in its turn and queues what is left of it.
fn begin_all<W: Write>(
    dispatcher: &Dispatcher,
    arriving: &Receiver<Event>,
    jobs: SyncSender<Begun>,
    output: &Output<W>,
) -> Result<(), ServeError> {
    while let Ok(event) = arriving.recv() {
        if output.abort.is_aborted() {
            return Ok(());
        }
        let frame = match event {
            Event::Line(Line::Whole(line)) => rpc::decode(&line),
            Event::Line(Line::TooLong) => Frame::One(Err(rpc::refuse_oversized(FRAME_LIMIT))),
            Event::Ended(result) => return result.map_err(ServeError::Read),
            Event::OutputClosed => return Ok(()),
        };
        let begun = dispatcher.begin(frame, &output.abort);
        if begun.is_done() {
            finish(dispatcher, begun, output);
        } else if jobs.send(begun).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// What a worker does until nothing is queued any more.
fn finish_all<W: Write>(dispatcher: &Dispatcher, waiting: &Mutex<Receiver<Begun>>, output: &Output<W>) {
    loop {
        let job = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(begun) = job else { return };
        // Nobody would read it.
        if !output.abort.is_aborted() {
            finish(dispatcher, begun, output);
        }
    }
}

fn finish<W: Write>(dispatcher: &Dispatcher, begun: Begun, output: &Output<W>) {
    if let Some(line) = dispatcher.finish(begun, &output.abort) {
        output.write(line);
    }
}

/// Where answers go, one at a time.
struct Output<W> {
    stream: Mutex<(W, Option<io::Error>)>,
    /// Aborted when the stream is closed.
    abort: AbortSignal,
    events: SyncSender<Event>,
}

impl<W: Write> Output<W> {
    fn new(stream: W, events: SyncSender<Event>) -> Self {
        Self {
            stream: Mutex::new((stream, None)),
            abort: AbortSignal::new(),
            events,
        }
    }

    /// Writes a line whole. After the first failure nothing is written any more: half a line may be out.
    fn write(&self, mut line: String) {
        line.push('\n');
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let (output, failure) = &mut *stream;
        if failure.is_some() {
            return;
        }
        if let Err(error) = output.write_all(line.as_bytes()).and_then(|()| output.flush()) {
            *failure = Some(error);
            drop(stream);
            self.abort.abort();
            // When there is no room, the caller's thread is awake and sees the signal.
            let _ = self.events.try_send(Event::OutputClosed);
        }
    }

    /// Whether all was written.
    fn outcome(self) -> Result<(), ServeError> {
        let (_, failure) = self.stream.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.map_or(Ok(()), |error| Err(ServeError::Write(error)))
    }
}
