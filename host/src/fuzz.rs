//! Fuzz targets: whatever an outsider can write, given to what reads it.
//!
//! Each target takes any bytes and panics where something does not hold that always has
//! to: what is written again is what was read, what was not edited stays byte for byte,
//! what was mended is in order, a place is within its text. `cargo fuzz` runs one of them
//! (`fuzz/fuzz_targets`), and the tests run all of them for some seconds each. Targets of what
//! another crate keeps to itself are in that crate.

#![allow(
    clippy::expect_used,
    reason = "what does not hold has to end the run, with the input that has shown it"
)]

mod components;
mod items;
mod messages;
mod objects;
mod schemas;

use std::borrow::Cow;

pub use crate::mcp::fuzz::incoming;
pub use crate::mcp::http::fuzz::{event_ids, guard};
pub use crate::store::fuzz::records;
pub use components::components;
pub use items::{answers, declarations, items};
pub use messages::{lines, messages};
pub use objects::objects;
pub use schemas::schemas;

/// The input as a text. What is no UTF-8 is refused before anything here reads it.
pub(crate) fn text(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// The first line of a text, and what comes after it.
pub(crate) fn first_line(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    dormouse_tests::fuzz_loops! {
        answers
        components
        declarations
        event_ids
        guard
        incoming
        items
        lines
        messages
        objects
        records
        schemas
    }
}
