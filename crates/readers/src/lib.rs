//! Transcript formats of coding agents, read into lookback's event log.
//!
//! Each agent has one file under [`formats`], an implementation of
//! [`SessionSource`](lookback_model::SessionSource), and one line in [`registry`]. What formats share:
//! [`lines`] splits files of any size into lines without holding what is not text, [`mend`] makes the best
//! of damaged lines, [`log`] numbers events, folds the surface and collects facts, [`packed`] keeps what it remembers small,
//! [`walk`] finds files, [`sqlite`] opens agents' databases without leaving a trace in them, and [`rows`] reads the
//! sessions of such a database as far as they changed. [`records`] reads logs whole, [`document`] files of one JSON document,
//! [`elements`] those of one long array, and [`exports`] finds what services hand out. [`vscode`] knows
//! where editors keep things, [`tasks`] what Cline and its descendants keep there.

pub mod document;
pub mod elements;
pub mod exports;
pub mod formats;
pub mod lines;
pub mod log;
pub mod mend;
pub mod packed;
pub mod records;
pub mod registry;
pub mod rows;
pub mod sqlite;
pub mod tasks;
pub mod vscode;
pub mod walk;
