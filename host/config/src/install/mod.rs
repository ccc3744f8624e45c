//! Putting Dormouse into the files of clients, and their servers into its own.
//!
//! New texts of files are made of texts alone; only [`FileChange`] and [`backup`] touch files.

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
mod new_entry;
mod own_entry;
mod plan;
mod questions;
mod seen;
mod server;
mod start_args;
mod staying;
mod uninstall;
mod variables;

pub use change::FileChange;
pub use decision::{ImportAction, ImportDecision};
pub use each::{EachInstall, EachServers, install_each, installed_each};
pub use installation::{InstallPlan, install};
pub use plan::{ClientReach, ImportPlan, ImportRequest, Program, import};
pub use uninstall::{UninstallPlan, uninstall, without_earlier_change};
pub use variables::{NotPassed, needed_variables, not_passed, passed_variables};
