//! The commands, one file each, all of one shape: the arguments, and `run`.

pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod grep;
pub(crate) mod index;
pub(crate) mod man;
pub(crate) mod relay;
pub(crate) mod resume;
pub(crate) mod search;
pub(crate) mod sessions;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod trace;
