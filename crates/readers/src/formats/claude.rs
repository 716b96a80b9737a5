//! claude
pub struct Claude;
