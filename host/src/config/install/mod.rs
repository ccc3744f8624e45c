//! Putting Dormouse into the files of clients, and their servers into its own.

pub mod edit;
pub mod entry;
