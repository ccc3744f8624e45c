//! Answers with more than anyone can use.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct Huge;

dormouse_sdk::plugin!(Huge, world = "huge");

impl Guest for Huge {
    fn huge(bytes: u32) -> String {
        "x".repeat(bytes as usize)
    }
}
