//! One module per agent.

pub mod aider;
pub mod antigravity;
pub mod chatgpt;
pub mod claude;
pub mod claude_ai;
pub mod cline;
pub mod codex;
pub mod continue_dev;
pub mod copilot_chat;
pub mod cursor;
pub mod gemini;
pub mod kilo;
pub mod openhands;
pub mod roo;
