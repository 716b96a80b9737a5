//! gemini
pub struct Gemini;
