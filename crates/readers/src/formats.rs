//! One module per agent.

pub mod aider;
pub mod antigravity;
pub mod claude;
pub mod cline;
pub mod codex;
pub mod continue_dev;
pub mod copilot_chat;
pub mod gemini;
pub mod kilo;
pub mod openhands;
pub mod roo;
