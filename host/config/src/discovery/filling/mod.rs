//! Filling of entries of files: with variables, and with files of values.

pub(in crate::discovery) mod client_variables;
pub(in crate::discovery) mod dotenv;
pub(in crate::discovery) mod expansion;
pub(in crate::discovery) mod fill_policy;
pub(in crate::discovery) mod filler;
pub(in crate::discovery) mod value_files;
