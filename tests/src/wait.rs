//! Waiting for things that take a moment, without a guess at the time.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::client::PATIENCE;

/// Tries again and again until an attempt succeeds, and returns its value.
///
/// # Errors
/// No attempt has succeeded for [`PATIENCE`]: the last error, and what was waited for.
pub fn until<T>(what: &str, attempt: impl FnMut() -> Result<T>) -> Result<T> {
    until_within(PATIENCE, what, attempt)
}

/// Does the same for that long.
///
/// # Errors
/// No attempt has succeeded within that time.
pub fn until_within<T>(
    at_most: Duration,
    what: &str,
    mut attempt: impl FnMut() -> Result<T>,
) -> Result<T> {
    let start = Instant::now();
    loop {
        match attempt() {
            Err(error) if start.elapsed() >= at_most => {
                return Err(error).with_context(|| format!("{what}: not within {at_most:?}"));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
            done => return done,
        }
    }
}
