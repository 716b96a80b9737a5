//! The agents whose transcripts are read: one line each.

use crate::formats::aider::Aider;
use crate::formats::antigravity::Antigravity;
use crate::formats::chatgpt::ChatGpt;
use crate::formats::claude::Claude;
use crate::formats::claude_ai::ClaudeAi;
use crate::formats::cline::Cline;
use crate::formats::codex::Codex;
use crate::formats::continue_dev::Continue;
use crate::formats::copilot_chat::CopilotChat;
use crate::formats::cursor::Cursor;
use crate::formats::gemini::Gemini;
use crate::formats::kilo::Kilo;
use crate::formats::openhands::OpenHands;
use crate::formats::roo::Roo;
use lookback_model::SessionSource;

/// All of them, in the order lists name them.
pub static SOURCES: &[&dyn SessionSource] = &[
    &Claude,
    &Codex,
    &Gemini,
    &Aider,
    &Cline,
    &Roo,
    &Kilo,
    &Continue,
    &OpenHands,
    &CopilotChat,
    &Antigravity,
    &ChatGpt,
    &ClaudeAi,
    &Cursor,
];
