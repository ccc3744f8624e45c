//! Panics.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct Panics;

dormouse_sdk::plugin!(Panics, world = "panics");

impl Guest for Panics {
    #[allow(clippy::panic, reason = "that is what it is for")]
    fn panics(message: String) {
        panic!("{message}");
    }

    fn fails() -> Result<String, String> {
        Err(String::new())
    }
}
