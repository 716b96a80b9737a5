//! JSON-RPC: [`dispatch`] finds an operation and carries it out, [`stdio`] brings lines in and out.

pub mod dispatch;
pub mod failure;
mod methods;
pub mod stdio;

pub use dispatch::{Begun, Dispatcher};
pub use stdio::{ServeError, serve};
