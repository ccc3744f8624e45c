//! Keeps state in a global, without saying so.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct Counter;

dormouse_sdk::plugin!(Counter, world = "counter");

static CALLS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

impl Guest for Counter {
    fn count() -> u32 {
        CALLS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1
    }
}
