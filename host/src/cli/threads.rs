//! The threads of a command that has servers running.

use tokio::runtime::{Builder, Runtime};

/// Turns of a thread after which it looks for what has arrived and what is due, however much it has
/// to do. A busy guest has the whole of an epoch as its turn, and more where it hands over a lot at
/// once: tokio's own 61 of these are seconds in which nobody else is heard.
const EVENT_INTERVAL: u32 = 1;

/// Threads on which guests and connections take turns.
///
/// # Errors
/// The system gives none.
pub(super) fn threads() -> std::io::Result<Runtime> {
    Builder::new_multi_thread()
        .enable_all()
        .thread_name("dormouse")
        .event_interval(EVENT_INTERVAL)
        .build()
}
