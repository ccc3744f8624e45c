//! Keeps state in a global, and declares it.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct Keeper;

dormouse_sdk::plugin!(Keeper, world = "keeper");

static CALLS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

impl Guest for Keeper {
    fn count() -> u32 {
        CALLS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1
    }
}
