//! The agents whose transcripts are read: one line each.

use crate::formats::claude::Claude;
use crate::formats::codex::Codex;
use crate::formats::crush::Crush;
use crate::formats::gemini::Gemini;
use crate::formats::goose::Goose;
use crate::formats::hermes::Hermes;
use crate::formats::kiro::Kiro;
use crate::formats::opencode::OpenCode;
use crate::formats::warp::Warp;
use crate::formats::zed::Zed;
use lookback_model::SessionSource;

/// All of them, in the order lists name them.
pub static SOURCES: &[&dyn SessionSource] = &[
    &Claude, &Codex, &Gemini, &OpenCode, &Crush, &Goose, &Zed, &Kiro, &Warp, &Hermes,
];
