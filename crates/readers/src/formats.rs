//! One module per agent.

pub mod amp;
pub mod claude;
pub mod codex;
pub mod copilot_cli;
pub mod crush;
pub mod droid;
pub mod dsh;
pub mod gemini;
pub mod goose;
pub mod grok;
pub mod hermes;
pub mod kimi;
pub mod kiro;
pub mod omp;
pub mod opencode;
pub mod pi;
pub mod qwen;
pub mod vibe;
pub mod warp;
pub mod zed;
