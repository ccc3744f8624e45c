//! Fuzz targets: whatever an outsider can write, given to what reads it.
//!
//! Each target takes any bytes and panics where something does not hold that always has
//! to: what is written again is what was read, what was not edited stays byte for byte,
//! what was mended is in order, a place is within its text. `cargo fuzz` runs one of them
//! (`fuzz/fuzz_targets`), and the tests run all of them for some seconds each.

#![allow(
    clippy::expect_used,
    reason = "what does not hold has to end the run, with the input that has shown it"
)]

mod components;
mod configuration;
mod items;
mod messages;
mod objects;
mod redaction;
mod schemas;
mod texts;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use crate::config::discovery::fuzz::{documents, dotenv, expansions, url_patterns};
pub use crate::config::install::edit::fuzz::edits;
pub use crate::mcp::fuzz::incoming;
pub use crate::mcp::http::fuzz::{event_ids, guard};
pub use crate::store::fuzz::records;
pub use crate::upstream::fuzz::{sse, upstream_messages};
pub use components::components;
pub use configuration::configuration;
pub use items::{answers, declarations, items};
pub use messages::{lines, messages};
pub use objects::objects;
pub use redaction::redaction;
pub use schemas::schemas;
pub use texts::{attribution, visible_texts};

/// A fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name: that of its corpus in `fuzz/corpus` and of its file in
    /// `fuzz/fuzz_targets`.
    pub name: &'static str,
    /// Panics where something does not hold of an input.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 23] = [
    target("answers", answers),
    target("attribution", attribution),
    target("components", components),
    target("configuration", configuration),
    target("declarations", declarations),
    target("documents", documents),
    target("dotenv", dotenv),
    target("edits", edits),
    target("event_ids", event_ids),
    target("expansions", expansions),
    target("guard", guard),
    target("incoming", incoming),
    target("items", items),
    target("lines", lines),
    target("messages", messages),
    target("objects", objects),
    target("records", records),
    target("redaction", redaction),
    target("schemas", schemas),
    target("sse", sse),
    target("upstream_messages", upstream_messages),
    target("url_patterns", url_patterns),
    target("visible_texts", visible_texts),
];

const fn target(name: &'static str, run: fn(&[u8])) -> Target {
    Target { name, run }
}

/// The input as a text. What is no UTF-8 is refused before anything here reads it.
pub(crate) fn text(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// The first line of a text, and what comes after it.
pub(crate) fn first_line(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}
