//! Ends its process, so to speak.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct Exit;

dormouse_sdk::plugin!(Exit, world = "exit");

impl Guest for Exit {
    fn exit(code: u8) {
        std::process::exit(i32::from(code));
    }
}
