//! A signal by which a caller says that it no longer waits for an answer.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What is called when a signal is aborted, to wake whoever waits.
pub trait AbortListener: Send + Sync {
    /// Called once, from the thread that aborts. Must not block.
    fn aborted(&self);
}

/// Given along with an operation; whoever holds a clone may abort it. Once aborted it stays so.
#[derive(Clone, Default)]
pub struct AbortSignal {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    aborted: AtomicBool,
    listeners: Mutex<Vec<Weak<dyn AbortListener>>>,
}

impl AbortSignal {
    /// A signal that is not aborted.
    pub fn new() -> Self {
        Self::default()
    }

    /// Aborts, and wakes those who wait. A second time changes nothing.
    pub fn abort(&self) {
        let listeners = {
            let mut listeners = self.listeners();
            self.shared.aborted.store(true, Ordering::SeqCst);
            std::mem::take(&mut *listeners)
        };
        for listener in listeners.iter().filter_map(Weak::upgrade) {
            listener.aborted();
        }
    }

    /// Whether it was aborted.
    pub fn is_aborted(&self) -> bool {
        self.shared.aborted.load(Ordering::SeqCst)
    }

    /// Has `listener` called when the signal is aborted, for as long as it lives; at once when that has
    /// happened already.
    pub fn listen<L: AbortListener + 'static>(&self, listener: &Arc<L>) {
        let mut listeners = self.listeners();
        if self.is_aborted() {
            drop(listeners);
            listener.aborted();
            return;
        }
        listeners.retain(|held| held.strong_count() > 0);
        let listener: Weak<L> = Arc::downgrade(listener);
        listeners.push(listener);
    }

    fn listeners(&self) -> std::sync::MutexGuard<'_, Vec<Weak<dyn AbortListener>>> {
        self.shared
            .listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for AbortSignal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AbortSignal")
            .field("aborted", &self.is_aborted())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl AbortListener for Count {
        fn aborted(&self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Property: a listener is called once, whether it came before or after the abort.
    #[test]
    fn listeners_are_called_once() {
        let signal = AbortSignal::new();
        let (early, late) = (Arc::new(Count::default()), Arc::new(Count::default()));
        signal.listen(&early);
        signal.clone().abort();
        signal.abort();
        signal.listen(&late);
        assert!(signal.is_aborted());
        assert_eq!(early.0.load(Ordering::SeqCst), 1);
        assert_eq!(late.0.load(Ordering::SeqCst), 1);
    }
}
