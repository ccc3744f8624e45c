//! Messages between the host and an upstream.

mod asked_pages;
pub(crate) mod channel;
pub(crate) mod forwarded_request;
pub(crate) mod input_required;
pub(crate) mod known_roots;
pub(crate) mod large;
pub(crate) mod level;
pub(crate) mod message;
mod oddity;
pub(crate) mod peer;
mod question;
pub(crate) mod read_room;
