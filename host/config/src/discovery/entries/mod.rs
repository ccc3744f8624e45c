//! Entries of files as they are read: one server each, in its client's words.

pub(in crate::discovery) mod build;
pub(in crate::discovery) mod dialect;
pub(in crate::discovery) mod draft;
pub(in crate::discovery) mod entry;
pub(in crate::discovery) mod oauth;
pub(in crate::discovery) mod timeouts;
