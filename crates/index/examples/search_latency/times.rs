//! Times of runs, and what is said of them.

use crate::Failure;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A query is run so often, or so long.
const RUNS: usize = 100;
const LONGEST: Duration = Duration::from_secs(2);
/// The same for peers.
const PEER_LONGEST: Duration = Duration::from_millis(400);
/// Where a single number is wanted.
const FEW: usize = 3;

/// Milliseconds, one for each run.
#[derive(Default)]
pub(crate) struct Times(Vec<f64>);

impl Times {
    /// Of what is measured, with something before each run that is not measured.
    pub(crate) fn after<T>(
        before: impl FnMut() -> Result<(), Failure>,
        run: impl FnMut() -> Result<T, Failure>,
    ) -> Result<Self, Failure> {
        Self::measured(RUNS, LONGEST, before, run)
    }

    /// Of what it is compared with.
    pub(crate) fn of_peer<T>(run: impl FnMut() -> Result<T, Failure>) -> Result<Self, Failure> {
        Self::measured(RUNS, PEER_LONGEST, || Ok(()), run)
    }

    /// Of a few runs.
    pub(crate) fn of_few<T>(run: impl FnMut() -> Result<T, Failure>) -> Result<Self, Failure> {
        Self::measured(FEW, LONGEST, || Ok(()), run)
    }

    /// Of a single run.
    pub(crate) fn of_one<T>(run: impl FnMut() -> Result<T, Failure>) -> Result<Self, Failure> {
        Self::measured(1, LONGEST, || Ok(()), run)
    }

    fn measured<T>(
        runs: usize,
        longest: Duration,
        mut before: impl FnMut() -> Result<(), Failure>,
        mut run: impl FnMut() -> Result<T, Failure>,
    ) -> Result<Self, Failure> {
        let begun = Instant::now();
        let mut times = Self::default();
        while times.0.len() < runs && (times.0.len() < FEW || begun.elapsed() < longest) {
            before()?;
            let start = Instant::now();
            let result = run()?;
            times.push(start.elapsed().as_secs_f64() * 1_000.0);
            drop(result);
        }
        Ok(times)
    }

    /// Adds a run.
    pub(crate) fn push(&mut self, milliseconds: f64) {
        self.0.push(milliseconds);
    }

    /// Adds all runs of another.
    pub(crate) fn add(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The shortest.
    pub(crate) fn least(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Median, 99th percentile and longest.
    pub(crate) fn summary(&self) -> Value {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let at =
            |share: usize| sorted.get(((sorted.len() * share) / 100).min(sorted.len().saturating_sub(1)));
        json!({"p50": at(50), "p99": at(99), "max": sorted.last(), "runs": sorted.len()})
    }
}
