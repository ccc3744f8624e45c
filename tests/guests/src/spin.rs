//! Runs for ever.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct Spin;

dormouse_sdk::plugin!(Spin, world = "spin");

impl Guest for Spin {
    fn spin() {
        let mut turns = 0_u64;
        loop {
            turns = std::hint::black_box(turns.wrapping_add(1));
        }
    }
}
