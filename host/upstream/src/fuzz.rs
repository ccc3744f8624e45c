//! Fuzz targets: what upstreams send over HTTP.

pub use crate::http::fuzz::{sse, upstream_messages};

#[cfg(test)]
mod tests {
    dormouse_tests::fuzz_loops! { sse upstream_messages }
}
