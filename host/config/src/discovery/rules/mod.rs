//! Rules of users and administrators: servers and tools that they allow and deny.

pub(in crate::discovery) mod allowed;
pub(in crate::discovery) mod policy;
pub(in crate::discovery) mod rule_files;
pub(in crate::discovery) mod unread;
