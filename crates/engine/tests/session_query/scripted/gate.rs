//! A gate: a call stops at it until the test has looked around and opens it.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// A test that fails with its gate closed ends after this, instead of never.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    reached: bool,
    open: bool,
}

impl Gate {
    /// Says that somebody is here, and waits until it is open.
    pub(crate) fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        state.reached = true;
        self.changed.notify_all();
        let waited = self
            .changed
            .wait_timeout_while(state, PATIENCE, |state| !state.open);
        assert!(!waited.unwrap().1.timed_out(), "nobody opened the gate");
    }

    /// Waits until somebody is here.
    pub(crate) fn wait_until_reached(&self) {
        let state = self.state.lock().unwrap();
        let waited = self
            .changed
            .wait_timeout_while(state, PATIENCE, |state| !state.reached);
        assert!(!waited.unwrap().1.timed_out(), "nobody came to the gate");
    }

    pub(crate) fn open(&self) {
        self.state.lock().unwrap().open = true;
        self.changed.notify_all();
    }
}
