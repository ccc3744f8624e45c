//! Sleeps.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct Sleep;

dormouse_sdk::plugin!(Sleep, world = "sleep");

impl Guest for Sleep {
    fn sleep(milliseconds: u64) -> String {
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        format!("slept {milliseconds} ms")
    }
}
