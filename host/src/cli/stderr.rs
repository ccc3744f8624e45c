//! Standard error, whose output does not mix with a progress line.

use std::io;

use indicatif::ProgressBar;
use parking_lot::{Mutex, MutexGuard};

/// Progress line that is shown now.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Returns the progress line that is shown now, to be replaced.
pub(super) fn shown() -> MutexGuard<'static, Option<ProgressBar>> {
    SHOWN.lock()
}

/// Standard error, whose output is kept whole above a progress line.
#[derive(Default)]
pub(super) struct AboveProgress;

impl io::Write for AboveProgress {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bar = shown().clone();
        let write = || io::stderr().write_all(bytes);
        match bar {
            Some(bar) => bar.suspend(write)?,
            None => write()?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
