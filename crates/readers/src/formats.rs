//! One module per agent.

pub mod claude;
pub mod codex;
pub mod crush;
pub mod gemini;
pub mod goose;
pub mod hermes;
pub mod kiro;
pub mod opencode;
pub mod warp;
pub mod zed;
