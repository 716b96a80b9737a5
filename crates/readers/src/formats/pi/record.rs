//! The shapes Pi and its descendants write, as far as they are used.

use crate::blocks::Blocks;
use crate::lenient::{Flag, Number, Object, Words};
use crate::tree::Follows;
use lookback_model::Timestamp;
use serde::Deserialize;

/// A line.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::formats) struct Entry<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Words<'a>,
    #[serde(borrow)]
    pub(super) id: Words<'a>,
    #[serde(borrow)]
    pub(super) parent_id: Follows<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Words<'a>,
    #[serde(borrow)]
    pub(super) message: Object<Said<'a>>,
    #[serde(borrow)]
    pub(super) cwd: Words<'a>,
    #[serde(borrow)]
    pub(super) title: Words<'a>,
    #[serde(borrow)]
    pub(super) source: Words<'a>,
    #[serde(borrow)]
    pub(super) name: Words<'a>,
    /// Path of the session that was forked.
    #[serde(borrow)]
    pub(super) parent_session: Words<'a>,
    /// The same in the first versions.
    #[serde(borrow)]
    pub(super) branched_from: Words<'a>,
    #[serde(borrow)]
    pub(super) model_id: Words<'a>,
    #[serde(borrow)]
    pub(super) model: Words<'a>,
    #[serde(borrow)]
    pub(super) summary: Words<'a>,
    #[serde(borrow)]
    pub(super) first_kept_entry_id: Words<'a>,
    pub(super) first_kept_entry_index: Number,
    #[serde(borrow)]
    pub(super) custom_type: Words<'a>,
    #[serde(borrow)]
    pub(super) content: Blocks<'a>,
}

impl Entry<'_> {
    /// When it was written, else when it was said.
    pub(super) fn time(&self) -> Option<Timestamp> {
        let said = || self.message.0.as_ref()?.timestamp.0;
        Timestamp::parse(self.timestamp.get())
            .or_else(|| said().and_then(|time| Timestamp::from_number(time as f64)))
    }
}

/// A message.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::formats) struct Said<'a> {
    #[serde(borrow)]
    pub(super) role: Words<'a>,
    #[serde(borrow)]
    pub(super) content: Blocks<'a>,
    pub(super) timestamp: Number,
    /// Whose a prompt is.
    #[serde(borrow)]
    pub(super) attribution: Words<'a>,
    #[serde(borrow)]
    pub(super) model: Words<'a>,
    #[serde(borrow)]
    pub(super) stop_reason: Words<'a>,
    #[serde(borrow)]
    pub(super) error_message: Words<'a>,
    #[serde(borrow)]
    pub(super) tool_call_id: Words<'a>,
    pub(super) is_error: Flag,
    /// What the person ran.
    #[serde(borrow)]
    pub(super) command: Words<'a>,
    #[serde(borrow)]
    pub(super) output: Words<'a>,
    pub(super) exclude_from_context: Flag,
    #[serde(borrow)]
    pub(super) summary: Words<'a>,
    #[serde(borrow)]
    pub(super) custom_type: Words<'a>,
}
