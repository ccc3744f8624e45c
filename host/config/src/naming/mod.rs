//! Names of servers, and those that are Dormouse's own.

pub mod name;
pub(crate) mod reserved_names;
