//! Measuring one run of a program: how long it took, and how much memory it held at most.

use anyhow::{Context, Result, bail};
use std::fmt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often a running program's memory is looked at. The system keeps the highest value itself, so only
/// what grows in the last moment before the end can be missed.
const MEMORY_INTERVAL: Duration = Duration::from_millis(5);

/// A duration as the tables show it.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Milliseconds(pub(super) f64);

impl fmt::Display for Milliseconds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ms if ms < 10.0 => write!(formatter, "{ms:.1} ms"),
            ms if ms < 1_000.0 => write!(formatter, "{ms:.0} ms"),
            ms => write!(formatter, "{:.2} s", ms / 1_000.0),
        }
    }
}

/// What building an index cost.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figures {
    pub(super) wall: Milliseconds,
    /// Highest resident memory; `None` where the system does not tell.
    pub(super) peak_kilobytes: Option<u64>,
    /// What it left on disk.
    pub(super) bytes_on_disk: u64,
}

impl Figures {
    /// The median of each figure by itself.
    pub(super) fn median(runs: &[Self]) -> Self {
        let walls: Vec<_> = runs.iter().map(|run| run.wall).collect();
        let peaks: Option<Vec<_>> = runs.iter().map(|run| run.peak_kilobytes).collect();
        let sizes: Vec<_> = runs.iter().map(|run| run.bytes_on_disk).collect();
        Self {
            wall: median(&walls),
            peak_kilobytes: peaks.map(|peaks| middle(&peaks).unwrap_or_default()),
            bytes_on_disk: middle(&sizes).unwrap_or_default(),
        }
    }
}

/// The median of times; of an even number the higher of the middle two. No times are no time.
pub(super) fn median(times: &[Milliseconds]) -> Milliseconds {
    middle(times).unwrap_or(Milliseconds(0.0))
}

fn middle<T: PartialOrd + Copy>(values: &[T]) -> Option<T> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|left, right| left.partial_cmp(right).unwrap_or(std::cmp::Ordering::Equal));
    sorted.get(sorted.len() / 2).copied()
}

/// Runs a program and says how long it took. Exit code 1 is fine: it says that nothing was found.
pub(super) fn time(command: &mut Command) -> Result<Milliseconds> {
    let name = command.get_program().to_string_lossy().into_owned();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().with_context(|| format!("cannot start {name}"))?;
    let wall = elapsed(start);
    match status.code() {
        Some(0 | 1) => Ok(wall),
        _ => bail!("{name} failed: {status}"),
    }
}

/// Runs a program and watches its memory.
pub(super) fn run_watched(command: &mut Command) -> Result<Figures> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot start {name}"))?;
    let process = child.id();
    let (ended, running) = channel::<()>();
    let (status, wall, peak_kilobytes) = std::thread::scope(|scope| {
        let watcher = scope.spawn(move || highest_memory(process, &running));
        let status = child.wait();
        let wall = elapsed(start);
        drop(ended);
        (status, wall, watcher.join().unwrap_or_default())
    });
    if !status?.success() {
        bail!("{name} failed");
    }
    Ok(Figures {
        wall,
        peak_kilobytes,
        bytes_on_disk: 0,
    })
}

fn elapsed(start: Instant) -> Milliseconds {
    Milliseconds(start.elapsed().as_secs_f64() * 1_000.0)
}

/// The last word of the system on a process's highest memory, asked until the sender is dropped.
fn highest_memory(process: u32, running: &Receiver<()>) -> Option<u64> {
    let path = format!("/proc/{process}/status");
    let mut highest = None;
    loop {
        let status = std::fs::read_to_string(&path).unwrap_or_default();
        highest = high_water_mark(&status).max(highest);
        if running.recv_timeout(MEMORY_INTERVAL) != Err(RecvTimeoutError::Timeout) {
            return highest;
        }
    }
}

/// Kilobytes in the line `VmHWM` of `/proc/PID/status`.
fn high_water_mark(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        let times = |values: &[f64]| values.iter().copied().map(Milliseconds).collect::<Vec<_>>();
        assert_eq!(median(&times(&[9.0, 1.0, 5.0])).0, 5.0);
        assert_eq!(median(&times(&[4.0, 1.0])).0, 4.0);
        assert_eq!(median(&[]).0, 0.0);
    }

    #[test]
    fn memory_is_read_from_the_systems_words() {
        assert_eq!(
            high_water_mark("Name:\tx\nVmHWM:\t   20480 kB\nVmRSS:\t 1 kB\n"),
            Some(20_480)
        );
        assert_eq!(high_water_mark("Name:\tx\n"), None);
    }

    #[test]
    fn times_are_shown_with_three_figures_at_most() {
        let shown = [4.25, 123.4, 5_250.0].map(|ms| Milliseconds(ms).to_string());
        assert_eq!(shown, ["4.2 ms", "123 ms", "5.25 s"]);
    }

    #[test]
    fn a_program_that_fails_is_no_measurement() {
        assert!(time(Command::new(env!("CARGO")).arg("no-such-subcommand-here")).is_err());
        assert!(time(Command::new(env!("CARGO")).arg("--version")).unwrap().0 > 0.0);
    }
}
