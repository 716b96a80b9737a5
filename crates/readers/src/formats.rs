//! One module per agent.

pub mod amp;
pub mod claude;
pub mod codex;
pub mod copilot_cli;
pub mod droid;
pub mod dsh;
pub mod gemini;
pub mod grok;
pub mod kimi;
pub mod omp;
pub mod pi;
pub mod qwen;
pub mod vibe;
