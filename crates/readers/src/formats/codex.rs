//! codex
pub struct Codex;
