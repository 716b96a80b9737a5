//! The agents whose transcripts are read: one line each.

use crate::formats::claude::Claude;
use crate::formats::codex::Codex;
use crate::formats::gemini::Gemini;
use crate::formats::opencode::OpenCode;
use lookback_model::SessionSource;

/// All of them, in the order lists name them.
pub static SOURCES: &[&dyn SessionSource] = &[&Claude, &Codex, &Gemini, &OpenCode];
