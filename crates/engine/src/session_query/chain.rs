//! The jobs of a provider: one at a time, in the order in which they were asked for (contract B, B.10).
//!
//! A job brings the provider up to date and queries it, so that no other job changes what a query sees. Jobs
//! run on a thread of their own, which lives as long as there are any: a caller that no longer waits leaves at
//! once, and the work it shares with later callers goes on.

use lookback_model::session_query::abort::AbortListener;
use lookback_model::session_query::{AbortSignal, SessionQueryError, SessionQueryErrorCode};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// A queue of jobs over a state that they share.
pub(super) struct Chain<S> {
    queue: Mutex<Queue<S>>,
    state: Arc<Mutex<S>>,
}

struct Queue<S> {
    jobs: VecDeque<Job<S>>,
    running: bool,
}

/// What is done between two others.
pub(super) type Job<S> = Box<dyn FnOnce(&mut S) + Send>;

impl<S: Send + 'static> Chain<S> {
    /// An empty queue. Chains over one state wait for each other too.
    pub(super) fn new(state: Arc<Mutex<S>>) -> Arc<Self> {
        Arc::new(Self {
            queue: Mutex::new(Queue {
                jobs: VecDeque::new(),
                running: false,
            }),
            state,
        })
    }

    /// Puts a job behind all others. `make` runs now, before anybody can put the next.
    pub(super) fn enqueue(self: &Arc<Self>, make: impl FnOnce() -> Job<S>) {
        let mut queue = self.lock();
        queue.jobs.push_back(make());
        if std::mem::replace(&mut queue.running, true) {
            return;
        }
        drop(queue);
        let chain = Arc::clone(self);
        let thread = thread::Builder::new().name("session-query".to_owned());
        if thread.spawn(move || chain.run()).is_err() {
            // No thread is to be had: the caller does the work.
            self.run();
        }
    }

    fn run(&self) {
        while let Some(job) = self.next() {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            // A job calls nothing that may panic unguarded; should it all the same, the others go on.
            let _ = super::outside::catching(|| job(&mut state));
        }
    }

    fn next(&self) -> Option<Job<S>> {
        let mut queue = self.lock();
        let job = queue.jobs.pop_front();
        queue.running = job.is_some();
        job
    }

    fn lock(&self) -> MutexGuard<'_, Queue<S>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Outcome<T> = Result<T, SessionQueryError>;

/// Where a job leaves its outcome for the caller that waits.
pub(super) struct Waiting<T> {
    outcome: Mutex<Option<Outcome<T>>>,
    changed: Condvar,
}

impl<T: Send + 'static> Waiting<T> {
    /// A place to wait at, and what the job is to fill it with.
    pub(super) fn new() -> (Arc<Self>, Promise<T>) {
        let waiting = Arc::new(Self {
            outcome: Mutex::new(None),
            changed: Condvar::new(),
        });
        let promise = Promise {
            waiting: Some(Arc::clone(&waiting)),
        };
        (waiting, promise)
    }

    /// Waits for the outcome, or until the signal is aborted.
    pub(super) fn wait(self: Arc<Self>, abort: &AbortSignal) -> Outcome<T> {
        abort.listen(&self);
        let mut outcome = self.lock();
        loop {
            if abort.is_aborted() {
                return Err(aborted());
            }
            if let Some(outcome) = outcome.take() {
                return outcome;
            }
            outcome = self.changed.wait(outcome).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Outcome<T>>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send + 'static> AbortListener for Waiting<T> {
    fn aborted(&self) {
        // Under the lock, so that it cannot fall between the waiter's look and its sleep.
        let _outcome = self.lock();
        self.changed.notify_all();
    }
}

/// The duty to leave an outcome; whoever drops it without one leaves a failure.
pub(super) struct Promise<T: Send + 'static> {
    waiting: Option<Arc<Waiting<T>>>,
}

impl<T: Send + 'static> Promise<T> {
    /// Leaves the outcome.
    pub(super) fn keep(mut self, outcome: Outcome<T>) {
        self.leave(outcome);
    }

    fn leave(&mut self, outcome: Outcome<T>) {
        if let Some(waiting) = self.waiting.take() {
            *waiting.lock() = Some(outcome);
            waiting.changed.notify_all();
        }
    }
}

impl<T: Send + 'static> Drop for Promise<T> {
    fn drop(&mut self) {
        let message = "the search ended without an answer";
        self.leave(Err(SessionQueryError::new(
            SessionQueryErrorCode::IndexFailed,
            message,
        )));
    }
}

/// What a caller is told whose signal was aborted.
pub(super) fn aborted() -> SessionQueryError {
    SessionQueryError::new(SessionQueryErrorCode::Aborted, "the search was aborted")
}
