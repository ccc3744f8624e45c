//! Log messages, which go to the agent and to the host's own log.

use serde::Serialize;

use crate::bindings::dormouse::plugin::call;
pub use crate::bindings::dormouse::plugin::call::LogLevel as Level;

/// Logs `data`: a message, or anything else that serialises. What does not
/// serialise (a map with keys that are no strings) is logged as the reason why.
pub fn log(level: Level, data: &(impl Serialize + ?Sized)) {
    let data = serde_json::to_string(data).unwrap_or_else(|error| error.to_string());
    call::log(level, None, &data);
}

/// What only the author of the plugin wants to know.
pub fn debug(message: &str) {
    log(Level::Debug, message);
}

/// What went as it should.
pub fn info(message: &str) {
    log(Level::Info, message);
}

/// What somebody should look at, though the call goes on.
pub fn warning(message: &str) {
    log(Level::Warning, message);
}

/// What went wrong.
pub fn error(message: &str) {
    log(Level::Error, message);
}
