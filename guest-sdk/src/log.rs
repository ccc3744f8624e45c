//! Log messages, which go to the agent and to the host's own log.

use serde::Serialize;

use crate::bindings::dormouse::plugin::call;
pub use crate::bindings::dormouse::plugin::call::LogLevel as Level;

/// Logger with a name: `Logger("db").warning("slow")`.
#[derive(Debug, Clone, Copy)]
pub struct Logger<'a>(pub &'a str);

/// Logs `data`: a message, or anything else that serialises. A value that does not serialise (a map
/// with keys that are no strings) is logged as the error.
pub fn log(level: Level, data: &(impl Serialize + ?Sized)) {
    call::log(level, None, &text(data));
}

impl Logger<'_> {
    /// Logs as [`log`], under the logger's name.
    pub fn log(&self, level: Level, data: &(impl Serialize + ?Sized)) {
        call::log(level, Some(self.0), &text(data));
    }
}

fn text(data: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(data).unwrap_or_else(|error| error.to_string())
}

macro_rules! levels {
    ($($(#[$doc:meta])* $name:ident = $level:ident;)*) => {
        $(
            $(#[$doc])*
            pub fn $name(data: &(impl Serialize + ?Sized)) {
                log(Level::$level, data);
            }
        )*

        impl Logger<'_> {
            $(
                $(#[$doc])*
                pub fn $name(&self, data: &(impl Serialize + ?Sized)) {
                    self.log(Level::$level, data);
                }
            )*
        }
    };
}

levels! {
    /// Logs a message for the author of the plugin alone.
    debug = Debug;
    /// Logs an event that is as it should be.
    info = Info;
    /// Logs an event that is as it should be, and does not happen every day.
    notice = Notice;
    /// Logs a problem that somebody should look at, though the call goes on.
    warning = Warning;
    /// Logs an error.
    error = Error;
    /// Logs an error that keeps a part of the plugin from working.
    critical = Critical;
    /// Logs an error that somebody has to mend at once.
    alert = Alert;
    /// Logs that nothing works any more.
    emergency = Emergency;
}
