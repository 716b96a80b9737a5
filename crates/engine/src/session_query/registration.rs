//! Registrations: what is registered goes when its guard goes, and its owner may wait until nobody uses it.
//!
//! Work is *accepted* while a thing is registered. Unregistering refuses new work at once and leaves the
//! accepted to finish; a [`Drain`] is done when it has.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Keeps a provider or an extractor registered. Dropping it unregisters; work that was accepted goes on.
#[must_use = "dropping a registration unregisters"]
pub struct Registration {
    unregister: Option<Box<dyn FnOnce() + Send + Sync>>,
    work: Arc<Work>,
}

impl Registration {
    /// `unregister` takes the thing out of its registry. Runs before new work is refused.
    pub(super) fn new(work: Arc<Work>, unregister: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self {
            unregister: Some(Box::new(unregister)),
            work,
        }
    }

    /// Unregisters at once, and gives what is done when the accepted work has finished.
    pub fn drain(self) -> Drain {
        Drain {
            work: Arc::clone(&self.work),
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some(unregister) = self.unregister.take() {
            unregister();
        }
        self.work.close();
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Registration")
    }
}

/// Done when the work that an unregistered thing had accepted has finished: await it, or [`Drain::wait`].
#[must_use = "a drain does nothing unless it is waited for"]
pub struct Drain {
    work: Arc<Work>,
}

impl Drain {
    /// Blocks until it is done.
    pub fn wait(self) {
        let state = self.work.lock();
        let busy = |state: &mut WorkState| state.running > 0;
        let waited = self.work.finished.wait_while(state, busy);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Whether it is done.
    pub fn is_done(&self) -> bool {
        self.work.lock().running == 0
    }
}

impl Future for Drain {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.work.lock();
        if state.running == 0 {
            return Poll::Ready(());
        }
        if !state.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            state.wakers.push(context.waker().clone());
        }
        Poll::Pending
    }
}

impl fmt::Debug for Drain {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Drain")
            .field("done", &self.is_done())
            .finish()
    }
}

/// Counts the work that a registered thing has accepted.
#[derive(Default)]
pub(super) struct Work {
    state: Mutex<WorkState>,
    finished: Condvar,
}

#[derive(Default)]
struct WorkState {
    closed: bool,
    running: usize,
    wakers: Vec<Waker>,
}

impl Work {
    /// Accepts a piece of work, which lasts as long as what is given; `None` once the thing is unregistered.
    pub(super) fn begin(self: &Arc<Self>) -> Option<Accepted> {
        let mut state = self.lock();
        if state.closed {
            return None;
        }
        state.running += 1;
        Some(Accepted {
            work: Arc::clone(self),
        })
    }

    fn close(&self) {
        self.lock().closed = true;
    }

    fn lock(&self) -> MutexGuard<'_, WorkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A piece of work that was accepted and has not finished.
pub(super) struct Accepted {
    work: Arc<Work>,
}

impl Drop for Accepted {
    fn drop(&mut self) {
        let mut state = self.work.lock();
        state.running -= 1;
        if state.running > 0 {
            return;
        }
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        self.work.finished.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }
}
