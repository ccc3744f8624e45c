//! The beginning of a connection: which request goes first, and what both sides say of themselves.

pub(crate) mod discover;
pub(crate) mod early_questions;
pub(crate) mod first_request;
pub(crate) mod handshake;
pub(crate) mod introduction;
pub(crate) mod self_description;
