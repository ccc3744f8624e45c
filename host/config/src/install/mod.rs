//! Putting Dormouse into the files of clients, and their servers into its own.
//!
//! What a file is to become is a matter of texts alone; only [`Change`] and
//! [`backup`] touch files.

pub mod backup;
mod change;
mod decision;
pub mod diff;
pub mod edit;
pub mod entry;
mod mask;
mod plan;
mod questions;
mod server;
mod uninstall;
mod variables;

pub use change::Change;
pub use decision::{Action, Decision};
pub use plan::{Import, ImportRequest, Program, Reach, import, install};
pub use uninstall::{Uninstall, uninstall, without_earlier_change};
pub use variables::needed_variables;
