//! The log of a thread, for tests of what is written into it.

#![allow(
    clippy::unwrap_used,
    reason = "a test is over when something is not as it should be"
)]

use std::io;
use std::sync::{Arc, Mutex};

/// Lines that are logged in a thread for as long as the guard beside it lives.
#[derive(Clone, Default)]
pub struct Logged(Arc<Mutex<Vec<u8>>>);

impl Logged {
    /// Returns the lines that have been logged.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

impl io::Write for Logged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps what this thread logs.
#[must_use]
pub fn logged() -> (Logged, tracing::subscriber::DefaultGuard) {
    let logged = Logged::default();
    let writer = logged.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .with_max_level(tracing::Level::DEBUG)
        .finish();
    (logged, tracing::subscriber::set_default(subscriber))
}
