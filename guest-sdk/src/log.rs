//! Log messages, which go to the agent and to the host's own log.

use serde::Serialize;

use crate::bindings::dormouse::plugin::call;
pub use crate::bindings::dormouse::plugin::call::LogLevel as Level;

/// Logs under a name: `Logger("db").warning("slow")`.
#[derive(Debug, Clone, Copy)]
pub struct Logger<'a>(pub &'a str);

/// Logs `data`: a message, or anything else that serialises. What does not
/// serialise (a map with keys that are no strings) is logged as the reason why.
pub fn log(level: Level, data: &(impl Serialize + ?Sized)) {
    call::log(level, None, &text(data));
}

impl Logger<'_> {
    /// [`log`], under the logger's name.
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
    /// What only the author of the plugin wants to know.
    debug = Debug;
    /// What went as it should.
    info = Info;
    /// What went as it should, and does not happen every day.
    notice = Notice;
    /// What somebody should look at, though the call goes on.
    warning = Warning;
    /// What went wrong.
    error = Error;
    /// What keeps a part of the plugin from working.
    critical = Critical;
    /// What somebody has to mend at once.
    alert = Alert;
    /// Nothing works any more.
    emergency = Emergency;
}
