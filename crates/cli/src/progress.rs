//! A bar on standard error while transcripts are read, when a person is there to see it and it lasts.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lookback_engine::Progress;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Work that is over sooner is not worth a flicker.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

const TEMPLATE: &str = "{prefix} {wide_bar} {bytes}/{total_bytes}  {binary_bytes_per_sec}  {eta} left";

/// Shows how far a pass is.
pub(crate) struct Bar {
    bar: ProgressBar,
    begun: Instant,
    live: bool,
    shown: AtomicBool,
    files: AtomicU64,
    planned_files: AtomicU64,
}

impl Bar {
    /// A bar that is drawn only when `live`.
    pub(crate) fn new(live: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        Self {
            bar,
            begun: Instant::now(),
            live,
            shown: AtomicBool::new(false),
            files: AtomicU64::new(0),
            planned_files: AtomicU64::new(0),
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn show_when_it_lasts(&self) {
        if self.live && self.begun.elapsed() >= SHOWN_AFTER && !self.shown.swap(true, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Progress for Bar {
    fn planned(&self, files: u64, bytes: u64) {
        self.planned_files.store(files, Ordering::Relaxed);
        self.bar.set_length(bytes);
        self.show_when_it_lasts();
    }

    fn advanced(&self, files: u64, bytes: u64) {
        let done = self.files.fetch_add(files, Ordering::Relaxed) + files;
        let planned = self.planned_files.load(Ordering::Relaxed);
        self.show_when_it_lasts();
        self.bar
            .set_prefix(format!("reading transcripts {done}/{planned}"));
        self.bar.inc(bytes);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}
