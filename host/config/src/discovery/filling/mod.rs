//! What is filled into the entries of files: variables, and files of values.

pub(in crate::discovery) mod client_variables;
pub(in crate::discovery) mod dotenv;
pub(in crate::discovery) mod expansion;
pub(in crate::discovery) mod fill_policy;
pub(in crate::discovery) mod filler;
pub(in crate::discovery) mod value_files;
