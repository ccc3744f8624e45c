//! Reading of files, and of the values in them.

pub(crate) mod lines;
pub(crate) mod own_file;
pub(crate) mod reader;
pub(crate) mod settled;
pub mod units;
