//! The agents whose transcripts are read: one line each.

use crate::formats::aider::Aider;
use crate::formats::amp::Amp;
use crate::formats::antigravity::Antigravity;
use crate::formats::chatgpt::ChatGpt;
use crate::formats::claude::Claude;
use crate::formats::claude_ai::ClaudeAi;
use crate::formats::cline::Cline;
use crate::formats::codex::Codex;
use crate::formats::continue_dev::Continue;
use crate::formats::copilot_chat::CopilotChat;
use crate::formats::copilot_cli::CopilotCli;
use crate::formats::crush::Crush;
use crate::formats::cursor::Cursor;
use crate::formats::droid::Droid;
use crate::formats::dsh::Dsh;
use crate::formats::gemini::Gemini;
use crate::formats::goose::Goose;
use crate::formats::grok::Grok;
use crate::formats::hermes::Hermes;
use crate::formats::kilo::Kilo;
use crate::formats::kimi::Kimi;
use crate::formats::kiro::Kiro;
use crate::formats::omp::OhMyPi;
use crate::formats::opencode::OpenCode;
use crate::formats::openhands::OpenHands;
use crate::formats::pi::Pi;
use crate::formats::qwen::Qwen;
use crate::formats::roo::Roo;
use crate::formats::vibe::Vibe;
use crate::formats::warp::Warp;
use crate::formats::zed::Zed;
use lookback_model::SessionSource;

/// All of them, in the order lists name them.
pub static SOURCES: &[&dyn SessionSource] = &[
    &Claude,
    &Codex,
    &Gemini,
    &OpenCode,
    &Crush,
    &Goose,
    &Zed,
    &Kiro,
    &Warp,
    &Hermes,
    &Qwen,
    &Pi,
    &OhMyPi,
    &Droid,
    &CopilotCli,
    &Kimi,
    &Amp,
    &Vibe,
    &Grok,
    &Dsh,
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
