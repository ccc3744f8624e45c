//! Putting Dormouse into the files of clients, and their servers into its own.
//!
//! New texts of files are made of texts alone; only [`Change`] and [`backup`] touch files.

pub mod backup;
mod change;
mod decision;
pub mod diff;
mod each;
pub mod edit;
pub mod entry;
mod installation;
mod leaving;
mod mask;
mod merged_entry;
mod own_entry;
mod plan;
mod questions;
mod seen;
mod server;
mod start_args;
mod staying;
mod uninstall;
mod variables;

pub use change::Change;
pub use decision::{Action, Decision};
pub use each::{EachInstall, EachServers, install_each};
pub use installation::{Install, install};
pub use plan::{Import, ImportRequest, Program, Reach, import};
pub use uninstall::{Uninstall, uninstall, without_earlier_change};
pub use variables::{NotPassed, needed_variables, not_passed};
