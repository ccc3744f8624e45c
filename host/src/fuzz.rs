//! Fuzz targets: input that outsiders can write, given to the code that reads it.
//!
//! Each target takes any bytes and panics where a property that must always hold does not: a
//! written value is the one that was read, unedited parts stay byte for byte, mended items are
//! valid, an offset is within its text. `cargo fuzz` runs one of them (`fuzz/fuzz_targets`), and
//! the tests run all of them for some seconds each. Targets of private code of another crate are in
//! that crate.

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

/// Returns the input as a text. Input that is not UTF-8 is refused before any code here reads it.
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
