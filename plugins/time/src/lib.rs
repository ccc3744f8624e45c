//! The tools of the reference time server, with the IANA timezones inside.

pub mod clock;
#[cfg(target_family = "wasm")]
mod plugin;
