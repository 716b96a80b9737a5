//! Transcript formats of coding agents, read into lookback's event log.
//!
//! Each agent has one file under [`formats`], an implementation of
//! [`SessionSource`](lookback_model::SessionSource), and one line in [`registry`]. What formats share:
//! [`lines`] splits files of any size into lines without holding what is not text, [`mend`] makes the best
//! of damaged lines, [`log`] numbers events, folds the surface and collects facts, [`packed`] keeps what it
//! remembers small, [`walk`] finds files, [`sqlite`] opens agents' databases without leaving a trace in them, and
//! [`rows`] reads the sessions of such a database as far as they changed, [`values`] looks into JSON of unreliable
//! shape, [`whole`] reads files of lines that are rewritten. [`records`] reads logs whole, [`document`] files of one
//! JSON document as far as they go, [`elements`] those of one long array, and [`exports`] finds what services hand
//! out. [`vscode`] knows where editors keep things, [`tasks`] what Cline and its descendants keep there. Within the
//! crate, `journal` reads append-only files and `rewritten` whole ones, `lenient` takes fields of any type and
//! `blocks` and `chat` content and messages in all their shapes, `window` and `tree` remember which record follows
//! which, `telling` makes the events of a record, and `beside` reads small files beside a transcript; `percent`
//! decodes paths in addresses.

mod beside;
mod blocks;
mod chat;
pub mod document;
pub mod elements;
pub mod exports;
pub mod formats;
mod journal;
mod lenient;
pub mod lines;
pub mod log;
pub mod mend;
pub mod packed;
mod percent;
pub mod records;
pub mod registry;
mod rewritten;
pub mod rows;
pub mod sqlite;
pub mod tasks;
mod telling;
mod tree;
pub mod values;
pub mod vscode;
pub mod walk;
pub mod whole;
mod window;
