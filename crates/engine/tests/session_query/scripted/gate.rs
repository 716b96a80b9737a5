//! A gate: a call stops at it until the test has looked around and opens it.

use std::sync::{Condvar, Mutex};

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
        drop(self.changed.wait_while(state, |state| !state.open).unwrap());
    }

    /// Waits until somebody is here.
    pub(crate) fn wait_until_reached(&self) {
        let state = self.state.lock().unwrap();
        drop(self.changed.wait_while(state, |state| !state.reached).unwrap());
    }

    pub(crate) fn open(&self) {
        self.state.lock().unwrap().open = true;
        self.changed.notify_all();
    }
}
